/* SPDX-License-Identifier: Apache-2.0 */
// Tensors that are made of tensors: sparse, compressed and nested ones.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace gpukit
{

using Convert = std::function<at::Tensor(const at::Tensor &)>;

// Whether it is made of others, and so has no storage of its own.
bool has_components(const at::Tensor &t);

// The same tensor on another kind of device, with converted components. Throws
// for unknown layouts.
at::Tensor rebuild(const at::Tensor &t, c10::DeviceType device,
		   const Convert &convert);

// Makes a tensor equal to another one of its layout.
void overwrite(const at::Tensor &t, const at::Tensor &with,
	       const Convert &convert);

} // namespace gpukit
