/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.h - the time span that graphs show. It ends now or at a moment in the
 * past; each dot of a graph covers one step of time.
 */
#ifndef GK_TUI_TIME_H
#define GK_TUI_TIME_H

#include "core/past/history.h"

#include <stdbool.h>

struct tui;

struct tui_time {
	uint64_t end_ns;  /* end of the span (CLOCK_MONOTONIC); 0: now */
	uint64_t step_ns; /* time that one dot covers; 0: 1 s */
	/* The time of the newest frame by both clocks, if frames are kept. */
	uint64_t now_ns, now_wall_ns;
	bool kept; /* the kept frame of end_ns is shown, not the newest */
};

/* Returns the span of a graph with `columns` columns, two values per column. */
struct gk_history_span tui_time_span(const struct tui *t, int columns);

/*
 * Returns the span of a trace of `count` values, in whole steps. At a moment in
 * the past, up to a quarter of the values come after that moment.
 */
struct gk_history_span tui_time_around(const struct tui *t, unsigned count);

/*
 * Returns the end of the step that contains the past moment on display; 0 if
 * the present is shown.
 */
uint64_t tui_time_mark(const struct tui *t);

/*
 * Returns the wall clock time of the end of a step, in nanoseconds since 1970.
 */
uint64_t tui_time_wall_of(const struct tui *t, uint64_t end_ns);

/* Returns how many nanoseconds one value of a graph covers. */
uint64_t tui_time_step(const struct tui *t);

/*
 * Moves the span back (negative) or forward by the time of 30 dots, within the
 * known history. For a recording, moves the position of the replay.
 */
void tui_time_move(struct tui *t, int by);
void tui_time_now(struct tui *t);

/*
 * tui_time_is_past() returns whether a past moment is shown, tui_time_wall()
 * the wall clock time of the moment shown, in nanoseconds since 1970. The
 * current position of a recording counts as the present.
 */
bool tui_time_is_past(const struct tui *t);
uint64_t tui_time_wall(const struct tui *t);

/* Doubles (1) or halves (-1) the speed of the replay. */
void tui_time_faster(struct tui *t, int by);

/* Makes a dot's step longer (positive) or shorter. */
void tui_time_zoom(struct tui *t, int by);

/*
 * Writes how the time shown differs from the default: "PAUSED", "5:30 ago", "10
 * s a dot"; "" if it does not. dst has 64 bytes.
 */
void tui_time_text(const struct tui *t, char *dst);

#endif
