/* SPDX-License-Identifier: Apache-2.0 */
// Tensors that consist of other tensors: sparse, compressed and nested ones.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace gpukit
{

using Convert = std::function<at::Tensor(const at::Tensor &)>;

// Whether a tensor consists of other tensors, so that it has no storage of its
// own.
bool has_components(const at::Tensor &t);

// Returns the same tensor on another kind of device, with its components
// converted. Throws if its layout is unknown.
at::Tensor rebuild(const at::Tensor &t, c10::DeviceType device,
		   const Convert &convert);

// Makes a tensor equal to another tensor of the same layout.
void overwrite(const at::Tensor &t, const at::Tensor &with,
	       const Convert &convert);

} // namespace gpukit
