/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - the tables of nvidia-smi: GPUs, MIG devices and processes; and the
 * lists of -L and topo -m.
 */
#ifndef GK_FORMAT_SMI_TABLE_H
#define GK_FORMAT_SMI_TABLE_H

#include "format/smi/value.h"

/* Prints the table that nvidia-smi shows without options. */
void gk_smi_table(struct gk_buf *out, const struct gk_snapshot *snap);
/* Adds to a set the metrics that the table shows. */
void gk_smi_table_wanted(struct gk_metric_set *set);

/*
 * Prints the output of -L: one line per GPU and MIG device. The lines for
 * absent GPUs are inserted at their places.
 */
void gk_smi_list(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_smi_absent *absent);

/* --version */
void gk_smi_version(struct gk_buf *out, const struct gk_snapshot *snap);

/*
 * Prints the output of topo -m, which shows the NVLinks between GPUs or,
 * without NVLinks, their PCI paths; or that of topo -mp, which shows only the
 * PCI paths. Requires snap->topology.
 */
void gk_smi_topology(struct gk_buf *out, const struct gk_snapshot *snap,
		     bool nvlinks);

#endif
