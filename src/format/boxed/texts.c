/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c - formats values for the table of GPUs. */
#include "format/boxed/table.h"

#include <inttypes.h>
#include <stdio.h>

static void set_cell(char *dst, struct gk_value value, const char *before,
		     const char *after)
{
	if (value.why == GK_PRESENT)
		snprintf(dst, GK_UNITS_MAX, "%s%" PRId64 "%s", before, value.v,
			 after);
	else
		gk_str_copy(dst, GK_UNITS_MAX, "N/A");
}

const char *gk_size_or_na(char *dst, struct gk_value value)
{
	return value.why == GK_PRESENT ? gk_human_size(dst, value.v) : "N/A";
}

const char *gk_watts_or_na(char *dst, struct gk_value value)
{
	return value.why == GK_PRESENT ? gk_human_watts(dst, value.v) : "N/A";
}

void gk_texts_fill(struct gk_texts *x, const struct gk_device *d)
{
	const struct gk_value *m = d->m;

	set_cell(x->fan, m[GK_M_FAN], "", "%");
	if (m[GK_M_FAN].why == GK_PRESENT && m[GK_M_FAN].v >= 100)
		gk_str_copy(x->fan, sizeof x->fan, "MAX");
	set_cell(x->temp, m[GK_M_TEMP], "", "C");
	set_cell(x->pstate, m[GK_M_PSTATE], "P", "");
	set_cell(x->util, m[GK_M_GPU_UTIL], "", "%");
	set_cell(x->ecc, m[GK_M_ECC_UNCORRECTED], "", "");
	snprintf(x->power, sizeof x->power, "%s / %s",
		 gk_watts_or_na(x->size[0], m[GK_M_POWER]),
		 gk_watts_or_na(x->size[1], m[GK_M_POWER_LIMIT]));
	snprintf(x->memory, sizeof x->memory, "%s / %*s",
		 gk_size_or_na(x->size[0], m[GK_M_MEM_USED]),
		 d->mig_index < 0 ? 0 : 8,
		 gk_size_or_na(x->size[1], m[GK_M_MEM_TOTAL]));
}
