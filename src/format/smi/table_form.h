/* SPDX-License-Identifier: Apache-2.0 */
/* table_form.h - the layout of nvidia-smi's table, which changed over time. */
#ifndef GK_FORMAT_SMI_TABLE_FORM_H
#define GK_FORMAT_SMI_TABLE_FORM_H

#include "format/smi/form.h"

/* Widths of the cells of a line between its edges; they end with 0. */
typedef int gk_smi_cells[5];

struct gk_smi_table_form {
	unsigned since; /* the first driver with this layout, as a level */
	gk_smi_cells whole, gpu, mig;
	/* columns of the versions in the second line */
	int smi, driver, cuda;
	const char *driver_label, *cuda_label;
	const char *heads; /* titles of GPUs */
	/* columns of a GPU's name; blanks after it; columns of persistence
	 * (negative: left-aligned), blanks after it and before the PCI
	 * address */
	int name, gap, persistence, after, place;
	int power, limit, after_limit; /* columns of power and its limit */
	int used, total;               /* columns of memory */
	const char *mig_heads;
	/* columns of a MIG device's memory and BAR1, and blanks after them */
	int mig_used, mig_after, bar1_used, bar1_after;
	const char *process_heads;
	int pid, process, process_memory;
	bool old_rule; /* the line below the versions begins with | */
	int blanks;    /* number of blanks in the line before the processes */
};

const struct gk_smi_table_form *gk_smi_table_form(unsigned level);

#endif
