/*
 * latency.c - how long calls take. With the latency model on, every call
 * holds one lock of the machine for its time, as calls into the driver do.
 *
 * Figures: medians measured on an RTX 4090 laptop with driver 610 for fan,
 * memory and process lists; NVML's documentation for PCIe throughput; 3 us,
 * the median of a plain getter, for the rest.
 */
#include "fake/nvml/front.h"
#include "base/clock.h"

#include <errno.h>

/* Below this, sleeping would be later than it is long: watch the clock. */
#define SPIN_MAX_NS GK_NS_PER_MS

/* A stopped process may hold the lock; then go on without it. */
#define LOCK_PATIENCE_S 10

#define LIST_NS   4500000
#define MEMORY_NS 12000
#define FAN_NS    137000
#define PCIE_NS   20000000
#define REST_NS   3000

static const uint32_t real_ns[ROW_COUNT] = {
    [ROW_nvmlDeviceGetPcieThroughput] = PCIE_NS,
    [ROW_nvmlDeviceGetComputeRunningProcesses] = LIST_NS,
    [ROW_nvmlDeviceGetComputeRunningProcesses_v2] = LIST_NS,
    [ROW_nvmlDeviceGetComputeRunningProcesses_v3] = LIST_NS,
    [ROW_nvmlDeviceGetGraphicsRunningProcesses] = LIST_NS,
    [ROW_nvmlDeviceGetGraphicsRunningProcesses_v2] = LIST_NS,
    [ROW_nvmlDeviceGetGraphicsRunningProcesses_v3] = LIST_NS,
    [ROW_nvmlDeviceGetMPSComputeRunningProcesses] = LIST_NS,
    [ROW_nvmlDeviceGetMPSComputeRunningProcesses_v2] = LIST_NS,
    [ROW_nvmlDeviceGetMPSComputeRunningProcesses_v3] = LIST_NS,
    [ROW_nvmlDeviceGetRunningProcessDetailList] = LIST_NS,
    [ROW_nvmlDeviceGetFanSpeed] = FAN_NS,
    [ROW_nvmlDeviceGetFanSpeed_v2] = FAN_NS,
    [ROW_nvmlDeviceGetMemoryInfo] = MEMORY_NS,
    [ROW_nvmlDeviceGetMemoryInfo_v2] = MEMORY_NS,
};

static void wait_ns(uint64_t ns)
{
	uint64_t until = gk_mono_ns() + ns;

	if (ns >= SPIN_MAX_NS)
		gk_sleep_until(until);
	while (gk_mono_ns() < until)
		;
}

static bool lock_driver(struct gkf_file *file)
{
	struct timespec until;
	int r;

	until = gk_timespec(gk_wall_ns() + LOCK_PATIENCE_S * GK_NS_PER_S);
	r = pthread_mutex_timedlock(&file->driver_lock, &until);
	if (r == EOWNERDEAD) /* it guards nothing but time */
		r = pthread_mutex_consistent(&file->driver_lock);
	return r == 0;
}

void front_hold(struct gkf_file *file, enum nvml_row row)
{
	uint64_t extra = atomic_load(&file->extra_ns[row]);
	uint64_t ns = real_ns[row] ? real_ns[row] : REST_NS;
	bool locked;

	if (atomic_load(&file->latency) != GKF_LATENCY_REAL) {
		wait_ns(extra);
		return;
	}
	locked = lock_driver(file);
	wait_ns(ns + extra);
	if (locked)
		pthread_mutex_unlock(&file->driver_lock);
}
