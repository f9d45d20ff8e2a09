# SPDX-License-Identifier: Apache-2.0
"""`gpukit limit` on a real GPU with NVIDIA's driver: well-known programs run
with a limit and without, and with the driver's own limits by MPS. Skipped
without such a GPU."""

import glob
import os
import subprocess

import pytest

from conftest import BUILD, GPUKIT
from test_programs import real_env  # noqa: F401  # pylint: disable=unused-import

PROGRAMS = sorted(glob.glob(os.path.join(BUILD, "tests", "limit", "test_*")))
LIMIT = "4GiB"


def run(env, *words):
    return subprocess.run(words, env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=300)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=os.path.basename)
def test_known_program(real_env, program, limited):  # noqa: F811
    words = ([GPUKIT, "limit", "--memory", LIMIT, "--", program, LIMIT]
             if limited else [program])
    done = run(real_env, *words)
    assert done.returncode == 0, (done.stdout, done.stderr)


ASK = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context, at = ctypes.c_void_p(), ctypes.c_ulonglong()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
for gib in (1, 4):
    print(cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(gib << 30)))
"""


def test_mps_limits_memory(real_env):  # noqa: F811
    """With a daemon it limits; without one it says what is missing."""
    done = run(real_env, GPUKIT, "limit", "--backend", "mps", "--memory",
               "0=" + LIMIT, "--compute", "50", "--", "python3", "-c", ASK)
    if "no daemon listens" in done.stderr:
        assert done.returncode == 1
        pytest.skip(done.stderr)
    assert done.stdout.split() == ["0", "2"], done.stderr
