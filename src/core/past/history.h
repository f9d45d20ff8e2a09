/*
 * history.h - what devices, processes and the host did, in rings of fixed
 * size: each series is kept at several resolutions, the finest for minutes,
 * the coarsest for a day. One thread.
 */
#ifndef GK_CORE_HISTORY_H
#define GK_CORE_HISTORY_H

#include <gpukit/gpukit.h>

/*
 * The series that are kept of a device: SERIES(id, "title", "unit as shown",
 * metric, how much of the metric is one unit). Memory is shown as a part of all
 * memory, a counter as its growth in a second; HELD is how much of the time
 * something held the clocks back, from 0 to 1.
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

/* Percent of all cores, of all memory, of all swap. */
enum gk_history_host { GK_HH_CPU, GK_HH_MEM, GK_HH_SWAP, GK_HH_COUNT };

/* Percent of a core, MiB of the host, MiB of the GPU, percent. */
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
	double scale; /* of the metric, in a unit of the series */
};

extern const struct gk_history_info gk_history_devices[GK_HD_COUNT];

struct gk_history;

/*
 * processes_max: how many are remembered; the one not seen for longest makes
 * room. NULL without memory.
 */
struct gk_history *gk_history_new(unsigned processes_max);
void gk_history_free(struct gk_history *h);

/*
 * Takes in a snapshot; several within a second are averaged. A device's values
 * count once for each time that they were read: where nothing was read anew
 * there is a gap. Only one late frame is bridged for what is read always.
 */
void gk_history_add(struct gk_history *h, const struct gk_snapshot *snap);

struct gk_past;

/*
 * Fills in what the driver remembers of a device from before the first snapshot
 * that had it. mono_ns and wall_ns are one moment by both clocks.
 */
void gk_history_fill(struct gk_history *h, const char *uuid,
		     const struct gk_past *past, uint64_t mono_ns,
		     uint64_t wall_ns);

/*
 * Reads count values, the last of them ending at end_ns (CLOCK_MONOTONIC),
 * each the mean of step_ns. NAN: nothing is known of that time, or of the
 * device or process at all. step_ns: a second or more.
 */
struct gk_history_span {
	uint64_t end_ns, step_ns;
	unsigned count;
};

void gk_history_of_host(const struct gk_history *h, enum gk_history_host what,
			struct gk_history_span span, float *out);

/* uuid: of the device. */
void gk_history_of_device(const struct gk_history *h, const char *uuid,
			  enum gk_history_device what,
			  struct gk_history_span span, float *out);

/* The same over all GPUs, MIG devices left out. */
void gk_history_of_devices(const struct gk_history *h,
			   enum gk_history_device what,
			   struct gk_history_span span, float *out);

/* The same of a process (its identity: pid and start_ticks) on one device. */
void gk_history_of_process(const struct gk_history *h, pid_t pid,
			   uint64_t start_ticks, const char *uuid,
			   enum gk_history_process what,
			   struct gk_history_span span, float *out);

/* The moment before which nothing is known; CLOCK_MONOTONIC. */
uint64_t gk_history_begin(const struct gk_history *h);

#endif
