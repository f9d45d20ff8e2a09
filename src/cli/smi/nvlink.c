/* SPDX-License-Identifier: Apache-2.0 */
/* nvlink.c - `nvlink`: prints the state of each NVLink of the GPUs. */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/mig.h"

#include <stdio.h>

struct link {
	const struct smi_gpus *gpus;
	nvmlDevice_t device;
	unsigned at;
};

/* Prints something about a link that is up, as whole lines. */
typedef void tell_link(const struct link *link);

/* ---- one link ---- */

/*
 * Reads the speed of a link. Older drivers report only the speed that all links
 * have in common.
 */
static nvmlReturn_t read_speed(const struct link *link, unsigned *ret_mbps)
{
	nvmlFieldValue_t f[] = {
	    {.fieldId = NVML_FI_DEV_NVLINK_GET_SPEED, .scopeId = link->at},
	    {.fieldId = NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON},
	};
	nvmlReturn_t r = NVML_ERROR_NOT_SUPPORTED;

	for (size_t i = 0; i < COUNT(f); i++) {
		r = SMI_NVML(link->gpus, nvmlDeviceGetFieldValues, link->device,
			     1, &f[i]);
		if (!r)
			r = f[i].nvmlReturn;
		if (!r)
			*ret_mbps = f[i].value.uiVal;
		if (!r)
			break;
	}
	return r;
}

static void tell_status(const struct link *link)
{
	unsigned mbps;
	nvmlReturn_t r = read_speed(link, &mbps);

	if (r)
		printf("\t Link %u: %s\n", link->at,
		       smi_value_text(link->gpus, r));
	else
		printf("\t Link %u: %u.%03u GB/s\n", link->at, mbps / 1000,
		       mbps % 1000);
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
		       r     ? smi_value_text(link->gpus, r)
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
			puts(smi_value_text(link->gpus, r));
		else
			printf("%llu\n", count);
	}
	putchar('\n');
}

/* Prints a counter of a link, in KiB. */
static void tell_counter(const struct link *link, const char *what,
			 unsigned field)
{
	nvmlFieldValue_t f = {.fieldId = field, .scopeId = link->at};
	nvmlReturn_t r =
	    SMI_NVML(link->gpus, nvmlDeviceGetFieldValues, link->device, 1, &f);

	if (!r)
		r = f.nvmlReturn;
	printf("\t Link %u: %s: ", link->at, what);
	if (r)
		puts(smi_value_text(link->gpus, r));
	else
		printf("%llu KiB\n", f.value.ullVal);
}

static void tell_data(const struct link *link)
{
	tell_counter(link, "Data Tx", NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX);
	tell_counter(link, "Data Rx", NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX);
}

static void tell_raw(const struct link *link)
{
	tell_counter(link, "Raw Tx", NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX);
	tell_counter(link, "Raw Rx", NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX);
}

static void reset_errors(const struct link *link)
{
	nvmlReturn_t r =
	    SMI_NVML(link->gpus, nvmlDeviceResetNvLinkErrorCounters,
		     link->device, link->at);

	if (r)
		printf("\t Link %u: Unable to reset error counters: %s\n",
		       link->at, smi_error_text(link->gpus, r));
	else
		printf("\t Link %u: Error counters were reset.\n", link->at);
}

