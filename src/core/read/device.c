/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - opens a GPU, reads its identity and MIG devices, and detects its
 * loss.
 */
#include "core/read/device.h"
#include "base/assert.h"

#include "core/read/detail.h"
#include "core/driver/events.h"
#include "core/read/gate.h"
#include "core/read/places.h"

#include <stdlib.h>
#include <string.h>

#define LISTED_FIRST 8

/* Metrics that were not requested are not read, even if the GPU is lost. */
bool gk_is_asked(unsigned with, const struct gk_metric_set *only,
		 enum gk_metric metric)
{
	enum gk_tier tier;

	GK_ASSERT((unsigned)metric < GK_M_COUNT);
	tier = gk_metrics[metric].tier;
	if ((tier == GK_TIER_ASKED && !(with & GK_WITH_PCIE)) ||
	    (tier == GK_TIER_DETAIL && !(with & GK_WITH_DETAIL)) ||
	    (tier == GK_TIER_EVENT && !(with & GK_WITH_EVENTS)))
		return false;
	return !only || gk_metric_set_has(only, metric);
}

static void clear_values(const struct gk_gpu *gpu, struct gk_device *dev,
			 enum gk_absence why)
{
	const struct gk_metric_set *only = gpu->choosy ? &gpu->only : NULL;

	for (int i = 0; i < GK_M_COUNT; i++) {
		dev->m[i] = (struct gk_value){.why = GK_ABSENT_NOT_READ};
		if (why != GK_ABSENT_NOT_READ &&
		    gk_is_asked(gpu->with, only, (enum gk_metric)i))
			dev->m[i].why = why;
	}
}

static void start_unit(const struct gk_gpu *gpu, struct gk_gpu_unit *unit,
		       unsigned index)
{
	*unit = (struct gk_gpu_unit){.dev = {.index = index}};
	unit->dev.mig_index = unit->dev.parent = -1;
	unit->dev.gpu_instance = unit->dev.compute_instance = -1;
	unit->dev.minor = -1;
	unit->dev.compute_major = unit->dev.compute_minor = -1;
	unit->dev.processes_why = GK_ABSENT_NOT_READ;
	clear_values(gpu, &unit->dev, GK_ABSENT_NOT_READ);
}

static void free_unit(const struct gk_gpu *gpu, struct gk_gpu_unit *unit)
{
	gk_util_free(&unit->util);
	gk_gpm_free(&unit->gpm, gpu->nvml);
}

int gk_gpu_init(struct gk_gpu *gpu, const struct gk_nvml *nvml, unsigned index,
		const struct gk_gpu_options *options)
{
	*gpu = (struct gk_gpu){
	    .nvml = nvml,
	    .with = options->with,
	    .choosy = options->only,
	    .events = gk_events_ref(options->events),
	    .places = gk_places_ref(options->places),
	};
	if (options->only)
		gpu->only = *options->only;
	gpu->units = calloc(1, sizeof *gpu->units);
	gpu->listed = calloc(LISTED_FIRST, sizeof *gpu->listed);
	if (!gpu->units || !gpu->listed ||
	    gk_records_reserve(&gpu->scratch, 1)) {
		gk_gpu_fini(gpu);
		return GK_ERR_NOMEM;
	}
	gpu->listed_cap = LISTED_FIRST;
	gpu->unit_count = 1;
	start_unit(gpu, &gpu->units[0], index);
	return 0;
}

void gk_gpu_fini(struct gk_gpu *gpu)
{
	for (size_t i = 0; i < gpu->unit_count; i++)
		free_unit(gpu, &gpu->units[i]);
	free(gpu->units);
	free(gpu->listed);
	free(gpu->scratch.bytes);
	free(gpu->detail);
	gk_events_unref(gpu->events);
	gk_places_unref(gpu->places);
	*gpu = (struct gk_gpu){0};
}

/* Clears the placeholders that drivers write for missing texts, so that the
 * texts count as unknown. */
static void drop_placeholder(char *text)
{
	if (!strcmp(text, "0") || !strcmp(text, "N/A") ||
	    !strcmp(text, "[N/A]"))
		text[0] = '\0';
}

