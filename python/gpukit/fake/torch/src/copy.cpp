/* SPDX-License-Identifier: Apache-2.0 */
// copy_ of device tensors. Between host and device, and between devices, it
// uses CUDA's own copies in the order of streams. Within a device it is an
// operator like any other, which may convert and transpose.
#include "copy.h"

#include "driver.h"
#include "journal.h"

#include <ATen/ops/copy_native.h>
#include <ATen/ops/empty.h>

#include <cstring>

namespace gpukit
{

namespace
{

// Whether CUDA can copy the bytes: both sides must be contiguous and of the
// same type.
bool is_plain(const at::Tensor &self, const at::Tensor &src)
{
	return self.dtype() == src.dtype() && self.is_contiguous() &&
	       src.is_contiguous() && self.sizes() == src.sizes() &&
	       self.is_conj() == src.is_conj() && self.is_neg() == src.is_neg();
}

bool is_turned(const at::Tensor &t)
{
	return t.is_conj() || t.is_neg();
}

// CUDA conjugates and negates during a copy, by kernels of its own. Here the
// device or host that owns the tensor does so, before or after the copy.
void copy_turning(at::Tensor &self, const at::Tensor &src, bool non_blocking)
{
	at::Tensor plain = src.resolve_conj().resolve_neg();

	if (!is_turned(self)) {
		at::native::copy_(self, plain, non_blocking);
		return;
	}
	at::Tensor there = at::empty(src.sizes(), self.options());

	at::native::copy_(there, plain, non_blocking);
	self.copy_(there, non_blocking);
}

void copy_between_devices(at::Tensor &self, const at::Tensor &src,
			  bool non_blocking)
{
	if (is_plain(self, src)) {
		at::native::copy_(self, src, non_blocking);
		return;
	}
	at::Tensor from =
	    src.resolve_conj().resolve_neg().to(self.scalar_type());
	at::Tensor plain = from.expand_as(self).contiguous();
	at::Tensor there = at::empty(self.sizes(), self.options());

	at::native::copy_(there, plain, non_blocking);
	self.copy_(there, non_blocking);
}

// Makes now, during capture, the copy that the graph will make later, so that
// operators captured after it see the values.
void bring_at_once(const at::Tensor &self, const at::Tensor &src)
{
	CapturedStream stream =
	    find_capture(current_stream(self.device().index()));

	if (!stream.capture || !is_plain(self, src) || !self.nbytes())
		return;
	void *view = view_bytes(self.mutable_data_ptr(), self.nbytes());
	Journal::of(stream).keep(view, self.nbytes());
	std::memcpy(view, src.const_data_ptr(), self.nbytes());
}

} // namespace

bool is_copy_between(const at::Tensor &self, const at::Tensor &src)
{
	return self.defined() && src.defined() && self.device() != src.device();
}

void copy_between(at::Tensor &self, const at::Tensor &src, bool non_blocking)
{
	if (self.device().is_cuda() && src.device().is_cuda())
		copy_between_devices(self, src, non_blocking);
	else if (is_turned(self) || is_turned(src))
		copy_turning(self, src, non_blocking);
	else
		at::native::copy_(self, src, non_blocking);
	if (self.device().is_cuda() && src.device().is_cpu())
		bring_at_once(self, src);
}

} // namespace gpukit
