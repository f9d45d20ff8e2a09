/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prometheus.h - a snapshot as metrics for Prometheus, under gpukit's own names
 * or those of other exporters.
 */
#ifndef GK_FORMAT_PROMETHEUS_H
#define GK_FORMAT_PROMETHEUS_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_metric_names {
	GK_NAMES_GPUKIT, /* one prefix; values in base units */
	GK_NAMES_DCGM,   /* the default metrics of dcgm-exporter */
	GK_NAMES_NVITOP, /* the families of nvitop-exporter */
	/* the families of nvidia_gpu_exporter */
	GK_NAMES_NVIDIA_SMI,
	GK_NAMES_OTEL, /* OpenTelemetry's conventions for hardware */
	GK_NAMES_COUNT
};

/* Counters of a network interface or disk since boot. */
struct gk_host_flow {
	char name[64];
	uint64_t in, out;                 /* bytes received or read; sent or
					   * written */
	uint64_t packets_in, packets_out; /* only for network interfaces */
};

struct gk_host_mount {
	char path[256];
	uint64_t total, used, free; /* bytes; free: what users may still use */
};

/* The host's network interfaces, disks and mounts; shown only with nvitop's
 * names. */
struct gk_host_flows {
	struct gk_host_flow *interfaces, *disks;
	struct gk_host_mount *mounts;
	size_t interface_count, disk_count, mount_count;
};

struct gk_prometheus {
	enum gk_metric_names names;
	bool openmetrics; /* only with GK_NAMES_GPUKIT */
	bool all;         /* all metrics; only with GK_NAMES_GPUKIT */
	bool processes;   /* show samples of each process */
	/*
	 * Show at most this many processes: those with the most memory. 0: show
	 * all.
	 */
	size_t most_processes;
	bool commands; /* show command lines, if the chosen set of names has
			* a label for them */
	/* the host in labels; NULL: use the snapshot's */
	const char *hostname;
	uint64_t frames, scrapes; /* numbers so far */
	/*
	 * Used only with GK_NAMES_NVITOP; NULL if unknown. `before` is an
	 * earlier snapshot, needed to compute rates.
	 */
	const struct gk_host_flows *flows;
	const struct gk_snapshot *before;
	/*
	 * Used only with GK_NAMES_DCGM: bytes per second over NVLink, for each
	 * device of the snapshot; NULL if unknown.
	 */
	const struct gk_value *nvlink_rates;
};

/*
 * Adds the metrics of a snapshot as text, in the format that the options
 * select.
 */
void gk_format_prometheus(struct gk_buf *out, const struct gk_snapshot *snap,
			  const struct gk_prometheus *options);

/* Returns the page for a machine whose driver is missing: a static text. */
const char *gk_prometheus_away(const struct gk_prometheus *options,
			       bool openmetrics);

/*
 * Returns the metrics to request with gk_options.only: those that the chosen
 * set of names shows. Sets *ret_detail if the DETAIL tier is needed, too.
 */
void gk_prometheus_metrics(const struct gk_prometheus *options,
			   struct gk_metric_set *ret_set, bool *ret_detail);

#endif