#define TEXT(nvml, function, handle, field)                                    \
	do {                                                                   \
		if (GK_NVML_CALL(nvml, function, handle, field, sizeof field)) \
			field[0] = '\0';                                       \
		field[sizeof field - 1] = '\0';                                \
	} while (0)

static void identify_board(const struct gk_nvml *nvml, struct gk_gpu_unit *unit)
{
	struct gk_device *dev = &unit->dev;
	nvmlPciInfo_t pci = {0};
	unsigned minor;

	TEXT(nvml, nvmlDeviceGetSerial, unit->handle, dev->serial);
	TEXT(nvml, nvmlDeviceGetVbiosVersion, unit->handle, dev->vbios);
	drop_placeholder(dev->serial);
	dev->bus_id[0] = '\0';
	if (!GK_NVML_CALL(nvml, nvmlDeviceGetPciInfo_v3, unit->handle, &pci))
		memcpy(dev->bus_id, pci.busId, sizeof dev->bus_id - 1);
	dev->minor = -1;
	if (!GK_NVML_CALL(nvml, nvmlDeviceGetMinorNumber, unit->handle, &minor))
		dev->minor = (int)gk_bounded(minor, GK_BOUND_PART);
	if (GK_NVML_CALL(nvml, nvmlDeviceGetCudaComputeCapability, unit->handle,
			 &dev->compute_major, &dev->compute_minor))
		dev->compute_major = dev->compute_minor = -1;
	dev->compute_major =
	    (int)gk_bounded(dev->compute_major, GK_BOUND_CAPABILITY);
	dev->compute_minor =
	    (int)gk_bounded(dev->compute_minor, GK_BOUND_CAPABILITY);
}

static void identify_gpu(const struct gk_gpu *gpu, struct gk_gpu_unit *unit)
{
	TEXT(gpu->nvml, nvmlDeviceGetName, unit->handle, unit->dev.name);
	TEXT(gpu->nvml, nvmlDeviceGetUUID, unit->handle, unit->dev.uuid);
	if (!(gpu->with & GK_WITHOUT_BOARD))
		identify_board(gpu->nvml, unit);
}

/* Identifies a MIG device. Texts that it lacks are copied from its GPU. */
static void identify_mig(const struct gk_nvml *nvml, struct gk_gpu_unit *unit,
			 const struct gk_device *gpu)
{
	struct gk_device *dev = &unit->dev;
	unsigned id;

	TEXT(nvml, nvmlDeviceGetName, unit->handle, dev->name);
	TEXT(nvml, nvmlDeviceGetUUID, unit->handle, dev->uuid);
	memcpy(dev->bus_id, gpu->bus_id, sizeof dev->bus_id);
	memcpy(dev->serial, gpu->serial, sizeof dev->serial);
	memcpy(dev->vbios, gpu->vbios, sizeof dev->vbios);
	dev->minor = gpu->minor;
	dev->compute_major = gpu->compute_major;
	dev->compute_minor = gpu->compute_minor;
	dev->gpu_instance = dev->compute_instance = -1;
	if (!GK_NVML_CALL(nvml, nvmlDeviceGetGpuInstanceId, unit->handle, &id))
		dev->gpu_instance = (int)gk_bounded(id, GK_BOUND_PART);
	if (!GK_NVML_CALL(nvml, nvmlDeviceGetComputeInstanceId, unit->handle,
			  &id))
		dev->compute_instance = (int)gk_bounded(id, GK_BOUND_PART);
}

#undef TEXT

void gk_device_identify(const struct gk_nvml *nvml, unsigned index,
			int mig_index, nvmlDevice_t gpu, nvmlDevice_t handle,
			struct gk_device *ret_device)
{
	struct gk_gpu all = {.nvml = nvml};
	struct gk_gpu_unit unit, mig;

	start_unit(&all, &unit, index);
	unit.handle = gpu;
	identify_gpu(&all, &unit);
	*ret_device = unit.dev;
	if (mig_index < 0)
		return;
	start_unit(&all, &mig, index);
	mig.handle = handle;
	mig.dev.mig_index = mig_index;
	identify_mig(nvml, &mig, &unit.dev);
	*ret_device = mig.dev;
}

