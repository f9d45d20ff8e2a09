/*
 * time.h - the time that graphs show: up to now, or up to a moment before,
 * and how much of it a dot is.
 */
#ifndef GK_TUI_TIME_H
#define GK_TUI_TIME_H

#include "core/history.h"

#include <stdbool.h>

struct tui;

struct tui_time {
	uint64_t end_ns;  /* CLOCK_MONOTONIC; 0: now, which goes on */
	uint64_t step_ns; /* a dot; 0: a second */
	/* Where frames are kept: the newest one, by both clocks. */
	uint64_t now_ns, now_wall_ns;
	bool kept; /* the frame of end_ns is shown; else that of now */
};

/* The time that a graph of some columns shows, two values a column. */
struct gk_history_span tui_time_span(const struct tui *t, int columns);

/*
 * The time that a trace of so many values shows, in whole steps. While another
 * time than now is looked at, up to a quarter of them is of after it.
 */
struct gk_history_span tui_time_around(const struct tui *t, unsigned count);

/* The end of the step of the moment that is looked at; 0: it is now. */
uint64_t tui_time_mark(const struct tui *t);

/* The clock at the end of a step, in nanoseconds since 1970. */
uint64_t tui_time_wall_of(const struct tui *t, uint64_t end_ns);

/* Nanoseconds of one value of a graph. */
uint64_t tui_time_step(const struct tui *t);

/*
 * Back (negative) and forward by part of a graph; never past what is known. A
 * recording is played from there on.
 */
void tui_time_move(struct tui *t, int by);
void tui_time_now(struct tui *t);

/* Whether another time than now is shown, and of what clock; a recording has a
 * time of its own. */
bool tui_time_is_past(const struct tui *t);
uint64_t tui_time_wall(const struct tui *t);

/* A recording goes twice as fast (1) or half as fast (-1). */
void tui_time_faster(struct tui *t, int by);

/* A dot is longer (positive) or shorter. */
void tui_time_zoom(struct tui *t, int by);

/*
 * Tells what is unusual: "PAUSED", "5:30 ago", "10 s a dot"; "" when nothing
 * is. Room for 64 bytes.
 */
void tui_time_text(const struct tui *t, char *dst);

#endif
