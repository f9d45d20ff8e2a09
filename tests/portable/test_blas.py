# SPDX-License-Identifier: Apache-2.0
"""The BLAS and LAPACK inside the portable build compute what numpy's loops do,
with the kernels of each kind of processor, where no OpenBLAS is installed."""

import ctypes
import os
import platform
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT, clean_env, needed

BUILT = os.path.join(BUILD, "portable", platform.machine())
BLAS = os.path.join(BUILT, "lib", "gpukit", "fake", "libgpukit-blas.so")
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(ROOT, "tests", "fronts", "cublas", "programs")

# BLIS' numbers of its kinds of kernels, and what each needs of the processor.
KERNELS = {"AVX-512": (0, "avx512vl"), "AVX2": (3, "avx2"), "any": (32, "")}

pytestmark = pytest.mark.skipif(not os.path.exists(BLAS),
                                reason="./run portable was not run")


def exported():
    told = subprocess.run(["nm", "-D", "--defined-only", BLAS], check=True,
                          capture_output=True, text=True).stdout
    return {line.split()[2].removesuffix("_") for line in told.splitlines()}


def has(feature):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return feature in file.read()


def values(**env):
    done = subprocess.run([sys.executable, os.path.join(HERE, "blas_values.py"),
                           BLAS], text=True, capture_output=True, check=False,
                          env=clean_env(**env))
    assert done.returncode == 0, done.stderr[-2000:]
    return set(done.stdout.split())


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_functions_compute_what_loops_do(kernel):
    needed("numpy", "the test of the BLAS inside")
    number, feature = KERNELS[kernel]
    if platform.machine() != "x86_64" or not has(feature):
        pytest.skip(f"this processor has no {feature}")
    assert values(BLIS_ARCH_TYPE=str(number)) == exported()


@pytest.mark.parametrize("threads", ["1", "5"])
def test_any_number_of_threads_computes_the_same(threads):
    needed("numpy", "the test of the BLAS inside")
    assert values(OPENBLAS_NUM_THREADS=threads) == exported()


@pytest.fixture(name="hidden")
def no_openblas(tmp_path):
    (tmp_path / "libopenblas.so.0").touch()
    return {"LD_LIBRARY_PATH": str(tmp_path)}


def fake(*args, env=None, **more):
    return subprocess.run(
        [os.path.join(BUILT, "bin", "gpukit"), "fake", *args], text=True,
        capture_output=True, check=False, env=clean_env(**(env or {})), **more)


OPENED = """
import ctypes, re
lib, at = ctypes.CDLL("libcublas.so.13"), ctypes.c_void_p()
assert lib.cublasCreate_v2(ctypes.byref(at)) == 0
print(*set(re.findall("lib(?:open|gpukit-)blas", open("/proc/self/maps").read())))
"""


def opened(env=None):
    done = fake("-q", "--", sys.executable, "-c", OPENED, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_installed_openblas_goes_first(hidden):
    assert opened(hidden) == "libgpukit-blas\n"
    try:
        ctypes.CDLL("libopenblas.so.0")
    except OSError:
        pytest.skip("no OpenBLAS is installed")
    assert opened() == "libopenblas\n"


@pytest.mark.parametrize("program", ["gemm", "level2", "level3", "batched"])
def test_cublas_computes_with_it(hidden, program):
    """These programs compare cuBLAS with plain loops, too."""
    needed("numpy", "the test of the BLAS inside")
    done = fake("-q", "--gpus", "h100-sxm5-80gb", "--", sys.executable,
                os.path.join(PROGRAMS, program + ".py"), "13", env=hidden,
                input="")
    assert done.returncode == 0, done.stderr[-4000:]
    assert len(done.stdout.split()) > 10


def test_the_doctor_says_that_it_is_inside(hidden):
    told = fake("doctor", "--libraries", env=hidden).stdout
    assert "runs     yes, by libgpukit-blas.so, which is inside\n" in told
