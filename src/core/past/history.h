/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - the history of devices, processes and the host, in rings of fixed
 * size. Each series is kept at several resolutions, the finest for minutes, the
 * coarsest for a day. One thread.
 */
#ifndef GK_CORE_HISTORY_H
#define GK_CORE_HISTORY_H

#include <gpukit/gpukit.h>

/*
 * The series of a device, as rows SERIES(id, "title", "unit shown", metric,
 * scale). One shown unit is `scale` units of the metric. MEM is shown as a
 * percentage of the total, counters as growth per second, and HELD as the share
 * of time (0 to 1) in which something limited the clocks.
 */
#define GK_HISTORY_DEVICE(SERIES)                                              \
	SERIES(GPU_UTIL, "GPU utilisation", "%", GPU_UTIL, 1)                  \
	SERIES(MEM, "memory", "%", MEM_USED, 1)                                \
	SERIES(POWER, "power", "W", POWER, 1e3)                                \
	SERIES(TEMP, "temperature", "C", TEMP, 1)                              \
	SERIES(MEM_UTIL, "memory bandwidth", "%", MEM_UTIL, 1)                 \
	SERIES(TEMP_MEM, "memory temperature", "C", TEMP_MEM, 1)               \
	SERIES(SM_CLOCK, "SM clock", "MHz", SM_CLOCK, 1e6)                     \
	SERIES(MEM_CLOCK, "memory clock", "MHz", MEM_CLOCK, 1e6)               \
	SERIES(PCIE_RX, "PCIe to GPU", "MiB/s", PCIE_RX, 1048576)              \
	SERIES(PCIE_TX, "PCIe from GPU", "MiB/s", PCIE_TX, 1048576)            \
	SERIES(NVLINK_RX, "NVLink to GPU", "MiB/s", NVLINK_RX, 1048576)        \
	SERIES(NVLINK_TX, "NVLink from GPU", "MiB/s", NVLINK_TX, 1048576)      \
	SERIES(ENC, "encoder", "%", ENC_UTIL, 1)                               \
	SERIES(DEC, "decoder", "%", DEC_UTIL, 1)                               \
	SERIES(JPG, "JPEG", "%", JPG_UTIL, 1)                                  \
	SERIES(OFA, "optical flow", "%", OFA_UTIL, 1)                          \
	SERIES(GR_CLOCK, "graphics clock", "MHz", GR_CLOCK, 1e6)               \
	SERIES(VIDEO_CLOCK, "video clock", "MHz", VIDEO_CLOCK, 1e6)            \
	SERIES(FAN, "fan", "%", FAN, 1)                                        \
	SERIES(HELD, "clocks held back", "", THROTTLE, 1)

enum gk_history_device {
#define SERIES(id, title, unit, metric, scale) GK_HD_##id,
	GK_HISTORY_DEVICE(SERIES)
#undef SERIES
	    GK_HD_COUNT
};

/* CPU, memory and swap in use, each in percent of the host's total. */
enum gk_history_host { GK_HH_CPU, GK_HH_MEM, GK_HH_SWAP, GK_HH_COUNT };

/*
 * CPU time in percent of one core, host memory in MiB, GPU memory in MiB, SM
 * utilisation in percent.
 */
enum gk_history_process {
	GK_HP_CPU,
	GK_HP_RSS,
	GK_HP_GPU_MEM,
	GK_HP_SM,
	GK_HP_COUNT
};

struct gk_history_info {
	const char *title, *unit;
	enum gk_metric metric;
	double scale; /* units of the metric per shown unit */
};

extern const struct gk_history_info gk_history_devices[GK_HD_COUNT];

struct gk_history;

/*
 * Keeps at most processes_max processes; a new one replaces the one that has
 * not been seen for the longest time. NULL: out of memory.
 */
struct gk_history *gk_history_new(unsigned processes_max);
void gk_history_free(struct gk_history *h);

/*
 * Adds a snapshot; snapshots within the same second are averaged. Each reading
 * of a device is added once, and a snapshot without a new reading leaves a gap.
 * For tiers that are always read, a single late frame leaves no gap.
 */
void gk_history_add(struct gk_history *h, const struct gk_snapshot *snap);

struct gk_past;

/*
 * Adds a device's samples from the driver, taken before the device's first
 * snapshot. mono_ns and wall_ns are the same moment on both clocks.
 */
void gk_history_fill(struct gk_history *h, const char *uuid,
		     const struct gk_past *past, uint64_t mono_ns,
		     uint64_t wall_ns);

/*
 * The time span of the values that the functions below write to `out`. They
 * write `count` means, each over step_ns (at least a second); the last one ends
 * at end_ns (CLOCK_MONOTONIC). A value is NAN if nothing is known for its time,
 * or if the device or process is unknown.
 */
struct gk_history_span {
	uint64_t end_ns, step_ns;
	unsigned count;
};

void gk_history_of_host(const struct gk_history *h, enum gk_history_host what,
			struct gk_history_span span, float *out);

/* Writes the values of the device with that UUID. */
void gk_history_of_device(const struct gk_history *h, const char *uuid,
			  enum gk_history_device what,
			  struct gk_history_span span, float *out);

/* Writes the mean over all GPUs, without MIG devices. */
void gk_history_of_devices(const struct gk_history *h,
			   enum gk_history_device what,
			   struct gk_history_span span, float *out);

/*
 * Writes the values of a process, identified by pid and start_ticks, on one
 * device.
 */
void gk_history_of_process(const struct gk_history *h, pid_t pid,
			   uint64_t start_ticks, const char *uuid,
			   enum gk_history_process what,
			   struct gk_history_span span, float *out);

/* When the history begins, by CLOCK_MONOTONIC. */
uint64_t gk_history_begin(const struct gk_history *h);

#endif
