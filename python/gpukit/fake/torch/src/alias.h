// Device tensors as CPU tensors on the same bytes, and back again.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>
#include <c10/util/flat_hash_map.h>

#include <string>

namespace gpukit
{

// The aliases of one call of an operator, on one device, which is current.
class Aliases
{
      public:
	// The CPU tensor that stands for a device tensor; always the same one.
	// written: the operator may change or resize it.
	at::Tensor of(const at::Tensor &original, bool written);

	// The tensor that the caller gets for one that the operator returned.
	at::Tensor original_of(const at::Tensor &returned);

	// For who looks for an index that is out of range: the sizes of the
	// first tensor, and from where to where integers of the others go.
	std::string describe() const;

	// What the operator did to the sizes of those that it may write.
	void settle();

	// Has it the bytes of a device tensor?
	bool is_alias(const at::Tensor &t) const
	{
		return t.has_storage() && find_alias_bytes(t.storage());
	}

	// Each storage: the device's, and where its bytes are here.
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
	Places pair_of_, bytes_of_; // when there are many
};

// Is it a tensor of a device, with bytes?
inline bool is_on_device(const at::Tensor &t)
{
	return t.defined() && t.device().is_cuda();
}

} // namespace gpukit
