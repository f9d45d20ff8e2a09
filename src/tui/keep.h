/*
 * keep.h - frames of the last minutes, so that a whole screen can go back in
 * time: what the viewer asks of whoever keeps them.
 */
#ifndef GK_TUI_KEEP_H
#define GK_TUI_KEEP_H

#include <gpukit/gpukit.h>

struct tui_keep {
	void *data; /* first argument of the functions */
	/* Keeps a frame, if it has room and memory for it. */
	void (*add)(void *data, const struct gk_snapshot *snap);
	/* The last frame that is not later than a moment since 1970, the
	 * viewer's to free: 0 or a gk_err. */
	int (*at)(void *data, uint64_t wall_ns, struct gk_snapshot **ret_snap);
};

#endif
