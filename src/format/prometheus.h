/*
 * prometheus.h - a snapshot as metrics for Prometheus, under our names or
 * those of other exporters.
 */
#ifndef GK_FORMAT_PROMETHEUS_H
#define GK_FORMAT_PROMETHEUS_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_metric_names {
	GK_NAMES_GPUKIT, /* one prefix, base units */
	GK_NAMES_DCGM,   /* the default set of dcgm-exporter */
	GK_NAMES_NVITOP, /* the families of nvitop-exporter */
	GK_NAMES_COUNT
};

/* Byte and packet counters of an interface or a disk since boot. */
struct gk_host_flow {
	char name[64];
	uint64_t in, out;                 /* bytes: received or read */
	uint64_t packets_in, packets_out; /* interfaces only */
};

struct gk_host_mount {
	char path[256];
	uint64_t total, used, free; /* bytes; free for users */
};

/* Flows and mounts of the host, which only nvitop's families show. */
struct gk_host_flows {
	struct gk_host_flow *interfaces, *disks;
	struct gk_host_mount *mounts;
	size_t interface_count, disk_count, mount_count;
};

struct gk_prometheus {
	enum gk_metric_names names;
	bool openmetrics; /* GK_NAMES_GPUKIT only; others have one format */
	bool all;         /* GK_NAMES_GPUKIT: every metric there is */
	bool processes;   /* a set of labels for each process */
	size_t most_processes;    /* those with the most GPU memory; 0: any */
	bool commands;            /* command lines, where the names have them */
	const char *hostname;     /* of labels; NULL: the snapshot's */
	uint64_t frames, scrapes; /* so far */
	/* GK_NAMES_NVITOP; NULL: unknown. An earlier snapshot, for rates. */
	const struct gk_host_flows *flows;
	const struct gk_snapshot *before;
};

/* Adds the metrics of a snapshot as text, in the format of the options. */
void gk_format_prometheus(struct gk_buf *out, const struct gk_snapshot *snap,
			  const struct gk_prometheus *options);

/*
 * The metrics that such names show, to be asked for (gk_options.only). With
 * all, and for names that need it, *ret_detail says whether the DETAIL tier
 * is read.
 */
void gk_prometheus_metrics(const struct gk_prometheus *options,
			   struct gk_metric_set *ret_set, bool *ret_detail);

#endif
