/*
 * metrics.h - the state of the screen of one process: which it is, and what
 * is kept of it for when it has ended.
 */
#ifndef GK_TUI_METRICS_H
#define GK_TUI_METRICS_H

#include <gpukit/gpukit.h>

struct tui_metrics {
	pid_t pid;
	uint64_t start_ticks;
	char uuid[GK_NAME_MAX]; /* of the device */
	char gpu[GK_NAME_MAX];  /* its label */
	char user[GK_NAME_MAX];
	char command[512];
	float gpu_total, host_total; /* MiB; 0: unknown */
};

#endif
