/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - the interface through which the viewer stores the frames of the last
 * minutes and retrieves one, to show a whole screen of the past.
 */
#ifndef GK_TUI_KEEP_H
#define GK_TUI_KEEP_H

#include <gpukit/gpukit.h>

struct tui_keep {
	void *data; /* passed as the functions' first argument */
	/* Stores a frame, or drops it silently if memory runs out. */
	void (*add)(void *data, const struct gk_snapshot *snap);
	/*
	 * Returns the last frame not later than wall_ns (since 1970); the
	 * viewer frees it. The result is 0 or a gk_err.
	 */
	int (*at)(void *data, uint64_t wall_ns, struct gk_snapshot **ret_snap);
};

#endif
