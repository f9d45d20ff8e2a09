/*
 * process.h - the processes of a device, for lists and their utilisation.
 */
#ifndef GKF_NVML_PROCESS_H
#define GKF_NVML_PROCESS_H

#include "fronts/nvml/front.h"
#include "machine/file/numbers.h"
#include "machine/store/processes.h"

/* Lists up to this long need no heap. */
#define PROCESS_SHORT_LIST 64

#define PROCESS_ANY_TYPE (GKF_COMPUTE | GKF_GRAPHICS | GKF_MPS)

struct process_list {
	struct gkf_process room[PROCESS_SHORT_LIST];
	struct gkf_process *at; /* room, or on the heap */
	unsigned count;
};

/*
 * Reads all processes of the call's device that have one of the types.
 * Release it with process_list_free(), after an error, too.
 */
nvmlReturn_t process_list_read(const struct call *c, unsigned types,
			       struct process_list *ret_list);
void process_list_free(struct process_list *list);

#endif
