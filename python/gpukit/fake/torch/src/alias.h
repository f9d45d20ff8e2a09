/* SPDX-License-Identifier: Apache-2.0 */
// Makes CPU tensors (aliases) on the bytes of device tensors, and turns them
// back.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>
#include <c10/util/flat_hash_map.h>

#include <string>

namespace gpukit
{

// The aliases for one call of an operator. All are on the current device.
class Aliases
{
      public:
	// Returns the CPU tensor for a device tensor, always the same one.
	// written: the operator may change or resize it.
	at::Tensor of(const at::Tensor &original, bool written);

	// Returns the tensor that the caller gets in place of the one that the
	// operator returned.
	at::Tensor original_of(const at::Tensor &returned);

	// Describes the arguments, to help find an index that is out of range.
	// Gives the sizes of the first tensor, and the range of the integers in
	// the others.
	std::string describe() const;

	// Resizes the written tensors as the operator has resized their
	// aliases.
	void settle();

	// Whether the bytes of a tensor are those of a device tensor.
	bool is_alias(const at::Tensor &t) const
	{
		return t.has_storage() && find_alias_bytes(t.storage());
	}

	// Calls visit(device storage, host address of its bytes, size) for each
	// storage.
	template <class Visit> void visit_bytes(Visit visit) const
	{
		for (const Bytes &b : bytes_)
			visit(b.original, const_cast<void *>(b.view), b.size);
	}

      private:
	struct Pair {
		at::Tensor original, alias;
		bool written;
	};
	struct Bytes {
		c10::Storage original, alias;
		const void *view;
		std::size_t size;
	};
	using Places = ska::flat_hash_map<const void *, unsigned>;

	unsigned find_bytes(const c10::Storage &original);
	const Pair *find_pair(const void *impl, bool alias);
	const Bytes *find_alias_bytes(const c10::Storage &alias) const;
	c10::Storage device_storage(const c10::Storage &storage);
	void settle_pair(const at::Tensor &original, const at::Tensor &alias);
	void settle_bytes(Bytes *b);

	c10::SmallVector<Pair, 6> pairs_;
	c10::SmallVector<Bytes, 6> bytes_;
	Places pair_of_, bytes_of_; // used if there are many entries
};

// Whether a tensor is on a device.
inline bool is_on_device(const at::Tensor &t)
{
	return t.defined() && t.device().is_cuda();
}

} // namespace gpukit
