/*
 * draw.h - operators that draw, for others that are made of them: on CPU
 * tensors, from philox_source().
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
