/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.c - makes calls take as long as the driver's. If the latency model is
 * on, all calls on the machine run one after the other, as if they held the
 * driver's lock.
 *
 * Sources of the times: for fan, memory and process lists, medians measured on
 * an RTX 4090 laptop with driver 610; for PCIe throughput, NVML's
 * documentation; for all others 3 us, the median of a simple getter.
 */
#include "base/clock.h"
#include "fronts/nvml/front.h"
#include "machine/file/numbers.h"
#include "machine/store/gate.h"

/* A sleep shorter than this would overrun by more than its length: spin
 * instead. */
#define SPIN_MAX_NS GK_NS_PER_MS

/*
 * If the last reservation ends more than this time from now, the word was
 * overwritten and is ignored.
 */
#define BOOKED_MAX_NS (600 * GK_NS_PER_S)

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

static void wait_until(uint64_t until, bool sleep)
{
	if (sleep)
		gk_sleep_until(until);
	while (gk_mono_ns() < until)
		;
}

/*
 * Reserves the driver for `ns` nanoseconds after all earlier reservations.
 * Returns the time at which the new reservation ends. There is no lock: a
 * process that is stopped or killed during a call does not delay others for
 * longer than the call takes.
 */
static uint64_t book_driver(_Atomic uint64_t *booked_ns, uint64_t ns)
{
	uint64_t now = gk_mono_ns(), end;
	uint64_t busy = atomic_load(booked_ns);

	do {
		end = busy > now && busy - now < BOOKED_MAX_NS ? busy : now;
		end += ns;
	} while (!atomic_compare_exchange_weak(booked_ns, &busy, end));
	return end;
}

void front_hold(const struct gkf_gate *gate, enum nvml_row row)
{
	uint64_t extra = gkf_gate_word(&gate->extra_ns[row]);
	uint64_t ns = real_ns[row] ? real_ns[row] : REST_NS;
	uint64_t now = gk_mono_ns(), end = now;

	if (extra > GKF_EXTRA_MAX_NS)
		extra = 0;
	if (gkf_gate_word(gate->latency) == GKF_LATENCY_REAL)
		end = book_driver(gate->booked_ns, ns);
	end += extra; /* delays only this call */
	wait_until(end, end - now >= SPIN_MAX_NS);
}
