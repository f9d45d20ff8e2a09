/*
 * prometheus_part.h - what the files that make metrics for Prometheus share.
 */
#ifndef GK_FORMAT_PROMETHEUS_PART_H
#define GK_FORMAT_PROMETHEUS_PART_H

#include "format/exposition.h"
#include "format/prometheus.h"

/* One rendering: device_labels are one text a device. */
struct gk_rendering {
	struct gk_exposition text;
	const struct gk_snapshot *snap;
	const struct gk_prometheus *options;
	struct gk_buf *device_labels;
	bool *shown; /* by process: whether it is among those shown */
	size_t left_out;
};

/* Add the families that each set of names has. */
void gk_render_own(struct gk_rendering *r);
void gk_render_dcgm(struct gk_rendering *r);
void gk_render_nvitop(struct gk_rendering *r);

/* The host's name in labels: the option's, else the snapshot's. */
const char *gk_render_hostname(const struct gk_rendering *r);

/* Fills device_labels[i] with the labels that a function makes of device i. */
typedef void gk_labels_fn(const struct gk_rendering *r,
			  const struct gk_device *d, struct gk_buf *out);
void gk_render_labels(struct gk_rendering *r, gk_labels_fn *labels);

/* Add the metrics that each set of names shows. */
void gk_own_metrics(const struct gk_prometheus *options,
		    struct gk_metric_set *set);
void gk_dcgm_metrics(struct gk_metric_set *set);
void gk_nvitop_metrics(struct gk_metric_set *set);

/* value / divisor with as many decimals as it takes, at most 6. */
char *gk_divided(char *dst, int64_t value, int64_t divisor);

#endif
