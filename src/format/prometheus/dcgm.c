/* SPDX-License-Identifier: Apache-2.0 */
/* dcgm.c - formats a snapshot with the names and labels of dcgm-exporter. */
#include "base/units.h"
#include "format/prometheus/prometheus_part.h"

#include "format/names.h"
#include "format/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The unit of NVLINK_BANDWIDTH_TOTAL is this many KiB/s. */
#define KIB_PER_STEP 1000

/* Whose value a GPU instance shows: that of its board, or its own. */
enum of { BOARD, OWN };

static const struct row {
	enum gk_metric metric;
	enum of of;
	struct gk_family family;
	int64_t divisor;
	int decimals;
} rows[] = {
#define DCGM(id, of, field, type, divisor, decimals, help)                     \
	{GK_M_##id,                                                            \
	 of,                                                                   \
	 {"DCGM_FI_DEV_", field, GK_FAMILY_##type, NULL, help},                \
	 divisor,                                                              \
	 decimals},
#define PROF(id, field, divisor, decimals, help)                               \
	{GK_M_##id,                                                            \
	 OWN,                                                                  \
	 {"DCGM_FI_PROF_", field, GK_FAMILY_GAUGE, NULL, help},                \
	 divisor,                                                              \
	 decimals},
#include "format/prometheus/dcgm.def"
#undef DCGM
#undef PROF
};
#define ROWS (sizeof rows / sizeof *rows)

/*
 * Returns the profile of a GPU instance. The name of a MIG device contains the
 * profile of its compute instance, such as "MIG 1c.3g.40gb", which ends with
 * that of the GPU instance.
 */
static const char *instance_profile(const struct gk_device *d)
{
	const char *profile = strstr(d->name, "MIG ");
	const char *after;

	if (!profile)
		return "";
	profile += 4;
	after = strstr(profile, "c.");
	return after && strspn(profile, "0123456789") ==
			    (size_t)(after - profile)
		   ? after + 2
		   : profile;
}

/* A GPU instance has labels for its GPU and for itself. */
static void mig_labels(const struct gk_device *d, struct gk_buf *out)
{
	char id[16];

	snprintf(id, sizeof id, "%d", d->gpu_instance);
	gk_label(out, "GPU_I_PROFILE", instance_profile(d));
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

/*
 * Whether a device has samples: each GPU instance once, however many compute
 * instances it has, and each GPU without instances. As in dcgm-exporter, a
 * split GPU is reported only through its instances, so that sums count nothing
 * twice.
 */
static bool is_told(const struct gk_snapshot *snap, size_t device)
{
	const struct gk_device *d = &snap->devices[device];

	for (size_t i = 0; d->mig_index < 0 && i < snap->device_count; i++)
		if (snap->devices[i].parent == (int)device)
			return false;
	return gk_is_first_of_instance(snap, device);
}

static const struct gk_value *value_of(const struct gk_snapshot *snap,
				       const struct gk_device *d,
				       const struct row *row)
{
	if (row->of == BOARD && d->parent >= 0)
		d = &snap->devices[d->parent];
	return &d->m[row->metric];
}

/*
 * Adds the number and the meaning of the last Xid as labels. Apart from that
 * for 0, the texts are gpukit's, not those of dcgm-exporter.
 */
static void xid_labels(int64_t xid, struct gk_buf *out)
{
	char number[32];

	snprintf(number, sizeof number, "%" PRId64, xid);
	gk_label(out, "err_code", number);
	gk_label(out, "err_msg", xid ? gk_xid_text(xid) : "No Error");
}

static void add_sample(struct gk_rendering *r, const struct row *row, size_t i)
{
	const struct gk_value *v = value_of(r->snap, &r->snap->devices[i], row);
	struct gk_buf more = {0};
	char digits[GK_UNITS_MAX];

	if (v->why || !is_told(r->snap, i))
		return;
	snprintf(digits, sizeof digits, "%.*f", row->decimals,
		 row->decimals ? (double)v->v / (double)row->divisor
			       : (double)(v->v / row->divisor));
	if (row->metric == GK_M_XID_LAST)
		xid_labels(v->v, &more);
	if (!more.failed)
		gk_exposition_sample(&r->text, &row->family,
				     r->device_labels[i].data,
				     more.data ? more.data : "", digits);
	gk_buf_free(&more);
}

/*
 * DCGM computes NVLINK_BANDWIDTH_TOTAL from the counters of all NVLinks: their
 * growth in KiB per second, divided by 1000.
 */
static void add_nvlinks(struct gk_rendering *r)
{
	static const struct gk_family f = {
	    "DCGM_FI_DEV_", "NVLINK_BANDWIDTH_TOTAL", GK_FAMILY_GAUGE, NULL,
	    "data over all NVLinks in both directions, 1000 KiB/s"};
	const struct gk_value *rates = r->options->nvlink_rates;

	for (size_t i = 0; rates && i < r->snap->device_count; i++) {
		int parent = r->snap->devices[i].parent;
		struct gk_value v = rates[parent < 0 ? i : (size_t)parent];
		char digits[GK_UNITS_MAX];

		if (v.why || !is_told(r->snap, i))
			continue;
		snprintf(digits, sizeof digits, "%" PRId64,
			 v.v / KIB / KIB_PER_STEP);
		gk_exposition_sample(&r->text, &f, r->device_labels[i].data, "",
				     digits);
	}
}

void gk_render_dcgm(struct gk_rendering *r)
{
	gk_render_labels(r, add_labels);
	for (size_t i = 0; i < ROWS; i++)
		for (size_t k = 0; k < r->snap->device_count; k++)
			add_sample(r, &rows[i], k);
	add_nvlinks(r);
}

void gk_dcgm_metrics(struct gk_metric_set *set)
{
	for (size_t i = 0; i < ROWS; i++)
		gk_metric_set_add(set, rows[i].metric);
	gk_metric_set_add(set, GK_M_NVLINK_TX);
	gk_metric_set_add(set, GK_M_NVLINK_RX);
}
