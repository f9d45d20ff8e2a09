# SPDX-License-Identifier: Apache-2.0
"""numba-cuda runs unmodified: kernels written in Python, compiled by libNVVM,
run through the driver API. NVIDIA's linker (nvJitLink), if installed, would
make machine code, which no CPU runs, so it is hidden here, and numba uses the
driver's."""

import subprocess
import sys

import pytest

import cuda_programs
from conftest import GPUKIT, clean_env

BEGIN = """
import time
import numpy as np
from numba import cuda
"""

DEVICES = """
assert len(cuda.gpus) == 8
assert cuda.get_current_device().compute_capability == (8, 0)
assert "A100" in str(cuda.get_current_device().name)
unused, total = cuda.current_context().get_memory_info()
assert 0 < unused < total
with cuda.gpus[3]:
    assert cuda.get_current_device().id == 3
"""

COPIES = """
a = np.arange(100000, dtype=np.float64)
on_gpu = cuda.to_device(a)
assert (on_gpu.copy_to_host() == a).all()
stream = cuda.stream()
pinned = cuda.pinned_array(1000, dtype=np.int32)
pinned[:] = 5
there = cuda.to_device(pinned, stream=stream)
back = there.copy_to_host(stream=stream)
stream.synchronize()
assert (back == 5).all()
mapped = cuda.mapped_array(10, dtype=np.int32)
mapped[:] = 3
managed = cuda.managed_array(10, dtype=np.int32)
managed[:] = 4
assert managed.sum() == 40
"""

EVENTS = """
begin, end = cuda.event(), cuda.event()
begin.record()
begin.synchronize()
time.sleep(0.05)
end.record()
end.synchronize()
assert 45 < cuda.event_elapsed_time(begin, end) < 5000
"""

KERNELS = """
@cuda.jit
def add(x, y, to):
    i = cuda.grid(1)
    if i < to.size:
        to[i] = x[i] + y[i]

x = np.arange(1000, dtype=np.float32)
to = cuda.device_array_like(x)
add[8, 128](cuda.to_device(x), cuda.to_device(x), to)
assert (to.copy_to_host() == 2 * x).all()

@cuda.jit
def turn(at):
    shared = cuda.shared.array(64, dtype=np.int32)
    i = cuda.threadIdx.x
    shared[i] = at[i]
    cuda.syncthreads()
    at[i] = shared[63 - i]

at = np.arange(64, dtype=np.int32)
turn[1, 64](at)
assert (at == np.arange(64)[::-1]).all()
"""

# A function that numba did not compile: its first argument points to its
# result, and it returns 0.
LINKED = """
import os
file = os.path.join(os.environ["NUMBA_CACHE_DIR"], "twice.ptx")
with open(file, "w") as to:
    to.write('''
.version 7.0
.target sm_50
.address_size 64
.visible .func (.param .b32 status) twice(.param .b64 to, .param .b32 x)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.b64 %rd1, [to];
	ld.param.b32 %r1, [x];
	add.s32 %r2, %r1, %r1;
	st.b32 [%rd1], %r2;
	mov.b32 %r3, 0;
	st.param.b32 [status], %r3;
	ret;
}
''')

twice = cuda.declare_device("twice", "int32(int32)")

@cuda.jit(link=[file])
def double(at):
    i = cuda.grid(1)
    at[i] = twice(at[i])

at = np.arange(64, dtype=np.int32)
double[2, 32](at)
assert (at == 2 * np.arange(64)).all()
"""


@pytest.mark.parametrize(
    "code", [DEVICES, COPIES, EVENTS, KERNELS, LINKED],
    ids=["devices", "copies", "events", "kernels", "linked"])
def test_numba(code, tmp_path):
    for major in (12, 13):
        (tmp_path / f"libnvJitLink.so.{major}").write_bytes(b"")
    done = subprocess.run(
        [GPUKIT, "fake", "--", sys.executable, "-W", "ignore", "-c",
         BEGIN + code],
        capture_output=True, text=True, timeout=120, check=False,
        env=clean_env(LD_LIBRARY_PATH=str(tmp_path),
                      CUDA_HOME=cuda_programs.TOOLKIT,
                      NUMBA_CACHE_DIR=str(tmp_path)))
    assert done.returncode == 0, done.stderr
