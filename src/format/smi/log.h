/*
 * log.h - what -q and -q -x print: everything of each GPU, as keys and
 * values or as XML.
 */
#ifndef GK_FORMAT_SMI_LOG_H
#define GK_FORMAT_SMI_LOG_H

#include "format/smi/value.h"

/* Parts whose values take more than metrics to read. */
enum {
	GK_SMI_UTILIZATION = 1 << 1,
	GK_SMI_POWER = 1 << 4,
	GK_SMI_CLOCK = 1 << 5,
	GK_SMI_PIDS = 1 << 7,
	GK_SMI_SUPPORTED_CLOCKS = 1 << 9,
	/* The sections that need GK_WITH_LISTS. */
	GK_SMI_LISTED = GK_SMI_UTILIZATION | GK_SMI_POWER | GK_SMI_CLOCK |
			GK_SMI_SUPPORTED_CLOCKS,
};

/* The parts that -d chooses, as bits; 0 is everything. */
struct gk_smi_section {
	const char *name;
	unsigned bit;
};

/* Ends with a NULL name. */
extern const struct gk_smi_section gk_smi_sections[];

/* Adds the metrics that those sections show. */
void gk_smi_log_wanted(unsigned sections, struct gk_metric_set *set);

/* Add the report. gpus: how many whole GPUs there are, shown or not. */
void gk_smi_log_text(struct gk_buf *out, const struct gk_snapshot *snap,
		     unsigned sections, unsigned gpus);
void gk_smi_log_xml(struct gk_buf *out, const struct gk_snapshot *snap,
		    unsigned gpus);

/* Text between tags: markup characters escaped. */
void gk_smi_escape(struct gk_buf *out, const char *text);

#endif
