/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_table.h - a compiled scenario for a new machine. */
#ifndef GKF_SCENARIO_TABLE_H
#define GKF_SCENARIO_TABLE_H

#include <stdint.h>

struct gkf_step;

/* Copied into the machine's file; the caller owns all memory. */
struct gkf_scenario_table {
	const char *name;
	const struct gkf_step *steps; /* an array of `count`, sorted by bin */
	unsigned count;
	const char *texts; /* each NUL-ended */
	unsigned text_size;
	uint64_t begin_bin, end_bin;
};

#endif
