# SPDX-License-Identifier: Apache-2.0
"""The made-up driver for kernels in Python. Does the same as src/driver.h, by
ctypes."""

import ctypes
import os
import re

import torch

_C = torch._C
_LIBRARY_TORCH = 8  # GPUKIT_TORCH of src/fronts/common/export_table.h
_UUID = b"gpukit runtime 4"
INVALID_CONTEXT, ASSERT, CAPTURED = 201, 710, 900

_SRC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "src")


class _Table(ctypes.Structure):
    """The struct gpukit_table in that header."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("refused", ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p)),
        ("attach", ctypes.c_void_p),
        ("view", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint64,
                                  ctypes.c_uint64)),
        ("work_begin", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                                        ctypes.c_char_p, ctypes.c_void_p)),
        ("work_end", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("work_fail", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)),
        ("capture_watch", ctypes.c_void_p),
    ]


_driver = None  # libcuda
_table = None
_failure = ""  # why one of our kernels failed; later errors repeat it


def find():
    """Whether this process uses gpukit's driver."""
    global _driver, _table
    at = ctypes.c_void_p()
    try:
        _driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    if _driver.cuGetExportTable(ctypes.byref(at), _UUID) or not at.value:
        return False
    _table = _Table.from_address(at.value)
    return _table.size >= ctypes.sizeof(_Table)


def facts(name):
    """The rows of a table that the C++ part also includes. Each row is a
    string or a tuple of strings."""
    with open(os.path.join(_SRC, name + ".inc"), encoding="utf-8") as file:
        rows = [re.findall('"([^"]*)"', line) for line in file]
    return [row[0] if len(row) == 1 else tuple(row) for row in rows if row]


def count_refusal(name):
    """Counts a refused operator. At the end, `gpukit fake` prints its name."""
    _table.refused(_LIBRARY_TORCH, name.encode())


def refuse(name, why):
    """Raises the error for a refused operator, and counts it."""
    count_refusal(name)
    raise NotImplementedError(f"{name} is not executed on a made-up GPU: "
                              f"{why}")


def view(address, size):
    """The host address of `size` bytes of a device; 0 if size is 0."""
    if not size:
        return 0
    at = _table.view(address, size)
    if not at:
        raise RuntimeError(
            f"CUDA error: an illegal memory access was encountered: {size} "
            f"bytes at {address:#x} are not memory of a made-up GPU")
    return at


def raise_cuda(result, more):
    """Raises the exception that this version of PyTorch has for a CUresult."""
    text = ctypes.c_char_p()
    _driver.cuGetErrorString(result, ctypes.byref(text))
    kind = getattr(torch, "AcceleratorError", RuntimeError)
    error = kind(f"CUDA error: {(text.value or b'unknown error').decode()}\n"
                 f"{more}")
    error.error_code = result
    raise error


class Work:
    """The work of a kernel, done by the calling thread in the order of the
    device's current stream."""

    __slots__ = ("_stream", "_work", "_name")

    def __init__(self, index, name):
        self._stream = _C._cuda_getCurrentRawStream(index)
        self._work = ctypes.c_void_p()
        self._name = name

    def _begin(self):
        return _table.work_begin(self._stream, self._name.encode(),
                                 ctypes.byref(self._work))

    def __enter__(self):
        result = self._begin()
        # The thread has chosen a device but has no context yet.
        if result == INVALID_CONTEXT:
            torch.cuda.synchronize()
            result = self._begin()
        if result == CAPTURED:
            refuse(self._name, "only the C++ part captures graphs")
        if result:
            raise_cuda(result, self._name + _failure)
        return self

    def __exit__(self, *_):
        _table.work_end(ctypes.byref(self._work))

    def fail(self, what):
        """Ends the work like a failed assertion in a kernel: the context then
        fails, too."""
        global _failure
        _failure = _failure or "; before it failed " + what
        _table.work_fail(self._stream, ASSERT)
        raise_cuda(ASSERT, what)
