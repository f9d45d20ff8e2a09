/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - the output of -q and -q -x: everything about each GPU, as lines of
 * keys and values or as XML.
 */
#ifndef GK_FORMAT_SMI_LOG_H
#define GK_FORMAT_SMI_LOG_H

#include "format/smi/log_lists.h"
#include "format/smi/value.h"

/* The sections that need more data than metrics. */
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

/* A section that -d can choose: its name and its bit. In a set of these bits, 0
 * means all sections. */
struct gk_smi_section {
	const char *name;
	unsigned bit;
};

/* The table of sections; it ends with a NULL name. */
extern const struct gk_smi_section gk_smi_sections[];

/* Adds to a set the metrics that the given sections show. */
void gk_smi_log_wanted(unsigned sections, struct gk_metric_set *set);

/*
 * Add the report. gpus is the number of whole GPUs, whether shown or not;
 * absent has lines for GPUs that the snapshot lacks.
 */
void gk_smi_log_text(struct gk_buf *out, const struct gk_snapshot *snap,
		     unsigned sections, unsigned gpus,
		     const struct gk_smi_absent *absent);
/* Adds the report of -u on units, which are chassis with several GPUs. `units`
 * is their number, or why it is unknown. */
void gk_smi_log_units(struct gk_buf *out, const struct gk_snapshot *snap,
		      const char *units);
/* Adds the declarations of a report's elements: gk_smi_dtd(), or NULL. */
typedef void gk_smi_declare(struct gk_buf *out, const struct gk_snapshot *snap);
void gk_smi_log_xml(struct gk_buf *out, const struct gk_snapshot *snap,
		    unsigned gpus, gk_smi_declare *declare);

/* An element of the XML. */
struct gk_smi_log_element {
	int depth;        /* 0: the root */
	const char *name; /* NULL: only the elements that `list` adds */
	bool group;       /* the element contains elements, not a text */
	bool collapses;   /* the element is a group that may contain a text
			   * instead of elements */
	char times;       /* 0: once, ?: at most once, *: any number */
	/*
	 * Adds the child elements that are in no table; NULL if there are none.
	 */
	gk_smi_log_list *list;
};

/*
 * Calls a function for each element that this driver's report can have, parents
 * first.
 */
typedef void gk_smi_log_on(void *arg, const struct gk_smi_log_element *element);
void gk_smi_log_elements(const struct gk_snapshot *snap, gk_smi_log_on *on,
			 void *arg);

/* Returns the version of the DTD that this driver's nvidia-smi names. */
int gk_smi_log_dtd_version(const struct gk_snapshot *snap);

/* Adds a text as XML content, escaping markup characters. */
void gk_smi_escape(struct gk_buf *out, const char *text);

#endif
