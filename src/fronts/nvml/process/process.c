/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - lists the processes that hold memory of a device. The ten
 * functions differ in the type of process and in the record size, which depends
 * on the symbol's suffix (16 bytes without one, 24 with _v2 and _v3).
 */
#include "fronts/nvml/process/process.h"
#include "base/memory.h"
#include "fronts/nvml/board/conf.h"
#include "fronts/nvml/mig/mig_handle.h"
#include "machine/file/numbers.h"
#include "machine/file/system_state.h"
#include "machine/store/process/processes.h"

#include <stdlib.h>

nvmlReturn_t process_list_read(const struct call *c, unsigned types,
			       struct process_list *l)
{
	unsigned cap = PROCESS_SHORT_LIST;
	int r;

	l->at = l->room;
	for (;;) {
		r = gkf_processes_in(c->machine, c->index, c->instance, types,
				     l->at, cap, &l->count);
		if (r)
			return front_error(r);
		if (l->count <= cap) {
			l->count =
			    gkf_processes_seen(c->machine, l->at, l->count);
			return NVML_SUCCESS;
		}
		if (l->at != l->room)
			free(l->at);
		/* more processes may start meanwhile */
		cap = l->count + PROCESS_SHORT_LIST;
		l->at = gk_resize(NULL, cap, sizeof(*l->at));
		if (!l->at) {
			l->at = l->room;
			return NVML_ERROR_MEMORY;
		}
	}
}

void process_list_free(struct process_list *l)
{
	if (l->at != l->room)
		free(l->at);
}

/* The GPU instance id and the compute instance id; all ones if there is none.
 */
static unsigned gi_of_process(const struct gkf_process *p)
{
	return p->instance == GKF_NO_INSTANCE ? UINT32_MAX
					      : GKF_INSTANCE_GI(p->instance);
}

static unsigned ci_of(const struct gkf_process *p)
{
	return p->instance == GKF_NO_INSTANCE ? UINT32_MAX
					      : GKF_INSTANCE_CI(p->instance);
}

typedef void put_fn(void *records, unsigned i, const struct gkf_process *p);

static void put_v1(void *records, unsigned i, const struct gkf_process *p)
{
	((nvmlProcessInfo_v1_t *)records)[i] = (nvmlProcessInfo_v1_t){
	    .pid = (unsigned)p->pid,
	    .usedGpuMemory = p->bytes,
	};
}

static void put_v2(void *records, unsigned i, const struct gkf_process *p)
{
	((nvmlProcessInfo_v2_t *)records)[i] = (nvmlProcessInfo_v2_t){
	    .pid = (unsigned)p->pid,
	    .usedGpuMemory = p->bytes,
	    .gpuInstanceId = gi_of_process(p),
	    .computeInstanceId = ci_of(p),
	};
}

static void put_detail(void *records, unsigned i, const struct gkf_process *p)
{
	((nvmlProcessDetail_v1_t *)records)[i] = (nvmlProcessDetail_v1_t){
	    .pid = (unsigned)p->pid,
	    .usedGpuMemory = p->bytes,
	    .gpuInstanceId = gi_of_process(p),
	    .computeInstanceId = ci_of(p),
	};
}

/* On a confidential machine all memory is protected. */
static void put_protected(void *records, unsigned i,
			  const struct gkf_process *p)
{
	put_detail(records, i, p);
	((nvmlProcessDetail_v1_t *)records)[i].usedGpuCcProtectedMemory =
	    p->bytes;
}

static put_fn *detail_of(const struct call *c)
{
	return conf_mode(c) == GKF_CONF_OFF ? put_detail : put_protected;
}

/*
 * Drivers 535.43 to 535.86 wrote records of the detail list into the _v3 lists.
 * These records are 8 bytes longer than callers expected.
 */
static put_fn *put_v3(const struct call *c)
{
	return front_generation->record == sizeof(nvmlProcessDetail_v1_t)
		   ? detail_of(c)
		   : put_v2;
}

/*
 * *cap is the capacity in records, and becomes the number of processes. If they
 * do not fit, nothing is written.
 */
static nvmlReturn_t give_list(const struct call *c, unsigned types,
			      unsigned *cap, void *records, put_fn *put)
{
	struct process_list l;
	unsigned room = records ? *cap : 0;
	nvmlReturn_t r = process_list_read(c, types, &l);

	if (!r)
		r = mig_confirm(c);
	if (!r) {
		*cap = l.count;
		r = l.count > room ? NVML_ERROR_INSUFFICIENT_SIZE
				   : NVML_SUCCESS;
	}
	for (unsigned i = 0; !r && i < l.count; i++)
		put(records, i, &l.at[i]);
	process_list_free(&l);
	return r;
}

#define LIST(symbol, record, types, put)                                       \
	nvmlReturn_t symbol(nvmlDevice_t device, unsigned int *infoCount,      \
			    record *infos)                                     \
	{                                                                      \
		ENTER_DEVICE(symbol, device,                                   \
			     infoCount && (infos || !*infoCount));             \
		return give_list(&c, types, infoCount, infos, put);            \
	}
#define LISTS(name, types)                                                     \
	LIST(name, nvmlProcessInfo_v1_t, types, put_v1)                        \
	LIST(name##_v2, nvmlProcessInfo_v2_t, types, put_v2)                   \
	LIST(name##_v3, nvmlProcessInfo_t, types, put_v3(&c))
LISTS(nvmlDeviceGetComputeRunningProcesses, GKF_COMPUTE)
LISTS(nvmlDeviceGetGraphicsRunningProcesses, GKF_GRAPHICS)
LISTS(nvmlDeviceGetMPSComputeRunningProcesses, GKF_MPS)
#undef LISTS
#undef LIST

nvmlReturn_t
nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device,
				      nvmlProcessDetailList_t *plist)
{
	static const unsigned types[] = {
	    [NVML_PROCESS_MODE_COMPUTE] = GKF_COMPUTE,
	    [NVML_PROCESS_MODE_GRAPHICS] = GKF_GRAPHICS,
	    [NVML_PROCESS_MODE_MPS] = GKF_MPS,
	    [NVML_PROCESS_MODE_ALL] = GKF_COMPUTE | GKF_GRAPHICS | GKF_MPS,
	};

	ENTER_DEVICE(nvmlDeviceGetRunningProcessDetailList, device,
		     plist != NULL);
	if (!TAKES(plist->version, nvmlProcessDetailList_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (plist->mode >= NVML_PROCESS_MODE_MAX ||
	    (plist->numProcArrayEntries && !plist->procArray))
		return NVML_ERROR_INVALID_ARGUMENT;
	return give_list(&c, types[plist->mode], &plist->numProcArrayEntries,
			 plist->procArray, detail_of(&c));
}
