/*
 * host.h - the machine around the GPUs: name, load, memory.
 */
#ifndef GK_CORE_HOST_H
#define GK_CORE_HOST_H

#include <gpukit/gpukit.h>

/* CPU time at the last reading. Zero it to start. */
struct gk_host_before {
	uint64_t busy, total; /* ticks */
	bool known;
};

/* Reads the host through a directory opened as /proc. Never fails. */
void gk_host_read(int proc, struct gk_host_before *before,
		  struct gk_host *ret_host);

/* The same where nobody asks: all is unread. */
void gk_host_pass(struct gk_host *ret_host);

#endif
