/* SPDX-License-Identifier: Apache-2.0 */
/* lists.c - reads a GPU's process lists, and those of its MIG devices. */
#include "base/array.h"
#include "core/read/device.h"

#include "base/assert.h"
#include "base/clock.h"
#include "core/read/gate.h"
#include "core/driver/stride.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 8

/*
 * Functions for one kind of list, which call the newest version that the driver
 * has. *count is the capacity on input and the number of records on output.
 */
#define LIST(kind, function)                                                   \
	static int version_##kind(const struct gk_nvml *nvml)                  \
	{                                                                      \
		return nvml->function##_v3 ? 3 : nvml->function##_v2 ? 2 : 1;  \
	}                                                                      \
	static nvmlReturn_t ask_##kind(const struct gk_nvml *nvml,             \
				       nvmlDevice_t dev, unsigned *count,      \
				       void *bytes)                            \
	{                                                                      \
		if (nvml->function##_v3)                                       \
			return GK_NVML_CALL(nvml, function##_v3, dev, count,   \
					    bytes);                            \
		if (nvml->function##_v2)                                       \
			return GK_NVML_CALL(nvml, function##_v2, dev, count,   \
					    bytes);                            \
		return GK_NVML_CALL(nvml, function, dev, count, bytes);        \
	}
LIST(compute, nvmlDeviceGetComputeRunningProcesses)
LIST(graphics, nvmlDeviceGetGraphicsRunningProcesses)
LIST(mps, nvmlDeviceGetMPSComputeRunningProcesses)
#undef LIST

static const struct list {
	enum gk_process_type type;
	int (*version)(const struct gk_nvml *nvml);
	nvmlReturn_t (*ask)(const struct gk_nvml *nvml, nvmlDevice_t dev,
			    unsigned *count, void *bytes);
} lists[] = {
    {GK_PROCESS_COMPUTE, version_compute, ask_compute},
    {GK_PROCESS_GRAPHICS, version_graphics, ask_graphics},
    {GK_PROCESS_MPS, version_mps, ask_mps},
};

/* Reads a list. Enlarges the buffer until the list fits, because processes may
 * start between two calls. */
static nvmlReturn_t ask_list(const struct list *list,
			     const struct gk_nvml *nvml, nvmlDevice_t dev,
			     struct gk_records *scratch, unsigned *ret_count)
{
	unsigned want = scratch->cap;

	for (int i = 0; i < TRIES; i++) {
		nvmlReturn_t r;
		unsigned count;

		if (gk_records_reserve(scratch, want))
			return NVML_ERROR_MEMORY;
		count = scratch->cap;
		r = list->ask(nvml, dev, &count, scratch->bytes);
		if (r != NVML_ERROR_INSUFFICIENT_SIZE) {
			*ret_count =
			    count < scratch->cap ? count : scratch->cap;
			return r;
		}
		want = count > scratch->cap ? count + 8 : scratch->cap * 2;
	}
	return NVML_ERROR_INSUFFICIENT_SIZE;
}

static size_t expected_stride(const struct gk_nvml *nvml,
			      const struct list *list)
{
	struct gk_stride_clues clues = {
	    .driver_version = nvml->driver_version,
	    .list_version = list->version(nvml),
	    .has_conf_compute = nvml->nvmlDeviceGetConfComputeMemSizeInfo,
	    .has_detail_list = nvml->nvmlDeviceGetRunningProcessDetailList,
	};

	return gk_stride_expect(&clues);
}

/* Finds the unit to which a record belongs: in MIG mode a GPU also lists the
 * processes of its MIG devices. */
static unsigned find_unit(const struct gk_gpu *gpu, unsigned asked,
			  const struct gk_record *record)
{
	for (unsigned i = 1; i < gpu->unit_count; i++) {
		const struct gk_device *dev = &gpu->units[i].dev;

		if ((uint32_t)dev->gpu_instance == record->gpu_instance &&
		    (uint32_t)dev->compute_instance ==
			record->compute_instance &&
		    dev->gpu_instance >= 0)
			return i;
	}
	return asked;
}

static struct gk_listed *add_listed(struct gk_gpu *gpu, unsigned unit,
				    pid_t pid)
{
	struct gk_listed *listed;

	GK_ASSERT(gpu->listed_cap);
	for (size_t i = 0; i < gpu->listed_count; i++)
		if (gpu->listed[i].pid == pid && gpu->listed[i].unit == unit)
			return &gpu->listed[i];
	if (gpu->listed_count == gpu->listed_cap) {
		size_t cap = gpu->listed_cap * 2;

		listed = realloc(gpu->listed, cap * sizeof *listed);
		if (!listed)
			return NULL;
		gpu->listed = listed;
		gpu->listed_cap = cap;
	}
	listed = &gpu->listed[gpu->listed_count++];
	*listed = (struct gk_listed){.pid = pid, .unit = unit};
	for (int i = 0; i < GK_PM_COUNT; i++)
		listed->m[i].why = GK_ABSENT_NOT_READ;
	listed->m[GK_PM_GPU_MEM].why = GK_ABSENT_NOT_SUPPORTED;
	return listed;
}

/* Adds a record. A process's memory is the same in all lists, so it is not
 * summed. */
static void join_record(struct gk_gpu *gpu, unsigned asked,
			enum gk_process_type type,
			const struct gk_record *record)
{
	struct gk_listed *listed =
	    add_listed(gpu, find_unit(gpu, asked, record), (pid_t)record->pid);
	struct gk_value *mem;

	if (!listed)
		return;
	listed->types |= (unsigned)type;
	mem = &listed->m[GK_PM_GPU_MEM];
	if (record->used == UINT64_MAX || record->used > INT64_MAX)
		return;
	if (mem->why || (int64_t)record->used > mem->v)
		mem->v = (int64_t)record->used;
	mem->why = GK_PRESENT;
	*mem = gk_gate(*mem, &gk_process_metric_ranges[GK_PM_GPU_MEM]);
}

/* The maximum number of bytes that a process can hold; 0: unknown. */
static uint64_t memory_bound(const struct gk_value values[GK_M_COUNT])
{
	struct gk_value total = values[GK_M_MEM_TOTAL];
	struct gk_value unified = values[GK_M_MEM_UNIFIED];

	/* A GPU that shares the host's memory has no such bound. */
	return total.why || (!unified.why && unified.v) ? 0 : (uint64_t)total.v;
}

static void take_records(struct gk_gpu *gpu, unsigned unit,
			 const struct list *list, unsigned count)
{
	uint64_t total = memory_bound(gpu->units[0].dev.m);
	size_t stride = gk_stride_check(expected_stride(gpu->nvml, list),
					gpu->scratch.bytes, count, total);

	for (unsigned i = 0; i < count; i++) {
		struct gk_record record =
		    gk_record_at(gpu->scratch.bytes, stride, i);

		if (!gk_record_plausible(&record, 0))
			continue;
		/*
		 * If a process seems to hold more memory than the GPU has, keep
		 * the process but drop the number.
		 */
		if (total && record.used > total)
			record.used = UINT64_MAX;
		join_record(gpu, unit, list->type, &record);
	}
}

static nvmlReturn_t list_unit(struct gk_gpu *gpu, unsigned index)
{
	struct gk_gpu_unit *unit = &gpu->units[index];
	enum gk_absence why = GK_ABSENT_NOT_SUPPORTED;

	for (size_t i = 0; i < COUNT(lists); i++) {
		unsigned count = 0;
		nvmlReturn_t r;

		if (unit->unsupported_lists & (unsigned)lists[i].type)
			continue;
		r = ask_list(&lists[i], gpu->nvml, unit->handle, &gpu->scratch,
			     &count);
		if (gk_nvml_is_lost(r))
			return r;
		if (r == NVML_ERROR_NOT_SUPPORTED ||
		    r == NVML_ERROR_FUNCTION_NOT_FOUND)
			unit->unsupported_lists |= (unsigned)lists[i].type;
		if (!r)
			take_records(gpu, index, &lists[i], count);
		/* One readable list is enough for the processes to be known. */
		if (!r || (!i && why))
			why = gk_nvml_absence(r);
	}
	unit->dev.processes_why = why;
	return NVML_SUCCESS;
}

static nvmlReturn_t utilize_unit(struct gk_gpu *gpu, unsigned index)
{
	struct gk_gpu_unit *unit = &gpu->units[index];
	bool used = false;
	nvmlReturn_t r;

	for (size_t i = 0; i < gpu->listed_count; i++)
		used |= gpu->listed[i].unit == index;
	if (!used)
		return NVML_SUCCESS;
	r = gk_util_read(&unit->util, gpu->nvml, unit->handle, &gpu->scratch,
			 gk_wall_ns() / GK_NS_PER_US);
	for (size_t i = 0; i < gpu->listed_count; i++)
		if (gpu->listed[i].unit == index)
			gk_util_apply(&unit->util, gpu->listed[i].pid,
				      gpu->listed[i].m);
	return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
}

nvmlReturn_t gk_gpu_list(struct gk_gpu *gpu)
{
	nvmlReturn_t r = NVML_SUCCESS;

	gpu->listed_count = 0;
	for (unsigned i = 0; !r && i < gpu->unit_count; i++)
		r = list_unit(gpu, i);
	if (gpu->with & GK_WITHOUT_PROCESS_UTIL)
		return r;
	for (unsigned i = 0; !r && i < gpu->unit_count; i++)
		r = utilize_unit(gpu, i);
	return r;
}
