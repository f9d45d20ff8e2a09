/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - counts and finds devices (by index, UUID, serial number and PCI
 * address), and returns their brand, architecture and GSP firmware.
 */
#include "fronts/nvml/mig/mig_handle.h"
#include "fronts/nvml/board/pci.h"
#include "machine/file/board.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"
#include "machine/store/listed.h"
#include "machine/store/settings.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static nvmlReturn_t count_devices(enum nvml_row row, unsigned int *ret_count)
{
	struct call c;
	nvmlReturn_t r = enter_call(&c, row, ret_count != NULL);

	if (r)
		return r;
	*ret_count = gkf_listed_count(c.machine);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount(unsigned int *deviceCount)
{
	return count_devices(ROW_nvmlDeviceGetCount, deviceCount);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount)
{
	return count_devices(ROW_nvmlDeviceGetCount_v2, deviceCount);
}

/* Returns a GPU's handle, unless a fault prevents it. */
static nvmlReturn_t give_handle(const struct call *c, unsigned index,
				bool by_pci, nvmlDevice_t *ret_handle)
{
	nvmlReturn_t r = front_lookup(c, index, by_pci);

	if (!r)
		*ret_handle = &front_handles[index];
	return r;
}

static nvmlReturn_t give_by_index(enum nvml_row row, unsigned index,
				  nvmlDevice_t *ret_handle)
{
	struct call c;
	nvmlReturn_t r = enter_call(&c, row, ret_handle != NULL);
	int at;

	if (r)
		return r;
	at = gkf_listed(c.machine, index);
	return at < 0 ? NVML_ERROR_INVALID_ARGUMENT
		      : give_handle(&c, (unsigned)at, false, ret_handle);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index,
					nvmlDevice_t *device)
{
	return give_by_index(ROW_nvmlDeviceGetHandleByIndex, index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
					   nvmlDevice_t *device)
{
	return give_by_index(ROW_nvmlDeviceGetHandleByIndex_v2, index, device);
}

#define UUID_TEXT (NVML_DEVICE_UUID_ASCII_LEN + 1)

/* Formats the UUID of a GPU. UUIDs of MIG devices have no binary form. */
static void uuid_text(const unsigned char *bytes, char text[UUID_TEXT])
{
	char *at = text + sprintf(text, "GPU");

	for (unsigned i = 0; i < NVML_DEVICE_UUID_BINARY_LEN; i++) {
		bool dash = !i || (i >= 4 && i <= 10 && i % 2 == 0);

		at += sprintf(at, dash ? "-%02x" : "%02x", bytes[i]);
	}
}

static nvmlReturn_t find_uuid(const struct call *c, const char *uuid,
			      nvmlDevice_t *ret_handle)
{
	if (!strncasecmp(uuid, "MIG-", 4))
		return mig_by_uuid(c, uuid, ret_handle);
	for (unsigned i = 0; i < c->device_count; i++)
		if (gkf_gate_lists(c->gate, i) &&
		    strcasecmp(uuid, gkf_board(c->machine, i)->uuid) == 0)
			return give_handle(c, i, false, ret_handle);
	return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	ENTER(nvmlDeviceGetHandleByUUID, uuid && device);
	return find_uuid(&c, uuid, device);
}

/* Accepts the UUID as text or as 16 bytes. */
nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t *uuid,
					nvmlDevice_t *device)
{
	char text[UUID_TEXT];

	ENTER(nvmlDeviceGetHandleByUUIDV, uuid && device);
	if (!TAKES(uuid->version, nvmlUUID_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (uuid->type == NVML_UUID_TYPE_ASCII)
		snprintf(text, sizeof(text), "%.*s", NVML_DEVICE_UUID_ASCII_LEN,
			 uuid->value.str);
	else if (uuid->type == NVML_UUID_TYPE_BINARY)
		uuid_text(uuid->value.bytes, text);
	else
		return NVML_ERROR_INVALID_ARGUMENT;
	return find_uuid(&c, text, device);
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial,
					 nvmlDevice_t *device)
{
	ENTER(nvmlDeviceGetHandleBySerial, serial && *serial && device);
	for (unsigned i = 0; i < c.device_count; i++)
		if (gkf_gate_lists(c.gate, i) &&
		    !strcmp(serial, gkf_board(c.machine, i)->serial))
			return give_handle(&c, i, false, device);
	return NVML_ERROR_NOT_FOUND;
}

struct pci_address {
	unsigned domain, bus, device;
};

/* Reads a hexadecimal number and the character `then` after it. */
static bool hex_then(const char **at, char then, unsigned *ret_number)
{
	char *end;
	unsigned long number;

	if (!isxdigit((unsigned char)**at))
		return false;
	number = strtoul(*at, &end, 16);
	if (*end != then || number > UINT_MAX)
		return false;
	*at = then ? end + 1 : end;
	*ret_number = (unsigned)number;
	return true;
}

/* Reads [domain:]bus:device.0 */
static bool parse_pci(const char *text, struct pci_address *ret_address)
{
	const char *at = text, *colon = strchr(text, ':');
	struct pci_address a = {0};
	unsigned function;

	if (colon && strchr(colon + 1, ':') && !hex_then(&at, ':', &a.domain))
		return false;
	if (!hex_then(&at, ':', &a.bus) || !hex_then(&at, '.', &a.device) ||
	    !hex_then(&at, '\0', &function))
		return false;
	*ret_address = a;
	return function == 0;
}

static nvmlReturn_t by_pci(enum nvml_row row, const char *text,
			   nvmlDevice_t *ret_handle)
{
	struct call c;
	struct pci_address a;
	nvmlReturn_t r = enter_call(&c, row, text && ret_handle);
	int at;

	if (r)
		return r;
	if (!parse_pci(text, &a))
		return NVML_ERROR_INVALID_ARGUMENT;
	at = front_pci_find(&c, a.domain, a.bus, a.device);
	return at < 0 ? NVML_ERROR_NOT_FOUND
		      : give_handle(&c, (unsigned)at, true, ret_handle);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *pciBusId,
					   nvmlDevice_t *device)
{
	return by_pci(ROW_nvmlDeviceGetHandleByPciBusId, pciBusId, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId,
					      nvmlDevice_t *device)
{
	return by_pci(ROW_nvmlDeviceGetHandleByPciBusId_v2, pciBusId, device);
}

struct named {
	const char *name;
	unsigned value;
};

/* Names in profiles are NVML's names without the prefix. */
#define NAMED(prefix, tail)                                                    \
	{                                                                      \
#tail, prefix##tail                                            \
	}

static const struct named brands[] = {
    NAMED(NVML_BRAND_, QUADRO),     NAMED(NVML_BRAND_, TESLA),
    NAMED(NVML_BRAND_, NVS),        NAMED(NVML_BRAND_, GRID),
    NAMED(NVML_BRAND_, GEFORCE),    NAMED(NVML_BRAND_, TITAN),
    NAMED(NVML_BRAND_, QUADRO_RTX), NAMED(NVML_BRAND_, NVIDIA_RTX),
    NAMED(NVML_BRAND_, NVIDIA),     NAMED(NVML_BRAND_, GEFORCE_RTX),
    NAMED(NVML_BRAND_, TITAN_RTX),  {NULL, NVML_BRAND_UNKNOWN},
};

static const struct named architectures[] = {
    NAMED(NVML_DEVICE_ARCH_, KEPLER),    NAMED(NVML_DEVICE_ARCH_, MAXWELL),
    NAMED(NVML_DEVICE_ARCH_, PASCAL),    NAMED(NVML_DEVICE_ARCH_, VOLTA),
    NAMED(NVML_DEVICE_ARCH_, TURING),    NAMED(NVML_DEVICE_ARCH_, AMPERE),
    NAMED(NVML_DEVICE_ARCH_, ADA),       NAMED(NVML_DEVICE_ARCH_, HOPPER),
    NAMED(NVML_DEVICE_ARCH_, BLACKWELL), NAMED(NVML_DEVICE_ARCH_, RUBIN),
    {NULL, NVML_DEVICE_ARCH_UNKNOWN},
};
#undef NAMED

/* The value for a name. For an unknown name, the value of the last row, which
 * has no name. */
static unsigned value_of_name(const struct named *row, const char *name)
{
	while (row->name && strcmp(row->name, name) != 0)
		row++;
	return row->value;
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *type)
{
	ENTER_DEVICE(nvmlDeviceGetBrand, device, type != NULL);
	*type = (nvmlBrandType_t)value_of_name(brands, c.board->profile.brand);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device,
				       nvmlDeviceArchitecture_t *arch)
{
	ENTER_DEVICE(nvmlDeviceGetArchitecture, device, arch != NULL);
	*arch = value_of_name(architectures, c.board->profile.architecture);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major,
						int *minor)
{
	ENTER_DEVICE(nvmlDeviceGetCudaComputeCapability, device,
		     major && minor);
	*major = (int)c.board->profile.compute_major;
	*minor = (int)c.board->profile.compute_minor;
	return NVML_SUCCESS;
}

/* The GSP firmware is part of the driver and has the driver's version. */
nvmlReturn_t nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char *version)
{
	ENTER_DEVICE(nvmlDeviceGetGspFirmwareVersion, device, version != NULL);
	if (c.board->profile.gsp <= 0)
		return NVML_ERROR_NOT_SUPPORTED;
	return front_copy(version, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE,
			  gkf_driver(c.machine)->version,
			  sizeof(gkf_driver(c.machine)->version));
}

nvmlReturn_t nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device,
					  unsigned int *isEnabled,
					  unsigned int *defaultMode)
{
	ENTER_DEVICE(nvmlDeviceGetGspFirmwareMode, device,
		     isEnabled && defaultMode);
	if (c.board->profile.gsp < 0)
		return NVML_ERROR_NOT_SUPPORTED;
	*isEnabled = (unsigned)c.board->profile.gsp;
	*defaultMode = (unsigned)c.board->profile.gsp;
	return NVML_SUCCESS;
}
