/*
 * state.h - what lanes tell of a GPU and of who holds its memory, and what has
 * to be remembered for it from frame to frame.
 */
#ifndef GK_TUI_LANES_STATE_H
#define GK_TUI_LANES_STATE_H

#include "tui/lanes/ink.h"

#include <gpukit/gpukit.h>

#define LANES_SEEN   64  /* GPUs that are remembered */
#define LANES_HITS   128 /* places of a screen that a click does something at */
#define LANES_SHARES (LANES_OWNERS + 2) /* others, and the driver */

/* Since when a GPU is as it is; CLOCK_MONOTONIC, 0: it is not so. */
struct lanes_seen {
	char uuid[GK_NAME_MAX];
	uint64_t idle_ns, ecc_ns;
	int64_t ecc;
};

/* What a click does. */
enum lanes_hit_kind { HIT_GPU, HIT_COLUMN, HIT_KEY, HIT_TRACE };

struct lanes_hit {
	enum lanes_hit_kind kind;
	int row, column, rows, columns;
	int id;     /* a position in the devices, a gk_column, a tui_action */
	int series; /* of a trace: gk_history_device */
};

/* Part of struct tui; zero it to start. */
struct lanes {
	uint64_t frame_ns; /* of the snapshot that was taken in last */
	char owners[LANES_OWNERS][GK_NAME_MAX]; /* users, by first sight */
	int owner_count;
	struct lanes_seen seen[LANES_SEEN];
	int seen_count;
	int first;               /* process in the first row of the list */
	int list_row, list_rows; /* where the list was drawn */
	struct lanes_hit hits[LANES_HITS];
	int hit_count;
	/* Where the mouse points into a trace; row 0: nowhere. */
	int point_row, point_column;
};

/* Takes in the snapshot that is shown, once. */
void lanes_frame(struct tui *t);

/* The first that holds is what a GPU is. */
enum lanes_kind {
	LANES_LOST,
	LANES_HUNG,
	LANES_STALE,
	LANES_UNREAD,
	LANES_ALERT,
	LANES_HOT,
	LANES_HELD,
	LANES_MIG,
	LANES_BUSY,
	LANES_IDLE,
	LANES_KINDS
};

struct lanes_state {
	enum lanes_kind kind;
	wchar_t glyph;
	enum ink ink;
	char words[64];
};

/* In words that take that many columns at most. */
struct lanes_state lanes_state(const struct tui *t, const struct gk_device *d,
			       int width);

/* Whether a GPU does not tell its values any more. */
bool lanes_is_gone(const struct gk_device *d);

/* Whose memory it is. */
struct lanes_share {
	int owner; /* of LANES_OWNERS; LANES_OWNERS: the rest */
	const char *name;
	int64_t bytes;
	unsigned processes;
};

/*
 * Who holds the memory of a device, those of its MIG devices too, most first;
 * what is left is the driver's, or others'. Returns how many.
 */
int lanes_shares(const struct tui *t, size_t device,
		 struct lanes_share shares[LANES_SHARES]);

/* The owner that a process counts for: 0 to LANES_OWNERS. */
int lanes_owner(const struct tui *t, const struct gk_process *p);
enum ink lanes_owner_ink(int owner);

/* Stands for it where there are no colours: 'a' to 'f', 'x'. */
char lanes_owner_letter(int owner);

/* "3m", "42s". */
#define LANES_AGE 16
char *lanes_age(char *dst, uint64_t ns);

/*
 * The model in at most so many columns, shorter as long as models stay
 * different.
 */
char *lanes_model(const struct tui *t, const struct gk_device *d, int width,
		  char dst[GK_NAME_MAX]);

/* Whether all GPUs are of one model. */
bool lanes_one_model(const struct tui *t);

/* Bytes in GiB, watts, MHz; -1 where it is absent. */
double lanes_gib(struct gk_value bytes);
double lanes_watts(struct gk_value milliwatts);
double lanes_mhz(struct gk_value hertz);
double lanes_number(struct gk_value value);

/* The power limit in force. */
struct gk_value lanes_power_limit(const struct gk_device *d);

/* How much below its highest clock a GPU runs, percent; -1: unknown. */
int lanes_below_clock(const struct gk_device *d);

#endif
