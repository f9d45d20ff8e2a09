/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_processes.c - answers NVML's calls for processes: lists those of the
 * group, with the memory that they hold according to the ledger. The driver's
 * list gives their order and MIG instances.
 *
 * All ten functions give the same list. They differ in the kind of process and
 * in the length of a record; all records begin alike.
 */
#include "limit/preload/entry/driver.h"
#include "limit/preload/limited.h"
#include "limit/preload/memory/memory.h"
#include "limit/preload/report/report.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, LONGEST = sizeof(nvmlProcessDetail_v1_t) };

/* One of the driver's functions. */
struct list {
	nvmlReturn_t (*ask)(nvmlDevice_t device, unsigned mode, unsigned *count,
			    void *records);
	unsigned mode;
	size_t record;
	bool compute; /* contains all processes that hold memory */
};

/* Drivers 535.43 to 535.86 wrote longer records in the _v3 lists. */
static size_t length_v3(void)
{
	char version[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
	int minor = 0;

	if (!REAL_NVML(nvmlSystemGetDriverVersion)(version, sizeof version) &&
	    !strncmp(version, "535.", 4))
		minor = atoi(version + 4);
	return minor >= 43 && minor <= 86 ? sizeof(nvmlProcessDetail_v1_t)
					  : sizeof(nvmlProcessInfo_t);
}

/*
 * Reads the driver's list, into a buffer with space for all processes of the
 * group.
 */
static nvmlReturn_t read_driver(nvmlDevice_t device, const struct list *list,
				unsigned *ret_count, char **ret_records)
{
	unsigned cap = FIRST_ROOM;

	for (;;) {
		char *records = calloc(cap + GKL_PROCESSES, LONGEST);
		nvmlReturn_t r;

		if (!records)
			return NVML_ERROR_MEMORY;
		*ret_count = cap;
		r = list->ask(device, list->mode, ret_count, records);
		if (!r) {
			*ret_records = records;
			return r;
		}
		free(records);
		if (r != NVML_ERROR_INSUFFICIENT_SIZE || *ret_count <= cap)
			return r;
		cap = *ret_count + FIRST_ROOM;
	}
}

static void write_record(char *at, const struct report_process *process,
			 size_t length)
{
	nvmlProcessDetail_v1_t record;

	memcpy(&record, at, length);
	record.pid = process->pid;
	record.usedGpuMemory = process->bytes;
	memcpy(at, &record, length);
}

/* Keeps the group's records, in their order; returns how many. */
static unsigned keep_own(char *records, unsigned count, size_t length,
			 struct report_processes *own)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		struct report_process *process;
		unsigned pid;

		memcpy(&pid, records + i * length, sizeof pid);
		process = report_processes_find(own, pid);
		if (!process || process->listed)
			continue;
		process->listed = true;
		memmove(records + kept * length, records + i * length, length);
		write_record(records + kept * length, process, length);
		kept++;
	}
	return kept;
}

/*
 * Adds processes of the group that the driver's list lacks: in a container the
 * list may have pids of the host, which mean nothing there. The ledger still
 * knows which processes hold memory.
 */
static unsigned add_unlisted(char *records, unsigned count, size_t length,
			     const struct report_processes *own)
{
	const nvmlProcessDetail_v1_t whole = {.gpuInstanceId = UINT32_MAX,
					      .computeInstanceId = UINT32_MAX};

	for (unsigned i = 0; i < own->count; i++) {
		if (own->at[i].listed || !own->at[i].bytes)
			continue;
		memcpy(records + count * length, &whole, length);
		write_record(records + count * length, &own->at[i], length);
		count++;
	}
	return count;
}

static bool is_mig(nvmlDevice_t device)
{
	unsigned mig = 0;

	return REAL_NVML(nvmlDeviceIsMigDeviceHandle) &&
	       !REAL_NVML(nvmlDeviceIsMigDeviceHandle)(device, &mig) && mig;
}

/* Marks MPS clients, which are in a list of their own, as listed. */
static void mark_mps_clients(nvmlDevice_t device, struct report_processes *own)
{
	nvmlProcessInfo_t infos[FIRST_ROOM];
	unsigned count = FIRST_ROOM;

	if (!REAL_NVML(nvmlDeviceGetMPSComputeRunningProcesses_v2) ||
	    REAL_NVML(nvmlDeviceGetMPSComputeRunningProcesses_v2)(
		device, &count, infos))
		return;
	for (unsigned i = 0; i < count; i++) {
		struct report_process *process =
		    report_processes_find(own, infos[i].pid);

		if (process)
			process->listed = true;
	}
}

