/*
 * summary.h - what a command took of the GPUs while it ran: peak memory, mean
 * utilisation, energy.
 */
#ifndef GK_RECORD_SUMMARY_H
#define GK_RECORD_SUMMARY_H

#include "base/str.h"

#include <gpukit/gpukit.h>

/* The totals of one device that was used. */
struct gk_summary_device {
	bool used;
	char label[GK_NAME_MAX];
	int64_t peak;                  /* bytes, by the command alone */
	uint64_t util_sum, util_count; /* percent of the whole device */
	uint64_t sm_sum, sm_count;     /* percent, of the command alone */
	struct gk_value energy_before; /* mJ, at the sample before */
	uint64_t before_ns;            /* of that sample, CLOCK_MONOTONIC */
	int64_t millijoules;
	bool energy_known, energy_from_power;
	/* The next fields belong to the current sample. */
	int64_t mem, sm;
	bool mem_known, sm_known, now;
};

/* Zero it to start. */
struct gk_summary {
	struct gk_summary_device *devices; /* by position in the snapshot */
	size_t count;
	int64_t peak; /* bytes on all devices at one moment */
	uint64_t samples;
};

/*
 * A sample begins; its processes; it ends. GPUs must stay the same. 0, or a
 * gk_err: then the sample has not begun.
 */
int gk_summary_begin(struct gk_summary *summary,
		     const struct gk_snapshot *snap);
void gk_summary_process(struct gk_summary *summary,
			const struct gk_process *process);
void gk_summary_end(struct gk_summary *summary, const struct gk_snapshot *snap);

/* Lines for people, one for each quantity. */
void gk_summary_text(const struct gk_summary *summary, struct gk_buf *out);

void gk_summary_free(struct gk_summary *summary);

#endif
