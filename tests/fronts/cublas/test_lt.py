# SPDX-License-Identifier: Apache-2.0
"""cuBLASLt computes correctly: the cases of lt_*_cases.py run on fake machines,
one process for each GPU and library."""

import functools
import json
import os
import subprocess
import sys

import pytest

from conftest import GPUKIT, clean_env

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import lt_cases  # noqa: E402 pylint: disable=wrong-import-position

lt_cases.load()
ALL = [(gpu, 13, name) for gpu, name in lt_cases.CASES]
ALL += [(gpu, 12, name) for gpu, name in lt_cases.FEW]


@functools.cache
def told(gpu, major):
    """{case: its error}"""
    done = subprocess.run(
        [GPUKIT, "fake", "--gpus", gpu, "--", sys.executable,
         os.path.join(HERE, "lt_cases.py"), gpu, str(major)],
        env=clean_env(OPENBLAS_NUM_THREADS="1"), capture_output=True,
        text=True, timeout=600, check=False)
    if done.returncode:  # not an exception, which would not be cached
        return {"": f"{done.returncode} {done.stderr}"}
    return json.loads(done.stdout)


@pytest.mark.parametrize("gpu,major,name", ALL)
def test_case(gpu, major, name):
    found = told(gpu, major)
    assert name in found, found.get("")
    assert not found[name], found[name]


LOGGING = """
import ctypes, sys
lt = ctypes.CDLL("libcublasLt.so.13")
end = lambda: lt.cublasLtMatmulDescSetAttribute(None, 99, b"1", 1)
end()
lt.cublasLtLoggerSetLevel(0)
end()
lt.cublasLtLoggerSetLevel(5)
lt.cublasLtLoggerForceDisable()
lt.cublasLtLoggerSetLevel(5)
end()
"""
LINE = ("[cublasLt][1][cublasLtMatmulDescSetAttribute] "
        "CUBLAS_STATUS_INVALID_VALUE\n")


def logged(**env):
    done = subprocess.run(
        [GPUKIT, "fake", "--", sys.executable, "-c", LOGGING],
        env=clean_env(**env), capture_output=True, text=True, timeout=60,
        check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_log_may_be_ended_for_ever(tmp_path):
    assert logged() == ""
    assert logged(CUBLASLT_LOG_LEVEL="1") == LINE
    assert logged(CUBLASLT_LOG_LEVEL="5", CUBLASLT_LOG_MASK="2") == ""
    assert logged(CUBLASLT_LOG_MASK="1",
                  CUBLASLT_LOG_FILE=str(tmp_path / "log-%i")) == ""
    (file,) = tmp_path.iterdir()
    assert file.read_text(encoding="ascii") == LINE


CAPACITY = """
import ctypes
value = ctypes.c_size_t()
lt = ctypes.CDLL("libcublasLt.so.13")
assert lt.cublasLtHeuristicsCacheGetCapacity(ctypes.byref(value)) == 0
assert value.value == 77
"""


def test_the_environment_tells_the_capacity_of_the_cache():
    subprocess.run(
        [GPUKIT, "fake", "--", sys.executable, "-c", CAPACITY],
        env=clean_env(CUBLASLT_HEURISTICS_CACHE_CAPACITY="77"), timeout=60,
        check=True)


WITHOUT = """
import lt_client, lt_product
lt = lt_client.Lt()
product = lt_product.Product(lt, lt_product.TYPES["float"], 4, 4, 4)
assert product.run(1, 0) == lt_client.NOT_INITIALIZED
assert not product.d.values().any()
"""


def test_without_openblas_nothing_is_computed_and_the_log_says_why(tmp_path):
    (tmp_path / "libopenblas.so.0").touch()
    done = subprocess.run(
        [GPUKIT, "fake", "--", sys.executable, "-c", WITHOUT],
        env=clean_env(LD_LIBRARY_PATH=str(tmp_path), PYTHONPATH=HERE,
                      GPUKIT_LOG="error"), capture_output=True, text=True,
        timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "cuBLAS needs OpenBLAS" in done.stderr
    assert "libcublas needs libopenblas.so.0, which is not installed" in (
        done.stderr)


STRAY = """
import ctypes
import lt_client, lt_product
lt = lt_client.Lt()
product = lt_product.Product(lt, lt_product.TYPES["float"], {})
assert product.run(1, 0) == lt_client.SUCCESS
{}
assert product.run(1, 0) == lt_client.SUCCESS
assert lt.driver.library.cuCtxSynchronize() == 700
"""


@pytest.mark.parametrize("shape,wrong", [
    ("1 << 10, 1 << 10, 1 << 10", "product.a.at += 16"),
    ("1 << 10, 1 << 10, 1 << 10", "product.b.at -= 4"),
    ("1 << 10, 1 << 10, 1 << 10", "product.d.at += 4"),
    # In bytes 2^64 and a little more, or 0.
    ("8, 5, 8", "product.d.layout.set(ld=1 << 60)"),
    ("8, 5, 8", "product.c.at = 0; product.desc.set(epilogue=130, "
     "aux=product.d.at, aux_ld=1 << 62)"),
    ("4, 4, 4", "product.desc.set(epilogue=4, bias=16)"),
    ("4, 4, 4", "product.desc.set(epilogue=130, aux=16, aux_ld=128)"),
    ("4, 4, 4", "product.desc.set(epilogue=512, bias=16)")])
def test_a_byte_beyond_a_matrix_is_an_illegal_address(shape, wrong):
    done = subprocess.run(
        [GPUKIT, "fake", "--", sys.executable, "-c",
         STRAY.format(shape, wrong)], env=clean_env(PYTHONPATH=HERE),
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


HUGE = """
import lt_client, lt_transform_cases
lt = lt_client.Lt()
a = lt_client.Matrix(lt, 0, lt_client.np.zeros((1, 4, 4)))
a.layout.set(rows={0}, cols={1}, ld={2}, order={3})
found = lt_transform_cases.transform(lt, 1, a, 0, None, a)
assert (found, lt.driver.library.cuCtxSynchronize()) == {4}, found
"""


@pytest.mark.parametrize("rows,cols,ld,order,found", [
    (1 << 32, 1 << 32, 1 << 32, 0, (0, 700)),
    (1 << 32, 1 << 32, 1 << 32, 1, (0, 700)),
    (1 << 59, 1, 0, 2, (7, 0))])
def test_a_matrix_beyond_all_addresses_is_an_illegal_one(rows, cols, ld, order,
                                                         found):
    done = subprocess.run(
        [GPUKIT, "fake", "--", sys.executable, "-c",
         HUGE.format(rows, cols, ld, order, found)],
        env=clean_env(PYTHONPATH=HERE), capture_output=True, text=True,
        timeout=60, check=False)
    assert done.returncode == 0, done.stderr
