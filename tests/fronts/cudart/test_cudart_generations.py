# SPDX-License-Identifier: Apache-2.0
"""Runtimes run on drivers of every generation: an older major is refused, an
older minor works; and all report the same version of CUDA."""

import os
import subprocess
import sys

import pytest

from conftest import FAKE_DIR, GPUKIT, clean_env
from generations import GENERATIONS

ASK = """
import ctypes, sys
runtime = ctypes.CDLL(f"libcudart.so.{sys.argv[1]}")
driver, nvml = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libnvidia-ml.so.1")
def number(function):
    n = ctypes.c_int(-1)
    return function(ctypes.byref(n)), n.value
assert nvml.nvmlInit_v2() == 0
print(number(runtime.cudaGetDeviceCount), number(runtime.cudaRuntimeGetVersion),
      number(runtime.cudaDriverGetVersion), number(driver.cuDriverGetVersion),
      number(nvml.nvmlSystemGetCudaDriverVersion), sep="; ")
"""
INSUFFICIENT_DRIVER = 35


@pytest.mark.parametrize("major, version", [(12, 12090), (13, 13000)])
@pytest.mark.parametrize("generation", GENERATIONS, ids=lambda g: g.name)
def test_a_driver_is_new_enough_or_refused(generation, major, version):
    done = subprocess.run(
        [GPUKIT, "fake", "--gpus", "t4:3", "--driver", generation.driver,
         "--", sys.executable, "-c", ASK, str(major)],
        capture_output=True, text=True, timeout=60, check=False,
        env=clean_env())
    assert done.returncode == 0, done.stderr
    count, runtime, told, driver, nvml = (
        eval(part) for part in done.stdout.split(";"))  # pairs of numbers
    assert runtime == (0, version)
    assert told == driver == nvml
    assert count == ((0, 3) if told[1] >= major * 1000
                     else (INSUFFICIENT_DRIVER, -1))


ALONE = """
import ctypes
runtime, n = ctypes.CDLL(LIBRARY), ctypes.c_int(-1)
print(runtime.cudaGetDeviceCount(ctypes.byref(n)), n.value,
      runtime.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(1)),
      runtime.cudaDriverGetVersion(ctypes.byref(n)), n.value)
"""


@pytest.mark.parametrize("major", [12, 13])
def test_without_any_driver(tmp_path, major):
    library = os.path.join(FAKE_DIR, f"libcudart.so.{major}")
    (tmp_path / "alone").symlink_to(library)
    done = subprocess.run(
        [sys.executable, "-c",
         ALONE.replace("LIBRARY", repr(str(tmp_path / "alone")))],
        capture_output=True, text=True, timeout=60, check=False,
        env=clean_env())
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True,
                           text=True, check=False).stdout
    if "libcuda.so.1 " in known:
        pytest.skip("this machine has a driver")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(INSUFFICIENT_DRIVER), "-1",
                                   str(INSUFFICIENT_DRIVER), "0", "0"]
