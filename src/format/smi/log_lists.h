/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_lists.h - the parts of -q that have no table, and the layout of its
 * lines.
 */
#ifndef GK_FORMAT_SMI_LOG_LISTS_H
#define GK_FORMAT_SMI_LOG_LISTS_H

#include "format/smi/value.h"

/* The indentation per level. */
enum { GK_SMI_STEP = 4 };

/* Adds a key, and a colon in the column that the driver's form gives. */
void gk_smi_key(struct gk_buf *out, const struct gk_snapshot *snap, int depth,
		const char *label);

/* Adds the indentation of an element. */
void gk_smi_tabs(struct gk_buf *out, int depth);

/* Adds <name>value</name> on a line of its own. */
void gk_smi_element(struct gk_buf *out, int depth, const char *name,
		    const char *value);

typedef void gk_smi_log_list(struct gk_buf *out, const struct gk_smi_at *at,
			     bool xml);

gk_smi_log_list gk_smi_log_mig_devices, gk_smi_log_processes,
    gk_smi_log_accounted, gk_smi_log_supported_clocks, gk_smi_log_power_samples,
    gk_smi_log_utilization_samples, gk_smi_log_clock_samples;

#endif
