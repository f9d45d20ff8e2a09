/* SPDX-License-Identifier: Apache-2.0 */
// Aliases of device tensors. In a call, each storage has exactly one CPU
// storage and each tensor exactly one CPU tensor, so that tensors that share
// memory on the device also share it for the kernel.
#include "alias.h"

#include "components.h"
#include "driver.h"
#include "memory.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <sstream>

namespace gpukit
{

namespace
{

// A linear search is faster than hashing for at most this many entries.
constexpr unsigned FEW = 12;

const c10::DispatchKeySet BITS({c10::DispatchKey::Conjugate,
				c10::DispatchKey::Negative});

c10::Storage new_storage(c10::DataPtr data, std::size_t size,
			 c10::Allocator *allocator)
{
	return c10::make_intrusive<c10::StorageImpl>(
	    c10::StorageImpl::use_byte_size_t(), size, std::move(data),
	    allocator, true);
}

// Makes a tensor that equals `like` in all but its bytes.
at::Tensor new_tensor(c10::Storage storage, c10::DispatchKey key,
		      const at::Tensor &like)
{
	at::Tensor t = at::detail::make_tensor<c10::TensorImpl>(
	    std::move(storage), c10::DispatchKeySet(key), like.dtype());
	c10::TensorImpl *impl = t.unsafeGetTensorImpl();
	const c10::TensorImpl *from = like.unsafeGetTensorImpl();

	impl->set_sizes_and_strides(from->sizes(), from->strides(),
				    from->storage_offset());
	if (C10_UNLIKELY(from->key_set().has_any(BITS))) {
		impl->_set_conj(like.is_conj());
		impl->_set_neg(like.is_neg());
	}
	if (from->is_wrapped_number())
		impl->set_wrapped_number(true);
	return t;
}

bool same_shape(const c10::TensorImpl &a, const c10::TensorImpl &b)
{
	return a.sizes() == b.sizes() && a.strides() == b.strides() &&
	       a.storage_offset() == b.storage_offset();
}

} // namespace

unsigned Aliases::find_bytes(const c10::Storage &original)
{
	const void *impl = original.unsafeGetStorageImpl();
	unsigned count = bytes_.size();

	if (count <= FEW) {
		for (unsigned i = 0; i < count; i++)
			if (bytes_[i].original.unsafeGetStorageImpl() == impl)
				return i;
	} else {
		if (bytes_of_.empty())
			for (unsigned i = 0; i < count; i++)
				bytes_of_[bytes_[i]
					      .original
					      .unsafeGetStorageImpl()] = i;
		auto at = bytes_of_.find(impl);
		if (at != bytes_of_.end())
			return at->second;
		bytes_of_[impl] = count;
	}

	std::size_t size = original.nbytes();
	void *view = view_bytes(original.mutable_data(), size);

	bytes_.push_back({original,
			  new_storage({view, c10::Device(c10::kCPU)}, size,
				      c10::GetCPUAllocator()),
			  view, size});
	return count;
}

const Aliases::Pair *Aliases::find_pair(const void *impl, bool alias)
{
	unsigned count = pairs_.size();

	if (count <= FEW || alias) {
		for (const Pair &p : pairs_)
			if ((alias ? p.alias : p.original)
				.unsafeGetTensorImpl() == impl)
				return &p;
		return nullptr;
	}
	if (pair_of_.size() != count) {
		unsigned known = pair_of_.empty() ? 0 : count - 1;
		for (unsigned i = known; i < count; i++)
			pair_of_[pairs_[i].original.unsafeGetTensorImpl()] = i;
	}
	auto at = pair_of_.find(impl);
	return at == pair_of_.end() ? nullptr : &pairs_[at->second];
}

at::Tensor Aliases::of(const at::Tensor &original, bool written)
{
	const Pair *known = find_pair(original.unsafeGetTensorImpl(), false);
	at::Tensor alias;
	unsigned b;

	if (known) {
		const_cast<Pair *>(known)->written |= written;
		return known->alias;
	}
	if (C10_UNLIKELY(has_components(original))) {
		alias = rebuild(original, c10::kCPU, [&](const at::Tensor &t) {
			return of(t, written);
		});
		pairs_.push_back({original, alias, written});
		return alias;
	}
	TORCH_CHECK_NOT_IMPLEMENTED(
	    original.has_storage() && !original.is_quantized(), "a tensor of ",
	    original.toString(), " is not supported by a made-up GPU");
	b = find_bytes(original.storage());
	alias = new_tensor(bytes_[b].alias, c10::DispatchKey::CPU, original);
	pairs_.push_back({original, alias, written});
	return alias;
}

const Aliases::Bytes *Aliases::find_alias_bytes(const c10::Storage &alias) const
{
	for (const Bytes &b : bytes_)
		if (b.alias.unsafeGetStorageImpl() ==
		    alias.unsafeGetStorageImpl())
			return &b;
	return nullptr;
}

// Returns device memory for the result of a kernel: the memory in which it is,
// or a copy.
static c10::DataPtr device_memory(c10::StorageImpl *s)
{
	c10::DataPtr memory;
	void *view = s->mutable_data();

	if (view && take_device_memory(view, &memory)) {
		s->_mutable_data_ptr_no_checks().release_context();
		s->set_data_ptr_noswap({view, c10::Device(c10::kCPU)});
		return memory;
	}
	memory = allocate_device(s->nbytes());
	if (s->nbytes())
		std::memcpy(view_bytes(memory.get(), s->nbytes()), view,
			    s->nbytes());
	return memory;
}

c10::Storage Aliases::device_storage(const c10::Storage &storage)
{
	c10::StorageImpl *s = storage.unsafeGetStorageImpl();
	const Bytes *known = find_alias_bytes(storage);

	if (known)
		return known->original;

	std::size_t size = s->nbytes();
	c10::Storage device =
	    new_storage(device_memory(s), size, device_allocator());

	// Another result on the same bytes must share them.
	bytes_.push_back({device, storage, s->data(), size});
	return device;
}

at::Tensor Aliases::original_of(const at::Tensor &returned)
{
	const Pair *known;

	if (!returned.defined() || !returned.device().is_cpu())
		return returned;
	known = find_pair(returned.unsafeGetTensorImpl(), true);
	if (known)
		return known->original;
	if (C10_UNLIKELY(has_components(returned)))
		return rebuild(
		    returned, c10::kCUDA,
		    [this](const at::Tensor &t) { return original_of(t); });
	TORCH_CHECK_NOT_IMPLEMENTED(returned.has_storage() &&
					!returned.is_quantized(),
				    "a result of type ", returned.toString(),
				    " is not supported by a made-up GPU");
	return new_tensor(device_storage(returned.storage()),
			  c10::DispatchKey::CUDA, returned);
}

void Aliases::settle_bytes(Bytes *b)
{
	c10::StorageImpl *alias = b->alias.unsafeGetStorageImpl();
	c10::StorageImpl *original = b->original.unsafeGetStorageImpl();

	if (C10_LIKELY(alias->data() == b->view && alias->nbytes() == b->size))
		return;
	if (alias->data() != b->view)
		original->set_data_ptr_noswap(device_memory(alias));
	original->set_nbytes(alias->nbytes());
	b->view = alias->data();
	b->size = alias->nbytes();
}

void Aliases::settle()
{
	for (Bytes &b : bytes_)
		settle_bytes(&b);
	for (unsigned i = 0; i < pairs_.size(); i++)
		if (pairs_[i].written)
			settle_pair(pairs_[i].original, pairs_[i].alias);
}

std::string Aliases::describe() const
{
	std::ostringstream text;

	for (const Pair &p : pairs_) {
		if (!c10::isIntegralType(p.alias.scalar_type(), false) ||
		    !p.alias.numel())
			text << "; " << p.alias.scalar_type() << " of sizes "
			     << p.alias.sizes();
		else
			text << "; " << p.alias.scalar_type() << " from "
			     << p.alias.min().item<int64_t>() << " to "
			     << p.alias.max().item<int64_t>();
	}
	return text.str();
}

void Aliases::settle_pair(const at::Tensor &original, const at::Tensor &alias)
{
	c10::TensorImpl *to = original.unsafeGetTensorImpl();
	const c10::TensorImpl *from = alias.unsafeGetTensorImpl();

	if (C10_UNLIKELY(has_components(original)))
		overwrite(original, alias, [this](const at::Tensor &t) {
			return original_of(t);
		});
	else if (C10_UNLIKELY(!same_shape(*to, *from)))
		to->set_sizes_and_strides(from->sizes(), from->strides(),
					  from->storage_offset());
}

} // namespace gpukit
