# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/cuda run on a real GPU with NVIDIA's driver and
runtime, which the fake machine must match. Skipped without such a GPU."""

import os
import subprocess
import sys

import pytest

import cuda_programs
from conftest import clean_env

ASK = """
import ctypes
assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
"""


@pytest.fixture(scope="module")
def real_env():
    env = clean_env(
        LD_LIBRARY_PATH=os.path.join(cuda_programs.TOOLKIT, "lib"))
    if subprocess.run([sys.executable, "-c", ASK], env=env, check=False,
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no NVIDIA driver here")
    return env


@pytest.mark.parametrize("way,name", [
    program for program in cuda_programs.PROGRAMS if program[0] != "static"])
def test_program(real_env, way, name):
    done = subprocess.run([cuda_programs.BUILDERS[way](name)], env=real_env,
                          capture_output=True, text=True, check=False,
                          timeout=300)
    if done.returncode == cuda_programs.SKIPPED:
        pytest.skip(done.stderr)
    assert done.returncode == 0, (done.stdout, done.stderr)
