# SPDX-License-Identifier: Apache-2.0
"""gpukit.fake.use() moves a running program to a fake machine."""

import os
import time

import pytest

import cuda_programs
from conftest import GPUKIT, needed
from python_package import check_built, run

check_built()


def test_all_clients_of_the_process_see_it():
    out = run("""
import gpukit.fake
machine = gpukit.fake.use("h100:2", "--load=train:0,mem=3GiB")
from gpukit import _core
import ctypes
nvml = ctypes.CDLL("libnvidia-ml.so.1")
cuda = ctypes.CDLL("libcuda.so.1")
n = ctypes.c_int()
assert nvml.nvmlInit_v2() == 0 and cuda.cuInit(0) == 0
assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(n)) == 0
print(_core.count(), _core.identify(0).name, n.value)
assert cuda.cuDeviceGetCount(ctypes.byref(n)) == 0
print(n.value, [u.gpu_memory >> 30 for u in _core.processes(0)])
runtime = ctypes.CDLL("libcudart.so.13")
assert runtime.cudaGetDeviceCount(ctypes.byref(n)) == 0
print(n.value)
""")
    assert out.splitlines() == ["2 NVIDIA H100 80GB HBM3 2", "2 [3]", "2"]


def test_programs_that_it_starts_see_it():
    out = run("""
import subprocess, sys
import gpukit.fake
gpukit.fake.use("a100-sxm4-80gb:3")
print(subprocess.check_output(
    [sys.executable, "-c", "from gpukit import _core; print(_core.count())"],
    text=True), end="")
""")
    assert out.split() == ["3"]


def test_the_driver_can_be_another_one():
    out = run("""
import gpukit.fake
gpukit.fake.use("h100:1", "--driver=535")
from gpukit import _core
print(_core.versions()[0].split(".")[0])
""")
    assert out.split() == ["535"]


def test_it_can_be_changed_while_it_runs():
    out = run("""
import gpukit.fake
machine = gpukit.fake.use("h100:1", "--frozen")
from gpukit import _core
machine.ctl("set", 0, "temperature=77")
print(_core.read(0, -1, (_core.M_TEMP,)))
try:
    machine.ctl("set", 7, "temperature=77")
except RuntimeError as e:
    print("refused")
""")
    assert out.splitlines() == ["(77,)", "refused"]


def test_it_ends_with_the_program():
    path = run("""
import gpukit.fake
print(gpukit.fake.use("h100:1").path)
""").strip()
    assert path.startswith("/")
    end = time.monotonic() + 20
    while os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.01)  # the launcher ends by itself, once it has noticed
    assert not os.path.exists(path)


def test_too_late_is_told():
    out = run("""
import gpukit.fake
gpukit.fake.use("h100:1")
try:
    gpukit.fake.use("h100:1")
except RuntimeError as e:
    print("already" in str(e))
""")
    assert out.split() == ["True"]
    out = run("""
import ctypes, sys
ctypes.CDLL(sys.argv[1])
import gpukit.fake
try:
    gpukit.fake.use("h100:1")
except RuntimeError as e:
    print(e)
""", os.path.join(os.path.dirname(GPUKIT), "..", "lib", "gpukit", "fake",
                  "libnvidia-ml.so.1"))
    assert out.startswith("too late: ")


@pytest.mark.parametrize("arguments, error, told", [
    ('"nonsense:2"', "RuntimeError", "no profile 'nonsense'"),
    ('"h100:0"', "RuntimeError", "the count must be 1 to 64"),
    ('"h100:1", "--bogus"', "RuntimeError", "option '--bogus'"),
    ('"h100:2", "--load=train:5"', "RuntimeError", "no GPU 5"),
    ('"h100:1", "--driver=1"', "RuntimeError", "allowed are 470, "),
    ('"h100:1", "--help"', "ValueError", "'--help'"),
    ('"h100:1", "--", "ls"', "ValueError", "'--'"),
    ("2", "TypeError", "such as 'h100:2': 2"),
    ('["h100:2"]', "TypeError", "such as 'h100:2': ['h100:2']"),
    ('"h100:2", 3', "TypeError", "such as '--load=train:0': 3")])
