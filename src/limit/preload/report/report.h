/*
 * report.h - what programs are told of a device: a GPU of the size of the
 * group's limit, on which there is nobody but the group.
 */
#ifndef GKL_PRELOAD_REPORT_H
#define GKL_PRELOAD_REPORT_H

#include "abi/nvml_abi.h"
#include "limit/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes; total = reserved + used + free. */
struct report_memory {
	uint64_t total, reserved, used, free;
};

/*
 * Turns what the driver told of a device into what the group sees of it. What
 * others hold of it is free only as far as the GPU has room: where limits
 * promise more than there is, that shows as used.
 */
void report_memory(int device, struct report_memory *memory);

/*
 * The number of a device of which NVML is to tell what the group sees; negative
 * where the driver's own answer stands: no limit of memory, or HOOK_NVML_ENABLE
 * is off.
 */
int report_nvml_device(nvmlDevice_t device);

/* A process of the group that this one may name, and what it holds. */
struct report_process {
	unsigned int pid; /* as this process sees it */
	unsigned int host_pid;
	uint64_t bytes;
	bool listed; /* the driver lists it, too */
};

struct report_processes {
	int device;
	uint64_t own_namespace;
	unsigned int count;
	struct report_process at[GKL_PROCESSES];
};

/* NULL: no memory. Freed by free(). */
struct report_processes *report_processes_read(int device);

/* Who the driver means by a pid; NULL: nobody of the group. */
struct report_process *report_processes_find(struct report_processes *processes,
					     unsigned int pid);

#endif
