/* SPDX-License-Identifier: Apache-2.0 */
// copy_ between tensors in different places.
#pragma once

#include <ATen/core/Tensor.h>

namespace gpukit
{

bool is_copy_between(const at::Tensor &self, const at::Tensor &src);
void copy_between(at::Tensor &self, const at::Tensor &src, bool non_blocking);

} // namespace gpukit
