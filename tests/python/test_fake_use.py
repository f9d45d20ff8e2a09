"""gpukit.fake.use(): a program that runs already moves to a made-up machine."""

import os
import time

from conftest import GPUKIT
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


def test_a_wrong_machine_is_told():
    out = run("""
import gpukit.fake
try:
    gpukit.fake.use("nonsense:2")
except RuntimeError as e:
    print(e)
""")
    assert "nonsense" in out