static void tell_end(const struct link *link, const char *before)
{
	nvmlPciInfo_t pci = {0};
	nvmlReturn_t r =
	    SMI_NVML(link->gpus, nvmlDeviceGetNvLinkRemotePciInfo_v2,
		     link->device, link->at, &pci);

	printf("\t Link %u: %s", link->at, before);
	if (r)
		puts(smi_value_text(link->gpus, r));
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

/* Returns the spelling of NVLink: drivers since 590 write "Nvlink". */
static const char *nvlink_word(const struct smi_gpus *gpus)
{
	return gpus->major >= 590 ? "Nvlink" : "NVLink";
}

/*
 * Reads whether a link is up. Returns NOT_SUPPORTED if there is no such link.
 */
static nvmlReturn_t read_state(const struct link *link, bool *ret_up)
{
	nvmlEnableState_t up = NVML_FEATURE_DISABLED;
	nvmlReturn_t r = SMI_NVML(link->gpus, nvmlDeviceGetNvLinkState,
				  link->device, link->at, &up);

	*ret_up = up == NVML_FEATURE_ENABLED;
	return smi_is_absent(r) || r == NVML_ERROR_INVALID_ARGUMENT
		   ? NVML_ERROR_NOT_SUPPORTED
		   : r;
}

/* Counts the links that exist, and those of them that are up. */
static nvmlReturn_t count_links(const struct link *all, unsigned *ret_count,
				unsigned *ret_up)
{
	*ret_count = *ret_up = 0;
	for (unsigned i = 0; i < NVML_NVLINK_MAX_LINKS; i++) {
		struct link link = {all->gpus, all->device, i};
		bool up;
		nvmlReturn_t r = read_state(&link, &up);

		if (r == NVML_ERROR_NOT_SUPPORTED)
			continue;
		if (r)
			return r;
		++*ret_count;
		*ret_up += up;
	}
	return NVML_SUCCESS;
}

/* If no link is up, prints why and sets *ret_none. */
static nvmlReturn_t tell_none(const struct smi_gpu *gpu, const struct link *all,
			      bool *ret_none)
{
	unsigned up = 0, count = 0;
	bool split;
	nvmlReturn_t r = smi_mig_mode(all->gpus, gpu, &split);

	if (!r || r == NVML_ERROR_NOT_SUPPORTED)
		r = split ? NVML_SUCCESS : count_links(all, &count, &up);
	if (r)
		printf("NVML: Unable to retrieve %s information: %s\n",
		       nvlink_word(all->gpus), smi_error_text(all->gpus, r));
	else if (split)
		puts(
		    "Nvlink queries are not supported for Devices in MIG mode");
	else if (!count)
		puts("Device does not have or support Nvlink");
	else if (!up)
		printf("NVML: Unable to retrieve %s information as all links "
		       "are inActive\n",
		       nvlink_word(all->gpus));
	*ret_none = !up;
	return r;
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
		bool up;
		nvmlReturn_t r;

		if (!is_asked(smi, i))
			continue;
		r = read_state(&link, &up);
		if (r && r != NVML_ERROR_NOT_SUPPORTED)
			printf("\t Link %u: %s\n", i,
			       smi_error_text(all->gpus, r));
		else if (!r && up)
			tell(&link);
		else if (!r)
			printf("\t Link %u: <inactive>\n", i);
	}
}

/* Returns the exit status for the first GPU whose links cannot be read. */
static int tell_each(const struct smi *smi, const struct smi_gpus *gpus,
		     const void *arg)
{
	tell_link *const *tell = arg;
	nvmlReturn_t first = NVML_SUCCESS;

	for (size_t i = 0; i < gpus->count; i++) {
		const struct smi_gpu *gpu = &gpus->at[i];
		struct link all = {.gpus = gpus, .device = gpu->handle};
		bool none;
		nvmlReturn_t r;

		printf("GPU %u: %s (UUID: %s)\n", gpu->index, gpu->name,
		       gpu->uuid);
		r = tell_none(gpu, &all, &none);
		if (!none)
			tell_links(smi, &all, *tell);
		first = first ? first : r;
	}
	return smi_status_of(first);
}

#define LINKS(function, tell)                                                  \
	int function(const struct smi *smi)                                    \
	{                                                                      \
		static tell_link *const what = tell;                           \
                                                                               \
		return smi_with_gpus(smi, tell_each, &what);                   \
	}
LINKS(smi_nvlink_status, tell_status)
LINKS(smi_nvlink_capabilities, tell_capabilities)
LINKS(smi_nvlink_errors, tell_errors)
LINKS(smi_nvlink_pci, tell_pci)
LINKS(smi_nvlink_remote, tell_remote)
LINKS(smi_nvlink_reset_errors, reset_errors)

int smi_nvlink_throughput(const struct smi *smi)
{
	static tell_link *const data = tell_data, *const raw = tell_raw;

	if (!strcmp(smi->value, "d"))
		return smi_with_gpus(smi, tell_each, &data);
	if (!strcmp(smi->value, "r"))
		return smi_with_gpus(smi, tell_each, &raw);
	return smi_refuse_arguments();
}

static int say_unsupported(const struct smi *smi, const struct smi_gpus *gpus,
			   const void *arg)
{
	(void)smi;
	(void)arg;
	if (!gpus->all)
		return smi_none_found();
	puts("This NvLink option is not supported.");
	return SMI_UNSUPPORTED;
}

int smi_nvlink_unsupported(const struct smi *smi)
{
	return smi_with_driver(smi, say_unsupported, NULL);
}
