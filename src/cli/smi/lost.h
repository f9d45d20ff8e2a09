/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost.h - GPUs whose handle the driver does not give, and the lines that say
 * so. Drivers word them differently.
 */
#ifndef GK_CLI_SMI_LOST_H
#define GK_CLI_SMI_LOST_H

#include "base/str.h"
#include "core/driver/nvml.h"

enum { SMI_LOST_MAX = 256, SMI_LOST_LINE = 192 };

struct smi_lost {
	unsigned index;
	nvmlReturn_t why;
	char bus_id[32]; /* 0000:01:00.0; "N/A" if unknown */
};

/* Lost GPUs, by their indices. */
struct smi_lost_gpus {
	struct smi_lost at[SMI_LOST_MAX];
	size_t count;
};

void smi_lost_add(struct smi_lost_gpus *lost, unsigned index, nvmlReturn_t why,
		  const char *bus_id);

/*
 * Finds the PCI bus ids that are unknown: the driver refuses these addresses
 * for the same reason as the GPUs. Waits for the driver for a second at most.
 */
void smi_lost_find(struct gk_nvml *nvml, struct smi_lost_gpus *lost);

/*
 * Finds the GPUs of a snapshot that have no handle. Asks the driver only about
 * GPUs that failed.
 */
void smi_lost_look(struct gk_nvml *nvml, const struct gk_snapshot *snap,
		   struct smi_lost_gpus *ret_lost);

/* Whether a GPU is among them. */
bool smi_is_lost(const struct smi_lost_gpus *lost, unsigned index);

/* Whether an id names one of them; their UUIDs are not known. */
bool smi_lost_is_named(const struct smi_lost_gpus *lost, const char *id);

/* Keeps those that -i names (NULL: all). */
void smi_lost_choose(struct smi_lost_gpus *lost, const char *ids);

/* Writes the line for a lost GPU; with list, as -L words it. */
void smi_lost_line(unsigned major, const struct smi_lost *lost, bool list,
		   char ret_line[SMI_LOST_LINE]);

/*
 * Returns the exit status with which this driver's tool ends, after the line of
 * the first of these GPUs; or 0 if it goes on with the others.
 */
int smi_lost_status(unsigned major, const struct smi_lost_gpus *lost);

#endif
