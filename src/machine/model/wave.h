/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.h - how busy a process keeps its device, as a function of machine time.
 *
 * Time is divided into bins of 1/6 s, the driver's shortest sample period. The
 * busy share of a bin depends only on the wave and the bin, so all processes of
 * the machine compute the same figure on their own.
 */
#ifndef GKF_WAVE_H
#define GKF_WAVE_H

#include "machine/file/wave_state.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * How much of a board a kind of work uses while it is busy, in permille of: the
 * SMs' maximum power (power), the SMs (sm), the maximum number of warps
 * (occupancy), the tensor cores' cycles (tensor), the incoming PCIe bandwidth
 * (pcie) and, for loads on several GPUs, the NVLink bandwidth (nvlink).
 * Outgoing PCIe traffic is about half the incoming (life.h).
 */
struct gkf_activity {
	uint16_t power, sm, occupancy, tensor, pcie, nvlink;
};

extern const struct gkf_activity gkf_activities[GKF_WAVE_KINDS];

/*
 * Whether the process is on its device in a bin. A process of a scenario's load
 * is started early, and is not visible before start_bin.
 */
static inline bool gkf_wave_present(const struct gkf_wave *wave, uint64_t bin)
{
	return bin >= wave->start_bin &&
	       (!wave->stop_bin || bin < wave->stop_bin);
}

/*
 * Returns the busy time in a bin, 0 to 1000 permille. It is 0 if the process is
 * not present, and also for real work, which busy.h records. A pure function.
 */
uint32_t gkf_wave_at(const struct gkf_wave *wave, uint64_t bin);

/*
 * For what part of a bin, permille, a process uses the video engines, given its
 * shares. It uses them while its kernels run; if it runs no kernels, as a
 * transcoder does, it uses them for the whole bin. The process must be present
 * in the bin.
 */
static inline uint32_t gkf_wave_video(const struct gkf_wave *wave,
				      uint32_t busy_permille)
{
	return wave->util_permille ? busy_permille : 1000;
}

#endif
