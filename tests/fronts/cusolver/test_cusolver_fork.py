# SPDX-License-Identifier: Apache-2.0
"""A program may fork while cuSOLVER computes."""

import subprocess
import sys

from conftest import clean_env

FORKING = """
import ctypes, os
cuda, lib = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcusolver.so.12")
handle, ref, n = ctypes.c_void_p(), ctypes.byref, 300
at = [ctypes.c_uint64() for _ in range(4)]
assert lib.cusolverDnCreate(ref(handle)) == 0
for one, size in zip(at, (4 * n * n, 4 * n * n, 4 * n, 4)):
    assert cuda.cuMemAlloc_v2(ref(one), ctypes.c_size_t(size)) == 0
assert cuda.cuMemsetD32_v2(at[0], 0x3f800000, ctypes.c_size_t(n * n)) == 0
for _ in range(20):
    for _ in range(4):
        assert lib.cusolverDnSgetrf(handle, n, n, at[0], n, at[1], at[2],
                                    at[3]) == 0
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
assert cuda.cuCtxSynchronize() == 0
"""


def test_a_fork_waits_for_the_factors_that_are_made(machine):
    done = subprocess.run([sys.executable, "-c", FORKING], text=True,
                          capture_output=True, env=clean_env(**machine().env),
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
