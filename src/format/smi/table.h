/*
 * table.h - the tables of nvidia-smi: GPUs, MIG devices and processes;
 * the lists of -L, topo -m and mig -lgi, -lci.
 */
#ifndef GK_FORMAT_SMI_TABLE_H
#define GK_FORMAT_SMI_TABLE_H

#include "format/smi/value.h"

/* Prints the table that is shown without any option. */
void gk_smi_table(struct gk_buf *out, const struct gk_snapshot *snap);
/* Adds the metrics that it shows. */
void gk_smi_table_wanted(struct gk_metric_set *set);

/* -L: a line for each GPU and MIG device. */
void gk_smi_list(struct gk_buf *out, const struct gk_snapshot *snap);

/* --version */
void gk_smi_version(struct gk_buf *out, const struct gk_snapshot *snap);

/* topo -m: the paths between GPUs; needs snap->topology. */
void gk_smi_topology(struct gk_buf *out, const struct gk_snapshot *snap);

/* mig -lgi and mig -lci: the instances that MIG devices are made of. */
void gk_smi_gpu_instances(struct gk_buf *out, const struct gk_snapshot *snap);
void gk_smi_compute_instances(struct gk_buf *out,
			      const struct gk_snapshot *snap);
void gk_smi_instances_wanted(struct gk_metric_set *set);

#endif
