/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpus.c - opens the driver for functions that call it directly, and finds the
 * chosen GPUs.
 */
#include "cli/smi/gpus.h"
#include "base/array.h"
#include "base/clock.h"
#include "cli/smi/lost.h"
#include "core/driver/opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

const char *smi_error_text(const struct smi_gpus *gpus, nvmlReturn_t answer)
{
	void *at = dlsym(gpus->nvml->library, "nvmlErrorString");
	const char *(*text)(nvmlReturn_t);

	memcpy(&text, &at, sizeof text);
	return text ? text(answer) : "Unknown Error";
}

bool smi_is_absent(nvmlReturn_t answer)
{
	return answer == NVML_ERROR_NOT_SUPPORTED ||
	       answer == NVML_ERROR_FUNCTION_NOT_FOUND ||
	       answer == NVML_ERROR_DEPRECATED;
}

const char *smi_value_text(const struct smi_gpus *gpus, nvmlReturn_t answer)
{
	return smi_is_absent(answer) ? "N/A" : smi_error_text(gpus, answer);
}

static void read_identity(const struct smi_gpus *gpus, struct smi_gpu *gpu)
{
	nvmlPciInfo_t pci = {0};
	char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE];

	if (!SMI_NVML(gpus, nvmlDeviceGetPciInfo_v3, gpu->handle, &pci))
		snprintf(gpu->bus_id, sizeof gpu->bus_id, "%08X:%02X:%02X.0",
			 pci.domain, pci.bus, pci.device);
	if (!SMI_NVML(gpus, nvmlDeviceGetUUID, gpu->handle, text, sizeof text))
		gk_str_clean(gpu->uuid, sizeof gpu->uuid, text,
			     strnlen(text, sizeof text));
	if (!SMI_NVML(gpus, nvmlDeviceGetName, gpu->handle, text, sizeof text))
		gk_str_clean(gpu->name, sizeof gpu->name, text,
			     strnlen(text, sizeof text));
}

/* Prints the lines about lost GPUs. Returns an exit status. */
static int tell_lost(const struct smi_gpus *gpus,
		     const struct smi_lost_gpus *lost)
{
	char line[SMI_LOST_LINE];
	int status = smi_lost_status(gpus->major, lost);

	for (size_t i = 0; i < (status ? 1 : lost->count); i++) {
		smi_lost_line(gpus->major, &lost->at[i], false, line);
		puts(line);
	}
	return status;
}

/*
 * Whether -i may name a GPU, judging by the GPU's index alone. The driver is
 * not asked about GPUs that -i cannot name, because they may hang.
 */
static bool may_be_named(const char *ids, unsigned index)
{
	return !ids || !smi_is_numbers(ids) || smi_names(ids, index, "", "");
}

/* Stores the GPUs that have a handle in gpus, and the others in *ret_lost. */
static void find_all(struct smi_gpus *gpus, const char *ids,
		     struct smi_lost_gpus *ret_lost)
{
	ret_lost->count = 0;
	for (unsigned i = 0; i < gpus->all; i++) {
		struct smi_gpu *gpu = &gpus->at[gpus->count];
		nvmlReturn_t r;

		if (!may_be_named(ids, i))
			continue;
		*gpu = (struct smi_gpu){.index = i};
		r = SMI_NVML(gpus, nvmlDeviceGetHandleByIndex_v2, i,
			     &gpu->handle);
		if (r) {
			smi_lost_add(ret_lost, i, r, "");
		} else {
			read_identity(gpus, gpu);
			gpus->count++;
		}
	}
	smi_lost_find(gpus->nvml, ret_lost);
}

/* Whether each id names a GPU, lost or not. */
static bool all_exist(const struct smi_gpus *gpus,
		      const struct smi_lost_gpus *lost, const char *ids)
{
	char *copy = strdup(ids), *at = copy, *id;
	bool exist = copy != NULL;

	while (exist && (id = strsep(&at, ","))) {
		exist = smi_lost_is_named(lost, id);
		for (size_t i = 0; i < gpus->count; i++)
			exist |=
			    smi_is_named_by(gpus->at[i].index, gpus->at[i].uuid,
					    gpus->at[i].bus_id, id);
	}
	free(copy);
	return exist;
}

static void keep_chosen(struct smi_gpus *gpus, const char *ids)
{
	size_t kept = 0;

	for (size_t i = 0; i < gpus->count; i++)
		if (smi_names(ids, gpus->at[i].index, gpus->at[i].uuid,
			      gpus->at[i].bus_id))
			gpus->at[kept++] = gpus->at[i];
	gpus->count = kept;
}

static int choose(struct smi_gpus *gpus, const char *ids)
{
	struct smi_lost_gpus lost;
	int status;

	find_all(gpus, ids, &lost);
	if (ids && !all_exist(gpus, &lost, ids))
		return smi_none_found();
	smi_lost_choose(&lost, ids);
	if (ids)
		keep_chosen(gpus, ids);
	gpus->lost = lost.count;
	status = tell_lost(gpus, &lost);
	return status || gpus->count ? status : smi_none_found();
}

int smi_driver_open(struct smi_gpus *ret_gpus)
{
	struct smi_gpus gpus = {0};
	int nvml_error = 0;
	int err = gk_opening(NULL, 30 * GK_NS_PER_S, &nvml_error, &gpus.all,
			     &gpus.nvml);

	if (err)
		return smi_tell_open_error(err, nvml_error);
	gpus.major = (unsigned)atoi(gpus.nvml->driver_version);
	*ret_gpus = gpus;
	return SMI_OK;
}

int smi_gpus_open(const char *ids, struct smi_gpus *ret_gpus)
{
	struct smi_gpus gpus = {0};
	int status = smi_driver_open(&gpus);

	if (status)
		return status;
	gpus.at = calloc(gpus.all + 1, sizeof *gpus.at);
	status = gpus.at ? choose(&gpus, ids) : SMI_FAILED;
	if (status)
		smi_gpus_close(&gpus);
	else
		*ret_gpus = gpus;
	return status;
}

void smi_gpus_close(struct smi_gpus *gpus)
{
	free(gpus->at);
	gk_nvml_close(gpus->nvml);
}

int smi_with_gpus(const struct smi *smi, smi_on_gpus *run, const void *arg)
{
	struct smi_gpus gpus;
	int status = smi_gpus_open(smi->ids, &gpus);

	if (status)
		return status;
	status = run(smi, &gpus, arg);
	smi_gpus_close(&gpus);
	return status;
}

int smi_with_driver(const struct smi *smi, smi_on_gpus *run, const void *arg)
{
	struct smi_gpus gpus;
	int status;

	if (smi->ids)
		return smi_with_gpus(smi, run, arg);
	status = smi_driver_open(&gpus);
	if (status)
		return status;
	status = run(smi, &gpus, arg);
	smi_gpus_close(&gpus);
	return status;
}
