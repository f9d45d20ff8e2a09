/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what programs see of a device: a GPU as large as the group's
 * limit, which only the group uses.
 */
#ifndef GKL_PRELOAD_REPORT_H
#define GKL_PRELOAD_REPORT_H

#include "abi/nvml/nvml_abi.h"
#include "limit/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes; total = reserved + used + free. */
struct report_memory {
	uint64_t total, reserved, used, free;
};

/*
 * Turns the driver's figures of a device into the group's view. Free memory is
 * also bounded by what is free on the GPU: where limits promise more, the
 * difference shows as used.
 */
void report_memory(int device, struct report_memory *memory);

/*
 * The number of a device for which NVML must show the group's view. Negative if
 * the driver's answer is right: no memory limit, or HOOK_NVML_ENABLE is off.
 */
int report_nvml_device(nvmlDevice_t device);

/* A process of the group with a pid visible here, and what it holds. */
struct report_process {
	unsigned int pid; /* the pid that this process sees */
	unsigned int host_pid;
	uint64_t bytes;
	bool listed; /* the driver lists it too */
};

struct report_processes {
	int device;
	uint64_t own_namespace;
	/* Bytes held by the whole group, including processes without a pid
	 * here. */
	uint64_t held;
	unsigned int count;
	struct report_process at[GKL_PROCESSES];
};

/* The caller frees it with free(). NULL: out of memory. */
struct report_processes *report_processes_read(int device);

/*
 * Returns the process to which a pid from the driver refers, or NULL if that
 * process is not in the group.
 */
struct report_process *report_processes_find(struct report_processes *processes,
					     unsigned int pid);

#endif
