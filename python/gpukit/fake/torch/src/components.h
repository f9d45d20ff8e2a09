// Tensors that are made of tensors: sparse, compressed and nested ones.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace gpukit
{

using Convert = std::function<at::Tensor(const at::Tensor &)>;

// Is it made of others? Then it has no storage of its own.
bool has_components(const at::Tensor &t);

// The same tensor on another kind of device, of converted components. Throws
// for what is not known.
at::Tensor rebuild(const at::Tensor &t, c10::DeviceType device,
		   const Convert &convert);

// A tensor becomes what another one of its layout is.
void overwrite(const at::Tensor &t, const at::Tensor &with,
	       const Convert &convert);

} // namespace gpukit
