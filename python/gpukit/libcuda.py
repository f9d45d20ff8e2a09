"""The driver's own library, as far as it tells of devices. For all of it there is
cuda-python.

A device is a number, as in C. Every function raises CUDAError, of the class of
its code: CUDAError_NotInitialized (3) before cuInit().
"""

import ctypes

from gpukit._cuda_errors import (
    DRIVER, _CodeError, Library, class_of, make_errors, version_text)


class CUDAError(_CodeError):
    """The driver refused: `value` is its code, a CUDA_ERROR_...."""


CUDA_SUCCESS = 0
make_errors(CUDAError, DRIVER, "CUDA_ERROR_", globals())
_driver = Library(("libcuda.so.1", "libcuda.so"), CUDAError, 500)


def cudaExceptionClass(cudaErrorCode):
    """The class of a code. ValueError for a code without one."""
    return class_of(CUDAError, cudaErrorCode)


def cuInit(flags=0):
    """Initializes the driver for this process. CUDAError."""
    _driver.call("cuInit", ctypes.c_uint(flags))


def _text_of(function, error):
    out = ctypes.c_char_p()
    _driver.call(function, error, ctypes.byref(out))
    return out.value.decode()


def cuGetErrorName(error):
    """The name of a code as text. CUDAError for a code without one."""
    return _text_of("cuGetErrorName", error)


def cuGetErrorString(error):
    """What a code means, as text. CUDAError for a code without one."""
    return _text_of("cuGetErrorString", error)


def cuDriverGetVersion():
    """The highest CUDA version that the driver can, such as 13.0. CUDAError."""
    return version_text(_driver.ask(ctypes.c_int, "cuDriverGetVersion"))


def cuDeviceGetCount():
    """How many devices CUDA sees. CUDAError."""
    return _driver.ask(ctypes.c_int, "cuDeviceGetCount")


def cuDeviceGet(ordinal):
    """The device of an ordinal. CUDAError if there is none."""
    return _driver.ask(ctypes.c_int, "cuDeviceGet", ordinal)


def cuDeviceGetByPCIBusId(pciBusId):
    """The device at a place on the PCI bus. CUDAError if there is none."""
    return _driver.ask(ctypes.c_int, "cuDeviceGetByPCIBusId",
                       pciBusId.encode())


def cuDeviceGetPCIBusId(device):
    """The place of a device on the PCI bus, as text. CUDAError."""
    return _driver.read("cuDeviceGetPCIBusId", 64, device)


def cuDeviceGetName(device):
    """The product's name. CUDAError."""
    return _driver.read("cuDeviceGetName", 256, device)


def _uuid(function, device):
    raw = (ctypes.c_ubyte * 16)()
    _driver.call(function, raw, device)
    text = bytes(raw).hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20],
                     text[20:]))


def cuDeviceGetUuid(device):
    """The UUID as text without GPU- or MIG- before it. CUDAError."""
    return _uuid("cuDeviceGetUuid", device)


def cuDeviceGetUuid_v2(device):
    """The same, which is a MIG device's own where there are some. CUDAError."""
    return _uuid("cuDeviceGetUuid_v2", device)


def cuDeviceTotalMem(device):
    """Device memory in bytes. CUDAError."""
    return _driver.ask(ctypes.c_size_t, "cuDeviceTotalMem_v2", device)


def is_available():
    """Whether CUDA sees a device."""
    try:
        cuInit()
        return cuDeviceGetCount() > 0
    except CUDAError:
        return False
