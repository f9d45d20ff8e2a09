/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - the interface through which the viewer plays a recording
 * instead of reading a machine.
 */
#ifndef GK_TUI_REPLAY_H
#define GK_TUI_REPLAY_H

#include <gpukit/gpukit.h>

struct tui;

struct tui_replay {
	void *data; /* passed as the functions' first argument */
	int fd;     /* readable when a frame is due */
	/*
	 * Gets the current frame, which the viewer frees. Sets *ret_jumped if
	 * the frame does not directly follow the one that the last call
	 * returned. Returns 0 or a gk_err.
	 */
	int (*next)(void *data, bool *ret_jumped,
		    struct gk_snapshot **ret_snap);
	/* Gets the n-th frame before the current one; the viewer frees it. */
	int (*before)(void *data, size_t n, struct gk_snapshot **ret_snap);
	void (*seek)(void *data,
		     int64_t by_ns);  /* moves forward, or back if negative */
	void (*seek_end)(void *data); /* moves to the last frame */
	void (*faster)(
	    void *data,
	    int by); /* multiplies the speed by 2 to the power of `by` */
	void (*pause)(void *data, bool paused);
	/* Writes the name of the recording and the position in it. */
	void (*text)(void *data, char *dst, size_t cap);
};

/* Rebuilds the history after a jump, from the frames before the current one. */
void tui_replay_recall(struct tui *t, const struct gk_snapshot *now);

/*
 * Whether a recording or another machine is shown. If so, also shows a message,
 * because the processes shown can then be neither examined nor signalled.
 */
bool tui_replay_refuses(struct tui *t);

#endif
