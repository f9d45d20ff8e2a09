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
	const char *file; /* NULL: a table on stderr */
	enum gk_timings_sort sort;
};

/*
 * A child parser whose input is a struct gk_timings_opt. Tracing starts as
 * soon as the option is seen.
 */
extern const struct argp gk_timings_argp;

/*
 * Prints the table to stderr, or writes the trace. Does nothing when it was
 * not asked for. 0 or a gk_exit, after a message.
 */
int gk_timings_report(const struct gk_timings_opt *opt);

#endif