/* Turns the driver's list into the group's; returns its length. */
static unsigned make_list(nvmlDevice_t device, const struct list *list,
			  char *records, unsigned count,
			  struct report_processes *own)
{
	count = keep_own(records, count, list->record, own);
	if (!list->compute || is_mig(device))
		return count;
	mark_mps_clients(device, own);
	return add_unlisted(records, count, list->record, own);
}

/*
 * NVML's two-call protocol: *count is the size of `records`, and becomes the
 * number of processes; if they do not fit, nothing is written.
 */
static nvmlReturn_t give_list(nvmlDevice_t device, const struct list *list,
			      unsigned *count, void *records)
{
	struct report_processes *own;
	char *theirs = NULL;
	unsigned told;
	nvmlReturn_t r;
	int number = report_nvml_device(device);

	if (number < 0 || !count || (*count && !records))
		return list->ask(device, list->mode, count, records);
	memory_refresh(number);
	own = report_processes_read(number);
	r = own ? read_driver(device, list, &told, &theirs) : NVML_ERROR_MEMORY;
	if (!r) {
		told = make_list(device, list, theirs, told, own);
		if (told > *count)
			r = NVML_ERROR_INSUFFICIENT_SIZE;
		else if (told)
			memcpy(records, theirs, told * list->record);
		*count = told;
	}
	free(theirs);
	free(own);
	return r;
}

#define LIST(symbol, info, length, is_compute)                                 \
	static nvmlReturn_t ask_##symbol(nvmlDevice_t device, unsigned mode,   \
					 unsigned *count, void *records)       \
	{                                                                      \
		(void)mode;                                                    \
		return REAL_NVML(symbol)(device, count, records);              \
	}                                                                      \
	nvmlReturn_t symbol(nvmlDevice_t device, unsigned int *infoCount,      \
			    info *infos)                                       \
	{                                                                      \
		struct list list = {.ask = ask_##symbol,                       \
				    .compute = is_compute};                    \
                                                                               \
		list.record = length;                                          \
		return give_list(device, &list, infoCount, infos);             \
	}
#define LISTS(name, compute)                                                   \
	LIST(name, nvmlProcessInfo_v1_t, sizeof(nvmlProcessInfo_v1_t),         \
	     compute)                                                          \
	LIST(name##_v2, nvmlProcessInfo_v2_t, sizeof(nvmlProcessInfo_v2_t),    \
	     compute)                                                          \
	LIST(name##_v3, nvmlProcessInfo_t, length_v3(), compute)
LISTS(nvmlDeviceGetComputeRunningProcesses, true)
LISTS(nvmlDeviceGetGraphicsRunningProcesses, false)
LISTS(nvmlDeviceGetMPSComputeRunningProcesses, false)
#undef LISTS
#undef LIST

static nvmlReturn_t ask_detail(nvmlDevice_t device, unsigned mode,
			       unsigned *count, void *records)
{
	nvmlProcessDetailList_t list = {.version = nvmlProcessDetailList_v1,
					.mode = mode,
					.numProcArrayEntries = *count,
					.procArray = records};
	nvmlReturn_t r =
	    REAL_NVML(nvmlDeviceGetRunningProcessDetailList)(device, &list);

	*count = list.numProcArrayEntries;
	return r;
}

nvmlReturn_t
nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device,
				      nvmlProcessDetailList_t *plist)
{
	struct list list = {.ask = ask_detail,
			    .record = sizeof(nvmlProcessDetail_v1_t)};

	if (report_nvml_device(device) < 0 || !plist ||
	    plist->version != nvmlProcessDetailList_v1 ||
	    plist->mode >= NVML_PROCESS_MODE_MAX)
		return REAL_NVML(nvmlDeviceGetRunningProcessDetailList)(device,
									plist);
	list.mode = plist->mode;
	list.compute = plist->mode == NVML_PROCESS_MODE_COMPUTE ||
		       plist->mode == NVML_PROCESS_MODE_ALL;
	return give_list(device, &list, &plist->numProcArrayEntries,
			 plist->procArray);
}
