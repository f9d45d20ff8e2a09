/*
 * smoothing_state.h - the preset profiles of power smoothing, as they stand
 * in the machine file.
 */
#ifndef GKF_SMOOTHING_STATE_H
#define GKF_SMOOTHING_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define GKF_SMOOTHING_PROFILES 5
#define GKF_SMOOTHING_PARAMS   8

/* One more than thousandths of the parameter's unit; 0: nobody has set it. */
struct gkf_smoothing {
	_Atomic uint64_t param[GKF_SMOOTHING_PROFILES][GKF_SMOOTHING_PARAMS];
};

#endif
