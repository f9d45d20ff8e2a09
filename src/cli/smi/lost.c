/* SPDX-License-Identifier: Apache-2.0 */
/* lost.c - finds the addresses of lost GPUs, and words the lines about them. */
#include "cli/smi/lost.h"
#include "base/array.h"
#include "cli/smi/gpus.h"

#include <stdio.h>
#include <stdlib.h>

/* The form of the line, by driver; captures are named in docs/SMI.md. */
static const struct form {
	unsigned since;
	const char *before; /* the address */
	bool index;         /* between GPU and the address */
	bool stops;         /* nothing else is shown */
} forms[] = {
    {0, "GPU ", false, true},
    {525, "GPU", false, true},
    {570, "GPU", true, false},
};

static const struct form *form_of(unsigned major)
{
	size_t i = COUNT(forms) - 1;

	while (forms[i].since > major)
		i--;
	return &forms[i];
}

/* Any other reason is an "Unknown Error". */
static const struct {
	nvmlReturn_t why;
	const char *text;
} reasons[] = {
    {NVML_ERROR_GPU_IS_LOST,
     "GPU is lost.  Reboot the system to recover this GPU"},
    {NVML_ERROR_NOT_FOUND, "Not Found"},
    {NVML_ERROR_NO_PERMISSION, "Insufficient Permissions"},
};

static const char *reason_of(nvmlReturn_t why)
{
	for (size_t i = 0; i < COUNT(reasons); i++)
		if (reasons[i].why == why)
			return reasons[i].text;
	return "Unknown Error";
}

void smi_lost_line(unsigned major, const struct smi_lost *lost, bool list,
		   char ret_line[SMI_LOST_LINE])
{
	const struct form *form = form_of(major);
	char index[16] = "";

	if (form->index && !list)
		snprintf(index, sizeof index, "%u: ", lost->index);
	snprintf(ret_line, SMI_LOST_LINE,
		 "Unable to determine the device handle for %s%s%s: %s",
		 list ? "gpu " : form->before, index, lost->bus_id,
		 reason_of(lost->why));
}

int smi_lost_status(unsigned major, const struct smi_lost_gpus *lost)
{
	return lost->count && form_of(major)->stops
		   ? smi_status_of(lost->at[0].why)
		   : SMI_OK;
}

/* ---- which GPUs are lost ---- */

void smi_lost_add(struct smi_lost_gpus *lost, unsigned index, nvmlReturn_t why,
		  const char *bus_id)
{
	struct smi_lost *to = &lost->at[lost->count];

	if (lost->count == SMI_LOST_MAX)
		return;
	*to = (struct smi_lost){.index = index, .why = why};
	/* The tool writes four digits of the domain here. */
	gk_str_copy(to->bus_id, sizeof to->bus_id,
		    strlen(bus_id) > 12 ? bus_id + strlen(bus_id) - 12
					: bus_id);
	lost->count++;
}

bool smi_is_lost(const struct smi_lost_gpus *lost, unsigned index)
{
	for (size_t i = 0; i < lost->count; i++)
		if (lost->at[i].index == index)
			return true;
	return false;
}

void smi_lost_choose(struct smi_lost_gpus *lost, const char *ids)
{
	size_t kept = 0;

	for (size_t i = 0; i < lost->count; i++)
		if (!ids ||
		    smi_names(ids, lost->at[i].index, "", lost->at[i].bus_id))
			lost->at[kept++] = lost->at[i];
	lost->count = kept;
}

/* A GPU that must be reset has a handle; one that is late is not asked. */
static bool may_be_lost(const struct gk_device *d)
{
	return d->mig_index < 0 &&
	       (d->health == GK_HEALTH_LOST || d->health == GK_HEALTH_ERROR) &&
	       d->nvml_error != NVML_ERROR_TIMEOUT &&
	       d->nvml_error != NVML_ERROR_RESET_REQUIRED;
}

void smi_lost_look(struct gk_nvml *nvml, const struct gk_snapshot *snap,
		   struct smi_lost_gpus *ret_lost)
{
	bool late = false;

	ret_lost->count = 0;
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		nvmlDevice_t handle;
		nvmlReturn_t r;

		late |= d->health == GK_HEALTH_STALE;
		if (!may_be_lost(d))
			continue;
		r = GK_NVML_CALL(nvml, nvmlDeviceGetHandleByIndex_v2, d->index,
				 &handle);
		if (r)
			smi_lost_add(ret_lost, d->index, r, d->bus_id);
	}
	if (ret_lost->count && !late)
		smi_lost_find(nvml, ret_lost);
}

/* ---- addresses ---- */

/* Coherent boards have domains of their own, up to 0x19 in captures. */
enum { DOMAINS = 32, BUSES = 256, SLOTS = 32 };

/* A lost GPU without an address; why 0: for any reason. */
static struct smi_lost *without_address(struct smi_lost_gpus *lost,
					nvmlReturn_t why)
{
	for (size_t i = 0; i < lost->count; i++)
		if ((!why || lost->at[i].why == why) && !*lost->at[i].bus_id)
			return &lost->at[i];
	return NULL;
}

/* NOT_FOUND is the answer for addresses without a GPU. */
static void try_address(struct gk_nvml *nvml, struct smi_lost_gpus *lost,
			const char *bus_id)
{
	struct smi_gpus gpus = {.nvml = nvml};
	struct smi_lost *found;
	nvmlDevice_t handle;
	nvmlReturn_t r =
	    SMI_NVML(&gpus, nvmlDeviceGetHandleByPciBusId_v2, bus_id, &handle);

	if (!r || r == NVML_ERROR_NOT_FOUND)
		return;
	found = without_address(lost, r);
	if (found)
		gk_str_copy(found->bus_id, sizeof found->bus_id, bus_id);
}

void smi_lost_find(struct gk_nvml *nvml, struct smi_lost_gpus *lost)
{
	struct smi_lost *rest;

	for (unsigned at = 0;
	     at < DOMAINS * BUSES * SLOTS && without_address(lost, 0); at++) {
		char bus_id[32];

		snprintf(bus_id, sizeof bus_id, "%04X:%02X:%02X.0",
			 at / SLOTS / BUSES, at / SLOTS % BUSES, at % SLOTS);
		try_address(nvml, lost, bus_id);
	}
	while ((rest = without_address(lost, 0)))
		gk_str_copy(rest->bus_id, sizeof rest->bus_id, "N/A");
}
