/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - reads the processes of a device, for lists and utilisation.
 */
#ifndef GKF_NVML_PROCESS_H
#define GKF_NVML_PROCESS_H

#include "fronts/nvml/front.h"
#include "machine/file/numbers.h"
#include "machine/store/process/processes.h"

/* A list with more processes is allocated on the heap. */
#define PROCESS_SHORT_LIST 64

#define PROCESS_ANY_TYPE (GKF_COMPUTE | GKF_GRAPHICS | GKF_MPS)

struct process_list {
	struct gkf_process room[PROCESS_SHORT_LIST];
	struct gkf_process *at; /* points to `room` or to the heap */
	unsigned count;
};

/*
 * Reads all processes on the call's device that have one of the types. Free the
 * list with process_list_free(), even after an error.
 */
nvmlReturn_t process_list_read(const struct call *c, unsigned types,
			       struct process_list *ret_list);
void process_list_free(struct process_list *list);

#endif
