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
	/* The frame of now; *ret_jumped: it does not follow the one before. */
	int (*next)(void *data, bool *ret_jumped,
		    struct gk_snapshot **ret_snap);
	/* The n-th frame before that. */
	int (*before)(void *data, size_t n, struct gk_snapshot **ret_snap);
	void (*seek)(void *data, int64_t by_ns);
	void (*seek_end)(void *data);
	void (*faster)(void *data, int by); /* times two to the power of by */
	void (*pause)(void *data, bool paused);
	void (*text)(void *data, char *dst, size_t cap);
};

/* A recording has no processes that could be asked anything. */
bool tui_replay_refuses(struct tui *t);

#endif
