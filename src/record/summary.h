/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - the GPU use of a command while it ran: peak memory, mean
 * utilisation, and energy.
 */
#ifndef GK_RECORD_SUMMARY_H
#define GK_RECORD_SUMMARY_H

#include "base/str.h"

#include <gpukit/gpukit.h>

/* The totals of a device. */
struct gk_summary_device {
	bool used;
	char label[GK_NAME_MAX];
	int64_t peak;                  /* bytes used by the command */
	uint64_t util_sum, util_count; /* load of the GPU by all processes,
					* in percent */
	uint64_t sm_sum, sm_count;     /* load of the GPU by the command, in
					* percent */
	struct gk_value energy_before; /* mJ at the previous sample */
	uint64_t before_ns;            /* time of the previous sample */
	int64_t millijoules;
	bool energy_known, energy_from_power;
	/* The next fields belong to the current sample. */
	int64_t mem, sm;
	bool mem_known, sm_known, now;
};

/* Zero it to start. */
struct gk_summary {
	/* Devices by index in the snapshot. */
	struct gk_summary_device *devices;
	size_t count;
	int64_t peak; /* peak of the sum of bytes on all devices */
	uint64_t samples;
};

/*
 * For each sample, call begin, then process for each process, then end. The
 * GPUs must be the same in all samples. begin returns 0, or a gk_err if the
 * sample could not begin.
 */
int gk_summary_begin(struct gk_summary *summary,
		     const struct gk_snapshot *snap);
void gk_summary_process(struct gk_summary *summary,
			const struct gk_process *process);
void gk_summary_end(struct gk_summary *summary, const struct gk_snapshot *snap);

/* Writes one line per quantity, for people. */
void gk_summary_text(const struct gk_summary *summary, struct gk_buf *out);

void gk_summary_free(struct gk_summary *summary);

#endif
