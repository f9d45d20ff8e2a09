/* SPDX-License-Identifier: Apache-2.0 */
/* wave_state.h - how busy a process keeps its device; part of its slot. */
#ifndef GKF_WAVE_STATE_H
#define GKF_WAVE_STATE_H

#include "machine/file/numbers.h"

#include <stdint.h>

struct gkf_wave {
	uint32_t kind;
	uint32_t util_permille; /* mean GPU utilization while working */
	uint32_t mem_permille;  /* memory interface's share of busy time */
	/* Engines' shares of busy time, or of all time if util is 0. */
	uint32_t encoder_permille;
	uint32_t decoder_permille;
	uint32_t jpeg_permille;
	uint32_t ofa_permille; /* optical flow */
	uint32_t seed;
	/* Number of the scenario's load, counted from 1; 0: none. */
	uint32_t load;
	/*
	 * number of GPUs that the load runs on; on two or more it uses NVLink
	 */
	uint32_t gpus;
	uint64_t period_ns;
	uint64_t start_bin; /* bin in which the process attached */
	/* first bin without the process; 0: the process stays */
	uint64_t stop_bin;
};

#endif
