/* SPDX-License-Identifier: Apache-2.0 */
/* distribution.cpp - fills results that have gaps in memory. */
#include "distribution.h"

#include <ATen/core/Tensor.h>

namespace gpukit
{

at::Tensor in_order(at::TensorIteratorBase &iter)
{
	const at::Tensor &out = iter.tensor(0);
	std::vector<int64_t> sizes, strides;

	/*
	 * The iterator's dimensions begin with the innermost one, and its
	 * strides are in bytes.
	 */
	for (int i = iter.ndim(); i-- > 0;) {
		sizes.push_back(iter.shape()[i]);
		strides.push_back(iter.strides(0)[i] / out.element_size());
	}
	return out.as_strided(sizes, strides);
}

} // namespace gpukit
