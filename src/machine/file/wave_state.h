/* wave_state.h - how busy a process keeps its device, as a slot says it. */
#ifndef GKF_WAVE_STATE_H
#define GKF_WAVE_STATE_H

#include "machine/file/numbers.h"

#include <stdint.h>

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

#endif
