/*
 * wave.h - how busy a process keeps its device, as a function of machine time.
 *
 * Time is cut into bins of 1/6 s, the driver's shortest sample period. The
 * share of a bin that is busy depends on the wave and the bin alone, so every
 * process of the machine computes the same figure without asking anybody.
 */
#ifndef GKF_WAVE_H
#define GKF_WAVE_H

#include "machine/file/wave_state.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The effect of a kind of work on a board while it is busy, permille: of the
 * power that SMs can draw, of the SMs, of the warps that fit, of the tensor
 * cores' cycles, of the PCIe and NVLink bandwidth (in; PCIe out is half of it).
 */
struct gkf_activity {
	uint16_t power, sm, occupancy, tensor, pcie, nvlink;
};

extern const struct gkf_activity gkf_activities[GKF_WAVE_KINDS];

/*
 * Whether the process is on its device in a bin: loads of a scenario are
 * started before they are seen.
 */
static inline bool gkf_wave_present(const struct gkf_wave *wave, uint64_t bin)
{
	return bin >= wave->start_bin &&
	       (!wave->stop_bin || bin < wave->stop_bin);
}

/*
 * Busy permille of a bin, 0 to 1000; 0 where it is not present and of real
 * work. Pure.
 */
uint32_t gkf_wave_at(const struct gkf_wave *wave, uint64_t bin);

#endif
