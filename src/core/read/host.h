/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - reads the host's name, load and memory.
 */
#ifndef GK_CORE_HOST_H
#define GK_CORE_HOST_H

#include <gpukit/gpukit.h>

/* CPU time at the previous reading. Initialise it to zeros. */
struct gk_host_before {
	uint64_t busy, total; /* ticks */
	bool known;
};

/* Reads the host, except its name, through a directory opened as /proc. Never
 * fails. */
void gk_host_read(int proc, struct gk_host_before *before,
		  struct gk_host *ret_host);

/*
 * Returns the host's total and available memory in bytes, or false if it could
 * not be read.
 */
bool gk_host_memory(int64_t *ret_total, int64_t *ret_available);

/* Sets all values of a host to "not read", for hosts that are not to be
 * read. */
void gk_host_pass(struct gk_host *ret_host);

/* Reads the host's name; it is empty if there is none. */
void gk_host_name(struct gk_host *ret_host);

#endif
