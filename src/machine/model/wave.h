/*
 * wave.h - how busy a process keeps its device, as a function of machine time.
 *
 * Time is cut into bins of 1/6 s, the driver's shortest sample period. The
 * share of a bin that is busy depends on the wave and the bin alone, so every
 * process of the machine computes the same figure without asking anybody.
 */
#ifndef GKF_WAVE_H
#define GKF_WAVE_H

#include <stdbool.h>
#include <stdint.h>

#define GKF_BINS_PER_S 6
#define GKF_BIN_NS     (1000000000ULL / GKF_BINS_PER_S)

enum gkf_wave_kind {
	GKF_WAVE_NONE,   /* holds memory, never busy */
	GKF_WAVE_IDLE,   /* as NONE: an attached but waiting process */
	GKF_WAVE_TRAIN,  /* steps near util, a dip to a fifth each period */
	GKF_WAVE_INFER,  /* bursts around util that swell with the period */
	GKF_WAVE_STEADY, /* util in every bin: what a recording says */
	GKF_WAVE_REAL,   /* what its process really does: see busy.h */
	GKF_WAVE_KINDS,
};

/*
 * What a kind of work does to a board while it is busy, permille: of the power
 * that SMs can draw, of the SMs, of the warps that fit, of the tensor cores'
 * cycles, of the PCIe and NVLink bandwidth (in; PCIe out is half of it).
 */
struct gkf_activity {
	uint16_t power, sm, occupancy, tensor, pcie, nvlink;
};

extern const struct gkf_activity gkf_activities[GKF_WAVE_KINDS];

struct gkf_wave {
	uint32_t kind;
	uint32_t util_permille;    /* mean while working */
	uint32_t mem_permille;     /* memory-interface share of busy time */
	uint32_t encoder_permille; /* video engines, of all time */
	uint32_t decoder_permille;
	uint32_t jpeg_permille;
	uint32_t ofa_permille; /* optical flow */
	uint32_t seed;
	uint32_t load; /* of a scenario: its number, from 1; 0: none */
	uint32_t reserved;
	uint64_t period_ns;
	uint64_t start_bin; /* bin in which the process attached */
	uint64_t stop_bin;  /* it is gone from here on; 0: stays */
};

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
