# SPDX-License-Identifier: Apache-2.0
"""A link is made for the GPU in whose context it was begun, also from objects
and archives made by nvcc."""

import json
import os
import subprocess
import sys

import pytest

import cuda_programs

CODE = r'''
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
PTX = 1
newer = b".version 7.0\n.target sm_80\n.address_size 64\n" \
        b".visible .entry work() { ret; }\n"
assert not cuda.cuInit(0)
contexts = []
for device in range(2):
    contexts.append(ctypes.c_void_p())
    assert not cuda.cuDevicePrimaryCtxRetain(
        ctypes.byref(contexts[-1]), device)

def link(began, goes_on):
    """The driver's answer to an image for A100 and newer."""
    state, image = ctypes.c_void_p(), ctypes.c_void_p()
    assert not cuda.cuCtxSetCurrent(contexts[began])
    assert not cuda.cuLinkCreate_v2(0, None, None, ctypes.byref(state))
    assert not cuda.cuCtxSetCurrent(contexts[goes_on])
    said = cuda.cuLinkAddData_v2(state, PTX, newer,
                                 ctypes.c_size_t(len(newer)), b"newer", 0,
                                 None, None)
    if not said:
        said = cuda.cuLinkComplete(state, ctypes.byref(image), None)
    assert not cuda.cuLinkDestroy(state)
    return said

print([link(0, 0), link(0, 1), link(1, 0) != 0, link(1, 1) != 0])
'''


def test_the_device_is_that_of_the_beginning(gpukit):
    done = gpukit("fake", "--gpus", "a100-sxm4-80gb:1,t4:1", "--",
                  sys.executable, "-c", CODE)
    assert (done.returncode, done.stdout) == (0, "[0, 0, True, True]\n"), \
        done.stderr


# Functions of two files; the kernel is in the first.
SOURCES = {
    "work": """extern __device__ int twice(int x);
               extern "C" __global__ void work(int *at)
               { *at = twice(*at) + 1; }""",
    "twice": "__device__ int twice(int x) { return 2 * x; }",
    "host": "int nothing(void) { return 0; }",
}

LINK = r"""
import ctypes, json, sys
cuda = ctypes.CDLL("libcuda.so.1")
OBJECT, LIBRARY = 3, 4
P = ctypes.c_void_p
ctx = P()
assert not cuda.cuInit(0)
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 0)
assert not cuda.cuCtxSetCurrent(ctx)

def begin():
    state = P()
    assert not cuda.cuLinkCreate_v2(0, None, None, ctypes.byref(state))
    return state

def add(state, kind, path):
    return cuda.cuLinkAddFile_v2(state, kind, path.encode(), 0, None, None)

def linked(*inputs):
    state, image, module, function = begin(), P(), P(), P()
    for kind, path in inputs:
        assert not add(state, kind, path), path
    said = cuda.cuLinkComplete(state, ctypes.byref(image), None)
    if said:
        return -said
    assert not cuda.cuModuleLoadData(ctypes.byref(module), image)
    assert not cuda.cuLinkDestroy(state)
    assert not cuda.cuModuleGetFunction(ctypes.byref(function), module,
                                        b"work")
    at, value = ctypes.c_uint64(), ctypes.c_int(20)
    assert not cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4))
    assert not cuda.cuMemcpyHtoD_v2(at, ctypes.byref(value),
                                    ctypes.c_size_t(4))
    args = (P * 1)(ctypes.addressof(at))
    assert not cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, args,
                                   None)
    assert not cuda.cuMemcpyDtoH_v2(ctypes.byref(value), at,
                                    ctypes.c_size_t(4))
    return value.value

work, twice, host, archive = sys.argv[1:]
told = {"objects": linked((OBJECT, work), (OBJECT, twice)),
        "archive": linked((OBJECT, work), (LIBRARY, archive)),
        "no device code": add(begin(), OBJECT, host),
        "no archive": add(begin(), LIBRARY, work),
        "no object": add(begin(), OBJECT, archive)}

# Whatever a file says of itself, nothing is read outside of it.
answers = set()
for path, kind in ((work, OBJECT), (archive, LIBRARY)):
    whole = open(path, "rb").read()
    for cut in range(1, len(whole), 61):
        answers.add(cuda.cuLinkAddData_v2(begin(), kind, whole[:cut],
                                          ctypes.c_size_t(cut), b"", 0, None,
                                          None))
    for at in (*range(64), *range(len(whole) - 2200, len(whole), 3)):
        broken = whole[:at] + b"\xff" + whole[at + 1:]
        answers.add(cuda.cuLinkAddData_v2(begin(), kind, broken,
                                          ctypes.c_size_t(len(whole)), b"", 0,
                                          None, None))
told["broken"] = sorted(answers)
print(json.dumps(told))
"""


@pytest.mark.skipif(not os.path.exists(cuda_programs.NVCC),
                    reason="no nvcc: `./run deps`")
def test_objects_and_archives(gpukit, tmp_path):
    paths = {}
    for name, source in SOURCES.items():
        path = tmp_path / (name + ".cu")
        path.write_text(source, encoding="utf-8")
        paths[name] = str(tmp_path / (name + ".o"))
        cuda_programs.run(cuda_programs.NVCC, "-arch=compute_75", "-dc",
                          str(path), "-o", paths[name],
                          env=cuda_programs.environment())
    subprocess.run(["cc", "-xc", "-c", str(tmp_path / "host.cu"), "-o",
                    paths["host"]], check=True)
    archive = str(tmp_path / "libtwice.a")
    subprocess.run(["ar", "rcs", archive, paths["host"], paths["twice"]],
                   check=True)
    done = gpukit("fake", "--gpus", "t4", "--", sys.executable, "-c", LINK,
                  paths["work"], paths["twice"], paths["host"], archive)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    broken = told.pop("broken")
    # invalid image, no binary, invalid PTX; or the byte does not matter
    assert {200, 209} <= set(broken) <= {0, 200, 209, 218}
    assert told == {"objects": 41, "archive": 41, "no device code": 209,
                    "no archive": 200, "no object": 200}
