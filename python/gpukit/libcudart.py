"""The CUDA runtime's version, where there is a libcudart."""

from gpukit.na import NA

__all__ = ["cudaRuntimeGetVersion"]

_NAMES = ("libcudart.so", "libcudart.so.13", "libcudart.so.12",
          "libcudart.so.11.0", "libcudart.so.10.2")


def _open():
    import ctypes

    for name in _NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def cudaRuntimeGetVersion():
    """The version of the runtime as text, such as 13.0; NA without one."""
    import ctypes

    library, number = _open(), ctypes.c_int()
    if library is None or library.cudaRuntimeGetVersion(
            ctypes.byref(number)):
        return NA
    return f"{number.value // 1000}.{number.value % 1000 // 10}"
