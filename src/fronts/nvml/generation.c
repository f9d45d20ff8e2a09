/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generation.c - names the driver generation that this library imitates. It is
 * compiled once per generation; -DFRONT_GENERATION is the id of its row.
 */
#include "fronts/nvml/front.h"

#define ROW_(id) &gkf_generations[GKF_GENERATION_##id]
#define ROW(id)  ROW_(id)

const struct gkf_generation *const front_generation = ROW(FRONT_GENERATION);
