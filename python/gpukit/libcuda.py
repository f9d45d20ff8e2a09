# SPDX-License-Identifier: Apache-2.0
"""The device queries of CUDA's driver library. For everything else use
cuda-python. A device is a number, as in C. Every function may raise CUDAError
as the subclass for its code; before cuInit() this is CUDAError_NotInitialized
(3).
"""

import ctypes

from gpukit._cuda_errors import (
    DRIVER, _CodeError, Library, class_of, make_errors, version_text)


class CUDAError(_CodeError):
    """The driver returned an error: `value` is its code, a CUDA_ERROR_...."""


CUDA_SUCCESS = 0
make_errors(CUDAError, DRIVER, "CUDA_ERROR_", globals())
_driver = Library(("libcuda.so.1", "libcuda.so"), CUDAError, 500,
                  late=909)


def cudaExceptionClass(cudaErrorCode):
    """Returns the class of a code. Raises ValueError for an unknown code."""
    return class_of(CUDAError, cudaErrorCode)


def cuInit(flags=0):
    """Initializes the driver for this process. Raises CUDAError."""
    _driver.call("cuInit", ctypes.c_uint(flags))


def _text_of(function, error):
    out = ctypes.c_char_p()
    _driver.call(function, error, ctypes.byref(out))
    return out.value.decode()


def cuGetErrorName(error):
    """The name of a code as text. Raises CUDAError for an unknown code."""
    return _text_of("cuGetErrorName", error)


def cuGetErrorString(error):
    """The meaning of a code as text. Raises CUDAError for an unknown code."""
    return _text_of("cuGetErrorString", error)


def cuDriverGetVersion():
    """The highest CUDA version that the driver supports, such as 13.0. Raises
    CUDAError."""
    return version_text(_driver.ask(ctypes.c_int, "cuDriverGetVersion"))


def cuDeviceGetCount():
    """The number of devices that CUDA sees. Raises CUDAError."""
    return _driver.ask(ctypes.c_int, "cuDeviceGetCount")


def cuDeviceGet(ordinal):
    """The device with this ordinal. Raises CUDAError if there is none."""
    return _driver.ask(ctypes.c_int, "cuDeviceGet", ordinal)


def cuDeviceGetByPCIBusId(pciBusId):
    """The device at a PCI address. Raises CUDAError if there is none."""
    return _driver.ask(ctypes.c_int, "cuDeviceGetByPCIBusId",
                       pciBusId.encode())


def cuDeviceGetPCIBusId(device):
    """The PCI address of a device as text. Raises CUDAError."""
    return _driver.read("cuDeviceGetPCIBusId", 64, device)


def cuDeviceGetName(device):
    """The product's name. Raises CUDAError."""
    return _driver.read("cuDeviceGetName", 256, device)


def _uuid(function, device):
    raw = (ctypes.c_ubyte * 16)()
    _driver.call(function, raw, device)
    text = bytes(raw).hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20],
                     text[20:]))


def cuDeviceGetUuid(device):
    """The UUID as text, without the prefix GPU- or MIG-. Raises CUDAError."""
    return _uuid("cuDeviceGetUuid", device)


def cuDeviceGetUuid_v2(device):
    """The UUID as text, without the prefix; a MIG device has its own. Raises
    CUDAError."""
    return _uuid("cuDeviceGetUuid_v2", device)


def cuDeviceTotalMem(device):
    """Device memory in bytes. Raises CUDAError."""
    return _driver.ask(ctypes.c_size_t, "cuDeviceTotalMem_v2", device)


def is_available():
    """Whether CUDA sees any device."""
    try:
        cuInit()
        return cuDeviceGetCount() > 0
    except CUDAError:
        return False
