/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - finds the number of a GPU in the policy and the ledger, and its
 * NVML handle. The table of numbers is in the ledger, by UUID; the first
 * process fills it.
 */
#include "base/log.h"
#include "limit/preload/entry/driver.h"
#include "limit/preload/limited.h"
#include "limit/preload/report/mirror.h"
#include "limit/preload/report/refusal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CUDA_DEVICES = 64, BUS_ID = 32, NO_NUMBER = 0 };

static struct {
	/* For each CUDA device, its number plus 1; or NO_NUMBER. */
	_Atomic int8_t numbers[CUDA_DEVICES];
	_Atomic bool nvml_begun, fork_handled, looked;
} own;

/* Writes CUDA's 16 bytes in NVML's format. */
static void write_uuid(const CUuuid *uuid, const char *kind,
		       char ret_text[GKL_UUID])
{
	static const char digits[] = "0123456789abcdef";
	char *to = stpcpy(ret_text, kind);

	for (int i = 0; i < 16; i++) {
		unsigned char byte = (unsigned char)uuid->bytes[i];

		*to++ = digits[byte >> 4];
		*to++ = digits[byte & 15];
		if (i == 3 || i == 5 || i == 7 || i == 9)
			*to++ = '-';
	}
	*to = '\0';
}

static int find_uuid(struct gkl_group *group, const char *uuid)
{
	struct gkl_device device;

	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (gkl_ledger_device(group->ledger, i, &device) &&
		    !strcmp(device.uuid, uuid))
			return (int)i;
	return LIMITED_UNKNOWN;
}

/* Keeps the known size of a context if the GPU is the same. */
static void tell_device(struct gkl_group *group, unsigned number,
			struct gkl_device *fresh)
{
	struct gkl_device old;

	if (gkl_ledger_device(group->ledger, number, &old) &&
	    !strcmp(old.uuid, fresh->uuid)) {
		if (old.total == fresh->total)
			return;
		fresh->context_bytes = old.context_bytes;
	}
	gkl_ledger_set_device(group->ledger, number, fresh);
}

static void drop_device(struct gkl_group *group, unsigned number)
{
	const struct gkl_device none = {.uuid = ""};
	struct gkl_device old;

	if (gkl_ledger_device(group->ledger, number, &old))
		gkl_ledger_set_device(group->ledger, number, &none);
}

static void end_in_child(void)
{
	atomic_store(&own.nvml_begun, false);
}

/*
 * Initialises NVML once and never shuts it down: a program that shuts NVML down
 * has initialised it itself.
 */
static bool begin_nvml(void)
{
	if (atomic_load_explicit(&own.nvml_begun, memory_order_acquire))
		return true;
	if (!driver_nvml_ready() || !REAL_NVML(nvmlInit_v2) ||
	    REAL_NVML(nvmlInit_v2)() != NVML_SUCCESS)
		return false;
	if (!atomic_exchange(&own.fork_handled, true))
		pthread_atfork(NULL, NULL, end_in_child);
	atomic_store_explicit(&own.nvml_begun, true, memory_order_release);
	return true;
}

static bool read_nvml_device(unsigned number, struct gkl_device *ret_device)
{
	nvmlDevice_t handle;
	nvmlMemory_t memory;

	*ret_device = (struct gkl_device){.uuid = ""};
	if (REAL_NVML(nvmlDeviceGetHandleByIndex_v2)(number, &handle) ||
	    REAL_NVML(nvmlDeviceGetUUID)(handle, ret_device->uuid, GKL_UUID) ||
	    REAL_NVML(nvmlDeviceGetMemoryInfo)(handle, &memory))
		return false;
	ret_device->total = memory.total;
	return true;
}

static bool tell_by_nvml(struct gkl_group *group)
{
	struct gkl_device device;
	unsigned count;

	if (!begin_nvml() || REAL_NVML(nvmlDeviceGetCount_v2)(&count))
		return false;
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (i >= count)
			drop_device(group, i);
		else if (read_nvml_device(i, &device))
			tell_device(group, i, &device);
	return true;
}

/*
 * Counts the devices that come before a bus id; NVML orders devices by bus
 * id.
 */
static unsigned count_before(const char *bus_id, int count)
{
	unsigned before = 0;
	char other[BUS_ID];

	for (int i = 0; i < count; i++)
		if (!REAL(cuDeviceGetPCIBusId)(other, BUS_ID, i) &&
		    strcmp(other, bus_id) < 0)
			before++;
	return before;
}

/*
 * Used where NVML is missing, as in some containers. CUDA lists all GPUs unless
 * CUDA_VISIBLE_DEVICES is set; if it is, the numbers are unknown.
 */
