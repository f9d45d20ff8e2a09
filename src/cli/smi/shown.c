/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown.c - finds the GPUs that -i names, and writes the lines about lost ones.
 */
#include "cli/smi/shown.h"
#include "cli/smi/gpus.h"

#include <limits.h>
#include <stdlib.h>

/* Whether an id names a GPU, lost or not. */
static bool is_known(const struct smi_shown *shown,
		     const struct gk_snapshot *snap, const char *id)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->mig_index < 0 &&
		    smi_is_named_by(d->index, d->uuid, d->bus_id, id))
			return true;
	}
	return smi_lost_is_named(&shown->lost, id);
}

static bool all_known(const struct smi_shown *shown,
		      const struct gk_snapshot *snap, const char *ids)
{
	char *copy = strdup(ids), *at = copy, *id;
	bool known = copy != NULL;

	while (known && (id = strsep(&at, ",")))
		known = is_known(shown, snap, id);
	free(copy);
	return known;
}

/* Lists the indices of the GPUs that -i names and that have a handle. */
static void list_indices(const struct smi_shown *shown, const char *ids,
			 const struct gk_snapshot *snap, struct gk_buf *list)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->mig_index >= 0 || smi_is_lost(&shown->lost, d->index) ||
		    (ids && !smi_names(ids, d->index, d->uuid, d->bus_id)))
			continue;
		gk_buf_printf(list, "%s%u", list->len ? "," : "", d->index);
	}
}

/*
 * Writes the lines about lost GPUs. If the driver's nvidia-smi stops at the
 * first lost GPU, writes only that one and returns its exit status.
 */
static int word_lines(struct smi_shown *shown, unsigned major, bool list)
{
	int status = list ? SMI_OK : smi_lost_status(major, &shown->lost);
	size_t count = status ? 1 : shown->lost.count;

	for (size_t i = 0; i < count; i++) {
		smi_lost_line(major, &shown->lost.at[i], list, shown->lines[i]);
		shown->absent[i] = (struct gk_smi_absent){
		    shown->lost.at[i].index, shown->lines[i]};
	}
	shown->absent[count].line = NULL;
	return status;
}

static void add_lines(struct smi_shown *shown, struct gk_buf *out)
{
	const struct gk_smi_absent *absent = shown->absent;

	gk_smi_add_absent(out, &absent, UINT_MAX);
	shown->absent[0].line = NULL;
}

/*
 * Looks for lost GPUs. Called only once, because handles are obtained when the
 * command starts. A GPU that is lost later has a handle, but no values.
 */
static int look_for_lost(struct smi_shown *shown, const struct smi *smi,
			 struct gk_nvml *nvml, const struct gk_snapshot *snap,
			 struct gk_buf *out)
{
	bool list = smi->mode == SMI_LIST;
	int status;

	smi_lost_look(nvml, snap, &shown->lost);
	if (smi->ids && !all_known(shown, snap, smi->ids))
		return smi_none_found();
	smi_lost_choose(&shown->lost, smi->ids);
	status = word_lines(shown, gk_smi_level(snap) / 1000, list);
	if (status || !(list || (smi->mode == SMI_LOG && !smi->xml)))
		add_lines(shown, out);
	return status;
}

int smi_choose_shown(struct smi_shown *shown, const struct smi *smi,
		     struct gk_nvml *nvml, const struct gk_snapshot *snap,
		     struct gk_buf *out, struct gk_buf *ret_list)
{
	int status = SMI_OK;

	if (!shown->looked)
		status = look_for_lost(shown, smi, nvml, snap, out);
	shown->looked = true;
	if (status || (!smi->ids && !shown->lost.count))
		return status;
	list_indices(shown, smi->ids, snap, ret_list);
	if (ret_list->failed)
		return SMI_FAILED;
	if (ret_list->len)
		return SMI_OK;
	add_lines(shown, out);
	gk_buf_puts(out, "No devices were found\n");
	return SMI_NOT_FOUND;
}
