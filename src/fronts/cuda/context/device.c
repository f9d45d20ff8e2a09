/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - the devices visible to this process: their number, names, UUIDs,
 * bus ids and memory.
 */
#include "fronts/cuda/context/front.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/model/mig/mig.h"
#include "machine/store/process/ledger.h"
#include "machine/trouble/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool device_is_gone(const struct cuda_device *d)
{
	struct gkf_mig_ci ci;

	if (gkf_fault_active(cuda.machine, d->index, GKF_FAULT_FALLEN) ||
	    gkf_fault_active(cuda.machine, d->index, GKF_FAULT_LOST))
		return true;
	return d->instance != GKF_NO_INSTANCE &&
	       (gkf_mig_ci_read(cuda.machine, d->index,
				GKF_INSTANCE_GI(d->instance),
				GKF_INSTANCE_CI(d->instance), &ci) ||
		ci.life != d->life);
}

void device_memory(const struct cuda_device *d, uint64_t *ret_total,
		   uint64_t *ret_free)
{
	struct gkf_memory m = {0};

	/* Like NVML, counts the memory of dead processes as free. */
	gkf_reap(cuda.machine, false);
	if (d->instance == GKF_NO_INSTANCE)
		gkf_memory(cuda.machine, d->index, &m);
	else
		gkf_memory_gi(cuda.machine, d->index,
			      GKF_INSTANCE_GI(d->instance), &m);
	*ret_total = m.total - m.reserved;
	*ret_free = m.free;
}

CUresult cuDeviceGetCount(int *count)
{
	ENTER(cuDeviceGetCount);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = (int)cuda.device_count;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	ENTER(cuDeviceGet);
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (!front_device(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

/* Declares `d`, or returns an error if the arguments are invalid. */
#define ENTER_DEVICE(symbol, dev, arguments_ok)                                \
	const struct cuda_device *d;                                           \
	ENTER(symbol);                                                         \
	d = front_device(dev);                                                 \
	if (!(arguments_ok))                                                   \
		return CUDA_ERROR_INVALID_VALUE;                               \
	if (!d)                                                                \
	return CUDA_ERROR_INVALID_DEVICE

/* Copies as much of the text as fits; always adds a NUL. */
static void cut_name(char *to, int len, const char *text)
{
	size_t n = strlen(text);

	n = n < (size_t)len ? n : (size_t)len - 1;
	memcpy(to, text, n);
	to[n] = '\0';
}

static bool read_instance(const struct cuda_device *d, struct gkf_mig_ci *ci)
{
	return d->instance != GKF_NO_INSTANCE &&
	       !gkf_mig_ci_read(cuda.machine, d->index,
				GKF_INSTANCE_GI(d->instance),
				GKF_INSTANCE_CI(d->instance), ci);
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	const struct gkf_profile *p;
	char whole[2 * GKF_NAME_MAX];
	struct gkf_mig_ci ci;

	ENTER_DEVICE(cuDeviceGetName, dev, name && len > 0);
	p = &d->board->profile;
	if (read_instance(d, &ci))
		snprintf(whole, sizeof(whole), "%s%s MIG %s", p->mark, p->name,
			 ci.profile.name);
	else
		snprintf(whole, sizeof(whole), "%s%s", p->mark, p->name);
	cut_name(name, len, whole);
	return CUDA_SUCCESS;
}

/* Parses the sixteen bytes in "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". */
static CUuuid uuid_bytes(const char *text)
{
	CUuuid uuid = {{0}};
	unsigned digits = 0;

	for (const char *c = strchr(text, '-'); c && *c && digits < 32; c++) {
		char digit[2] = {*c};

		if (*c == '-')
			continue;
		uuid.bytes[digits / 2] = (char)(uuid.bytes[digits / 2] << 4 |
						(char)strtoul(digit, NULL, 16));
		digits++;
	}
	return uuid;
}

/* Returns the UUID of the whole GPU, even for a MIG device. */
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	ENTER_DEVICE(cuDeviceGetUuid, dev, uuid != NULL);
	*uuid = uuid_bytes(d->board->uuid);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	char text[GKF_MIG_UUID_MAX];
	struct gkf_mig_ci ci;

	ENTER_DEVICE(cuDeviceGetUuid_v2, dev, uuid != NULL);
	if (read_instance(d, &ci)) {
		gkf_mig_uuid(cuda.machine, d->index, &ci, text);
		*uuid = uuid_bytes(text);
	} else {
		*uuid = uuid_bytes(d->board->uuid);
	}
	return CUDA_SUCCESS;
}

/* Returns 32 bits, as in CUDA 2; larger sizes become UINT32_MAX. */
CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice dev)
{
	uint64_t total, left;

	ENTER_DEVICE(cuDeviceTotalMem, dev, bytes != NULL);
	device_memory(d, &total, &left);
	*bytes = total < UINT32_MAX ? (unsigned)total : UINT32_MAX;
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	uint64_t total, left;

	ENTER_DEVICE(cuDeviceTotalMem_v2, dev, bytes != NULL);
	device_memory(d, &total, &left);
	*bytes = total;
	return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	ENTER_DEVICE(cuDeviceComputeCapability, dev, major && minor);
	*major = (int)d->board->profile.compute_major;
	*minor = (int)d->board->profile.compute_minor;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
	char text[32];

	ENTER_DEVICE(cuDeviceGetPCIBusId, dev, pciBusId && len > 0);
	snprintf(text, sizeof(text), "%04x:%02x:%02x.0", d->board->pci_domain,
		 d->board->pci_bus, d->board->pci_device);
	for (char *c = text; *c; c++)
		*c = *c >= 'a' && *c <= 'f' ? (char)(*c - 'a' + 'A') : *c;
	cut_name(pciBusId, len, text);
	return CUDA_SUCCESS;
}

/* Parses "domain:bus:device.function"; domain and function are optional. */
static bool parse_bus_id(const char *text, unsigned at[4])
{
	const char *colon = strchr(text, ':');
	bool domain = colon && strchr(colon + 1, ':');
	int end = 0, n;

	at[0] = at[3] = 0;
	n = domain ? sscanf(text, "%8x:%2x:%2x%n", &at[0], &at[1], &at[2], &end)
		   : sscanf(text, "%2x:%2x%n", &at[1], &at[2], &end);
	if (n != (domain ? 3 : 2))
		return false;
	if (text[end] == '.') {
		text += end;
		end = 0;
		if (sscanf(text, ".%1x%n", &at[3], &end) != 1)
			return false;
	}
	return !text[end];
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
	unsigned at[4];

	ENTER(cuDeviceGetByPCIBusId);
	if (!dev || !pciBusId || !parse_bus_id(pciBusId, at))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < cuda.device_count; i++) {
		const struct gkf_board *b = cuda.device[i].board;

		if (b->pci_domain == at[0] && b->pci_bus == at[1] &&
		    b->pci_device == at[2] && !at[3]) {
			*dev = (CUdevice)i;
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_INVALID_DEVICE;
}

/* LUIDs exist only on Windows. */
CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
	ENTER_DEVICE(cuDeviceGetLuid, dev, luid && deviceNodeMask);
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* Only an MPS server assigns shares of the SMs, and there is none. */
CUresult cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type,
					CUdevice dev)
{
	ENTER_DEVICE(cuDeviceGetExecAffinitySupport, dev,
		     pi && (unsigned)type < CU_EXEC_AFFINITY_TYPE_MAX);
	*pi = 0;
	return CUDA_SUCCESS;
}