def test_what_is_wrong_is_told_and_can_be_mended(arguments, error, told):
    """The next attempt of the same program works."""
    out = run("""
import gpukit.fake
try:
    gpukit.fake.use(%s)
except Exception as error:
    print(type(error).__name__, error)
print(gpukit.fake.use("t4:3") and gpukit.Device.count())
""" % arguments).splitlines()
    assert out[0].startswith(error) and told in out[0] and out[-1] == "3"


@pytest.mark.parametrize("path, told", [
    ("/nowhere/gpukit", "FileNotFoundError GPUKIT_COMMAND is not a program: "
     "'/nowhere/gpukit'"), ("/bin/true", "RuntimeError /bin/true started no "
                            "machine")])
def test_a_wrong_command_is_told(path, told):
    out = run("""
import gpukit.fake
try:
    gpukit.fake.use("h100:1")
except Exception as error:
    print(type(error).__name__, error)
""", GPUKIT_COMMAND=path)
    assert out.strip() == told


def test_who_has_seen_no_driver_sees_the_machine_afterwards():
    out = run("""
import gpukit
try:
    gpukit.Device.count()
except gpukit.NVMLError as error:
    print(error.name)
gpukit.fake.use("h100:2")
print(gpukit.Device.count(), len(gpukit.take_snapshots().devices))
""")
    assert out.split() == ["NVML_ERROR_LIBRARY_NOT_FOUND", "2", "2"]


NOTEBOOK = """
import gpukit.fake
machine = gpukit.fake.use("h100:2", "--load=idle:1,mem=2GiB")
import os
import gpukit
import pynvml
from cuda.bindings import driver
import numpy as np
from numba import cuda

pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex(1)
print(pynvml.nvmlDeviceGetCount(), pynvml.nvmlDeviceGetMemoryInfo(
    handle, pynvml.nvmlMemory_v2).used >> 20, gpukit.Device(1).memory_used() >> 20)
driver.cuInit(0)
print(int(driver.cuDeviceGetCount()[1]), len(cuda.gpus))

@cuda.jit
def add(row, number):
    at = cuda.grid(1)
    if at < row.size:
        row[at] += number

row = np.arange(1000, dtype=np.float32)
with gpukit.timings() as t:
    there = cuda.to_device(row)
    add[4, 256](there, 3)
    same = (there.copy_to_host() == row + 3).all()
    mine = gpukit.Device(0).processes()[os.getpid()]
print(bool(same), mine.type, mine.gpu_memory() > 100 << 20)
told = [process.pid for process in
        pynvml.nvmlDeviceGetComputeRunningProcesses(
            pynvml.nvmlDeviceGetHandleByIndex(0))]
print(told == [os.getpid()], any("Processes" in r.name for r in t.rows))
"""


def test_a_notebook_has_all_of_cuda_in_one_process(tmp_path):
    """gpukit, nvidia-ml-py, cuda-bindings and numba-cuda share one process; the
    runtime of cuda-bindings is NVIDIA's own, which no fake driver serves."""
    for module in ("pynvml", "cuda.bindings", "numba_cuda"):
        needed(module, "this test")
    if not os.path.exists(cuda_programs.TOOLKIT):
        pytest.skip("no toolkit of CUDA")
    for major in 12, 13:  # it would make machine code; see docs/FAKE.md
        (tmp_path / f"libnvJitLink.so.{major}").write_bytes(b"")
    out = run(NOTEBOOK, CUDA_HOME=cuda_programs.TOOLKIT,
              LD_LIBRARY_PATH=str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path),
              NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS="0")
    assert out.splitlines() == ["2 2048 2048", "2 2", "True C True",
                                "True True"]
