# SPDX-License-Identifier: Apache-2.0
"""The snippets of docs/FAKE.md and docs/HOWTO_TEST_CUDA.md do what they say."""

import os
import re
import shutil
import subprocess

import pytest

import cuda_programs
from conftest import BUILD, FAKE_DIR, ROOT, clean_env

BIN = os.path.join(BUILD, "bin")


def snippet(language, page="FAKE.md"):
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as file:
        (found,) = re.findall(rf"^```{language}\n(.*?)^```$", file.read(),
                              re.M | re.S)
    return found


@pytest.fixture
def project(tmp_path):
    """A directory with example.cu, and a function that runs shell lines in it.
    """
    with open(os.path.join(cuda_programs.SOURCES, "vector_add.cu"),
              encoding="utf-8") as source:
        (tmp_path / "example.cu").write_text(source.read())
    for header in cuda_programs.headers():
        shutil.copy(header, tmp_path)
    path = f"{BIN}:{cuda_programs.TOOLKIT}/bin:{os.environ['PATH']}"

    def shell(script, **env):
        done = subprocess.run(["sh", "-ec", script], cwd=tmp_path, text=True,
                              capture_output=True, check=False, timeout=200,
                              env=clean_env(PATH=path, **env))
        assert done.returncode == 0, (script, done.stdout, done.stderr)
        return done.stdout

    return tmp_path, shell


def test_the_project_of_cmake(project):
    directory, shell = project
    (directory / "CMakeLists.txt").write_text(snippet("cmake"))
    shell("cmake -S . -B out -G Ninja && cmake --build out")
    assert "0 tests failed out of 1" in shell("ctest --test-dir out")


def test_the_job_of_ci(project):
    """Runs the steps that build and test, with this tree in place of the
    installed files."""
    _, shell = project
    job = snippet("yaml", "HOWTO_TEST_CUDA.md").replace(
        "/usr/local/lib/gpukit/fake", FAKE_DIR)
    steps = dict(re.findall(
        r"- name: (\w+)\n        run: (?:\|\n)?(.*?)(?=\n        env|\n      -|\Z)",
        job, re.S))
    flags = re.search(r"NVCC_APPEND_FLAGS: (.*)", job).group(1)
    # nvcc from PyPI does not find this library, as ours does here.
    links = shell(f"{steps['Build']} --dryrun 2>&1", NVCC_APPEND_FLAGS=flags)
    assert "-lcudart" in links and "-lcudadevrt" not in links
    shell(steps["Build"], NVCC_APPEND_FLAGS=flags)
    assert "runs     yes" in shell(steps["Test"])


HOST_PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(host LANGUAGES CXX)
find_package(CUDAToolkit REQUIRED)
foreach(kind cudart cudart_static)
	add_executable(of_${kind} host.cpp)
	target_link_libraries(of_${kind} CUDA::${kind})
endforeach()
"""

HOST = """
#include <cuda_runtime.h>
int main()
{
	void *at;
	return cudaMalloc(&at, 100) || cudaFree(at);
}
"""


def test_programs_that_nvcc_does_not_link(project):
    directory, shell = project
    (directory / "CMakeLists.txt").write_text(HOST_PROJECT)
    (directory / "host.cpp").write_text(HOST)
    with open(os.path.join(ROOT, "docs", "FAKE.md"), encoding="utf-8") as file:
        (flag,) = re.findall(r"-DCUDA_cudart_static_LIBRARY=\S+", file.read())
    flag = flag.replace("/usr/local/lib/gpukit/fake", FAKE_DIR)
    shell(f"cmake -S . -B out -G Ninja {flag} && cmake --build out")
    told = shell("gpukit fake doctor out/of_cudart out/of_cudart_static")
    assert "gpukit's of CUDA 13, inside" in told
    for kind in ("cudart", "cudart_static"):
        shell(f"gpukit fake -- out/of_{kind}")


MAIN = """
#include <cstdio>
int main()
{
	cudaEvent_t begin, end;
	float ms = -1;
	cudaEventCreate(&begin);
	cudaEventCreate(&end);
	cudaEventRecord(begin);
	busy<<<1, 1>>>(100000);
	cudaEventRecord(end);
	cudaEventSynchronize(end);
	cudaEventElapsedTime(&ms, begin, end);
	printf("%g", ms);
}
"""


def test_the_kernel_of_a_known_time(project):
    directory, shell = project
    (directory / "busy.cu").write_text(snippet("cuda") + MAIN)
    shell("nvcc -arch=compute_75 -cudart shared busy.cu -o busy")
    assert 100 <= float(shell("gpukit fake -- ./busy")) < 5000
