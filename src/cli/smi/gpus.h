/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpus.h - the GPUs that a verb of `gpukit smi` changes or asks directly, by
 * NVML. A call waits for as long as the driver does.
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
	char uuid[96];   /* empty if it cannot be read */
	char name[96];   /* printable, as is uuid */
};

struct smi_gpus {
	struct gk_nvml *nvml;
	unsigned major; /* of the driver's version */
	/* The GPUs that were chosen and have a handle, in order. */
	struct smi_gpu *at;
	size_t count;
	size_t lost;  /* GPUs that were chosen and have no handle */
	unsigned all; /* GPUs of the driver, whether chosen or not */
};

/*
 * Opens the driver, and finds the GPUs that -i names (NULL: all). Prints a line
 * for each of them that has no handle. Returns 0, or an exit status after a
 * message. End with smi_gpus_close().
 */
int smi_gpus_open(const char *ids, struct smi_gpus *ret_gpus);
/*
 * The same for calls that are not about a GPU with a handle: finds no GPU, and
 * so works where all are lost or taken out.
 */
int smi_driver_open(struct smi_gpus *ret_gpus);
void smi_gpus_close(struct smi_gpus *gpus);

/* Opens the GPUs that -i names for a function, which returns an exit status. */
typedef int smi_on_gpus(const struct smi *smi, const struct smi_gpus *gpus,
			const void *arg);
int smi_with_gpus(const struct smi *smi, smi_on_gpus *run, const void *arg);
/*
 * The same for a function that asks no GPU: it waits for none that hangs, and
 * works where all are lost. Only the GPUs that -i names are looked for.
 */
int smi_with_driver(const struct smi *smi, smi_on_gpus *run, const void *arg);

/* Returns the driver's text for a return code, such as "Not Supported". */
const char *smi_error_text(const struct smi_gpus *gpus, nvmlReturn_t answer);

/* Whether an answer means that a GPU or a driver does not have something. */
bool smi_is_absent(nvmlReturn_t answer);

/* Returns what stands for a value that cannot be read: N/A if it is absent. */
const char *smi_value_text(const struct smi_gpus *gpus, nvmlReturn_t answer);

#endif
