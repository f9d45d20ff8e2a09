/*
 * device.h - one GPU with its MIG devices, as its worker reads it.
 *
 * A struct gk_gpu belongs to one thread. It survives the loss of the GPU: the
 * handle is opened anew at every reading of the FAST tier until it works.
 */
#ifndef GK_CORE_DEVICE_H
#define GK_CORE_DEVICE_H

#include "core/collect.h"
#include "core/util.h"

/* A process in the lists of a unit; m: the metrics that the driver gives. */
struct gk_listed {
	pid_t pid;
	unsigned unit;
	unsigned types; /* bits of gk_process_type */
	struct gk_value m[GK_PM_COUNT];
};

/* The GPU itself or a MIG device of it. */
struct gk_gpu_unit {
	nvmlDevice_t handle;
	struct gk_row_set unsupported; /* see gk_collect() */
	unsigned unsupported_lists;    /* bits of gk_process_type */
	struct gk_util util;
	struct gk_device dev; /* parent is set by whoever makes the list */
};

/* Says which metrics of GPUs are read, and who else is told of the GPUs. */
struct gk_gpu_options {
	unsigned with;                    /* bits of gk_with */
	const struct gk_metric_set *only; /* NULL: all metrics; is copied */
	struct gk_events *events;         /* NULL: none; is referenced */
	struct gk_places *places;         /* NULL: none; is referenced */
};

struct gk_gpu {
	const struct gk_nvml *nvml;
	struct gk_events *events;
	struct gk_places *places;
	unsigned with; /* bits of gk_with */
	bool choosy;   /* only the metrics of only */
	struct gk_metric_set only;
	bool open;                 /* units[0].handle is good */
	struct gk_gpu_unit *units; /* the GPU, then its MIG devices */
	size_t unit_count;
	struct gk_listed *listed;
	size_t listed_count, listed_cap;
	struct gk_records scratch; /* what list calls write to */
	struct gk_detail *detail;  /* of the GPU; NULL until read */
};

/* 0 or GK_ERR_NOMEM; asks the driver nothing. End with gk_gpu_fini(). */
int gk_gpu_init(struct gk_gpu *gpu, const struct gk_nvml *nvml, unsigned index,
		const struct gk_gpu_options *options);
void gk_gpu_fini(struct gk_gpu *gpu);

/*
 * Fills in who and where a device is, by its handle and that of its GPU; all
 * of its values are GK_ABSENT_NOT_READ. mig_index is -1 for a whole GPU.
 */
void gk_device_identify(const struct gk_nvml *nvml, unsigned index,
			int mig_index, nvmlDevice_t gpu, nvmlDevice_t handle,
			struct gk_device *ret_device);

/*
 * Whether a metric is read with these bits of gk_with and this choice (NULL:
 * all), apart from what gk_watch_ask() asks for.
 */
bool gk_is_asked(unsigned with, const struct gk_metric_set *only,
		 enum gk_metric metric);

/*
 * Reads one tier of the GPU and its MIG devices. Returns true when it had to
 * open the GPU first: the other tiers are then worth reading soon.
 */
bool gk_gpu_read(struct gk_gpu *gpu, enum gk_tier tier);

/*
 * After it was opened: asks where the GPU is, for the topology. It may take
 * milliseconds.
 */
void gk_gpu_place(struct gk_gpu *gpu);

/*
 * Reads the process lists of all units (lists.c). NVML_SUCCESS, or the answer
 * that means the GPU is lost.
 */
nvmlReturn_t gk_gpu_list(struct gk_gpu *gpu);

#endif
