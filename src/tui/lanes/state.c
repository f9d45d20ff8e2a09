/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.c - assigns the state of a GPU a glyph and an ink, and converts units.
 */
#include "tui/lanes/state.h"

#include "base/round.h"
#include "base/str.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

#define GIB 1073741824.0

static const enum ink inks[GK_STATE_KINDS] = {
    [GK_STATE_LOST] = INK_FAIL,     [GK_STATE_ERROR] = INK_FAIL,
    [GK_STATE_HUNG] = INK_FAIL,     [GK_STATE_STALE] = INK_WARN,
    [GK_STATE_UNREAD] = INK_DIM,    [GK_STATE_FAULT] = INK_FAIL,
    [GK_STATE_ALERT] = INK_FAIL,    [GK_STATE_HOT] = INK_WARN,
    [GK_STATE_DEGRADED] = INK_WARN, [GK_STATE_HELD] = INK_WARN,
    [GK_STATE_MIG] = INK_OWNER + 4, [GK_STATE_BUSY] = INK_WORK_MOST,
    [GK_STATE_UNKNOWN] = INK_DIM,   [GK_STATE_IDLE] = INK_DIM,
};

double lanes_number(struct gk_value value)
{
	return value.why == GK_PRESENT ? (double)value.v : -1;
}

double lanes_gib(struct gk_value bytes)
{
	return bytes.why == GK_PRESENT ? gk_half_up((double)bytes.v / GIB) : -1;
}

double lanes_watts(struct gk_value milliwatts)
{
	return milliwatts.why == GK_PRESENT
		   ? gk_half_up((double)milliwatts.v / 1e3)
		   : -1;
}

double lanes_mhz(struct gk_value hertz)
{
	return hertz.why == GK_PRESENT ? gk_half_up((double)hertz.v / 1e6) : -1;
}

void lanes_frame(struct tui *t)
{
	struct lanes *l = &t->lanes;
	const struct gk_snapshot *snap = t->snap;

	if (!snap || l->frame_ns == snap->mono_ns || t->time.kept)
		return;
	l->frame_ns = snap->mono_ns;
	gk_seen_take(&l->seen, snap);
	gk_owners_take(&l->owners, snap);
}

enum ink lanes_state_ink(const struct gk_state *state)
{
	return state->slight || state->taken ? INK_TEXT : inks[state->kind];
}

struct lanes_state lanes_state(const struct tui *t, const struct gk_device *d,
			       int width)
{
	struct gk_state_options options = {.hot = t->options.alerts.temperature,
					   .width = width};
	struct gk_state state =
	    gk_state_of(&t->lanes.seen, t->snap, d, options);
	const char *glyph = gk_state_glyph(state.kind);
	struct lanes_state s = {
	    .kind = state.kind,
	    .glyph = (wchar_t)gk_utf8_decode(glyph,
					     gk_utf8_len(glyph, strlen(glyph))),
	    .ink = lanes_state_ink(&state),
	    .trouble = gk_state_is_trouble(&state),
	};

	snprintf(s.words, sizeof s.words, "%s", state.words);
	return s;
}
