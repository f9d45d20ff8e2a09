# SPDX-License-Identifier: Apache-2.0
"""cuBLAS computes correctly: programs/ compare every function with plain loops.
tests/data/cublas-coverage.txt names the program for each function, or says that
it is refused; the programs print what they compared."""

import os
import subprocess
import sys

import pytest

from conftest import FAKE_DIR, ROOT, clean_env, needed

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(ROOT, "tests", "data", "cublas-coverage.txt")
PROGRAMS = sorted(name[:-3] for name in os.listdir(os.path.join(HERE, "programs"))
                  if name.endswith(".py") and name != "blas.py")


def listed():
    """{function: program or "refused"}"""
    with open(LIST, encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    assert rows == sorted(rows) and len(dict(rows)) == len(rows)
    return dict(rows)


def exported(major):
    """{function: T or W}; a weak symbol is the default, which refuses."""
    told = subprocess.run(
        ["nm", "-D", "--defined-only",
         os.path.join(FAKE_DIR, f"libcublas.so.{major}")],
        check=True, capture_output=True, text=True).stdout
    words = (line.split() for line in told.splitlines())
    return {w[2].split("@@")[0]: w[1] for w in words if w[1] in "TW"}


def test_every_function_has_a_test_or_is_refused():
    found = exported(13)
    assert sorted(listed()) == sorted(found)
    assert set(exported(12)) <= set(found)
    assert set(listed().values()) == {*PROGRAMS, "refused"}


def test_no_name_of_the_original_is_missing():
    original = "/usr/local/cuda/lib64/libcublas.so.13"
    if not os.path.exists(original):
        pytest.skip("no cuBLAS of NVIDIA's here")
    told = subprocess.run(["nm", "-D", "--defined-only", original],
                          check=True, capture_output=True, text=True).stdout
    names = {line.split()[2].split("@@")[0] for line in told.splitlines()
             if line.split()[1] == "T"}
    assert names == set(listed())


@pytest.mark.parametrize("major", [12, 13])
def test_those_that_are_refused_are_those_that_are_not_written(major):
    refused = {name for name, how in listed().items() if how == "refused"}
    weak = {name for name, kind in exported(major).items() if kind == "W"}
    assert weak == refused & set(exported(major))


@pytest.mark.slow
@pytest.mark.parametrize("major", [12, 13])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_those_of_plain_loops(machine, program, major):
    needed("numpy", "the test of cuBLAS")
    mine = {name for name, how in listed().items()
            if how == program and name in exported(major)}
    of_handles = [name for name in exported(major)
                  if listed()[name] not in ("legacy", "refused")]
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, "programs", program + ".py"),
         str(major)], input="\n".join(of_handles), text=True,
        capture_output=True, env=clean_env(**machine().env), timeout=300,
        check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert set(done.stdout.split()) == mine


FAULT = """
import ctypes
cuda, lib = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcublas.so.13")
handle, at, one = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_float(1)
assert lib.cublasCreate_v2(ctypes.byref(handle)) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(1 << 21)) == 0
past = ctypes.c_uint64(at.value + (1 << 21) - 4 * 99)
assert lib.cublasSscal_v2(handle, 99, ctypes.byref(one), past, 1) == 0
assert cuda.cuCtxSynchronize() == 0
assert lib.cublasSscal_v2(handle, 100, ctypes.byref(one), past, 1) == 0
assert cuda.cuCtxSynchronize() == 700
assert lib.cublasSscal_v2(handle, 1, ctypes.byref(one), at, 1) == 13
"""


