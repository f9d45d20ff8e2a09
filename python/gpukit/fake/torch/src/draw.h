/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - operators that fill CPU tensors with random numbers of
 * philox_source(), for use by other files.
 */
#ifndef GPUKIT_TORCH_DRAW_H
#define GPUKIT_TORCH_DRAW_H

#include "philox.h"

#include <ATen/core/Tensor.h>

namespace gpukit
{

/* exponential_(lambda) */
void draw_exponential(at::Tensor &self, double lambda);
/* random_(from, to) */
void draw_integers(at::Tensor &self, int64_t from, int64_t to);

} // namespace gpukit

#endif
