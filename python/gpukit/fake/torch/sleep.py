# SPDX-License-Identifier: Apache-2.0
"""torch.cuda._sleep(). PyTorch's kernel for it is machine code; this one is
PTX, and keeps the stream busy for the same time."""

import ctypes

import torch

_INVALID_CONTEXT = 201
_PTX = b""".version 7.0
.target sm_50
.address_size 64
.visible .entry gpukit_sleep(.param .s64 cycles)
{
	.reg .s64 %begin, %now, %cycles;
	.reg .pred %more;
	ld.param.s64 %cycles, [cycles];
	mov.u64 %begin, %clock64;
AGAIN:
	mov.u64 %now, %clock64;
	sub.s64 %now, %now, %begin;
	setp.lt.s64 %more, %now, %cycles;
	@%more bra AGAIN;
	ret;
}
"""

_kernel = []


def _checked(result, what):
    if result:
        raise RuntimeError(f"CUDA error: _sleep: {what} returned {result}")


def _find_kernel(driver):
    """Loads the kernel, once per process: one library serves all devices."""
    if not _kernel:
        library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        _checked(driver.cuLibraryLoadData(
            ctypes.byref(library), _PTX, None, None, 0, None, None, 0),
            "cuLibraryLoadData")
        _checked(driver.cuLibraryGetKernel(
            ctypes.byref(kernel), library, b"gpukit_sleep"),
            "cuLibraryGetKernel")
        _kernel.append(kernel)
    return _kernel[0]


def _sleep(cycles):
    """Keeps the current stream busy for this number of SM clock cycles."""
    torch.cuda.init()
    driver = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_int64(cycles)
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(count))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def launch():
        return driver.cuLaunchKernel(_find_kernel(driver), 1, 1, 1, 1, 1, 1, 0,
                                     stream, parameters, None)

    result = launch()
    if result == _INVALID_CONTEXT:  # the thread has no context yet
        torch.cuda.synchronize()
        result = launch()
    _checked(result, "cuLaunchKernel")


def install():
    torch._C._cuda_sleep = torch.cuda._sleep = _sleep
