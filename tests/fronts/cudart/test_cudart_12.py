# SPDX-License-Identifier: Apache-2.0
"""The CUDA programs run with the runtime of CUDA 12, shared and static: nvcc 12
and 13 emit the same calls, and the functions that these programs use are the
same in both runtimes."""

import os
import subprocess

import pytest

import cuda_programs
from conftest import GPUKIT, clean_env

# They use a struct that differs there, or require CUDA 13. That of conditions
# must be linked by nvcc; 12.8 has no log of errors.
OTHER = {"conditions", "logs", "managed_moves", "occupancy",
         "occupancy_rules", "versions"}
NAMES = [name for name in cuda_programs.RUNTIME if name not in OTHER]
WHERE = cuda_programs.runtime_directory(12)


LINKED = {"shared": ["-L" + WHERE, "-lcudart"],
          "inside": [os.path.join(WHERE, "libcudart_static.a")]}


# Each of these tests something of which the archive has its own copy.
INSIDE = ["errors", "fork", "managed", "symbols", "threads", "vector_add"]


@pytest.mark.parametrize("how, name", [
    *(("shared", name) for name in NAMES),
    *(("inside", name) for name in INSIDE)])
def test_program(tmp_path, how, name):
    program = tmp_path / name
    cuda_programs.run("c++", cuda_programs.compiled(name), *LINKED[how],
                      "-lpthread", "-o", str(program))
    needed = cuda_programs.run("readelf", "-d", str(program))
    assert ("[libcudart.so.12]" in needed) == (how == "shared")
    assert "libcudart.so.13" not in needed
    done = subprocess.run([GPUKIT, "fake", "--", str(program)], check=False,
                          capture_output=True, text=True, timeout=120,
                          env=clean_env())
    assert (done.returncode, done.stderr) == (0, "")
