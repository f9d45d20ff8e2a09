/* SPDX-License-Identifier: Apache-2.0 */
/* otel.c - formats a snapshot with the names of OpenTelemetry's semantic
 * conventions for hardware. */
#include "format/prometheus/prometheus_part.h"
#include "base/array.h"

#include "format/condition.h"
#include "format/names.h"
#include "format/state.h"
#include "format/units.h"

#include <stdio.h>

#define PREFIX "hw_"

static const struct row {
	enum gk_metric metric;
	struct gk_family family;
	int64_t divisor;
	const char *labels;
} rows[] = {
#define OTEL(id, name, type, divisor, labels, help)                            \
	{GK_M_##id,                                                            \
	 {PREFIX, name, GK_FAMILY_##type, NULL, help},                         \
	 divisor,                                                              \
	 labels},
#include "format/prometheus/otel.def"
#undef OTEL
};

/* The states of the conventions, and our states that map to each. */
enum health { HEALTH_OK, HEALTH_DEGRADED, HEALTH_FAILED, HEALTH_COUNT };
static const char *const health_names[HEALTH_COUNT] = {"ok", "degraded",
						       "failed"};
static const enum health health_of[GK_STATE_KINDS] = {
    [GK_STATE_LOST] = HEALTH_FAILED,       [GK_STATE_ERROR] = HEALTH_FAILED,
    [GK_STATE_HUNG] = HEALTH_FAILED,       [GK_STATE_FAULT] = HEALTH_FAILED,
    [GK_STATE_STALE] = HEALTH_DEGRADED,    [GK_STATE_ALERT] = HEALTH_DEGRADED,
    [GK_STATE_HOT] = HEALTH_DEGRADED,      [GK_STATE_HELD] = HEALTH_DEGRADED,
    [GK_STATE_DEGRADED] = HEALTH_DEGRADED,
};

static void label_unless_empty(struct gk_buf *out, const char *name,
			       const char *value)
{
	if (*value)
		gk_label(out, name, value);
}

/*
 * Returns the UUID of a GPU. If the GPU was lost before its UUID was read,
 * returns its name, so that no two components have the same id.
 */
static const char *otel_id(const struct gk_device *d, const char *name)
{
	return d->uuid[0] ? d->uuid : name;
}

static void otel_labels(const struct gk_rendering *r, const struct gk_device *d,
			struct gk_buf *out)
{
	char index[GK_NAME_MAX], name[GK_NAME_MAX + 4];

	snprintf(name, sizeof name, "gpu%s", gk_device_label(index, d));
	gk_label(out, "hw_id", otel_id(d, name));
	gk_label(out, "hw_name", name);
	gk_label(out, "hw_vendor", "NVIDIA");
	label_unless_empty(out, "hw_model", d->name);
	label_unless_empty(out, "hw_serial_number", d->serial);
	label_unless_empty(out, "hw_driver_version", r->snap->driver_version);
	label_unless_empty(out, "hw_firmware_version", d->vbios);
	if (d->parent >= 0)
		gk_label(out, "hw_parent", r->snap->devices[d->parent].uuid);
}

static void add_otel_row(struct gk_rendering *r, const struct row *row)
{
	char digits[GK_UNITS_MAX];

	for (size_t i = 0; i < r->snap->device_count; i++) {
		struct gk_value v = r->snap->devices[i].m[row->metric];

		if (!v.why)
			gk_exposition_sample(
			    &r->text, &row->family, r->device_labels[i].data,
			    row->labels, gk_divided(digits, v.v, row->divisor));
	}
}

/* Adds the part of a GPU's memory that is in use, which is not a metric. */
static void add_otel_memory(struct gk_rendering *r)
{
	static const struct gk_family f = {
	    PREFIX, "gpu_memory_utilization_ratio", GK_FAMILY_GAUGE, NULL,
	    "part of the memory that is in use"};

	for (size_t i = 0; i < r->snap->device_count; i++) {
		struct gk_value used = r->snap->devices[i].m[GK_M_MEM_USED];
		struct gk_value total = r->snap->devices[i].m[GK_M_MEM_TOTAL];
		char digits[GK_UNITS_MAX];

		if (used.why || total.why || total.v <= 0)
			continue;
		snprintf(digits, sizeof digits, "%.6f",
			 (double)used.v / (double)total.v);
		gk_exposition_sample(&r->text, &f, r->device_labels[i].data,
				     "hw_type=\"gpu\"", digits);
	}
}

static void add_otel_status(struct gk_rendering *r)
{
	static const struct gk_family f = {
	    PREFIX, "status", GK_FAMILY_GAUGE, NULL,
	    "1 = the component is in this state, 0 = it is not"};
	static const struct gk_seen nothing_before;

	for (size_t i = 0; i < r->snap->device_count; i++) {
		struct gk_state state =
		    gk_state_of(&nothing_before, r->snap, &r->snap->devices[i],
				(struct gk_state_options){.width = 1});

		for (int k = 0; k < HEALTH_COUNT; k++) {
			char label[64];

			snprintf(label, sizeof label,
				 "hw_type=\"gpu\",hw_state=\"%s\"",
				 health_names[k]);
			gk_exposition_sample(
			    &r->text, &f, r->device_labels[i].data, label,
			    (int)health_of[state.kind] == k ? "1" : "0");
		}
	}
}

void gk_render_otel(struct gk_rendering *r)
{
	gk_render_labels(r, otel_labels);
	for (size_t i = 0; i < COUNT(rows); i++)
		add_otel_row(r, &rows[i]);
	add_otel_memory(r);
	add_otel_status(r);
}

void gk_otel_metrics(struct gk_metric_set *set)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		gk_metric_set_add(set, rows[i].metric);
	gk_metric_set_add(set, GK_M_THROTTLE);
	gk_condition_metrics(set);
}
