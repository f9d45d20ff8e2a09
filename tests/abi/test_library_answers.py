# SPDX-License-Identifier: Apache-2.0
"""CUPTI, NVTX and cuSOLVER where they answer without help from others."""

import ctypes
import os
import subprocess
import sys

from conftest import clean_env
from libraries import LIBRARIES

CUSOLVER, _, CUPTI, NVTX = LIBRARIES[2:6]


def test_a_profiler_that_asks_first_does_not_start_the_driver(machine):
    """The program may still fork and use CUDA in the child."""
    script = ("import ctypes, sys\n"
              "driver = ctypes.CDLL('libcuda.so.1')\n"
              "library = ctypes.CDLL(sys.argv[1])\n"
              "assert library.cuptiSubscribe(None, None, None) == 27\n"
              "assert driver.cuCtxGetDevice(None) == 3\n")
    env = {"LD_LIBRARY_PATH": os.path.dirname(CUPTI.path), **machine().env}
    subprocess.run([sys.executable, "-c", script, CUPTI.path],
                   env=clean_env(**env), check=True, timeout=60)


def test_cusolver_without_openblas_says_what_it_needs(machine, tmp_path):
    """An empty file is found in place of OpenBLAS."""
    (tmp_path / "libopenblas.so.0").touch()
    script = ("import ctypes, sys\n"
              "library = ctypes.CDLL(sys.argv[1])\n"
              "handle = ctypes.c_void_p()\n"
              "create = library.cusolverDnCreate\n"
              "assert create(ctypes.byref(handle)) == 1\n"
              "assert handle.value is None\n")
    env = {**machine().env, "GPUKIT_LOG": "error",
           "LD_LIBRARY_PATH": f"{tmp_path}:{os.path.dirname(CUSOLVER.path)}"}
    done = subprocess.run([sys.executable, "-c", script, CUSOLVER.path],
                          env=clean_env(**env), capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "cuSOLVER needs OpenBLAS" in done.stderr
    assert "libopenblas.so.0, which is not installed" in done.stderr


def test_cupti_has_no_records():
    library = ctypes.CDLL(CUPTI.path)
    number, text = ctypes.c_uint64(7), ctypes.c_char_p()
    room = ctypes.create_string_buffer(64)
    assert library.cuptiGetVersion(ctypes.byref(number)) == 0
    assert number.value == 130001
    assert library.cuptiActivityFlushAll(1) == 0
    assert library.cuptiActivityFlush(None, 0, 0) == 0
    assert library.cuptiActivityGetNextRecord(room, 64,
                                              ctypes.byref(text)) == 12
    dropped = library.cuptiActivityGetNumDroppedRecords
    assert dropped(None, 0, ctypes.byref(number)) == 0 and number.value == 0
    number.value = 7
    assert library.cuptiSupportedDomains(ctypes.byref(number),
                                         ctypes.byref(text)) == 0
    assert (number.value, text.value) == (0, None)
    for args in ((0,), (9, 0)):
        support = ctypes.c_int(7)
        call = (library.cuptiDeviceSupported if len(args) == 1
                else library.cuptiComputeCapabilitySupported)
        assert call(*args, ctypes.byref(support)) == 0 and support.value == 0
        assert call(*args, None) == 1
    assert library.cuptiGetResultString(27, ctypes.byref(text)) == 0
    assert text.value == b"CUPTI_ERROR_NOT_SUPPORTED"
    assert library.cuptiGetErrorMessage(27, ctypes.byref(text)) == 0
    assert b"no profiling data" in text.value
    assert library.cuptiGetResultString(998, ctypes.byref(text)) == 1
    assert library.cuptiGetLastError() == library.cuptiFinalize() == 0
    assert library.InitializeInjectionNvtx2(None) == 0
    first, second = ctypes.c_uint64(), ctypes.c_uint64()
    assert library.cuptiGetTimestamp(ctypes.byref(first)) == 0
    assert library.cuptiGetTimestamp(ctypes.byref(second)) == 0
    assert 0 < first.value <= second.value


def test_nvtx_answers_as_where_no_tool_listens():
    library = ctypes.CDLL(NVTX.path)
    for name in NVTX.names():
        call = getattr(library, name)
        if "RangePush" in name or "RangePop" in name:
            assert call(b"range") == -2, name
        else:
            call.restype = ctypes.c_void_p
            assert call(b"mark") is None, name
