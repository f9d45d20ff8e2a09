/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the state of a GPU and the owners of its memory as lanes show them,
 * with glyphs and inks; and what lanes keep from frame to frame.
 */
#ifndef GK_TUI_LANES_STATE_H
#define GK_TUI_LANES_STATE_H

#include "format/owners.h"
#include "format/state.h"
#include "tui/lanes/ink.h"

#include <gpukit/gpukit.h>

#define LANES_HITS 192 /* maximum number of clickable areas on a screen */

/* The effect of a click on an area. */
enum lanes_hit_kind { HIT_GPU, HIT_COLUMN, HIT_KEY, HIT_TRACE };

struct lanes_hit {
	enum lanes_hit_kind kind;
	int row, column, rows, columns;
	/*
	 * depends on kind: a position in snap->devices, a gk_column or a
	 * tui_action
	 */
	int id;
	/*
	 * For a trace: `series` is a gk_history_device or LANES_CPUS, `dots`
	 * the number of values per column.
	 */
	int series, dots;
};

/*
 * The column of a trace at which the mouse button is held. If trace.rows is 0,
 * there is none.
 */
struct lanes_point {
	struct lanes_hit trace;
	int column;   /* within the trace */
	bool dragged; /* the mouse has moved since the button was pressed */
	/*
	 * The screen when the button was pressed. If it has changed since, the
	 * mark is removed.
	 */
	int screen, screen_rows, screen_columns;
	char uuid[GK_NAME_MAX];
};

/* The state of lanes, a part of struct tui. Initialise it with zeros. */
struct lanes {
	uint64_t frame_ns; /* time of the last snapshot seen by lanes_frame() */
	struct gk_owners owners;
	struct gk_seen seen;
	int list_row, list_rows; /* where the list is on the screen */
	struct lanes_hit hits[LANES_HITS];
	int hit_count;
	struct lanes_point point;
};

/* Updates `owners` and `seen` from a new snapshot. */
void lanes_frame(struct tui *t);

struct lanes_state {
	enum gk_state_kind kind;
	wchar_t glyph;
	enum ink ink;
	bool trouble; /* the GPU needs attention */
	char words[64];
};

enum ink lanes_state_ink(const struct gk_state *state);

/* Returns the state of a GPU, with words of at most `width` columns. */
struct lanes_state lanes_state(const struct tui *t, const struct gk_device *d,
			       int width);

/*
 * Whether memory is divided by user. Otherwise it is divided by process,
 * because all processes belong to one user.
 */
bool lanes_by_user(const struct tui *t);

/* Returns the shares of a device's memory by owner; see gk_shares_of(). */
int lanes_shares(const struct tui *t, size_t device,
		 struct gk_share shares[GK_SHARES]);

/* Returns the number of a process's owner; see gk_owner_of(). */
int lanes_owner(const struct tui *t, const struct gk_process *p);
enum ink lanes_owner_ink(int owner);

/*
 * Returns the letter that marks an owner if there are no colours: 'a' to 'f',
 * or 'x' for other owners.
 */
char lanes_owner_letter(int owner);

/*
 * Writes the model in at most `width` columns. It is not shortened so far that
 * different models become the same.
 */
char *lanes_model(const struct tui *t, const struct gk_device *d, int width,
		  char dst[GK_NAME_MAX]);

/* Whether all GPUs are of the same model. */
bool lanes_one_model(const struct tui *t);

/*
 * Convert a value to GiB, watts or MHz; lanes_number() does not convert it.
 * Return -1 if the value is absent.
 */
double lanes_gib(struct gk_value bytes);
double lanes_watts(struct gk_value milliwatts);
double lanes_mhz(struct gk_value hertz);
double lanes_number(struct gk_value value);

#endif
