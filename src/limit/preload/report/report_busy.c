/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_busy.c - answers NVML's calls about the utilization of processes, for
 * processes of the group.
 */
#include "limit/preload/entry/driver.h"
#include "limit/preload/report/report.h"

#include <stdlib.h>
#include <string.h>

enum { MORE_ROOM = 64, LONGEST = sizeof(nvmlProcessUtilizationInfo_v1_t) };

/* One of the driver's two functions, whose records differ. */
struct samples {
	nvmlReturn_t (*ask)(nvmlDevice_t device, unsigned long long since,
			    unsigned *count, void *records);
	size_t record, pid_at;
};

/*
 * Reads the driver's records, with space for processes that join between calls.
 */
static nvmlReturn_t read_driver(nvmlDevice_t device, const struct samples *s,
				unsigned long long since, unsigned *ret_count,
				char **ret_records)
{
	unsigned cap = MORE_ROOM;

	for (;;) {
		char *records = calloc(cap, LONGEST);
		nvmlReturn_t r;

		if (!records)
			return NVML_ERROR_MEMORY;
		*ret_count = cap;
		r = s->ask(device, since, ret_count, records);
		if (!r) {
			*ret_records = records;
			return r;
		}
		free(records);
		if (r != NVML_ERROR_INSUFFICIENT_SIZE || *ret_count <= cap)
			return r;
		cap = *ret_count + MORE_ROOM;
	}
}

static unsigned keep_own(char *records, unsigned count, const struct samples *s,
			 struct report_processes *own)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		char *from = records + i * s->record;
		char *to = records + kept * s->record;
		struct report_process *process;
		unsigned pid;

		memcpy(&pid, from + s->pid_at, sizeof pid);
		process = report_processes_find(own, pid);
		if (!process)
			continue;
		memmove(to, from, s->record);
		memcpy(to + s->pid_at, &process->pid, sizeof process->pid);
		kept++;
	}
	return kept;
}

/* *count is the size of `records`, and becomes the number written or needed. */
static nvmlReturn_t give_samples(nvmlDevice_t device, int number,
				 const struct samples *s,
				 unsigned long long since, unsigned *count,
				 void *records)
{
	struct report_processes *own = report_processes_read(number);
	char *theirs = NULL;
	unsigned told;
	nvmlReturn_t r;

	r = own ? read_driver(device, s, since, &told, &theirs)
		: NVML_ERROR_MEMORY;
	if (!r) {
		told = keep_own(theirs, told, s, own);
		if (!told)
			r = NVML_ERROR_NOT_FOUND;
		else if (!records || told > *count)
			r = NVML_ERROR_INSUFFICIENT_SIZE;
		else
			memcpy(records, theirs, told * s->record);
		if (told)
			*count = told;
	}
	free(theirs);
	free(own);
	return r;
}

static nvmlReturn_t ask_samples(nvmlDevice_t device, unsigned long long since,
				unsigned *count, void *records)
{
	return REAL_NVML(nvmlDeviceGetProcessUtilization)(device, records,
							  count, since);
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(
    nvmlDevice_t device, nvmlProcessUtilizationSample_t *utilization,
    unsigned int *processSamplesCount, unsigned long long lastSeenTimeStamp)
{
	static const struct samples samples = {
	    .ask = ask_samples,
	    .record = sizeof(nvmlProcessUtilizationSample_t),
	    .pid_at = offsetof(nvmlProcessUtilizationSample_t, pid),
	};
	int number;

	number = report_nvml_device(device);
	if (number < 0 || !processSamplesCount)
		return REAL_NVML(nvmlDeviceGetProcessUtilization)(
		    device, utilization, processSamplesCount,
		    lastSeenTimeStamp);
	return give_samples(device, number, &samples, lastSeenTimeStamp,
			    processSamplesCount, utilization);
}

static nvmlReturn_t ask_infos(nvmlDevice_t device, unsigned long long since,
			      unsigned *count, void *records)
{
	nvmlProcessesUtilizationInfo_t info = {
	    .version = nvmlProcessesUtilizationInfo_v1,
	    .processSamplesCount = *count,
	    .lastSeenTimeStamp = since,
	    .procUtilArray = records};
	nvmlReturn_t r =
	    REAL_NVML(nvmlDeviceGetProcessesUtilizationInfo)(device, &info);

	*count = info.processSamplesCount;
	return r;
}

nvmlReturn_t
nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
				      nvmlProcessesUtilizationInfo_t *info)
{
	static const struct samples samples = {
	    .ask = ask_infos,
	    .record = sizeof(nvmlProcessUtilizationInfo_v1_t),
	    .pid_at = offsetof(nvmlProcessUtilizationInfo_v1_t, pid),
	};
	int number;

	number = report_nvml_device(device);
	if (number < 0 || !info ||
	    info->version != nvmlProcessesUtilizationInfo_v1)
		return REAL_NVML(nvmlDeviceGetProcessesUtilizationInfo)(device,
									info);
	return give_samples(device, number, &samples, info->lastSeenTimeStamp,
			    &info->processSamplesCount, info->procUtilArray);
}
