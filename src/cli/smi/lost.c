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

void smi_lost_line(unsigned major, const struct smi_lost *lost,
		   struct gk_buf *out)
{
	const struct form *form = form_of(major);

	gk_buf_printf(out, "Unable to determine the device handle for %s",
		      form->before);
	if (form->index)
		gk_buf_printf(out, "%u: ", lost->index);
	gk_buf_printf(out, "%s: %s", lost->bus_id, reason_of(lost->why));
}

bool smi_lost_stops(unsigned major)
{
	return form_of(major)->stops;
}

/* ---- addresses ---- */

enum { BUSES = 256, SLOTS = 32 };

/* A lost GPU without an address whose address the driver refuses so. */
static struct smi_lost *without_address(struct smi_lost *lost, size_t count,
					nvmlReturn_t why)
{
	for (size_t i = 0; i < count; i++)
		if (lost[i].why == why && !*lost[i].bus_id)
			return &lost[i];
	return NULL;
}

/* NOT_FOUND is the answer for addresses without a GPU. */
void smi_find_lost(struct gk_nvml *nvml, struct smi_lost *lost, size_t count)
{
	struct smi_gpus gpus = {.nvml = nvml};

	for (unsigned at = 0; count && at < BUSES * SLOTS; at++) {
		struct smi_lost *found;
		char bus_id[32];
		nvmlDevice_t handle;
		nvmlReturn_t r;

		snprintf(bus_id, sizeof bus_id, "0000:%02X:%02X.0", at / SLOTS,
			 at % SLOTS);
		r = SMI_NVML(&gpus, nvmlDeviceGetHandleByPciBusId_v2, bus_id,
			     &handle);
		if (!r || r == NVML_ERROR_NOT_FOUND)
			continue;
		found = without_address(lost, count, r);
		if (found)
			gk_str_copy(found->bus_id, sizeof found->bus_id,
				    bus_id);
	}
	for (size_t i = 0; i < count; i++)
		if (!*lost[i].bus_id)
			gk_str_copy(lost[i].bus_id, sizeof lost[i].bus_id,
				    "N/A");
}

int smi_tell_lost(unsigned major, const struct smi_lost *lost, size_t count,
		  const char *ids)
{
	struct gk_buf line = {0};
	int status = SMI_OK;

	for (size_t i = 0; !status && i < count; i++) {
		if (ids && !smi_names(ids, lost[i].index, "", lost[i].bus_id))
			continue;
		smi_lost_line(major, &lost[i], &line);
		gk_buf_putc(&line, '\n');
		if (smi_lost_stops(major))
			status = smi_status_of(lost[i].why);
	}
	if (line.len)
		fputs(line.data, stdout);
	gk_buf_free(&line);
	return status;
}
