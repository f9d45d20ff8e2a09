/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.c - `drain`: keeps new work from a GPU, and takes it out; -B lists the
 * GPUs that the driver excludes.
 */
#include "cli/smi/direct.h"
#include "cli/smi/set.h"

#include <limits.h>
#include <stdio.h>

/* Finds the GPU that -p names, and its address. */
static int find_pci(const struct smi *smi, const struct smi_gpus *gpus,
		    nvmlPciInfo_t *ret_pci, const struct smi_gpu **ret_gpu)
{
	for (size_t i = 0; i < gpus->count; i++) {
		const struct smi_gpu *gpu = &gpus->at[i];

		if (!smi_names(smi->pci_id, UINT_MAX, "", gpu->bus_id) ||
		    SMI_NVML(gpus, nvmlDeviceGetPciInfo_v3, gpu->handle,
			     ret_pci))
			continue;
		*ret_gpu = gpu;
		return SMI_OK;
	}
	return smi_none_found();
}

typedef nvmlReturn_t drain_call(const struct smi *smi,
				const struct smi_gpus *gpus,
				const struct smi_gpu *gpu, nvmlPciInfo_t *pci);

/* Calls a function for the GPU of -p. `what` is in the message of a failure. */
static int with_pci(const struct smi *smi, const char *what, drain_call *call)
{
	const struct smi_gpu *gpu = NULL;
	struct smi_gpus gpus;
	nvmlPciInfo_t pci;
	nvmlReturn_t r;
	int status;

	if (!smi->pci_id)
		return smi_refuse_arguments();
	status = smi_gpus_open(NULL, &gpus);
	if (status)
		return status;
	status = find_pci(smi, &gpus, &pci, &gpu);
	if (!status) {
		r = call(smi, &gpus, gpu, &pci);
		status = smi_status_of(r);
		if (r)
			printf("Failed to %s GPU %s: %s\n", what, gpu->bus_id,
			       smi_error_text(&gpus, r));
	}
	smi_gpus_close(&gpus);
	return status;
}

static const char *drain_word(bool on)
{
	return on ? "draining" : "not draining";
}

static nvmlReturn_t modify(const struct smi *smi, const struct smi_gpus *gpus,
			   const struct smi_gpu *gpu, nvmlPciInfo_t *pci)
{
	bool on = *smi->value == '1';
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceModifyDrainState, pci,
		     on ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED);

	if (!r)
		printf("Successfully set GPU %s drain state to: %s.\n",
		       gpu->bus_id, drain_word(on));
	return r;
}

int smi_drain_modify(const struct smi *smi)
{
	if (strcmp(smi->value, "0") != 0 && strcmp(smi->value, "1") != 0)
		return smi_refuse_arguments();
	return with_pci(smi, "set the drain state of", modify);
}

static nvmlReturn_t query(const struct smi *smi, const struct smi_gpus *gpus,
			  const struct smi_gpu *gpu, nvmlPciInfo_t *pci)
{
	nvmlEnableState_t on;
	nvmlReturn_t r = SMI_NVML(gpus, nvmlDeviceQueryDrainState, pci, &on);

	(void)smi;
	if (!r)
		printf("The drain state of GPU %s is: %s.\n", gpu->bus_id,
		       drain_word(on == NVML_FEATURE_ENABLED));
	return r;
}

int smi_drain_query(const struct smi *smi)
{
	return with_pci(smi, "query the drain state of", query);
}

static nvmlReturn_t take_out(const struct smi *smi, const struct smi_gpus *gpus,
			     const struct smi_gpu *gpu, nvmlPciInfo_t *pci)
{
	nvmlReturn_t r = SMI_NVML(gpus, nvmlDeviceRemoveGpu_v2, pci,
				  NVML_DETACH_GPU_KEEP, NVML_PCIE_LINK_KEEP);

	(void)smi;
	if (!r)
		printf("Successfully removed GPU %s.\n", gpu->bus_id);
	return r;
}

int smi_drain_remove(const struct smi *smi)
{
	return with_pci(smi, "remove", take_out);
}

int smi_excluded(const struct smi *smi)
{
	struct smi_gpus gpus;
	unsigned count = 0;
	int status = smi_gpus_open(NULL, &gpus);

	(void)smi;
	if (status)
		return status;
	if (SMI_NVML(&gpus, nvmlGetExcludedDeviceCount, &count) || !count)
		puts("No excluded devices found.");
	for (unsigned i = 0; i < count; i++) {
		nvmlExcludedDeviceInfo_t info = {0};

		if (!SMI_NVML(&gpus, nvmlGetExcludedDeviceInfoByIndex, i,
			      &info))
			printf("Excluded device %u: %08X:%02X:%02X.0 (UUID: "
			       "%s)\n",
			       i, info.pciInfo.domain, info.pciInfo.bus,
			       info.pciInfo.device, info.uuid);
	}
	smi_gpus_close(&gpus);
	return SMI_OK;
}
