# SPDX-License-Identifier: Apache-2.0
"""The version and device queries of the CUDA runtime, if a libcudart is
installed. For everything else use cuda-python.

Every function may raise cudaError, as the subclass for its code.
"""

import ctypes

from gpukit._cuda_errors import (
    RUNTIME, _CodeError, Library, class_of, make_errors, version_text)


class cudaError(_CodeError):
    """The runtime returned an error: `value` is its code, a cudaError...."""


cudaSuccess = 0
make_errors(cudaError, RUNTIME, "cudaError", globals())
_runtime = Library(("libcudart.so", "libcudart.so.13", "libcudart.so.12",
                    "libcudart.so.11.0", "libcudart.so.10.2"), cudaError, 500)


def cudaExceptionClass(cudaErrorCode):
    """Returns the class of a code. Raises ValueError for an unknown code."""
    return class_of(cudaError, cudaErrorCode)


def _text(function, error):
    found = _runtime.find(function)
    found.restype = ctypes.c_char_p
    return found(error).decode()


def cudaGetErrorName(error):
    """The name of a code as text. For an unknown code, a text that says so."""
    return _text("cudaGetErrorName", error)


def cudaGetErrorString(error):
    """The meaning of a code as text. For an unknown code, a text that says
    so."""
    return _text("cudaGetErrorString", error)


cuGetErrorString = cudaGetErrorString  # the name in nvitop


def cudaGetLastError():
    """Returns the code of this thread's last error, and clears it."""
    return _runtime.find("cudaGetLastError")()


def cudaPeekAtLastError():
    """Returns the code of this thread's last error, and keeps it."""
    return _runtime.find("cudaPeekAtLastError")()


def cudaDriverGetVersion():
    """The highest CUDA version that the driver supports, such as 13.0. Raises
    cudaError."""
    return version_text(_runtime.ask(ctypes.c_int, "cudaDriverGetVersion"))


def cudaRuntimeGetVersion():
    """The version of the runtime, such as 13.0. Raises cudaError."""
    return version_text(_runtime.ask(ctypes.c_int, "cudaRuntimeGetVersion"))


def cudaGetDeviceCount():
    """The number of devices that CUDA sees. Raises cudaError."""
    return _runtime.ask(ctypes.c_int, "cudaGetDeviceCount")


def cudaDeviceGetByPCIBusId(pciBusId):
    """The ordinal of the device at a PCI address. Raises cudaError if there is
    none."""
    return _runtime.ask(ctypes.c_int, "cudaDeviceGetByPCIBusId",
                        pciBusId.encode())


def cudaDeviceGetPCIBusId(device):
    """The PCI address of a device as text. Raises cudaError."""
    return _runtime.read("cudaDeviceGetPCIBusId", 64, device)


def is_available():
    """Whether CUDA sees any device."""
    try:
        return cudaGetDeviceCount() > 0
    except cudaError:
        return False
