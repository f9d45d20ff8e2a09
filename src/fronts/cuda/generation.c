/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generation.c - says which driver generation this library belongs to. The file
 * is compiled once for each generation, with -DFRONT_GENERATION set to the id
 * of its row.
 */
#include "fronts/cuda/generation.h"

#define ROW_(id) &gkf_generations[GKF_GENERATION_##id]
#define ROW(id)  ROW_(id)

const struct gkf_generation *const front_generation = ROW(FRONT_GENERATION);
