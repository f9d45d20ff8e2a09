/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - one GPU with its MIG devices, for the worker that reads it.
 *
 * A struct gk_gpu belongs to one thread. It survives the loss of the GPU: while
 * the GPU is lost, every reading of the FAST tier tries to open the handle
 * again.
 */
#ifndef GK_CORE_DEVICE_H
#define GK_CORE_DEVICE_H

#include "core/read/collect.h"
#include "core/read/gpm.h"
#include "core/read/util.h"

/* Greater than the number of MIG devices of any GPU. */
#define GK_MIG_LIMIT 256

/* A process in the process lists of a unit. m has the metrics that the driver
 * reports. */
struct gk_listed {
	pid_t pid;
	unsigned unit;
	unsigned types; /* bits of gk_process_type */
	struct gk_value m[GK_PM_COUNT];
};

/* The GPU itself, or one of its MIG devices. */
struct gk_gpu_unit {
	nvmlDevice_t handle;
	struct gk_row_set unsupported; /* see gk_collect() */
	unsigned unsupported_lists;    /* bits of gk_process_type */
	struct gk_util util;
	struct gk_gpm gpm;
	struct gk_device dev; /* parent is not set; snapshots set it */
};

/* The metrics of GPUs to read, and other readers to tell of each opened GPU. */
struct gk_gpu_options {
	unsigned with;                    /* bits of gk_with */
	const struct gk_metric_set *only; /* NULL: all metrics; copied */
	struct gk_events *events;         /* NULL: none; adds a reference */
	struct gk_places *places;         /* NULL: none; adds a reference */
};

struct gk_gpu {
	const struct gk_nvml *nvml;
	struct gk_events *events;
	struct gk_places *places;
	unsigned with; /* bits of gk_with */
	bool choosy;   /* read only the metrics in `only` */
	struct gk_metric_set only;
	bool open;                 /* units[0].handle is valid */
	struct gk_gpu_unit *units; /* the GPU, then its MIG devices */
	size_t unit_count;
	struct gk_listed *listed;
	size_t listed_count, listed_cap;
	struct gk_records scratch; /* buffer for process lists */
	struct gk_detail *detail;  /* the GPU's details; NULL: not read yet */
};

/* Initialises a GPU without calling the driver. Returns 0 or GK_ERR_NOMEM. End
 * with gk_gpu_fini(). */
int gk_gpu_init(struct gk_gpu *gpu, const struct gk_nvml *nvml, unsigned index,
		const struct gk_gpu_options *options);
void gk_gpu_fini(struct gk_gpu *gpu);

/*
 * Reads the identity and place of a device, given its handle and the handle of
 * its GPU. All values become GK_ABSENT_NOT_READ. mig_index is -1 for a whole
 * GPU.
 */
void gk_device_identify(const struct gk_nvml *nvml, unsigned index,
			int mig_index, nvmlDevice_t gpu, nvmlDevice_t handle,
			struct gk_device *ret_device);

/*
 * Whether a metric is read with these bits of gk_with and this set of metrics
 * (NULL: all); does not consider gk_watch_ask().
 */
bool gk_is_asked(unsigned with, const struct gk_metric_set *only,
		 enum gk_metric metric);

/*
 * Reads one tier of the GPU and its MIG devices. Returns true if the GPU had to
 * be opened first; the caller should then soon read the other tiers, too.
 */
bool gk_gpu_read(struct gk_gpu *gpu, enum gk_tier tier);

/*
 * Reads the place of a GPU, for the topology. Call it after the GPU was opened.
 * May take milliseconds.
 */
void gk_gpu_place(struct gk_gpu *gpu);

/*
 * Reads the process lists of all units (lists.c). Returns NVML_SUCCESS, or the
 * error that means the GPU is lost.
 */
nvmlReturn_t gk_gpu_list(struct gk_gpu *gpu);

#endif
