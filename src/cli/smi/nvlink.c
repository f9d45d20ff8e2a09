/* SPDX-License-Identifier: Apache-2.0 */
/* nvlink.c - `nvlink`: tells the state of each NVLink of the GPUs. */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/mig.h"

#include <stdio.h>

struct link {
	const struct smi_gpus *gpus;
	nvmlDevice_t device;
	unsigned at;
};

/* What is told of a link that is up; each begins and ends its lines. */
typedef void tell_link(const struct link *link);

/* ---- one link ---- */

/* The speed of the link, or of all links where the driver knows no other. */
static bool read_speed(const struct link *link, unsigned *ret_mbps)
{
	nvmlFieldValue_t f[] = {
	    {.fieldId = NVML_FI_DEV_NVLINK_GET_SPEED, .scopeId = link->at},
	    {.fieldId = NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON},
	};

	for (size_t i = 0; i < COUNT(f); i++) {
		if (SMI_NVML(link->gpus, nvmlDeviceGetFieldValues, link->device,
			     1, &f[i]) ||
		    f[i].nvmlReturn)
			continue;
		*ret_mbps = f[i].value.uiVal;
		return true;
	}
	return false;
}

static void tell_status(const struct link *link)
{
	unsigned mbps;

	if (read_speed(link, &mbps))
		printf("\t Link %u: %u.%03u GB/s\n", link->at, mbps / 1000,
		       mbps % 1000);
	else
		printf("\t Link %u: N/A\n", link->at);
}

static void tell_capabilities(const struct link *link)
{
	static const char *const texts[NVML_NVLINK_CAP_COUNT] = {
	    [NVML_NVLINK_CAP_P2P_SUPPORTED] = "P2P is supported",
	    [NVML_NVLINK_CAP_SYSMEM_ACCESS] =
		"Access to system memory supported",
	    [NVML_NVLINK_CAP_P2P_ATOMICS] = "P2P atomics supported",
	    [NVML_NVLINK_CAP_SYSMEM_ATOMICS] =
		"System memory atomics supported",
	    [NVML_NVLINK_CAP_SLI_BRIDGE] = "SLI is supported",
	    [NVML_NVLINK_CAP_VALID] = "Link is supported",
	};

	for (unsigned i = 0; i < NVML_NVLINK_CAP_COUNT; i++) {
		unsigned has;
		nvmlReturn_t r = SMI_NVML(
		    link->gpus, nvmlDeviceGetNvLinkCapability, link->device,
		    link->at, (nvmlNvLinkCapability_t)i, &has);

		printf("\t Link %u, %s: %s\n", link->at, texts[i],
		       r     ? "N/A"
		       : has ? "true"
			     : "false");
	}
}

static void tell_errors(const struct link *link)
{
	static const struct {
		nvmlNvLinkErrorCounter_t counter;
		const char *text;
	} rows[] = {
	    {NVML_NVLINK_ERROR_DL_REPLAY, "Replay"},
	    {NVML_NVLINK_ERROR_DL_RECOVERY, "Recovery"},
	    {NVML_NVLINK_ERROR_DL_CRC_FLIT, "CRC"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned long long count;
		nvmlReturn_t r =
		    SMI_NVML(link->gpus, nvmlDeviceGetNvLinkErrorCounter,
			     link->device, link->at, rows[i].counter, &count);

		printf("\t Link %u: %s Errors: ", link->at, rows[i].text);
		if (r)
			puts("N/A");
		else
			printf("%llu\n", count);
	}
	putchar('\n');
}

static void tell_end(const struct link *link, const char *before)
{
	nvmlPciInfo_t pci = {0};

	printf("\t Link %u: %s", link->at, before);
	if (SMI_NVML(link->gpus, nvmlDeviceGetNvLinkRemotePciInfo_v2,
		     link->device, link->at, &pci))
		puts("N/A");
	else
		printf("%08X:%02X:%02X.0\n", pci.domain, pci.bus, pci.device);
}

static void tell_pci(const struct link *link)
{
	tell_end(link, "");
}

static void tell_remote(const struct link *link)
{
	tell_end(link, "Remote Device ");
}

/* ---- the links of a GPU ---- */

/* Drivers since 590 write Nvlink where older ones write NVLink. */
static const char *nvlink_word(const struct smi_gpus *gpus)
{
	return gpus->major >= 590 ? "Nvlink" : "NVLink";
}

/* Counts the links that exist; ret_up: how many of them are up. */
static unsigned count_links(const struct link *all, unsigned *ret_up)
{
	unsigned count = 0;

	*ret_up = 0;
	for (unsigned i = 0; i < NVML_NVLINK_MAX_LINKS; i++) {
		nvmlEnableState_t up;

		if (SMI_NVML(all->gpus, nvmlDeviceGetNvLinkState, all->device,
			     i, &up))
			continue;
		count++;
		*ret_up += up == NVML_FEATURE_ENABLED;
	}
	return count;
}

/* Says why there is nothing to tell; returns false if there is. */
static bool tell_none(const struct smi_gpu *gpu, const struct link *all)
{
	unsigned up, count = count_links(all, &up);
	bool split;

	smi_mig_mode(all->gpus, gpu, &split);
	if (split)
		puts(
		    "Nvlink queries are not supported for Devices in MIG mode");
	else if (!count)
		puts("Device does not have or support Nvlink");
	else if (!up)
		printf("NVML: Unable to retrieve %s information as all links "
		       "are inActive\n",
		       nvlink_word(all->gpus));
	return split || !up;
}

static bool is_asked(const struct smi *smi, unsigned link)
{
	return !smi->link || smi_names(smi->link, link, "", "");
}

static void tell_links(const struct smi *smi, const struct link *all,
		       tell_link *tell)
{
	for (unsigned i = 0; i < NVML_NVLINK_MAX_LINKS; i++) {
		struct link link = {all->gpus, all->device, i};
		nvmlEnableState_t up;

		if (!is_asked(smi, i) ||
		    SMI_NVML(all->gpus, nvmlDeviceGetNvLinkState, all->device,
			     i, &up))
			continue;
		if (up == NVML_FEATURE_ENABLED)
			tell(&link);
		else
			printf("\t Link %u: <inactive>\n", i);
	}
}

static int tell_each(const struct smi *smi, tell_link *tell)
{
	struct smi_gpus gpus;
	int status = smi_gpus_open(smi->ids, &gpus);

	if (status)
		return status;
	for (size_t i = 0; i < gpus.count; i++) {
		const struct smi_gpu *gpu = &gpus.at[i];
		struct link all = {.gpus = &gpus, .device = gpu->handle};

		printf("GPU %u: %s (UUID: %s)\n", gpu->index, gpu->name,
		       gpu->uuid);
		if (!tell_none(gpu, &all))
			tell_links(smi, &all, tell);
	}
	smi_gpus_close(&gpus);
	return SMI_OK;
}

int smi_nvlink_status(const struct smi *smi)
{
	return tell_each(smi, tell_status);
}

int smi_nvlink_capabilities(const struct smi *smi)
{
	return tell_each(smi, tell_capabilities);
}

int smi_nvlink_errors(const struct smi *smi)
{
	return tell_each(smi, tell_errors);
}

int smi_nvlink_pci(const struct smi *smi)
{
	return tell_each(smi, tell_pci);
}

int smi_nvlink_remote(const struct smi *smi)
{
	return tell_each(smi, tell_remote);
}
