/*
 * mon.h - pmon and dmon: a line for each process or GPU, again and again.
 */
#ifndef GK_FORMAT_SMI_MON_H
#define GK_FORMAT_SMI_MON_H

#include "format/smi/value.h"

enum gk_smi_moment { GK_SMI_WITH_DATE = 1, GK_SMI_WITH_TIME = 2 };

/* The columns to show, and the moment of each line. */
struct gk_smi_mon {
	const char *groups; /* letters of -s */
	unsigned moment;    /* bits of gk_smi_moment */
};

/* The letters that -s takes. */
#define GK_SMI_PMON_GROUPS "um"
#define GK_SMI_DMON_GROUPS "pucvmet"

/* Add the two lines of titles. */
void gk_smi_pmon_titles(struct gk_buf *out, const struct gk_smi_mon *mon);
void gk_smi_dmon_titles(struct gk_buf *out, const struct gk_smi_mon *mon);

/* Add the lines of one moment. before: the snapshot before it, or NULL. */
void gk_smi_pmon(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_smi_mon *mon);
void gk_smi_dmon(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_snapshot *before,
		 const struct gk_smi_mon *mon);

/* Add the metrics that they show. */
void gk_smi_pmon_wanted(const struct gk_smi_mon *mon,
			struct gk_metric_set *set);
void gk_smi_dmon_wanted(const struct gk_smi_mon *mon,
			struct gk_metric_set *set);

#endif
