/* SPDX-License-Identifier: Apache-2.0 */
// Takes apart sparse, compressed and nested tensors, and rebuilds them.
#include "components.h"

#include <ATen/ATen.h>
#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>

namespace gpukit
{

namespace
{

struct Compressed {
	at::Tensor compressed, plain;
};

// Returns the indices of a compressed tensor: the compressed ones, then the
// plain ones.
Compressed indices_of(const at::Tensor &t)
{
	auto *impl =
	    static_cast<at::SparseCsrTensorImpl *>(t.unsafeGetTensorImpl());

	return {impl->compressed_indices(), impl->plain_indices()};
}

bool is_compressed(const at::Tensor &t)
{
	return t.layout() == c10::kSparseCsr || t.layout() == c10::kSparseCsc ||
	       t.layout() == c10::kSparseBsr || t.layout() == c10::kSparseBsc;
}

at::Tensor rebuild_nested(const at::Tensor &t, const Convert &convert)
{
	auto *impl = static_cast<at::native::NestedTensorImpl *>(
	    t.unsafeGetTensorImpl());

	return at::detail::make_tensor<at::native::NestedTensorImpl>(
	    convert(impl->get_unsafe_storage_as_tensor()),
	    impl->get_nested_sizes(), impl->get_nested_strides(),
	    impl->get_storage_offsets());
}

} // namespace

bool has_components(const at::Tensor &t)
{
	return t.layout() != c10::kStrided || t.is_nested();
}

at::Tensor rebuild(const at::Tensor &t, c10::DeviceType device,
		   const Convert &convert)
{
	at::TensorOptions options = t.options().device(device);

	if (t.is_nested() && t.layout() == c10::kStrided)
		return rebuild_nested(t, convert);
	if (t.layout() == c10::kSparse)
		return at::_sparse_coo_tensor_unsafe(convert(t._indices()),
						     convert(t._values()),
						     t.sizes(), options)
		    ._coalesced_(t.is_coalesced());
	TORCH_CHECK_NOT_IMPLEMENTED(is_compressed(t), "a tensor of layout ",
				    t.layout(),
				    " is not supported by a made-up GPU");
	return at::_sparse_compressed_tensor_unsafe(
	    convert(indices_of(t).compressed), convert(indices_of(t).plain),
	    convert(t.values()), t.sizes(), options);
}

void overwrite(const at::Tensor &t, const at::Tensor &with,
	       const Convert &convert)
{
	if (t.is_nested())
		return; /* the values were written in place */
	if (t.layout() == c10::kSparse) {
		auto *impl = static_cast<at::SparseTensorImpl *>(
		    t.unsafeGetTensorImpl());

		impl->raw_resize_(with.sparse_dim(), with.dense_dim(),
				  with.sizes());
		impl->set_indices_and_values_unsafe(convert(with._indices()),
						    convert(with._values()));
		impl->set_coalesced(with.is_coalesced());
	} else if (is_compressed(t)) {
		static_cast<at::SparseCsrTensorImpl *>(t.unsafeGetTensorImpl())
		    ->set_member_tensors(convert(indices_of(with).compressed),
					 convert(indices_of(with).plain),
					 convert(with.values()), with.sizes());
	}
}

} // namespace gpukit
