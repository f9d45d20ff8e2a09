/*
 * device.h - the state of the screen of one GPU: which it is, which graphs.
 */
#ifndef GK_TUI_DEVICE_H
#define GK_TUI_DEVICE_H

#include <gpukit/gpukit.h>

struct tui_device {
	char uuid[GK_NAME_MAX]; /* "": the first */
	unsigned graphs;        /* which four of them */
};

#endif
