/*
 * device.h - the state of the screen of one GPU: which it is, which graphs.
 */
#ifndef GK_TUI_DEVICE_H
#define GK_TUI_DEVICE_H

#include "format/identity.h"

#include <gpukit/gpukit.h>

/* Bytes that NVLinks carried until a moment; CLOCK_MONOTONIC, 0: unknown. */
struct tui_links {
	uint64_t read_ns;
	struct gk_value rx[GK_LINKS_MAX], tx[GK_LINKS_MAX];
};

struct tui_device {
	struct gk_identity gpu; /* not there: the first */
	unsigned graphs;        /* which page of them */
	/* The last two readings, of the GPU that was shown then. */
	struct gk_identity links_gpu;
	struct tui_links links, before;
	/* The values of the shown GPU from when it was well. */
	struct gk_device last;
	struct gk_detail last_detail;
};

#endif
