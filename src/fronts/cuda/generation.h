/*
 * generation.h - which driver this libcuda belongs to. generation.c has it; all
 * else is the same in every generation.
 */
#ifndef GKF_CUDA_GENERATION_H
#define GKF_CUDA_GENERATION_H

#include "fronts/common/generations.h"

/* Its `cuda` is what cuDriverGetVersion answers. */
extern __attribute__((visibility("hidden")))
const struct gkf_generation *const front_generation;

#endif
