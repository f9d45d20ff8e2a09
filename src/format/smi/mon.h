/* SPDX-License-Identifier: Apache-2.0 */
/* mon.h - pmon and dmon: one line per process or GPU, repeatedly. */
#ifndef GK_FORMAT_SMI_MON_H
#define GK_FORMAT_SMI_MON_H

#include "format/smi/value.h"

enum gk_smi_moment { GK_SMI_WITH_DATE = 1, GK_SMI_WITH_TIME = 2 };

/* The highest id of NVML's GPM metrics. */
enum { GK_SMI_GPM_MAX = 332 };

/* The columns to show, and how lines look. */
struct gk_smi_mon {
	const char *groups; /* letters of -s */
	unsigned moment;    /* bits of gk_smi_moment */
	/* the following members are for dmon only */
	unsigned gpm[GK_SMI_GPM_MAX]; /* ids of --gpm-metrics, in this order */
	size_t gpm_count;
	bool csv;
	/* no_titles omits the first line, no_units the second line */
	bool no_titles, no_units;
};

/* The column of a GPM metric. */
struct gk_smi_gpm_column {
	char title[16];
	const char *unit;
};

/*
 * Finds the column of a GPM metric. Returns false if dmon has no metric with
 * this id.
 */
bool gk_smi_gpm_column(unsigned id, struct gk_smi_gpm_column *ret_column);

/* The letters that -s accepts. */
#define GK_SMI_PMON_GROUPS "um"
#define GK_SMI_DMON_GROUPS "pucvmet"

/* Add the two lines of titles. */
void gk_smi_pmon_titles(struct gk_buf *out, const struct gk_snapshot *snap,
			const struct gk_smi_mon *mon);
void gk_smi_dmon_titles(struct gk_buf *out, const struct gk_snapshot *snap,
			const struct gk_smi_mon *mon);

/*
 * Add the lines for one snapshot. before is the previous snapshot, or NULL. gpm
 * has gpm_count values for each device of the snapshot, NAN if absent.
 */
void gk_smi_pmon(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_smi_mon *mon);
void gk_smi_dmon(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_snapshot *before, const double *gpm,
		 const struct gk_smi_mon *mon);

/* Add to a set the metrics that pmon and dmon show. */
void gk_smi_pmon_wanted(const struct gk_smi_mon *mon,
			struct gk_metric_set *set);
void gk_smi_dmon_wanted(const struct gk_smi_mon *mon,
			struct gk_metric_set *set);

#endif
