/* SPDX-License-Identifier: Apache-2.0 */
/* dcgm.c - formats a snapshot with the names and labels of dcgm-exporter. */
#include "format/prometheus/prometheus_part.h"

#include "format/units.h"

#include <stdio.h>
#include <string.h>

static const struct {
	enum gk_metric metric;
	struct gk_family family;
	int64_t divisor;
	int decimals;
} rows[] = {
#define DCGM(id, field, type, divisor, decimals, help)                         \
	{GK_M_##id,                                                            \
	 {"DCGM_FI_DEV_", field, GK_FAMILY_##type, NULL, help},                \
	 divisor,                                                              \
	 decimals},
#include "format/prometheus/dcgm.def"
#undef DCGM
};
#define ROWS (sizeof rows / sizeof *rows)

/* A MIG device has labels for its GPU and for its own instance. */
static void mig_labels(const struct gk_device *d, struct gk_buf *out)
{
	const char *profile = strstr(d->name, "MIG ");
	char id[16];

	snprintf(id, sizeof id, "%d", d->gpu_instance);
	gk_label(out, "GPU_I_PROFILE", profile ? profile + 4 : "");
	gk_label(out, "GPU_I_ID", id);
}

static void add_labels(const struct gk_rendering *r, const struct gk_device *d,
		       struct gk_buf *out)
{
	const struct gk_device *gpu =
	    d->parent < 0 ? d : &r->snap->devices[d->parent];
	char number[32];

	snprintf(number, sizeof number, "%u", gpu->index);
	gk_label(out, "gpu", number);
	gk_label(out, "UUID", gpu->uuid);
	gk_label(out, "pci_bus_id", gpu->bus_id);
	snprintf(number, sizeof number, "nvidia%d",
		 gpu->minor < 0 ? (int)gpu->index : gpu->minor);
	gk_label(out, "device", number);
	gk_label(out, "modelName", gpu->name);
	if (d->mig_index >= 0)
		mig_labels(d, out);
	gk_label(out, "Hostname", gk_render_hostname(r));
	gk_label(out, "DCGM_FI_DRIVER_VERSION", r->snap->driver_version);
}

void gk_render_dcgm(struct gk_rendering *r)
{
	gk_render_labels(r, add_labels);
	for (size_t i = 0; i < ROWS; i++) {
		for (size_t k = 0; k < r->snap->device_count; k++) {
			const struct gk_value *v =
			    &r->snap->devices[k].m[rows[i].metric];
			char digits[GK_UNITS_MAX];

			if (v->why)
				continue;
			snprintf(digits, sizeof digits, "%.*f",
				 rows[i].decimals,
				 rows[i].decimals
				     ? (double)v->v / (double)rows[i].divisor
				     : (double)(v->v / rows[i].divisor));
			gk_exposition_sample(&r->text, &rows[i].family,
					     r->device_labels[k].data, "",
					     digits);
		}
	}
}

void gk_dcgm_metrics(struct gk_metric_set *set)
{
	for (size_t i = 0; i < ROWS; i++)
		gk_metric_set_add(set, rows[i].metric);
}
