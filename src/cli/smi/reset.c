/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reset.c - resets GPUs. NVML has no function for that. Instead, a GPU is
 * removed from the driver and discovered again, which resets the driver's state
 * of it.
 */
#include "base/clock.h"
#include "cli/smi/direct.h"
#include "cli/smi/set.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* How long the driver may take to list a GPU again. */
#define FOUND_NS (10 * GK_NS_PER_S)
#define LOOK_NS  (100 * GK_NS_PER_MS)

/* A GPU to reset, by its address: handles become invalid when it is removed. */
struct seat {
	const struct smi_gpu *gpu;
	nvmlPciInfo_t pci;
	nvmlReturn_t answer;
	bool gone; /* the GPU was removed, and has not been found again */
};

/*
 * Drains and removes a GPU. If that fails, ends the drain, unless the GPU was
 * drained before.
 */
static nvmlReturn_t take_out(const struct smi_gpus *gpus, struct seat *seat)
{
	nvmlEnableState_t before = NVML_FEATURE_DISABLED;
	nvmlReturn_t r;

	SMI_NVML(gpus, nvmlDeviceQueryDrainState, &seat->pci, &before);
	r = SMI_NVML(gpus, nvmlDeviceModifyDrainState, &seat->pci,
		     NVML_FEATURE_ENABLED);
	if (r)
		return r;
	r = SMI_NVML(gpus, nvmlDeviceRemoveGpu_v2, &seat->pci,
		     NVML_DETACH_GPU_KEEP, NVML_PCIE_LINK_KEEP);
	if (r && before == NVML_FEATURE_DISABLED)
		SMI_NVML(gpus, nvmlDeviceModifyDrainState, &seat->pci,
			 NVML_FEATURE_DISABLED);
	return r;
}

/*
 * Waits until the driver lists the GPU again. Success of
 * nvmlDeviceDiscoverGpus() means only that the search was requested.
 */
static nvmlReturn_t find_again(const struct smi_gpus *gpus, struct seat *seat)
{
	uint64_t until = gk_mono_ns() + FOUND_NS;
	nvmlDevice_t handle;
	nvmlReturn_t r;

	do {
		r = SMI_NVML(gpus, nvmlDeviceDiscoverGpus, &seat->pci);
		if (!r)
			r = SMI_NVML(gpus, nvmlDeviceGetHandleByPciBusId_v2,
				     seat->gpu->bus_id, &handle);
	} while (r && gk_mono_ns() < until &&
		 (gk_sleep_until(gk_mono_ns() + LOOK_NS), true));
	return r;
}

static void reset_one(const struct smi_gpus *gpus, struct seat *seat)
{
	if (!seat->answer)
		seat->answer = take_out(gpus, seat);
	if (seat->answer)
		return;
	seat->answer = find_again(gpus, seat);
	seat->gone = seat->answer != NVML_SUCCESS;
	if (!seat->gone)
		printf("GPU %s was successfully reset.\n", seat->gpu->bus_id);
}

/* Reads the addresses of all GPUs before the first one is removed. */
static void take_seats(const struct smi_gpus *gpus, struct seat *seats)
{
	for (size_t i = 0; i < gpus->count; i++) {
		seats[i].gpu = &gpus->at[i];
		seats[i].answer = SMI_NVML(gpus, nvmlDeviceGetPciInfo_v3,
					   gpus->at[i].handle, &seats[i].pci);
	}
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
	take_seats(gpus, seats);
	for (size_t i = 0; i < gpus->count; i++) {
		reset_one(gpus, &seats[i]);
		if (seats[i].gone) {
			printf("GPU %s was taken out of the driver, which does "
			       "not find it again: %s\n",
			       seats[i].gpu->bus_id,
			       smi_error_text(gpus, seats[i].answer));
			return smi_terminate(SMI_UNKNOWN);
		}
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

static int reset_gpus(const struct smi *smi, const struct smi_gpus *gpus,
		      const void *arg)
{
	struct seat *seats = calloc(gpus->count, sizeof *seats);
	sigset_t all, before;
	int status;

	(void)smi;
	(void)arg;
	/* A signal must not end the command while a GPU is removed. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	status = seats ? reset_each(gpus, seats) : SMI_FAILED;
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(seats);
	return status;
}

int smi_reset(const struct smi *smi)
{
	return smi_with_gpus(smi, reset_gpus, NULL);
}
