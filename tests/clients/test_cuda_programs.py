# SPDX-License-Identifier: Apache-2.0
"""CUDA programs as a user builds them, which check their own results, run on
the fake machine. tests/gpu runs the same programs on a real GPU."""

import os
import signal
import subprocess

import pytest

import cuda_programs
from conftest import GPUKIT, clean_env


def on_machine(program, *options, env=None):
    return subprocess.run([GPUKIT, "fake", *options, "--", program],
                          capture_output=True, text=True, check=False,
                          timeout=120, env=clean_env(**(env or {})))


@pytest.mark.parametrize("way,name", cuda_programs.PROGRAMS)
def test_program(way, name):
    done = on_machine(cuda_programs.BUILDERS[way](name))
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert done.stderr == ""


@pytest.mark.parametrize("how,status", [
    ("none", 0), ("read", 0), ("gone", 0), ("host", -signal.SIGSEGV)])
def test_mapped_memory_used_as_nobody_may(how, status, machine):
    done = subprocess.run([cuda_programs.driver("vmm_driver"), how],
                          capture_output=True, text=True, check=False,
                          timeout=120, env=clean_env(**machine().env))
    assert (done.returncode, done.stderr) == (status, "")


@pytest.mark.parametrize("name", ["vector_add", "streams", "errors"])
def test_program_without_the_launcher(name, machine):
    done = subprocess.run([cuda_programs.shared(name)], capture_output=True,
                          text=True, check=False, timeout=120,
                          env=clean_env(**machine().env))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("gpus", ["t4", "h100-sxm5-80gb:2", "b200:1"])
@pytest.mark.parametrize("name", ["vector_add", "versions", "occupancy",
                                  "out_of_memory"])
def test_program_on_other_gpus(name, gpus):
    done = on_machine(cuda_programs.shared(name), "--gpus", gpus)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("driver", ["535", "570"])
def test_a_driver_that_is_too_old_for_the_runtime(driver):
    done = on_machine(cuda_programs.shared("vector_add"), "--driver", driver)
    assert done.returncode == 1
    assert "cudaErrorInsufficientDriver" in done.stderr


@pytest.mark.parametrize("driver", ["535", "570", "610"])
def test_a_program_of_the_driver_on_drivers_old_and_new(driver):
    program = cuda_programs.driver("memory_driver")
    done = on_machine(program, "--driver", driver)
    assert (done.returncode, done.stderr) == (0, "")


def test_machine_code_alone_is_refused_as_by_a_gpu_it_is_not_for(tmp_path):
    program = str(tmp_path / "program")
    cuda_programs.run(
        cuda_programs.NVCC, "-cudart", "shared", "-gencode",
        "arch=compute_86,code=sm_86",
        os.path.join(cuda_programs.SOURCES, "vector_add.cu"), "-o", program,
        env=cuda_programs.environment())
    done = on_machine(program)
    assert done.returncode == 1
    assert "cudaErrorNoKernelImageForDevice" in done.stderr


def test_the_kept_kernels_are_what_nvcc_makes(tmp_path):
    made = tmp_path / "kernels.ptx"
    cuda_programs.run(cuda_programs.NVCC, "-ptx", *cuda_programs.ARCH,
                      os.path.join(cuda_programs.SOURCES, "kernels.cu"), "-o",
                      str(made))

    def text(path):
        with open(path, encoding="utf-8") as file:
            return [line.rstrip() for line in file
                    if line.strip() and not line.startswith("//")]

    assert text(made) == text(cuda_programs.KERNELS)


CMAKE = """
cmake_minimum_required(VERSION 3.22)
project(programs LANGUAGES CUDA)
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
foreach(name {names})
	add_executable(${{name}} {sources}/${{name}}.cu)
endforeach()
"""


def test_a_project_of_cmake_with_the_shared_runtime(tmp_path):
    names = ["vector_add", "symbols"]
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(
        names=" ".join(names), sources=cuda_programs.SOURCES))
    for step in (["-S", ".", "-B", "out", "-G", "Ninja",
                  f"-DCMAKE_CUDA_COMPILER={cuda_programs.NVCC}",
                  "-DCMAKE_CUDA_ARCHITECTURES=75-virtual"],
                 ["--build", "out"]):
        cuda_programs.run("cmake", *step, cwd=tmp_path,
                          env=cuda_programs.environment())
    for name in names:
        program = str(tmp_path / "out" / name)
        needed = cuda_programs.run("readelf", "-d", program)
        assert "libcudart.so.13" in needed
        done = on_machine(program)
        assert (done.returncode, done.stderr) == (0, "")
