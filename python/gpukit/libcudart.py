"""The CUDA runtime, as far as it tells of versions and devices, where there is a
libcudart. For all of it there is cuda-python.

Every function raises cudaError, of the class of its code.
"""

import ctypes

from gpukit._cuda_errors import (
    RUNTIME, _CodeError, Library, class_of, make_errors, version_text)


class cudaError(_CodeError):
    """The runtime refused: `value` is its code, a cudaError...."""


cudaSuccess = 0
make_errors(cudaError, RUNTIME, "cudaError", globals())
_runtime = Library(("libcudart.so", "libcudart.so.13", "libcudart.so.12",
                    "libcudart.so.11.0", "libcudart.so.10.2"), cudaError, 500)


def cudaExceptionClass(cudaErrorCode):
    """The class of a code. ValueError for a code without one."""
    return class_of(cudaError, cudaErrorCode)


def _text(function, error):
    found = _runtime.find(function)
    found.restype = ctypes.c_char_p
    return found(error).decode()


def cudaGetErrorName(error):
    """The name of a code as text; of another number a text that says so."""
    return _text("cudaGetErrorName", error)


def cudaGetErrorString(error):
    """What a code means, as text; of another number a text that says so."""
    return _text("cudaGetErrorString", error)


cuGetErrorString = cudaGetErrorString  # nvitop's name of it


def cudaGetLastError():
    """The code of this thread's last error, which is forgotten by this."""
    return _runtime.find("cudaGetLastError")()


def cudaPeekAtLastError():
    """The code of this thread's last error, which stays."""
    return _runtime.find("cudaPeekAtLastError")()


def cudaDriverGetVersion():
    """The highest CUDA version that the driver can, such as 13.0. cudaError."""
    return version_text(_runtime.ask(ctypes.c_int, "cudaDriverGetVersion"))


def cudaRuntimeGetVersion():
    """The version of the runtime, such as 13.0. cudaError."""
    return version_text(_runtime.ask(ctypes.c_int, "cudaRuntimeGetVersion"))


def cudaGetDeviceCount():
    """How many devices CUDA sees. cudaError."""
    return _runtime.ask(ctypes.c_int, "cudaGetDeviceCount")


def cudaDeviceGetByPCIBusId(pciBusId):
    """The ordinal at a place on the PCI bus. cudaError if there is none."""
    return _runtime.ask(ctypes.c_int, "cudaDeviceGetByPCIBusId",
                        pciBusId.encode())


def cudaDeviceGetPCIBusId(device):
    """The place of a device on the PCI bus, as text. cudaError."""
    return _runtime.read("cudaDeviceGetPCIBusId", 64, device)


def is_available():
    """Whether CUDA sees a device."""
    try:
        return cudaGetDeviceCount() > 0
    except cudaError:
        return False
