/* SPDX-License-Identifier: Apache-2.0 */
/* mon.h - pmon and dmon: one line per process or GPU, repeatedly. */
#ifndef GK_FORMAT_SMI_MON_H
#define GK_FORMAT_SMI_MON_H

#include "format/smi/value.h"

enum gk_smi_moment { GK_SMI_WITH_DATE = 1, GK_SMI_WITH_TIME = 2 };

/* The columns to show, and whether lines begin with date and time. */
struct gk_smi_mon {
	const char *groups; /* letters of -s */
	unsigned moment;    /* bits of gk_smi_moment */
};

/* The letters that -s accepts. */
#define GK_SMI_PMON_GROUPS "um"
#define GK_SMI_DMON_GROUPS "pucvmet"

/* Add the two lines of titles. */
void gk_smi_pmon_titles(struct gk_buf *out, const struct gk_smi_mon *mon);
void gk_smi_dmon_titles(struct gk_buf *out, const struct gk_smi_mon *mon);

/* Add the lines for one snapshot. before is the previous snapshot, or NULL. */
void gk_smi_pmon(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_smi_mon *mon);
void gk_smi_dmon(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_snapshot *before,
		 const struct gk_smi_mon *mon);

/* Add to a set the metrics that pmon and dmon show. */
void gk_smi_pmon_wanted(const struct gk_smi_mon *mon,
			struct gk_metric_set *set);
void gk_smi_dmon_wanted(const struct gk_smi_mon *mon,
			struct gk_metric_set *set);

#endif
