# SPDX-License-Identifier: Apache-2.0
"""A destroyed handle is invalid: the libraries say so, and destroying it twice
destroys no other one."""

import json
import subprocess
import sys

import pytest

from conftest import GPUKIT, clean_env

# library: (what makes one, what destroys one, what uses one, the errors of
# both)
KINDS = {
    "libcublas.so.13": ("cublasCreate_v2", "cublasDestroy_v2",
                        "cublasGetStream_v2", 1, 1),
    "libcublas.so.12": ("cublasXtCreate", "cublasXtDestroy",
                        "cublasXtGetBlockDim", 1, 1),
    "libcublasLt.so.13": ("cublasLtCreate", "cublasLtDestroy",
                          "cublasLtMatmul", 7, 1),
    "libcusparse.so.12": ("cusparseCreate", "cusparseDestroy",
                          "cusparseGetStream", 1, 1),
    "libcusolver.so.12": ("cusolverDnCreate", "cusolverDnDestroy",
                          "cusolverDnGetStream", 1, 1),
}

CLIENT = """
import ctypes as c, json, sys
name, make, end, ask = sys.argv[1:]
library = c.CDLL(name)
make, end, ask = (getattr(library, f) for f in (make, end, ask))
first, second, out = c.c_void_p(), c.c_void_p(), (c.c_uint64 * 2)()
more = [None] * 15 if "Lt" in name else [out]
said = [make(c.byref(first)), end(first), ask(first, *more), end(first),
        make(c.byref(first)), make(c.byref(second)), end(first),
        ask(first, *more), end(second)]
print(json.dumps([said, first.value != second.value]))
"""


@pytest.mark.parametrize("library", KINDS)
def test_a_handle_that_ended_is_none(library):
    *functions, wrong_end, wrong = KINDS[library]
    done = subprocess.run(
        [GPUKIT, "fake", "--", sys.executable, "-c", CLIENT, library,
         *functions],
        env=clean_env(OPENBLAS_NUM_THREADS="1"), capture_output=True,
        text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    said, differ = json.loads(done.stdout)
    assert said == [0, 0, wrong, wrong_end, 0, 0, 0, wrong, 0]
    assert differ
