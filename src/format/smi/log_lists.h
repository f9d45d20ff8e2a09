/*
 * log_lists.h - the parts of -q that are no table, and how a line of it
 * looks.
 */
#ifndef GK_FORMAT_SMI_LOG_LISTS_H
#define GK_FORMAT_SMI_LOG_LISTS_H

#include "format/smi/value.h"

/* Where the colon of a line is, and how far a level is indented. */
enum { GK_SMI_COLUMN = 55, GK_SMI_PROCESS_COLUMN = 42, GK_SMI_STEP = 4 };

/* A key and the colon after it, at a column. */
void gk_smi_key(struct gk_buf *out, int depth, const char *label, int column);

/* The indentation of an element. */
void gk_smi_tabs(struct gk_buf *out, int depth);

/* <name>value</name> on a line of its own. */
void gk_smi_element(struct gk_buf *out, int depth, const char *name,
		    const char *value);

typedef void gk_smi_log_list(struct gk_buf *out, const struct gk_smi_at *at,
			     bool xml);

gk_smi_log_list gk_smi_log_mig_devices, gk_smi_log_processes,
    gk_smi_log_supported_clocks, gk_smi_log_power_samples,
    gk_smi_log_utilization_samples, gk_smi_log_clock_samples;

#endif
