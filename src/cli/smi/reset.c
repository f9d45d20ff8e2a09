/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reset.c - resets GPUs. NVML has no function for it: a GPU is taken out of the
 * driver and found again, which begins its driver state anew.
 */
#include "cli/smi/direct.h"
#include "cli/smi/set.h"

#include <stdio.h>
#include <stdlib.h>

/* A GPU by its address, because the others' handles change in between. */
struct seat {
	const struct smi_gpu *gpu;
	nvmlPciInfo_t pci;
	nvmlReturn_t answer;
};

static nvmlReturn_t take_out(const struct smi_gpus *gpus, struct seat *seat)
{
	nvmlReturn_t r = SMI_NVML(gpus, nvmlDeviceModifyDrainState, &seat->pci,
				  NVML_FEATURE_ENABLED);

	if (r)
		return r;
	r = SMI_NVML(gpus, nvmlDeviceRemoveGpu_v2, &seat->pci,
		     NVML_DETACH_GPU_KEEP, NVML_PCIE_LINK_KEEP);
	if (r)
		SMI_NVML(gpus, nvmlDeviceModifyDrainState, &seat->pci,
			 NVML_FEATURE_DISABLED);
	return r;
}

static void reset_one(const struct smi_gpus *gpus, struct seat *seat)
{
	seat->answer = SMI_NVML(gpus, nvmlDeviceGetPciInfo_v3,
				seat->gpu->handle, &seat->pci);
	if (!seat->answer)
		seat->answer = take_out(gpus, seat);
	if (!seat->answer)
		seat->answer =
		    SMI_NVML(gpus, nvmlDeviceDiscoverGpus, &seat->pci);
	if (!seat->answer)
		printf("GPU %s was successfully reset.\n", seat->gpu->bus_id);
}

static void tell_users(unsigned count)
{
	printf("\n%u %s currently being used by one or more other processes "
	       "(e.g., Fabric Manager, CUDA application, graphics application "
	       "such as an X server, or a monitoring application such as "
	       "another instance of nvidia-smi). Please first kill all "
	       "processes using %s and all compute applications running in the "
	       "system.\n",
	       count, count == 1 ? "device is" : "devices are",
	       count == 1 ? "this device" : "these devices");
}

/* Lists the GPUs that could not be reset. Returns whether there are any. */
static bool tell_failures(const struct smi_gpus *gpus, const struct seat *seats)
{
	unsigned busy = 0, failed = 0;

	for (size_t i = 0; i < gpus->count; i++) {
		if (!seats[i].answer)
			continue;
		if (!failed++)
			puts("The following GPUs could not be reset:");
		printf("  GPU %s: %s\n", seats[i].gpu->bus_id,
		       smi_error_text(gpus, seats[i].answer));
		busy += seats[i].answer == NVML_ERROR_IN_USE;
	}
	if (busy)
		tell_users(busy);
	return failed;
}

static int reset_each(const struct smi_gpus *gpus, struct seat *seats)
{
	for (size_t i = 0; i < gpus->count; i++) {
		seats[i].gpu = &gpus->at[i];
		reset_one(gpus, &seats[i]);
		if (seats[i].answer == NVML_ERROR_NOT_SUPPORTED) {
			printf("Resetting GPU %s is not supported.\n",
			       seats[i].gpu->bus_id);
			return smi_status_of(seats[i].answer);
		}
		if (seats[i].answer == NVML_ERROR_NO_PERMISSION) {
			printf("Unable to reset GPU %s: %s\n",
			       seats[i].gpu->bus_id,
			       smi_error_text(gpus, seats[i].answer));
			return smi_terminate(smi_status_of(seats[i].answer));
		}
	}
	return tell_failures(gpus, seats) ? SMI_UNKNOWN : smi_all_done();
}

int smi_reset(const struct smi *smi)
{
	struct smi_gpus gpus;
	struct seat *seats;
	int status = smi_gpus_open(smi->ids, &gpus);

	if (status)
		return status;
	seats = calloc(gpus.count + 1, sizeof *seats);
	status = seats ? reset_each(&gpus, seats) : SMI_FAILED;
	free(seats);
	smi_gpus_close(&gpus);
	return status;
}
