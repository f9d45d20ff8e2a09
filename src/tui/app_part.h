/*
 * app_part.h - what the loop of the viewer and what takes its frames in share.
 */
#ifndef GK_TUI_APP_PART_H
#define GK_TUI_APP_PART_H

#include "tui/app.h"

struct app {
	struct tui t;
	struct gk *gk;
	/* The frame that is shown; the part of it that is asked for. */
	struct gk_snapshot *snap, part;
	struct gk_snapshot *newest; /* while one of the past is shown */
	uint64_t shown_ns;          /* the time.end_ns that is shown */
	struct tui_alerts alerts;
	struct grid grid;
	int signals; /* signalfd */
	int ended_by;
	bool dirty;      /* something changed since it was drawn */
	int asked;       /* the GPU that more was asked of last */
	uint64_t ask_ns; /* when it is asked again */
	bool whole;      /* all GPUs have been read, or are known to be ill */
	/* When the driver is asked what it remembers of before; 0: it was, or
	 * nothing has been drawn yet. */
	uint64_t past_ns;
	uint64_t due_ns; /* no drawing before */
	uint64_t period_ns;
};

/* Takes in what came: a frame, or lines of other machines. */
void app_take_frames(struct app *a);

/*
 * PCIe traffic blocks the driver, and details are many calls: they are read
 * only of the GPU that is looked at, and not with every frame of a fast viewer.
 */
void app_ask_for_more(struct app *a);

void app_forget_frame(struct app *a);

/* After a key or a frame: another moment may be asked for. */
void app_follow_time(struct app *a);

#endif
