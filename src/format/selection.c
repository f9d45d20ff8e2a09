/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c - prints the chosen devices as text and as JSON. */
#include "format/selection.h"

#include "format/json.h"
#include "format/names.h"
#include "format/units.h"

#include <string.h>

static const struct {
	const char *name; /* name in JSON */
	const char *text; /* words that follow the number of devices */
} refusals[GK_REFUSAL_COUNT] = {
    [GK_REFUSAL_HEALTH] = {"health", "not answering"},
    [GK_REFUSAL_TAKEN] = {"reserved", "reserved"},
    [GK_REFUSAL_FREE] = {"min_free_memory", "without enough free memory"},
    [GK_REFUSAL_TOTAL] = {"min_total_memory", "without enough memory"},
    [GK_REFUSAL_GPU_UTIL] = {"max_gpu_utilization", "too busy"},
    [GK_REFUSAL_MEM_UTIL] = {"max_memory_utilization", "with memory too busy"},
};

enum gk_select_ids gk_selection_ids(const struct gk_snapshot *snap,
				    const struct gk_selection *selection,
				    enum gk_select_ids asked)
{
	for (size_t i = 0; i < selection->chosen; i++)
		if (snap->devices[selection->all[i].device].mig_index >= 0)
			return GK_SELECT_UUID;
	return asked;
}

void gk_format_selection(struct gk_buf *out, const struct gk_snapshot *snap,
			 const struct gk_selection *selection,
			 enum gk_select_ids ids, const char *separator,
			 size_t separator_len)
{
	for (size_t i = 0; i < selection->chosen; i++) {
		const struct gk_device *d =
		    &snap->devices[selection->all[i].device];

		if (i)
			gk_buf_add(out, separator, separator_len);
		if (ids == GK_SELECT_UUID)
			gk_buf_puts(out, d->uuid);
		else
			gk_buf_printf(out, "%u", d->index);
	}
}

static void put_selection_text(struct gk_buf *out, const char *key,
			       const char *value)
{
	gk_buf_printf(out, "\"%s\":", key);
	gk_json_string(out, value, strlen(value));
	gk_buf_putc(out, ',');
}

static void put_selection_number(struct gk_buf *out, const char *key,
				 struct gk_value v, char after)
{
	char digits[GK_UNITS_MAX] = "null";

	if (!v.why)
		gk_number(digits, v.v, GK_UNIT_NONE);
	gk_buf_printf(out, "\"%s\":%s%c", key, digits, after);
}

static void put_selection_device(struct gk_buf *out,
				 const struct gk_snapshot *snap,
				 const struct gk_selectable *s)
{
	const struct gk_device *d = &snap->devices[s->device];
	char label[GK_NAME_MAX];

	gk_buf_printf(out, "{\"index\":%u,", d->index);
	put_selection_number(
	    out, "mig_index",
	    (struct gk_value){d->mig_index,
			      d->mig_index < 0 ? GK_ABSENT_NONE : GK_PRESENT},
	    ',');
	put_selection_text(out, "label", gk_device_label(label, d));
	put_selection_text(out, "name", d->name);
	put_selection_text(out, "uuid", d->uuid);
	put_selection_number(out, "memory_free_bytes", s->free, ',');
	put_selection_number(out, "memory_used_bytes", s->used, ',');
	put_selection_number(out, "memory_total_bytes", d->m[GK_M_MEM_TOTAL],
			     ',');
	put_selection_number(out, "gpu_utilization_percent",
			     d->m[GK_M_GPU_UTIL], ',');
	put_selection_number(out, "memory_utilization_percent",
			     d->m[GK_M_MEM_UTIL], ',');
	if (s->why)
		put_selection_text(out, "refused", refusals[s->why].name);
	gk_buf_printf(out, "\"constraints_loosened\":%u}", s->missed);
}

void gk_format_selection_json(struct gk_buf *out,
			      const struct gk_snapshot *snap,
			      const struct gk_selection *selection,
			      enum gk_select_ids ids)
{
	char time[GK_UNITS_MAX];

	gk_buf_puts(out, "{\"schema\":1,");
	put_selection_text(out, "time", gk_utc_time(time, snap->wall_ns));
	gk_buf_puts(out, "\"cuda_visible_devices\":\"");
	gk_format_selection(out, snap, selection, ids, ",", 1);
	gk_buf_puts(out, "\",\"devices\":[");
	for (size_t i = 0; i < selection->count; i++) {
		if (i == selection->chosen)
			gk_buf_puts(out, "],\"others\":[");
		else if (i)
			gk_buf_putc(out, ',');
		put_selection_device(out, snap, &selection->all[i]);
	}
	if (selection->chosen == selection->count)
		gk_buf_puts(out, "],\"others\":[");
	gk_buf_puts(out, "]}\n");
}

void gk_format_refusals(struct gk_buf *out, const struct gk_snapshot *snap,
			const struct gk_selection *selection)
{
	static const char *const kinds[2] = {"", "MIG device"};
	unsigned counts[GK_REFUSAL_COUNT][2] = {0};
	const char *between = "";

	for (size_t i = 0; i < selection->count; i++) {
		const struct gk_selectable *s = &selection->all[i];

		counts[s->why][snap->devices[s->device].mig_index >= 0]++;
	}
	for (int why = GK_REFUSAL_NONE + 1; why < GK_REFUSAL_COUNT; why++)
		for (int mig = 0; mig < 2; mig++) {
			unsigned count = counts[why][mig];

			if (!count)
				continue;
			gk_buf_printf(out, "%s%u %s%s%s%s", between, count,
				      kinds[mig], mig && count > 1 ? "s" : "",
				      mig ? " " : "", refusals[why].text);
			between = ", ";
		}
}
