/* SPDX-License-Identifier: Apache-2.0 */
/*
 * platform.c - returns what a device reports about its platform: chassis,
 * module and host name, further identifiers, addressing and virtualisation
 * modes.
 */
#include "base/mix.h"
#include "fronts/nvml/meter/module.h"
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/topology.h"
#include "machine/file/value.h"
#include "machine/store/board.h"
#include "machine/store/hostname.h"
#include "machine/store/settings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A number derived from the UUID and the salt. */
static uint64_t derive_identifier(const struct call *c, uint64_t salt)
{
	uint64_t x = salt;

	for (const char *at = c->board->uuid; *at; at++)
		x = gkf_mix(x ^ (unsigned char)*at);
	return x;
}

static bool is_architecture(const struct call *c, const char *architecture)
{
	return strcmp(c->board->profile.architecture, architecture) == 0;
}

enum { SALT_PDI = 1, SALT_IB, SALT_CHASSIS };

nvmlReturn_t nvmlDeviceGetPdi(nvmlDevice_t device, nvmlPdi_t *pdi)
{
	ENTER_DEVICE(nvmlDeviceGetPdi, device, pdi != NULL);
	if (!TAKES(pdi->version, nvmlPdi_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	pdi->value = derive_identifier(&c, SALT_PDI);
	return NVML_SUCCESS;
}

/*
 * A GPU that is a PCIe card has module number 1, as published listings of a
 * GeForce show.
 */
static unsigned module_number(const struct call *c)
{
	return c->board->profile.sxm
		   ? gkf_topology(c->machine)->seat[c->index].module
		   : 1;
}

nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned int *moduleId)
{
	ENTER_DEVICE(nvmlDeviceGetModuleId, device, moduleId != NULL);
	*moduleId = module_number(&c);
	return NVML_SUCCESS;
}

#define PEER_DIRECT 0
#define PEER_SWITCH 1
#define HOST_ID     1

/* The made-up machine is the first tray of a rack of its own. */
#define SLOT 1

static void put_in_rack(const struct call *c, nvmlPlatformInfo_v2_t *info)
{
	uint64_t number = gkf_mix(gkf_machine_seed(c->machine) ^ SALT_CHASSIS);

	info->slotNumber = SLOT;
	snprintf((char *)info->chassisSerialNumber,
		 sizeof(info->chassisSerialNumber), "18%011" PRIu64,
		 number % 100000000000);
}

/*
 * In published listings, boards before Blackwell have no chassis serial number,
 * slot 0, tray 0 and host 1, and their peer type is a direct connection. Newer
 * boards report a switch and an 8-byte fabric identifier.
 */
nvmlReturn_t nvmlDeviceGetPlatformInfo(nvmlDevice_t device,
				       nvmlPlatformInfo_t *info)
{
	const struct gkf_seat *seat;
	unsigned char guid[16] = {0};
	uint64_t ib;
	bool fabric;

	ENTER_DEVICE(nvmlDeviceGetPlatformInfo, device, info != NULL);
	seat = &gkf_topology(c.machine)->seat[c.index];
	fabric = is_architecture(&c, "BLACKWELL") && seat->fabric;
	ib = fabric ? derive_identifier(&c, SALT_IB) : 0;
	memcpy(guid, &ib, sizeof(ib));
	if (TAKES(info->version, nvmlPlatformInfo_v1)) {
		nvmlPlatformInfo_v1_t *v1 = (nvmlPlatformInfo_v1_t *)info;

		*v1 = (nvmlPlatformInfo_v1_t){
		    .version = nvmlPlatformInfo_v1,
		    .nodeIndex = HOST_ID,
		    .peerType = fabric ? PEER_SWITCH : PEER_DIRECT,
		    .moduleId = (unsigned char)module_number(&c)};
		memcpy(v1->ibGuid, guid, sizeof(guid));
		return NVML_SUCCESS;
	}
	if (!TAKES(info->version, nvmlPlatformInfo_v2))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	*info = (nvmlPlatformInfo_v2_t){
	    .version = nvmlPlatformInfo_v2,
	    .hostId = HOST_ID,
	    .peerType = fabric ? PEER_SWITCH : PEER_DIRECT,
	    .moduleId = (unsigned char)module_number(&c)};
	memcpy(info->ibGuid, guid, sizeof(guid));
	if (module_is_in_rack(&c))
		put_in_rack(&c, info);
	return NVML_SUCCESS;
}

/* ---- host name: since Blackwell ---- */

nvmlReturn_t nvmlDeviceGetHostname_v1(nvmlDevice_t device,
				      nvmlHostname_v1_t *hostname)
{
	char text[GKF_TEXT_MAX];

	ENTER_DEVICE(nvmlDeviceGetHostname_v1, device, hostname != NULL);
	if (!is_architecture(&c, "BLACKWELL"))
		return NVML_ERROR_NOT_SUPPORTED;
	gkf_hostname(c.machine, c.index, text);
	return front_copy(hostname->value, sizeof(hostname->value), text,
			  sizeof(text));
}

/* Whether the name is terminated and has only letters, digits, dots and dashes.
 */
static bool is_hostname(const nvmlHostname_v1_t *name)
{
	size_t n = strnlen(name->value, sizeof(name->value));

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name->value[i]) &&
		    name->value[i] != '-' && name->value[i] != '.')
			return false;
	return n < sizeof(name->value);
}

