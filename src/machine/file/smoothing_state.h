/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smoothing_state.h - the preset profiles of power smoothing in the machine
 * file.
 */
#ifndef GKF_SMOOTHING_STATE_H
#define GKF_SMOOTHING_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define GKF_SMOOTHING_PROFILES 5
#define GKF_SMOOTHING_PARAMS   8

/* Thousandths of the parameter's unit, plus 1; 0: not set. */
struct gkf_smoothing {
	_Atomic uint64_t param[GKF_SMOOTHING_PROFILES][GKF_SMOOTHING_PARAMS];
};

#endif