def test_one_element_beyond_its_memory_is_an_illegal_address(machine):
    done = subprocess.run([sys.executable, "-c", FAULT], text=True,
                          capture_output=True, env=clean_env(**machine().env),
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr


REPEATED = """
import ctypes
cuda, lib = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcublas.so.13")
handle, at, one = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_float(1)
assert lib.cublasCreate_v2(ctypes.byref(handle)) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(64)) == 0
step = ctypes.c_int64(0)
assert lib.cublasAxpyEx_64(handle, ctypes.c_int64(1 << 62), ctypes.byref(one),
                           0, at, 2, step, at, 2, step, 0) == 0
assert cuda.cuCtxSynchronize() == 2
"""


def test_one_element_repeated_without_end_is_out_of_memory(machine):
    done = subprocess.run([sys.executable, "-c", REPEATED], text=True,
                          capture_output=True, env=clean_env(**machine().env),
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr


ALONE = """
import ctypes, sys
lib, handle = ctypes.CDLL("libcublas.so.13"), ctypes.c_void_p()
sys.exit(lib.cublasCreate_v2(ctypes.byref(handle)))
"""


def test_without_openblas_there_is_no_handle_and_the_log_says_why(machine,
                                                                  tmp_path):
    (tmp_path / "libopenblas.so.0").touch()
    env = machine().env
    env["LD_LIBRARY_PATH"] += f":{tmp_path}"
    done = subprocess.run([sys.executable, "-c", ALONE], text=True,
                          capture_output=True,
                          env=clean_env(GPUKIT_LOG="error", **env), timeout=60,
                          check=False)
    assert done.returncode == 1
    assert "libopenblas0-pthread" in done.stderr


CAPTURED = """
import ctypes
cuda, lib = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcublas.so.13")
handle, at, stream = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_void_p()
graph, run = ctypes.c_void_p(), ctypes.c_void_p()
two, found = ctypes.c_float(2), ctypes.c_float(7)
ref = ctypes.byref

def value():
    assert cuda.cuMemcpyDtoH_v2(ref(found), at, ctypes.c_size_t(4)) == 0
    return found.value

assert lib.cublasCreate_v2(ref(handle)) == 0
assert cuda.cuMemAlloc_v2(ref(at), ctypes.c_size_t(4)) == 0
assert cuda.cuMemsetD32_v2(at, 0x3f800000, ctypes.c_size_t(1)) == 0
assert cuda.cuStreamCreate(ref(stream), 1) == 0
assert lib.cublasSetStream_v2(handle, stream) == 0
assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
for _ in range(2):
    assert lib.cublasSscal_v2(handle, 1, ref(two), at, 1) == 0
# A result of the host's would come when nobody waits for it any more.
assert lib.cublasSasum_v2(handle, 1, at, 1, ref(found)) == 13
assert found.value == 7
assert cuda.cuStreamEndCapture(stream, ref(graph)) == 0
two.value = 100  # factors are those of the call
assert value() == 1
assert cuda.cuGraphInstantiateWithFlags(ref(run), graph, ctypes.c_ulonglong(0)) == 0
for expected in (4, 16):
    assert cuda.cuGraphLaunch(run, stream) == 0
    assert cuda.cuStreamSynchronize(stream) == 0
    assert value() == expected
"""


def test_a_graph_keeps_what_was_captured(machine):
    done = subprocess.run([sys.executable, "-c", CAPTURED], text=True,
                          capture_output=True, env=clean_env(**machine().env),
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr


FORKING = """
import ctypes, os
cuda, lib = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcublas.so.13")
handle, at, one = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_float(1)
n, ref = 400, ctypes.byref
assert lib.cublasCreate_v2(ref(handle)) == 0
assert cuda.cuMemAlloc_v2(ref(at), ctypes.c_size_t(4 * n * n)) == 0
for _ in range(40):
    for _ in range(4):
        assert lib.cublasSgemm_v2(handle, 0, 0, n, n, n, ref(one), at, n, at,
                                  n, ref(one), at, n) == 0
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
assert cuda.cuCtxSynchronize() == 0
"""


def test_a_fork_waits_for_the_product_that_runs(machine):
    done = subprocess.run([sys.executable, "-c", FORKING], text=True,
                          capture_output=True, env=clean_env(**machine().env),
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
