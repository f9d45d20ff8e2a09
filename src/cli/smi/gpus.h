/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpus.h - finds the GPUs for the functions of `gpukit smi` that call NVML
 * directly. These calls have no time limit.
 */
#ifndef GK_CLI_SMI_GPUS_H
#define GK_CLI_SMI_GPUS_H

#include "cli/smi/names.h"
#include "cli/smi/smi.h"
#include "cli/smi/tell.h"
#include "core/driver/nvml.h"

#include <dlfcn.h>
#include <string.h>

/*
 * Calls a function of the opened driver library. Evaluates to its return code,
 * or to NVML_ERROR_FUNCTION_NOT_FOUND if the driver lacks the function.
 */
#define SMI_NVML(gpus, function, ...)                                          \
	__extension__({                                                        \
		void *at_ = dlsym((gpus)->nvml->library, #function);           \
		__typeof__(&function) call_;                                   \
                                                                               \
		memcpy(&call_, &at_, sizeof call_);                            \
		call_ ? call_(__VA_ARGS__) : NVML_ERROR_FUNCTION_NOT_FOUND;    \
	})

struct smi_gpu {
	unsigned index;
	nvmlDevice_t handle;
	char bus_id[32]; /* 00000000:01:00.0 */
	char uuid[96];   /* "" if it cannot be read */
	char name[96];   /* printable, like uuid */
};

struct smi_gpus {
	struct gk_nvml *nvml;
	unsigned major; /* the driver's major version */
	/* The chosen GPUs that have a handle, in order. */
	struct smi_gpu *at;
	size_t count;
	size_t lost;  /* number of chosen GPUs without a handle */
	unsigned all; /* number of all GPUs, chosen or not */
};

/*
 * Opens the driver and finds the GPUs that -i names (NULL: all). Prints a line
 * for each of them that has no handle. Returns 0, or an exit status after a
 * message. End with smi_gpus_close().
 */
int smi_gpus_open(const char *ids, struct smi_gpus *ret_gpus);
/*
 * Opens the driver without looking for GPUs, for calls that need no handle.
 * Also works if all GPUs are lost or removed. Otherwise like smi_gpus_open().
 */
int smi_driver_open(struct smi_gpus *ret_gpus);
void smi_gpus_close(struct smi_gpus *gpus);

/*
 * smi_with_gpus() opens the GPUs that -i names and calls run(), which returns
 * an exit status.
 */
typedef int smi_on_gpus(const struct smi *smi, const struct smi_gpus *gpus,
			const void *arg);
int smi_with_gpus(const struct smi *smi, smi_on_gpus *run, const void *arg);
/*
 * Like smi_with_gpus(), for a function that needs no GPU. If there is no -i,
 * does not look for GPUs: so it is not delayed by GPUs that hang, and works if
 * all are lost.
 */
int smi_with_driver(const struct smi *smi, smi_on_gpus *run, const void *arg);

/* Returns the driver's text for a return code, such as "Not Supported". */
const char *smi_error_text(const struct smi_gpus *gpus, nvmlReturn_t answer);

/* Whether a return code means that the GPU or the driver lacks a feature. */
bool smi_is_absent(nvmlReturn_t answer);

/*
 * Returns the text to print instead of a value: "N/A" if the GPU or the driver
 * lacks it, otherwise the error.
 */
const char *smi_value_text(const struct smi_gpus *gpus, nvmlReturn_t answer);

#endif
