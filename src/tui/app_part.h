/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app_part.h - the state shared by the main loop in app.c and by app_frames.c,
 * which takes in frames.
 */
#ifndef GK_TUI_APP_PART_H
#define GK_TUI_APP_PART_H

#include "tui/app.h"

struct app {
	struct tui t;
	struct gk *gk;
	/*
	 * The frame on display, and the part of it that options.pick selects.
	 */
	struct gk_snapshot *snap, part;
	struct gk_snapshot *newest; /* NULL unless a past frame is shown */
	uint64_t shown_ns;          /* time.end_ns of the frame on display */
	struct tui_alerts alerts;
	struct grid grid;
	int signals; /* signalfd */
	int ended_by;
	bool dirty; /* the screen must be redrawn */
	int asked;  /* index of the GPU whose costly values were read last */
	uint64_t ask_ns; /* when to read costly values again */
	bool whole; /* every GPU has been read, or is known to be unhealthy */
	/*
	 * When to request the samples that the driver has kept. 0 if the first
	 * whole frame has not arrived yet, or if the samples have already been
	 * requested.
	 */
	uint64_t past_ns;
	uint64_t due_ns; /* earliest time of the next draw */
	uint64_t period_ns;
};

/* Receives and shows a new frame of this machine, or of the other machines. */
void app_take_frames(struct app *a);

/*
 * Requests PCIe traffic and details of the GPU on the device screen, at most
 * every 0.9 s: reading traffic blocks the driver, and details take many calls.
 */
void app_ask_for_more(struct app *a);

void app_forget_frame(struct app *a);

/*
 * If a key or a new frame has changed t.time, shows the frame of that moment.
 */
void app_follow_time(struct app *a);

#endif