static void tell_by_cuda(struct gkl_group *group)
{
	struct gkl_device device;
	char bus_id[BUS_ID];
	CUuuid uuid;
	int count;

	if (getenv("CUDA_VISIBLE_DEVICES") || REAL(cuDeviceGetCount)(&count))
		return;
	for (int i = 0; i < count; i++) {
		unsigned number;

		device = (struct gkl_device){.uuid = ""};
		if (REAL(cuDeviceGetPCIBusId)(bus_id, BUS_ID, i) ||
		    REAL(cuDeviceGetUuid)(&uuid, i) ||
		    REAL(cuDeviceTotalMem_v2)(&device.total, i))
			continue;
		number = count_before(bus_id, count);
		write_uuid(&uuid, "GPU-", device.uuid);
		if (number < GKL_DEVICES)
			tell_device(group, number, &device);
	}
}

static void count_process(const struct gkl_process *process, void *arg)
{
	(void)process;
	++*(unsigned *)arg;
}

/*
 * A container may restart with other GPUs, so the only process of a group does
 * not trust an old table.
 */
static bool is_table_believed(struct gkl_group *group)
{
	unsigned others = 0;

	if (atomic_exchange(&own.looked, true))
		return true;
	gkl_ledger_bury(group->ledger);
	gkl_ledger_each(group->ledger, count_process, &others);
	return others > 0;
}

static int find_or_tell(struct gkl_group *group, const char *uuid)
{
	int number =
	    is_table_believed(group) ? find_uuid(group, uuid) : LIMITED_UNKNOWN;

	if (number >= 0)
		return number;
	if (!tell_by_nvml(group) && driver_cuda_ready())
		tell_by_cuda(group);
	mirror_devices(group);
	number = find_uuid(group, uuid);
	if (number < 0)
		gk_log(GK_LOG_ERROR, "limit: %s has no number", uuid);
	return number;
}

/* The UUID of the GPU to which a MIG device belongs. */
static bool find_parent(nvmlDevice_t mig, char ret_uuid[GKL_UUID])
{
	nvmlDevice_t parent;

	return REAL_NVML(nvmlDeviceGetDeviceHandleFromMigDeviceHandle) &&
	       !REAL_NVML(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)(
		   mig, &parent) &&
	       !REAL_NVML(nvmlDeviceGetUUID)(parent, ret_uuid, GKL_UUID);
}

int limited_nvml_device(nvmlDevice_t device)
{
	struct gkl_group *group = limited();
	char uuid[GKL_UUID];

	if (!group || !driver_nvml_ready() ||
	    REAL_NVML(nvmlDeviceGetUUID)(device, uuid, GKL_UUID))
		return LIMITED_NONE;
	if (!strncmp(uuid, "MIG-", 4) && !find_parent(device, uuid))
		return LIMITED_UNKNOWN;
	return find_or_tell(group, uuid);
}

/*
 * cuDeviceGetUuid(), the first version of the call, gives the UUID of the GPU.
 * For a MIG device, older drivers give the UUID of the MIG device instead; NVML
 * then finds its GPU.
 */
static int find_number(struct gkl_group *group, CUdevice device)
{
	char text[GKL_UUID];
	nvmlDevice_t mig;
	CUuuid uuid;
	int number;

	if (REAL(cuDeviceGetUuid)(&uuid, device))
		return LIMITED_NONE;
	write_uuid(&uuid, "GPU-", text);
	number = find_or_tell(group, text);
	if (number >= 0 || !begin_nvml())
		return number;
	write_uuid(&uuid, "MIG-", text);
	if (REAL_NVML(nvmlDeviceGetHandleByUUID)(text, &mig) ||
	    !find_parent(mig, text))
		return LIMITED_UNKNOWN;
	return find_uuid(group, text);
}

int limited_device(CUdevice device)
{
	struct gkl_group *group = limited();
	int number;

	if (!group || device < 0 || device >= CUDA_DEVICES ||
	    !driver_cuda_ready())
		return LIMITED_NONE;
	number =
	    atomic_load_explicit(&own.numbers[device], memory_order_relaxed);
	if (__builtin_expect(number != NO_NUMBER, 1))
		return number - 1;
	number = find_number(group, device);
	if (number >= 0)
		atomic_store(&own.numbers[device], (int8_t)(number + 1));
	else if (number == LIMITED_UNKNOWN)
		refusal_no_number();
	return number;
}

int limited_current_device(void)
{
	CUdevice device;

	if (!limited() || !driver_cuda_ready() || REAL(cuCtxGetDevice)(&device))
		return LIMITED_NONE;
	return limited_device(device);
}

bool limited_nvml_handle(int device, nvmlDevice_t *ret_handle)
{
	struct gkl_group *group = limited();
	struct gkl_device told;

	return group && device >= 0 && begin_nvml() &&
	       gkl_ledger_device(group->ledger, (unsigned)device, &told) &&
	       !REAL_NVML(nvmlDeviceGetHandleByUUID)(told.uuid, ret_handle);
}
