/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost.h - the GPUs for which the driver returns no handle, and the lines that
 * report them. The wording depends on the driver.
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

/* Lost GPUs, sorted by index. */
struct smi_lost_gpus {
	struct smi_lost at[SMI_LOST_MAX];
	size_t count;
};

void smi_lost_add(struct smi_lost_gpus *lost, unsigned index, nvmlReturn_t why,
		  const char *bus_id);

/*
 * Finds the unknown PCI bus ids of lost GPUs: for a lost GPU's address, the
 * driver returns the same error as for the GPU. Waits for the driver for at
 * most a second.
 */
void smi_lost_find(struct gk_nvml *nvml, struct smi_lost_gpus *lost);

/*
 * Finds the GPUs of a snapshot that have no handle. Asks the driver only about
 * GPUs that have failed.
 */
void smi_lost_look(struct gk_nvml *nvml, const struct gk_snapshot *snap,
		   struct smi_lost_gpus *ret_lost);

/* Whether a GPU is in the list. */
bool smi_is_lost(const struct smi_lost_gpus *lost, unsigned index);

/*
 * Whether an id names a GPU in the list. The UUIDs of lost GPUs are not known.
 */
bool smi_lost_is_named(const struct smi_lost_gpus *lost, const char *id);

/* Removes all GPUs from the list that -i does not name. NULL: keeps all. */
void smi_lost_choose(struct smi_lost_gpus *lost, const char *ids);

/* Writes the line for a lost GPU. If `list` is set, uses the wording of -L. */
void smi_lost_line(unsigned major, const struct smi_lost *lost, bool list,
		   char ret_line[SMI_LOST_LINE]);

/*
 * If this driver's nvidia-smi stops after reporting the first lost GPU, returns
 * its exit status. Returns 0 if it continues with the other GPUs.
 */
int smi_lost_status(unsigned major, const struct smi_lost_gpus *lost);

#endif
