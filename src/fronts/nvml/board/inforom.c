/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inforom.c - the InfoROM, a board's persistent memory: versions of its
 * objects, checksum of the configuration, validity, time of the last flush.
 */
#include "base/mix.h"
#include "fronts/nvml/front.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/store/clock.h"
#include "machine/trouble/fault.h"

static bool is_corrupt(const struct call *c)
{
	return gkf_fault_active(c->machine, c->index, GKF_FAULT_INFOROM);
}

static bool has_inforom(const struct call *c)
{
	return *c->board->profile.inforom_image != '\0';
}

/* No simulated board has InfoROM objects for power or DRAM encryption. */
nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t device,
					 nvmlInforomObject_t object,
					 char *version, unsigned int length)
{
	const struct gkf_profile *p;
	const char *text;

	ENTER_DEVICE(nvmlDeviceGetInforomVersion, device,
		     version && (unsigned)object < NVML_INFOROM_COUNT);
	p = &c.board->profile;
	text = object == NVML_INFOROM_OEM   ? p->inforom_oem
	       : object == NVML_INFOROM_ECC ? p->inforom_ecc
					    : "";
	return *text ? front_copy(version, length, text, sizeof(p->inforom_oem))
		     : NVML_ERROR_NOT_SUPPORTED;
}

/* A checksum of the user's configuration: the ECC mode is the only part of it.
 */
static unsigned compute_checksum(const struct call *c)
{
	uint64_t x = 0;
	int64_t v;

	for (const char *at = c->board->profile.inforom_image; *at; at++)
		x = gkf_mix(x ^ (unsigned char)*at);
	if (read_device_value(c, GKF_V_ECC_PENDING, &v))
		x = gkf_mix(x ^ (uint64_t)v);
	return (unsigned)x;
}

nvmlReturn_t nvmlDeviceGetInforomConfigurationChecksum(nvmlDevice_t device,
						       unsigned int *sum)
{
	ENTER_DEVICE(nvmlDeviceGetInforomConfigurationChecksum, device,
		     sum != NULL);
	if (!has_inforom(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	if (is_corrupt(&c))
		return NVML_ERROR_CORRUPTED_INFOROM;
	*sum = compute_checksum(&c);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t device)
{
	ENTER_DEVICE(nvmlDeviceValidateInforom, device, true);
	if (!has_inforom(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	return is_corrupt(&c) ? NVML_ERROR_CORRUPTED_INFOROM : NVML_SUCCESS;
}

/*
 * The black box (BBX) in the InfoROM. It is written every ten minutes
 * (estimated), which takes 0.12 s on an H100 (recalled without a source). It is
 * not visible in virtual machines (listings of H100 and H200 in virtual
 * machines), and consumer boards have none.
 */
#define FLUSH_PERIOD_NS 600000000000ULL
#define FLUSH_US        119000

static nvmlReturn_t check_black_box(const struct call *c)
{
	int64_t mode;

	if (!has_inforom(c) || gkf_is_consumer(&c->board->profile))
		return NVML_ERROR_NOT_SUPPORTED;
	return read_device_value(c, GKF_V_VIRTUALIZATION, &mode) &&
		       mode != NVML_GPU_VIRTUALIZATION_MODE_NONE
		   ? NVML_ERROR_NOT_SUPPORTED
		   : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetLastBBXFlushTime(nvmlDevice_t device,
					   unsigned long long *timestamp,
					   unsigned long *durationUs)
{
	uint64_t flushes;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetLastBBXFlushTime, device,
		     timestamp && durationUs);
	r = check_black_box(&c);
	if (r)
		return r;
	flushes = gkf_machine_ns(c.machine) / FLUSH_PERIOD_NS;
	if (!flushes)
		return NVML_ERROR_NOT_READY;
	*timestamp = gkf_wall_us(c.machine, flushes * FLUSH_PERIOD_NS);
	*durationUs = FLUSH_US + (unsigned long)(gkf_mix(flushes) % 1000);
	return NVML_SUCCESS;
}

/*
 * Returns for how many seconds a driver has been loaded, which is the age of
 * this machine.
 */
nvmlReturn_t nvmlDeviceGetBBXTimeData_v1(nvmlDevice_t device,
					 nvmlBBXTimeData_v1_t *timeData)
{
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetBBXTimeData_v1, device, timeData != NULL);
	r = check_black_box(&c);
	if (!r)
		timeData->timeRun =
		    (unsigned)(gkf_machine_ns(c.machine) / 1000000000);
	return r;
}
