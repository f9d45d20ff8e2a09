/* SPDX-License-Identifier: Apache-2.0 */
/* gpm.c - owns the table of the columns of `dmon --gpm-metrics`. */
#include "base/array.h"
#include "format/smi/mon.h"

#include <stdio.h>

enum { NONE = -1 };

static const struct range {
	unsigned first, count, step;
	int number; /* number of the first column, or NONE */
	const char *title, *unit;
} ranges[] = {
#define GPM(...) {__VA_ARGS__},
#include "format/smi/gpm.def"
#undef GPM
};

bool gk_smi_gpm_column(unsigned id, struct gk_smi_gpm_column *ret_column)
{
	for (size_t i = 0; i < COUNT(ranges); i++) {
		const struct range *r = &ranges[i];
		unsigned n = (id - r->first) / r->step;
		char number[8] = "";

		if (id < r->first || (id - r->first) % r->step || n >= r->count)
			continue;
		if (r->number != NONE)
			snprintf(number, sizeof number, "%u",
				 (unsigned)r->number + n);
		snprintf(ret_column->title, sizeof ret_column->title, "%s%s",
			 r->title, number);
		ret_column->unit = r->unit;
		return true;
	}
	return false;
}
