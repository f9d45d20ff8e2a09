/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost.h - GPUs whose handle the driver does not give, and the lines that say
 * so. Drivers word them differently.
 */
#ifndef GK_CLI_SMI_LOST_H
#define GK_CLI_SMI_LOST_H

#include "base/str.h"
#include "core/driver/nvml.h"

enum { GK_SMI_LOST_MAX = 256 };

struct smi_lost {
	unsigned index;
	nvmlReturn_t why;
	char bus_id[32]; /* 0000:01:00.0; "N/A" if unknown */
};

/*
 * Finds the PCI bus ids of lost GPUs, of which only `index` and `why` are
 * known: the driver refuses their addresses for the same reason.
 */
void smi_find_lost(struct gk_nvml *nvml, struct smi_lost *lost, size_t count);

/* Writes the line for a lost GPU, without a newline. */
void smi_lost_line(unsigned major, const struct smi_lost *lost,
		   struct gk_buf *out);

/* Whether this driver's tool shows nothing else if a GPU is lost. */
bool smi_lost_stops(unsigned major);

/*
 * Prints the lines of those that -i names (NULL: all). Returns 0 to go on with
 * the other GPUs, or an exit status.
 */
int smi_tell_lost(unsigned major, const struct smi_lost *lost, size_t count,
		  const char *ids);

#endif