/* The number of MIG indices to try; 0 if MIG is off. */
static unsigned mig_slots(const struct gk_gpu *gpu)
{
	unsigned current = 0, pending = 0, slots = 0;
	nvmlDevice_t dev = gpu->units[0].handle;

	if (GK_NVML_CALL(gpu->nvml, nvmlDeviceGetMigMode, dev, &current,
			 &pending) ||
	    current != NVML_DEVICE_MIG_ENABLE)
		return 0;
	if (GK_NVML_CALL(gpu->nvml, nvmlDeviceGetMaxMigDeviceCount, dev,
			 &slots))
		return 0;
	return slots < GK_MIG_LIMIT ? slots : GK_MIG_LIMIT;
}

/* Finds the known unit with this MIG index, if it is still the same MIG
 * device. */
static struct gk_gpu_unit *known_mig(struct gk_gpu *gpu, int mig_index,
				     const struct gk_gpu_unit *fresh)
{
	for (size_t i = 1; i < gpu->unit_count; i++) {
		struct gk_gpu_unit *unit = &gpu->units[i];

		if (unit->dev.mig_index == mig_index &&
		    unit->handle == fresh->handle &&
		    !strcmp(unit->dev.uuid, fresh->dev.uuid))
			return unit;
	}
	return NULL;
}

static void find_mig(struct gk_gpu *gpu, unsigned slot,
		     struct gk_gpu_unit *unit)
{
	struct gk_gpu_unit *known;
	int instance, compute;

	start_unit(gpu, unit, gpu->units[0].dev.index);
	if (GK_NVML_CALL(gpu->nvml, nvmlDeviceGetMigDeviceHandleByIndex,
			 gpu->units[0].handle, slot, &unit->handle)) {
		unit->handle = NULL;
		return;
	}
	unit->dev.mig_index = (int)slot;
	identify_mig(gpu->nvml, unit, &gpu->units[0].dev);
	known = known_mig(gpu, (int)slot, unit);
	if (!known)
		return;
	instance = unit->dev.gpu_instance;
	compute = unit->dev.compute_instance;
	*unit = *known;
	/* the memory of `util` and `gpm` now belongs to *unit */
	known->util = (struct gk_util){0};
	known->gpm = (struct gk_gpm){0};
	/* The driver may have refused to give the ids when `known` was read. */
	if (unit->dev.gpu_instance < 0)
		unit->dev.gpu_instance = instance;
	if (unit->dev.compute_instance < 0)
		unit->dev.compute_instance = compute;
}

/* Whether the units are the same devices as before, in the same order. */
static bool same_units(const struct gk_gpu *gpu,
		       const struct gk_gpu_unit *units, size_t count)
{
	bool same = count == gpu->unit_count;

	for (size_t i = 1; same && i < count; i++)
		same = units[i].handle == gpu->units[i].handle &&
		       !strcmp(units[i].dev.uuid, gpu->units[i].dev.uuid);
	return same;
}

/*
 * Looks for a MIG device at every index, because destroying one leaves a gap.
 * Returns whether the MIG devices have changed.
 */
static bool scan_mig(struct gk_gpu *gpu)
{
	unsigned slots = mig_slots(gpu);
	struct gk_gpu_unit *units;
	size_t count = 1;
	bool same;

	if (!slots && gpu->unit_count == 1)
		return false;
	units = calloc(1 + slots, sizeof *units);
	if (!units)
		return false;
	for (unsigned slot = 0; slot < slots; slot++) {
		find_mig(gpu, slot, &units[count]);
		count += units[count].handle != NULL;
	}
	units[0] = gpu->units[0];
	same = same_units(gpu, units, count);
	for (size_t i = 1; i < gpu->unit_count; i++)
		free_unit(gpu, &gpu->units[i]);
	free(gpu->units);
	gpu->units = units;
	gpu->unit_count = count;
	/* Listed processes refer to units by index. */
	if (!same)
		gpu->listed_count = 0;
	return !same;
}

static void fail_device(struct gk_gpu *gpu, nvmlReturn_t answer)
{
	enum gk_absence why = gk_nvml_absence(answer);

	gpu->open = false;
	gpu->listed_count = 0;
	free(gpu->detail);
	gpu->detail = NULL;
	for (size_t i = 0; i < gpu->unit_count; i++) {
		struct gk_device *dev = &gpu->units[i].dev;

		dev->health =
		    why == GK_ABSENT_LOST ? GK_HEALTH_LOST : GK_HEALTH_ERROR;
		dev->nvml_error = (int)answer;
		if (!(gpu->with & GK_WITHOUT_PROCESSES))
			dev->processes_why = why;
		clear_values(gpu, dev, why);
	}
}

