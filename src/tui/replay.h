/*
 * replay.h - frames of a recording in place of a machine's: what the viewer
 * asks of whoever plays it.
 */
#ifndef GK_TUI_REPLAY_H
#define GK_TUI_REPLAY_H

#include <gpukit/gpukit.h>

struct tui;

struct tui_replay {
	void *data; /* first argument of all functions */
	int fd;     /* polls readable when a frame is due */
	/*
	 * The frame of now, the viewer's to free. 0 or a gk_err; *ret_jumped:
	 * it does not follow the frame before.
	 */
	int (*next)(void *data, bool *ret_jumped,
		    struct gk_snapshot **ret_snap);
	/* The n-th frame before that; the same. */
	int (*before)(void *data, size_t n, struct gk_snapshot **ret_snap);
	void (*seek)(void *data, int64_t by_ns); /* back if negative */
	void (*seek_end)(void *data);            /* to the last frame */
	void (*faster)(void *data, int by); /* times two to the power of by */
	void (*pause)(void *data, bool paused);
	/* Tells what is played, and which moment of it. */
	void (*text)(void *data, char *dst, size_t cap);
};

/* A recording that jumped has another past: makes its history anew. */
void tui_replay_recall(struct tui *t, const struct gk_snapshot *now);

/*
 * Whether a recording or another machine is shown, whose processes cannot be
 * asked anything; the user is told then.
 */
bool tui_replay_refuses(struct tui *t);

#endif
