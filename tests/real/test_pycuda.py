# SPDX-License-Identifier: Apache-2.0
"""PyCUDA, built from its sources with NVIDIA's headers, runs on our driver."""

import os

import pytest

import cuda_programs
from real_program import Program

PYCUDA = Program("pycuda")

BEGIN = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import compile

MIB = 1 << 20
A = np.random.default_rng(6).random(5000, dtype=np.float32)
"""

MEMORY = """
assert cuda.Device.count() == 8
assert pycuda.autoinit.device.name() == "NVIDIA A100-SXM4-80GB"
before, total = cuda.mem_get_info()
there = cuda.mem_alloc(64 * MIB)
assert cuda.mem_get_info() == (before - 64 * MIB, total)
there.free()
assert cuda.mem_get_info() == (before, total)
there, back = cuda.to_device(A), np.empty_like(A)
cuda.memcpy_dtoh(back, there)
assert (back == A).all()
cuda.memset_d32(there, 7, A.size)
cuda.memcpy_dtoh(back, there)
assert (back.view(np.int32) == 7).all()
try:
    cuda.mem_alloc(total + 1)
    raise AssertionError("more than there is was found")
except cuda.MemoryError as error:
    assert "out of memory" in str(error), error
managed = cuda.managed_empty(10, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
managed[:] = 4
assert managed.sum() == 40
"""

POOLS = """
from pycuda.tools import DeviceMemoryPool, PageLockedMemoryPool

pool = DeviceMemoryPool()
one = pool.allocate(1000)
assert (pool.active_blocks, pool.held_blocks) == (1, 0)
address = int(one)
del one
assert (pool.active_blocks, pool.held_blocks) == (0, 1)
assert int(pool.allocate(1000)) == address
pool.free_held()
assert pool.held_blocks == 0
pinned = PageLockedMemoryPool().allocate(A.shape, A.dtype)
pinned[:] = A
assert (cuda.from_device(cuda.to_device(pinned), A.shape, A.dtype) == A).all()
"""

STREAMS = """
import time

stream, begin, end = cuda.Stream(), cuda.Event(), cuda.Event()
pinned, back = cuda.pagelocked_empty_like(A), cuda.pagelocked_empty_like(A)
pinned[:] = A
there = cuda.mem_alloc(A.nbytes)
begin.record(stream)
cuda.memcpy_htod_async(there, pinned, stream)
cuda.memcpy_dtoh_async(back, there, stream)
begin.synchronize()
time.sleep(0.05)
end.record(stream)
end.synchronize()
assert stream.is_done() and end.query()
assert (back == A).all()
assert 45 < begin.time_till(end) < 5000
"""

KERNEL = """
SOURCE = '''
extern "C" __global__ void scale(float *to, const float *from, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] * by;
}
'''
ptx = compile(SOURCE, target="ptx", arch="compute_80", no_extern_c=True)
scale = cuda.module_from_buffer(ptx).get_function("scale")
to = np.zeros_like(A)
scale(cuda.Out(to), cuda.In(A), np.float32(2.5), np.int32(A.size),
      block=(128, 1, 1), grid=(40, 1))
assert (to == A * np.float32(2.5)).all()
to[:] = 0
there = cuda.to_device(A)
scale.prepare("PPfi")
scale.prepared_call((40, 1), (128, 1, 1), there, there, 0.5, A.size)
cuda.memcpy_dtoh(to, there)
assert (to == A * np.float32(0.5)).all()
"""

MACHINE_CODE = """
from pycuda import gpuarray

there = gpuarray.to_gpu(A)
assert (there.get() == A).all()
try:
    there + there
    raise AssertionError("machine code ran")
except cuda.RuntimeError as error:
    assert "no kernel image is available" in str(error), error
"""

# docs/FAKE.md shows these lines.
AS_PTX = """
import functools
import pycuda.compiler
pycuda.compiler.compile = functools.partial(pycuda.compiler.compile, target="ptx")
"""

ARITHMETIC = """
from pycuda import cumath, gpuarray
from pycuda.compiler import SourceModule
from pycuda.scan import InclusiveScanKernel

there = gpuarray.to_gpu(A)
assert ((there + there * 2).get() == A + A * 2).all()
assert ((there < 0.5).get() == (A < 0.5)).all()
assert np.allclose(cumath.sin(there).get(), np.sin(A), rtol=1e-6)
assert np.isclose(gpuarray.sum(there).get(), A.sum(), rtol=1e-5)
assert np.isclose(gpuarray.dot(there, there).get(), A @ A, rtol=1e-5)
assert gpuarray.max(there).get() == A.max()
counts = gpuarray.arange(5000, dtype=np.int32)
InclusiveScanKernel(np.int32, "a + b")(counts)
assert (counts.get() == np.cumsum(np.arange(5000))).all()
module = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")
module.get_function("twice")(there, block=(1000, 1, 1))
assert (there.get()[:1000] == A[:1000] * 2).all()
assert (there.get()[1000:] == A[1000:]).all()
"""


def run(script):
    """It looks for nvcc on the path, and for code compiled earlier in the home
    directory."""
    path = os.path.join(cuda_programs.TOOLKIT, "bin")
    return PYCUDA(BEGIN + script, PYCUDA_DISABLE_CACHE="1",
                  PATH=f"{path}:{os.environ['PATH']}")


@pytest.mark.parametrize("script", [
    MEMORY, POOLS, STREAMS, KERNEL, AS_PTX + ARITHMETIC], ids=[
    "memory", "pools", "streams", "a kernel", "arithmetic"])
def test_it_works(script):
    assert "refused" not in run(script).stderr


def test_unasked_it_makes_machine_code():
    assert "gpukit fake: refused: an image without PTX for compute " \
        "capability 8.0, 1 time" in run(MACHINE_CODE).stderr