static bool open_gpu(struct gk_gpu *gpu)
{
	struct gk_gpu_unit *unit = &gpu->units[0];
	nvmlReturn_t r = GK_NVML_CALL(gpu->nvml, nvmlDeviceGetHandleByIndex_v2,
				      unit->dev.index, &unit->handle);

	if (r) {
		fail_device(gpu, r);
		return false;
	}
	/*
	 * The GPU that came back may be on another board, or have other MIG
	 * devices.
	 */
	for (size_t i = 1; i < gpu->unit_count; i++)
		free_unit(gpu, &gpu->units[i]);
	gpu->unit_count = 1;
	gpu->listed_count = 0;
	free_unit(gpu, unit);
	unit->unsupported = (struct gk_row_set){0};
	unit->unsupported_lists = 0;
	unit->dev.health = GK_HEALTH_OK;
	unit->dev.nvml_error = 0;
	clear_values(gpu, &unit->dev, GK_ABSENT_NOT_READ);
	identify_gpu(gpu, unit);
	scan_mig(gpu);
	unit = &gpu->units[0]; /* the scan may have moved the units */
	gk_events_want(gpu->events, unit->dev.index, unit->handle);
	gpu->open = true;
	return true;
}

void gk_gpu_place(struct gk_gpu *gpu)
{
	gk_places_read(gpu->places, gpu->nvml, &gpu->units[0].dev,
		       gpu->units[0].handle);
}

static nvmlReturn_t read_unit(struct gk_gpu *gpu, struct gk_gpu_unit *unit,
			      enum gk_tier tier)
{
	const struct gk_metric_set *only = gpu->choosy ? &gpu->only : NULL;
	nvmlReturn_t r =
	    gk_collect(gpu->nvml, unit->handle, tier, unit != gpu->units, only,
		       &unit->unsupported, unit->dev.m);

	if (!r && tier == GK_TIER_DETAIL)
		r = gk_gpm_read(&unit->gpm, gpu->nvml, gpu->units[0].handle,
				&unit->dev, only, unit->dev.m);
	if (!r)
		unit->dev.read_ns[tier] = gk_mono_ns();
	return r;
}

static nvmlReturn_t read_units(struct gk_gpu *gpu, enum gk_tier tier)
{
	nvmlReturn_t r = NVML_SUCCESS;

	for (size_t i = 0; !r && i < gpu->unit_count; i++)
		r = read_unit(gpu, &gpu->units[i], tier);
	if (!r && tier == GK_TIER_MEDIUM && !(gpu->with & GK_WITHOUT_PROCESSES))
		r = gk_gpu_list(gpu);
	if (!r && tier == GK_TIER_DETAIL)
		r = gk_detail_read(gpu);
	return r;
}

/* Called whenever the slow tier is read: looks for MIG devices again, and
 * retries calls that were not supported. */
static nvmlReturn_t refresh_device(struct gk_gpu *gpu)
{
	nvmlReturn_t r = NVML_SUCCESS;
	bool changed = scan_mig(gpu);

	if (changed)
		r = read_units(gpu, GK_TIER_FAST);
	if (!r && changed)
		r = read_units(gpu, GK_TIER_MEDIUM);
	for (size_t i = 0; i < gpu->unit_count; i++) {
		gpu->units[i].unsupported = (struct gk_row_set){0};
		gpu->units[i].unsupported_lists = 0;
	}
	return r;
}

bool gk_gpu_read(struct gk_gpu *gpu, enum gk_tier tier)
{
	bool opened = false;
	nvmlReturn_t r = NVML_SUCCESS;

	if (!gpu->open && tier == GK_TIER_FAST)
		opened = open_gpu(gpu);
	if (!gpu->open)
		return false;
	if (tier == GK_TIER_SLOW && gpu->units[0].dev.read_ns[tier])
		r = refresh_device(gpu);
	if (!r)
		r = read_units(gpu, tier);
	if (r)
		fail_device(gpu, r);
	return opened && !r;
}
