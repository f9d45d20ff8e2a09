# SPDX-License-Identifier: Apache-2.0
"""Every function of our runtimes and of NVIDIA's own is called without a
driver, or without a device: both return the same and keep the same error,
whether with NULL or not."""

import os
import subprocess
import sys

import pytest

import cuda_programs
from conftest import FAKE_DIR, clean_env

NVIDIA = {
    12: os.path.join(cuda_programs.TOOLKIT_12, "lib", "libcudart.so.12"),
    13: os.path.join(cuda_programs.TOOLKIT, "lib", "libcudart.so.13"),
}

# Calls that nvcc emits have their own tests; NVIDIA's tables are private to it;
# two return texts, at addresses of their own.
LEFT_OUT = {"cudaGetExportTable", "cudaGetErrorName", "cudaGetErrorString",
            "cudaCreateChannelDesc"}

# One child for each function: LIBRARY ARGUMENT SYMBOL...
ASK = """
import ctypes, os, sys
runtime = ctypes.CDLL(sys.argv[1])
room = ctypes.create_string_buffer(4096)
argument = {"null": None, "room": ctypes.cast(room, ctypes.c_void_p)}[sys.argv[2]]
for symbol in sys.argv[3:]:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        told = [getattr(runtime, symbol)(*[argument] * 12)]
        told += [runtime.cudaPeekAtLastError(), runtime.cudaGetLastError(),
                 runtime.cudaGetLastError()]
        print(symbol, *told, flush=True)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print(symbol, "status", status)
"""


def symbols(library):
    told = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    found = {line.split()[-1].split("@")[0] for line in told.splitlines()}
    return sorted(name for name in found if name.startswith("cuda")
                  and name not in LEFT_OUT)


def answers(library, argument, names, env):
    done = subprocess.run(
        [sys.executable, "-c", ASK, library, argument, *names],
        capture_output=True, text=True, check=True, timeout=120, env=env)
    return done.stdout.splitlines()


def compare(major, argument, env):
    names = symbols(NVIDIA[major])
    assert len(names) > 400
    theirs = answers(NVIDIA[major], argument, names, env)
    ours = answers(os.path.join(FAKE_DIR, f"libcudart.so.{major}"), argument,
                   names, env)
    assert len(ours) == len(theirs) == len(names)
    assert [pair for pair in zip(ours, theirs) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("argument", ["null", "room"])
@pytest.mark.parametrize("major", NVIDIA)
def test_without_a_driver(major, argument):
    if subprocess.run([sys.executable, "-c",
                       "import ctypes; ctypes.CDLL('libcuda.so.1')"],
                      env=clean_env(), check=False,
                      stderr=subprocess.DEVNULL).returncode == 0:
        pytest.skip("there is a driver here")
    compare(major, argument, clean_env())


@pytest.mark.parametrize("argument", ["null", "room"])
@pytest.mark.parametrize("major", NVIDIA)
def test_without_a_device(machine, major, argument):
    compare(major, argument,
            clean_env(**machine("--gpus", "none").env))
