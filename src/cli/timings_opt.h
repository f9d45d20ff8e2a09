/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timings_opt.h - --timings and --timings-sort, for every verb that reads a
 * machine: an argp child, and the report at the end.
 */
#ifndef GK_CLI_TIMINGS_OPT_H
#define GK_CLI_TIMINGS_OPT_H

#include "format/timings.h"

#include <argp.h>

struct gk_timings_opt {
	bool wanted;
	const char *file; /* NULL: print a table to stderr */
	enum gk_timings_sort sort;
	uint64_t began_ns, startup_ns; /* see struct gk_timings_sum */
};

/*
 * An argp child whose input is a struct gk_timings_opt. Tracing starts when the
 * option is parsed.
 */
extern const struct argp gk_timings_argp;

/*
 * Prints the table to stderr or writes the trace, if the user requested it.
 * Returns 0, or a gk_exit after a message.
 */
int gk_timings_report(const struct gk_timings_opt *opt);

#endif
