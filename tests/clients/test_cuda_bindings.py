# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's Python bindings of the driver API (cuda-bindings), and cuda-core,
which is built on them, run unmodified."""

import os
import subprocess
import sys

import pytest

import cuda_programs
from conftest import GPUKIT, clean_env
from test_cuda_watched import wait_for

BEGIN = """
import ctypes, sys, time
from cuda.bindings import driver as d

def ok(result):
    assert result[0] == d.CUresult.CUDA_SUCCESS, result[0]
    return result[1] if len(result) == 2 else result[1:]

ok(d.cuInit(0))
device = ok(d.cuDeviceGet(0))
context = ok(d.cuDevicePrimaryCtxRetain(device))
ok(d.cuCtxSetCurrent(context))
"""

DEVICES = """
assert ok(d.cuDriverGetVersion()) == 13000
assert ok(d.cuDeviceGetCount()) == 8
names = set()
for i in range(8):
    one = ok(d.cuDeviceGet(i))
    names.add(bytes(ok(d.cuDeviceGetUuid(one)).bytes))
    name = ok(d.cuDeviceGetName(96, one)).split(b"\\0")[0]
    assert name == b"NVIDIA A100-SXM4-80GB"
assert len(names) == 8
Attribute = d.CUdevice_attribute
assert ok(d.cuDeviceGetAttribute(
    Attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)) == 8
assert d.cuDeviceGet(8)[0] == d.CUresult.CUDA_ERROR_INVALID_DEVICE
assert ok(d.cuGetErrorName(d.CUresult.CUDA_ERROR_INVALID_DEVICE)) == \\
    b"CUDA_ERROR_INVALID_DEVICE"
"""

MEMORY = """
there, back = bytes(range(256)) * 64, bytearray(256 * 64)
at = ok(d.cuMemAlloc(len(there)))
ok(d.cuMemcpyHtoD(at, there, len(there)))
ok(d.cuMemcpyDtoH(back, at, len(there)))
assert back == there
ok(d.cuMemsetD8(at, 7, len(there)))
ok(d.cuMemcpyDtoH(back, at, len(there)))
assert back == bytes([7]) * len(there)
ok(d.cuMemFree(at))
assert d.cuMemFree(at)[0] == d.CUresult.CUDA_ERROR_INVALID_VALUE
unused, total = ok(d.cuMemGetInfo())
assert d.cuMemAlloc(total + 1)[0] == d.CUresult.CUDA_ERROR_OUT_OF_MEMORY
"""

EVENTS = """
stream = ok(d.cuStreamCreate(d.CUstream_flags.CU_STREAM_NON_BLOCKING))
begin, end = ok(d.cuEventCreate(0)), ok(d.cuEventCreate(0))
ok(d.cuEventRecord(begin, stream))
ok(d.cuStreamSynchronize(stream))
time.sleep(0.05)
ok(d.cuEventRecord(end, stream))
ok(d.cuEventSynchronize(end))
assert 45 < ok(d.cuEventElapsedTime(begin, end)) < 5000
ok(d.cuStreamDestroy(stream))
"""

KERNEL = """
with open(sys.argv[1], "rb") as file:
    module = ok(d.cuModuleLoadData(file.read() + b"\\0"))
fill = ok(d.cuModuleGetFunction(module, b"fill"))
at = ok(d.cuMemAlloc(4000))
ok(d.cuLaunchKernel(fill, 8, 1, 1, 128, 1, 1, 0, None,
                    ((int(at), 42, 1000),
                     (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)), 0))
back = (ctypes.c_int * 1000)()
ok(d.cuMemcpyDtoH(back, at, 4000))
assert list(back) == [42] * 1000
ok(d.cuModuleUnload(module))
"""


def python(code, *args, **env):
    done = subprocess.run(
        [GPUKIT, "fake", "--", sys.executable, "-c", code, *args],
        capture_output=True, text=True, timeout=60, check=False,
        env=clean_env(**env))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("code", [DEVICES, MEMORY, EVENTS, KERNEL], ids=[
    "devices", "memory", "events", "kernel"])
def test_the_driver_module(code):
    python(BEGIN + code, cuda_programs.KERNELS)


SEEN = """
import pynvml
pynvml.nvmlInit()
gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
for held in pynvml.nvmlDeviceGetComputeRunningProcesses(gpu):
    print(held.pid, held.usedGpuMemory, pynvml.nvmlDeviceGetMemoryInfo(gpu).free)
"""


def test_what_it_holds_is_seen_by_others(machine):
    one = machine()
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN + """
at = ok(d.cuMemAlloc(1 << 30))
print(ok(d.cuMemGetInfo())[0], flush=True)
sys.stdin.read()
"""], env=clean_env(**one.env), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True)
    unused = int(process.stdout.readline())
    pid, held, free = map(int, one.python(SEEN).split())
    assert pid == process.pid
    assert held >= 1 << 30
    assert free == unused
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    # A reader finds dead processes, but not at every read.
    wait_for(lambda: one.python(SEEN) == "")


def test_the_runtime_module_is_out_of_reach_and_the_doctor_says_so(gpukit):
    where = python("import cuda.bindings; print(cuda.bindings.__path__[0])")
    done = gpukit("fake", "doctor", "--json",
                  os.path.join(where.strip(), ""))
    assert done.returncode == 1
    assert '"static-runtime"' in done.stdout
    told = python("""
from cuda.bindings import runtime
error, _ = runtime.cudaMalloc(10)
print(error.name)
""")
    assert told.strip() == "cudaErrorStubLibrary"


CORE = """
import ctypes, sys
import numpy as np
from cuda.core import (Device, EventOptions, LaunchConfig,
                       LegacyPinnedMemoryResource, ObjectCode, launch)

device = Device(5)
device.set_current()
assert device.compute_capability == (8, 0)
stream = device.create_stream()
with open(sys.argv[1], "rb") as file:
    fill = ObjectCode.from_ptx(file.read()).get_kernel("fill")
assert fill.occupancy.max_active_blocks_per_multiprocessor(128, 0) == 16
on_gpu = device.memory_resource.allocate(4000, stream=stream)
on_host = LegacyPinnedMemoryResource().allocate(4000)
begin = stream.record(options=EventOptions(enable_timing=True))
launch(stream, LaunchConfig(grid=8, block=128), fill, on_gpu, np.int32(42),
       np.int32(1000))
on_host.copy_from(on_gpu, stream=stream)
end = stream.record(options=EventOptions(enable_timing=True))
stream.sync()
assert 0 < end - begin < 5000
back = (ctypes.c_int * 1000).from_address(int(on_host.handle))
assert list(back) == [42] * 1000
"""


def test_cuda_core():
    python(CORE, cuda_programs.KERNELS)
