/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - the summary of GPUs side by side, each in a column. */
#ifndef GK_FORMAT_SMI_COLUMNS_H
#define GK_FORMAT_SMI_COLUMNS_H

#include "format/smi/value.h"

/* Adds all GPUs of a snapshot, as many side by side as fit the width. */
void gk_smi_columns(struct gk_buf *out, const struct gk_snapshot *snap,
		    unsigned width);

/* Adds to a set the metrics that are shown. */
void gk_smi_columns_wanted(struct gk_metric_set *set);

#endif
