# SPDX-License-Identifier: Apache-2.0
"""With GPUKIT_LOG=warn the name of each refused call is logged."""

import re
import sys

import pytest

REFUSED = r'''
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
found, at = ctypes.c_void_p(), ctypes.c_uint64()
assert not cuda.cuInit(0)
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(found), 0)
assert not cuda.cuCtxSetCurrent(found)
for i in range(2):
    assert cuda.cuMulticastCreate(
        ctypes.byref(at), ctypes.c_void_p(0)) == 801
assert cuda.cuMemGetHandleForAddressRange(
    ctypes.byref(found), ctypes.c_uint64(0), ctypes.c_size_t(1), 1,
    ctypes.c_uint64(0)) in (1, 801)
assert not cuda.cuCtxSynchronize()
for major in (12, 13):
    runtime = ctypes.CDLL(f"libcudart.so.{major}")
    assert runtime.cudaGraphicsUnregisterResource(None) == 801
    assert runtime.cudaGetLastError() == 801
    assert not runtime.cudaDeviceSynchronize()
'''

NAMES = (["cuMulticastCreate"] * 2
         + ["cudaGraphicsUnregisterResource"] * 2)


def told(stderr):
    return re.findall(r"warn: (cu\w+): refused", stderr)


@pytest.mark.parametrize("level,names", [("warn", NAMES), ("error", [])])
def test_refused_calls_are_named(gpukit, level, names):
    done = gpukit("fake", "--", sys.executable, "-c", REFUSED,
                  env={"GPUKIT_LOG": level})
    assert done.returncode == 0, done.stderr
    assert told(done.stderr) == names


BROKEN = r'''
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
found = ctypes.c_void_p()
assert not cuda.cuInit(0)
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(found), 0)
assert not cuda.cuCtxSetCurrent(found)
assert cuda.cuModuleLoadData(
    ctypes.byref(found),
    b".version 7.0\n.target sm_50\n.address_size 64\n.nothing\n") == 218
assert cuda.cuGetExportTable(
    ctypes.byref(found), b"no table has this") == 34
'''


def test_why_an_image_does_not_load_and_who_wants_nvidias_driver(gpukit):
    done = gpukit("fake", "--", sys.executable, "-c", BROKEN,
                  env={"GPUKIT_LOG": "warn"})
    assert done.returncode == 0, done.stderr
    assert re.search(r"warn: image refused: .*nothing", done.stderr)
    assert re.search(r"warn: \S*(ffi|ctypes|python)\S* requests a "
                     r"private", done.stderr)
