/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.c - `drain`: drains a GPU (stops new work) and removes it from the
 * driver. -B lists the GPUs that the driver excludes.
 */
#include "cli/smi/direct.h"
#include "cli/smi/set.h"

#include <stdio.h>

/* A GPU's address. The driver need not list the GPU. */
struct place {
	nvmlPciInfo_t pci;
	char bus_id[32];
};

typedef nvmlReturn_t drain_call(const struct smi *smi,
				const struct smi_gpus *gpus,
				struct place *place);

static bool parse_place(const char *text, struct place *ret_place)
{
	unsigned at[4];

	if (!text || !smi_parse_bus_id(text, at) || at[3])
		return false;
	*ret_place = (struct place){
	    .pci = {.domain = at[0], .bus = at[1], .device = at[2]}};
	snprintf(ret_place->bus_id, sizeof ret_place->bus_id,
		 "%08X:%02X:%02X.%X", at[0], at[1], at[2], at[3]);
	snprintf(ret_place->pci.busId, sizeof ret_place->pci.busId, "%s",
		 ret_place->bus_id);
	return true;
}

/*
 * Calls a function with the address of -p. `what` names the action in the
 * message for a failure.
 */
static int with_pci(const struct smi *smi, const char *what, drain_call *call)
{
	struct smi_gpus gpus;
	struct place place;
	nvmlReturn_t r;
	int status;

	if (!parse_place(smi->pci_id, &place))
		return smi_refuse_arguments();
	status = smi_driver_open(&gpus);
	if (status)
		return status;
	r = call(smi, &gpus, &place);
	if (r)
		printf("Failed to %s GPU %s: %s\n", what, place.bus_id,
		       smi_error_text(&gpus, r));
	smi_gpus_close(&gpus);
	return smi_status_of(r);
}

static const char *drain_word(bool on)
{
	return on ? "draining" : "not draining";
}

static nvmlReturn_t modify(const struct smi *smi, const struct smi_gpus *gpus,
			   struct place *place)
{
	bool on = *smi->value == '1';
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceModifyDrainState, &place->pci,
		     on ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED);

	if (!r)
		printf("Successfully set GPU %s drain state to: %s.\n",
		       place->bus_id, drain_word(on));
	return r;
}

int smi_drain_modify(const struct smi *smi)
{
	if (strcmp(smi->value, "0") != 0 && strcmp(smi->value, "1") != 0)
		return smi_refuse_arguments();
	return with_pci(smi, "set the drain state of", modify);
}

static nvmlReturn_t query(const struct smi *smi, const struct smi_gpus *gpus,
			  struct place *place)
{
	nvmlEnableState_t on;
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceQueryDrainState, &place->pci, &on);

	(void)smi;
	if (!r)
		printf("The drain state of GPU %s is: %s.\n", place->bus_id,
		       drain_word(on == NVML_FEATURE_ENABLED));
	return r;
}

int smi_drain_query(const struct smi *smi)
{
	return with_pci(smi, "query the drain state of", query);
}

static nvmlReturn_t take_out(const struct smi *smi, const struct smi_gpus *gpus,
			     struct place *place)
{
	nvmlReturn_t r = SMI_NVML(gpus, nvmlDeviceRemoveGpu_v2, &place->pci,
				  NVML_DETACH_GPU_KEEP, NVML_PCIE_LINK_KEEP);

	(void)smi;
	if (!r)
		printf("Successfully removed GPU %s.\n", place->bus_id);
	return r;
}

int smi_drain_remove(const struct smi *smi)
{
	return with_pci(smi, "remove", take_out);
}

/* Prints an excluded GPU. Returns NVML's return code. */
static nvmlReturn_t tell_excluded(const struct smi_gpus *gpus, unsigned i)
{
	nvmlExcludedDeviceInfo_t info = {0};
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlGetExcludedDeviceInfoByIndex, i, &info);

	if (r)
		printf("Excluded device %u: %s\n", i, smi_error_text(gpus, r));
	else
		printf("Excluded device %u: %08X:%02X:%02X.0 (UUID: %s)\n", i,
		       info.pciInfo.domain, info.pciInfo.bus,
		       info.pciInfo.device, info.uuid);
	return r;
}

/* A driver without this function excludes no GPUs. */
static nvmlReturn_t list_excluded(const struct smi_gpus *gpus)
{
	unsigned count = 0;
	nvmlReturn_t first = NVML_SUCCESS,
		     r = SMI_NVML(gpus, nvmlGetExcludedDeviceCount, &count);

	if (r && !smi_is_absent(r)) {
		printf("Unable to list the excluded devices: %s\n",
		       smi_error_text(gpus, r));
		return r;
	}
	if (!count)
		puts("No excluded devices found.");
	for (unsigned i = 0; i < count; i++) {
		r = tell_excluded(gpus, i);
		first = first ? first : r;
	}
	return first;
}

int smi_excluded(const struct smi *smi)
{
	struct smi_gpus gpus;
	int status = smi_driver_open(&gpus);

	(void)smi;
	if (status)
		return status;
	status = smi_status_of(list_excluded(&gpus));
	smi_gpus_close(&gpus);
	return status;
}
