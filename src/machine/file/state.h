/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the state of a device after a bin (1/6 s of machine time,
 * GKF_BIN_NS), and the figures kept of the last bins.
 */
#ifndef GKF_STATE_H
#define GKF_STATE_H

#include <stdatomic.h>
#include <stdint.h>

/* The number of bits in nvmlClocksEventReasons, up to "display clock". */
#define GKF_REASONS 9

/*
 * The state after a bin. All members are words, because readers copy it word by
 * word while another process may write the other copy. The members from `bin`
 * on only grow, and grow by the same amount in each bin while nothing else
 * changes: see gkf_physics_repeat().
 */
struct gkf_state {
	/* The bin's figures. */
	int64_t temp_mc; /* core temperature, thousandths of a degree */
	int64_t mem_temp_mc;
	int64_t power_mw;     /* power of the whole board */
	int64_t mem_power_mw; /* power of the memory; part of power_mw */
	int64_t gpu_util;     /* busy time, percent of the bin */
	int64_t mem_util;
	int64_t enc_util;
	int64_t dec_util;
	int64_t jpg_util;
	int64_t ofa_util;
	int64_t sm_active;    /* permille of the SMs' time with a warp active */
	int64_t sm_occupancy; /* permille of the maximum number of warps */
	/* Permille of cycles with an active tensor pipe. */
	int64_t tensor_active;
	int64_t dram_active; /* permille of cycles that move data */
	int64_t sm_clock_mhz;
	int64_t mem_clock_mhz;
	int64_t video_clock_mhz;
	int64_t pstate;
	int64_t throttle;        /* nvmlClocksEventReasons */
	int64_t demand_permille; /* sum over all processes; may exceed 1000 */
	int64_t fan_permille;    /* current fan speed */
	/* Smoothed temperature, which the fan curve uses. */
	int64_t fan_temp_mc;
	int64_t rest_bins; /* bins since an engine was busy; saturates */
	int64_t pcie_tx_kbs, pcie_rx_kbs;     /* KB/s, of 1000 bytes */
	int64_t nvlink_tx_kbs, nvlink_rx_kbs; /* sum over all links */

	/* The members below are totals since the machine was made. */
	/* Number of computed bins; also the next bin's number. */
	uint64_t bin;
	uint64_t energy_mwbins; /* exact sum of power_mw over the bins */
	uint64_t pcie_tx_bytes, pcie_rx_bytes;
	uint64_t nvlink_tx_bytes, nvlink_rx_bytes;
	/* For how long each throttle reason applied, in machine time. */
	uint64_t reason_ns[GKF_REASONS];
	/* For how long at least one thermal reason applied. */
	uint64_t thermal_ns;
	/*
	 * For how long at least one reason applied that NVML counts as a
	 * limiter.
	 */
	uint64_t limited_ns;
	/* Sums of permille over the bins, from which means are computed. */
	uint64_t gpu_sum, sm_active_sum, sm_occupancy_sum, tensor_sum, dram_sum;
	uint64_t enc_sum, dec_sum, jpg_sum, ofa_sum;

	uint64_t energy_uj; /* energy_mwbins in microjoules */
};

/* How many past bins are kept: 21 s. */
#define GKF_PAST_BINS 128

/* The figures of a past bin, for samples and averages. */
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