nvmlReturn_t nvmlDeviceSetHostname_v1(nvmlDevice_t device,
				      nvmlHostname_v1_t *hostname)
{
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceSetHostname_v1, device, hostname != NULL);
	if (!is_architecture(&c, "BLACKWELL"))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!is_hostname(hostname))
		return NVML_ERROR_INVALID_ARGUMENT;
	r = front_permit(&c);
	return r ? r
		 : front_error(
		       gkf_hostname_set(c.machine, c.index, hostname->value));
}

/* ---- capabilities ---- */

/* The only capability is EGM, and no simulated board supports it. */
nvmlReturn_t nvmlDeviceGetCapabilities(nvmlDevice_t device,
				       nvmlDeviceCapabilities_t *caps)
{
	ENTER_DEVICE(nvmlDeviceGetCapabilities, device, caps != NULL);
	if (!TAKES(caps->version, nvmlDeviceCapabilities_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	caps->capMask = 0;
	return NVML_SUCCESS;
}

/* Turing and newer GPUs support this. */
nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device,
					 nvmlDeviceAddressingMode_t *mode)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetAddressingMode, device, mode != NULL);
	if (!TAKES(mode->version, nvmlDeviceAddressingMode_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (is_architecture(&c, "VOLTA") ||
	    !read_device_value(&c, GKF_V_ADDRESSING, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	mode->value = (unsigned)v;
	return NVML_SUCCESS;
}

/* GPUs on modules report C2C as on or off; most cards do not support this. */
nvmlReturn_t nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device,
				       nvmlC2cModeInfo_v1_t *c2cModeInfo)
{
	ENTER_DEVICE(nvmlDeviceGetC2cModeInfoV, device, c2cModeInfo != NULL);
	if (c.board->profile.c2c < 0)
		return NVML_ERROR_NOT_SUPPORTED;
	c2cModeInfo->isC2cEnabled = (unsigned)c.board->profile.c2c;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device,
					     nvmlGpuVirtualizationMode_t *mode)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetVirtualizationMode, device, mode != NULL);
	if (!read_device_value(&c, GKF_V_VIRTUALIZATION, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	*mode = (nvmlGpuVirtualizationMode_t)v;
	return NVML_SUCCESS;
}

/* Only vGPU hosts can set a mode. */
nvmlReturn_t nvmlDeviceSetVirtualizationMode(nvmlDevice_t device,
					     nvmlGpuVirtualizationMode_t mode)
{
	ENTER_DEVICE(nvmlDeviceSetVirtualizationMode, device,
		     (unsigned)mode <= NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA);
	return NVML_ERROR_NOT_SUPPORTED;
}

/* ---- values that all simulated boards share ---- */

nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t *type)
{
	ENTER_DEVICE(nvmlDeviceGetBusType, device, type != NULL);
	*type = NVML_BUS_TYPE_PCIE;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device,
					unsigned int *multiGpuBool)
{
	ENTER_DEVICE(nvmlDeviceGetMultiGpuBoard, device, multiGpuBool != NULL);
	*multiGpuBool = 0;
	return NVML_SUCCESS;
}
