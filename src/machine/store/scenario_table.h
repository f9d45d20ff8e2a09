/* scenario_table.h - a compiled scenario, as the file of a machine takes it. */
#ifndef GKF_SCENARIO_TABLE_H
#define GKF_SCENARIO_TABLE_H

#include <stdint.h>

struct gkf_step;

/* A scenario as the file of a new machine gets it; the caller keeps it all. */
struct gkf_scenario_table {
	const char *name;
	const struct gkf_step *steps; /* count of them, in order of bin */
	unsigned count;
	const char *texts; /* each NUL-ended */
	unsigned text_size;
	uint64_t begin_bin, end_bin;
};

#endif
