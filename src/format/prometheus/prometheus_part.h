/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prometheus_part.h - internal interface between the files that format metrics
 * for Prometheus.
 */
#ifndef GK_FORMAT_PROMETHEUS_PART_H
#define GK_FORMAT_PROMETHEUS_PART_H

#include "format/prometheus/exposition.h"
#include "format/prometheus/prometheus.h"

/* The help text of gpukit_up, which pages without a driver also have. */
#define GK_UP_HELP "1 = there is a driver, 0 = there is none"

/* The state of the formatter. device_labels has one text per device. */
struct gk_rendering {
	struct gk_exposition text;
	const struct gk_snapshot *snap;
	const struct gk_prometheus *options;
	struct gk_buf *device_labels;
	bool *shown; /* per process: whether it is shown */
	size_t left_out;
};

/* Add the families of a set of names: gpukit's own, dcgm-exporter's, nvitop's,
 * nvidia_gpu_exporter's or OpenTelemetry's. */
void gk_render_own(struct gk_rendering *r);
void gk_render_dcgm(struct gk_rendering *r);
void gk_render_nvitop(struct gk_rendering *r);
void gk_render_nvidia_smi(struct gk_rendering *r);
void gk_render_otel(struct gk_rendering *r);

/*
 * Returns the host's name for labels: the option or, by default, the
 * snapshot's.
 */
const char *gk_render_hostname(const struct gk_rendering *r);

/*
 * Calls a function for each device, which writes the device's labels to
 * device_labels[i].
 */
typedef void gk_labels_fn(const struct gk_rendering *r,
			  const struct gk_device *d, struct gk_buf *out);
void gk_render_labels(struct gk_rendering *r, gk_labels_fn *labels);

/* Whether a device is the first of its GPU instance in the list, which may have
 * several MIG devices; true for whole GPUs. */
bool gk_is_first_of_instance(const struct gk_snapshot *snap, size_t device);

/* Add to a set the metrics that a set of names shows. */
void gk_own_metrics(const struct gk_prometheus *options,
		    struct gk_metric_set *set);
void gk_dcgm_metrics(struct gk_metric_set *set);
void gk_nvitop_metrics(struct gk_metric_set *set);
void gk_nvidia_smi_metrics(struct gk_metric_set *set);
void gk_otel_metrics(struct gk_metric_set *set);

/* Formats value / divisor with as many decimals as needed, but at most 6. */
char *gk_divided(char *dst, int64_t value, int64_t divisor);

#endif
