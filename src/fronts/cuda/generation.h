/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generation.h - the driver generation to which this libcuda belongs. All files
 * except generation.c and newer.c are the same in every generation.
 */
#ifndef GKF_CUDA_GENERATION_H
#define GKF_CUDA_GENERATION_H

#include "fronts/common/generations.h"

/* The member `cuda` is the CUDA version that the driver supports. */
extern __attribute__((visibility("hidden")))
const struct gkf_generation *const front_generation;

#endif
