/*
 * state.h - what lanes tell of a GPU and of who holds its memory, with signs
 * and colours, and what has to be remembered for it from frame to frame.
 */
#ifndef GK_TUI_LANES_STATE_H
#define GK_TUI_LANES_STATE_H

#include "format/owners.h"
#include "format/state.h"
#include "tui/lanes/ink.h"

#include <gpukit/gpukit.h>

#define LANES_HITS 192 /* places of a screen that a click does something at */

/* What a click does. */
enum lanes_hit_kind { HIT_GPU, HIT_COLUMN, HIT_KEY, HIT_TRACE };

struct lanes_hit {
	enum lanes_hit_kind kind;
	int row, column, rows, columns;
	int id; /* a position in the devices, a gk_column, a tui_action */
	/* Of a trace: its gk_history_device, or LANES_CPUS; values a column. */
	int series, dots;
};

/* The mouse holds a trace; rows 0: it does not. */
struct lanes_point {
	struct lanes_hit trace;
	int column;   /* of the trace */
	bool dragged; /* elsewhere than where it was pressed */
	/* What was shown when it was pressed: else it is held no longer. */
	int screen, screen_rows, screen_columns;
	char uuid[GK_NAME_MAX];
};

/* Part of struct tui; zero it to start. */
struct lanes {
	uint64_t frame_ns; /* of the snapshot that was taken in last */
	struct gk_owners owners;
	struct gk_seen seen;
	int first;               /* process in the first row of the list */
	int list_row, list_rows; /* where the list was drawn */
	struct lanes_hit hits[LANES_HITS];
	int hit_count;
	struct lanes_point point;
};

/* Takes in the snapshot that is shown, once. */
void lanes_frame(struct tui *t);

struct lanes_state {
	enum gk_state_kind kind;
	wchar_t glyph;
	enum ink ink;
	char words[64];
};

/* The colour of a state. */
enum ink lanes_state_ink(const struct gk_state *state);

/* In words that take that many columns at most. */
struct lanes_state lanes_state(const struct tui *t, const struct gk_device *d,
			       int width);

/* Whether memory is told by user; else by process, all being of one user. */
bool lanes_by_user(const struct tui *t);

/* Who holds the memory of a device; see gk_shares_of(). */
int lanes_shares(const struct tui *t, size_t device,
		 struct gk_share shares[GK_SHARES]);

/* The owner that a process counts for: see gk_owner_of(). */
int lanes_owner(const struct tui *t, const struct gk_process *p);
enum ink lanes_owner_ink(int owner);

/* Stands for it where there are no colours: 'a' to 'f', 'x'. */
char lanes_owner_letter(int owner);

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

#endif
