/*
 * state.h - what the model knows of a device after a bin, and what it
 * remembers of the last bins.
 */
#ifndef GKF_STATE_H
#define GKF_STATE_H

#include <stdatomic.h>
#include <stdint.h>

/* Bits of nvmlClocksEventReasons that there are: gpu idle to display clock. */
#define GKF_REASONS 9

/*
 * After a bin. Words only: it is copied word by word while others may write
 * the other copy. What only ever grows, and by as much each bin when nothing
 * else changes, stands last: see gkf_physics_repeat().
 */
struct gkf_state {
	/* The bin's figures. */
	int64_t temp_mc; /* core, thousandths of a degree */
	int64_t mem_temp_mc;
	int64_t power_mw;     /* of the whole board */
	int64_t mem_power_mw; /* of its memory, part of the former */
	int64_t gpu_util;     /* percent of the bin */
	int64_t mem_util;
	int64_t enc_util;
	int64_t dec_util;
	int64_t jpg_util;
	int64_t ofa_util;
	int64_t sm_active;     /* permille of SMs and time with a warp on */
	int64_t sm_occupancy;  /* permille of the warps that would fit */
	int64_t tensor_active; /* permille of cycles with the tensor pipe on */
	int64_t dram_active;   /* permille of cycles that move data */
	int64_t sm_clock_mhz;
	int64_t mem_clock_mhz;
	int64_t video_clock_mhz;
	int64_t pstate;
	int64_t throttle;        /* nvmlClocksEventReasons */
	int64_t demand_permille; /* sum of what processes want; may pass 1000 */
	int64_t fan_permille;    /* as it turns now */
	int64_t fan_temp_mc;     /* what the fan curve looks at: T, damped */
	int64_t rest_bins;       /* since an engine was busy; stops counting */
	int64_t pcie_tx_kbs, pcie_rx_kbs;     /* KB/s, of 1000 bytes */
	int64_t nvlink_tx_kbs, nvlink_rx_kbs; /* all links together */

	/* Since the machine was made. */
	uint64_t bin;           /* bins that are computed: the next one */
	uint64_t energy_mwbins; /* sum of power_mw over the bins: exact */
	uint64_t pcie_tx_bytes, pcie_rx_bytes;
	uint64_t nvlink_tx_bytes, nvlink_rx_bytes;
	uint64_t reason_ns[GKF_REASONS]; /* machine time spent under each */
	uint64_t thermal_ns;             /* under any of the thermal ones */
	uint64_t limited_ns; /* under any that NVML calls a limiter */
	/* Sums of permille over the bins: a mean is a difference by bins. */
	uint64_t gpu_sum, sm_active_sum, sm_occupancy_sum, tensor_sum, dram_sum;
	uint64_t enc_sum, dec_sum, jpg_sum, ofa_sum;

	uint64_t energy_uj; /* of energy_mwbins */
};

/* Bins that are remembered: 21 s. */
#define GKF_PAST_BINS 128

/* The figures of a bin that has passed, for samples and averages. */
struct gkf_past {
	uint64_t bin;
	uint32_t power_mw, mem_power_mw;
	uint32_t pcie_tx_kbs, pcie_rx_kbs;
	uint32_t nvlink_tx_kbs, nvlink_rx_kbs;
	uint16_t sm_clock_mhz, mem_clock_mhz, video_clock_mhz, temp_c;
	uint16_t sm_active, sm_occupancy, tensor_active, dram_active;
	uint8_t gpu_util, mem_util, enc_util, dec_util, jpg_util, ofa_util;
	uint8_t fan, mem_temp_c;
	uint16_t throttle, pstate;
	uint32_t reserved;
};

#endif
