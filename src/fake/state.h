/*
 * state.h - what the model knows of a device after a bin, and what it
 * remembers of the last bins.
 */
#ifndef GKF_STATE_H
#define GKF_STATE_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * After a bin. Words only: it is copied word by word while others may write
 * the other copy.
 */
struct gkf_state {
	uint64_t bin; /* last bin that is computed */
	uint64_t energy_uj;
	int64_t temp_mc; /* core, thousandths of a degree */
	int64_t power_mw;
	int64_t gpu_util; /* percent of the bin */
	int64_t mem_util;
	int64_t enc_util;
	int64_t dec_util;
	int64_t sm_clock_mhz;
	int64_t mem_clock_mhz;
	int64_t video_clock_mhz;
	int64_t pstate;
	int64_t throttle;
	int64_t demand_permille; /* sum of what processes want; may pass 1000 */
};

/* Bins that are remembered: 21 s. */
#define GKF_PAST_BINS 128

/* The figures of a bin that has passed, for samples and averages. */
struct gkf_past {
	uint64_t bin;
	uint32_t power_mw;
	uint8_t gpu_util, mem_util, enc_util, dec_util;
	uint16_t sm_clock_mhz, mem_clock_mhz, video_clock_mhz, temp_c;
	uint64_t reserved;
};

#endif
