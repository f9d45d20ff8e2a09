"""NVML's errors and checks; all else of NVML is nvidia-ml-py's, where it is
installed."""

from gpukit import _core, _errors
from gpukit._errors import NVMLError
from gpukit.na import NA

__all__ = ["NVMLError", "nvmlCheckReturn", "nvmlInit", "nvmlShutdown"]


def nvmlInit():
    """Opens the driver's library. NVMLError where there is none."""
    _core.open()


def nvmlShutdown():
    """Nothing: gpukit keeps the library until the process ends."""


def nvmlCheckReturn(retval, types=None, /):
    """Whether a value is there (and of one of the types)."""
    return retval != NA and (types is None or isinstance(retval, types))


def __getattr__(name):
    if name.startswith("NVMLError_") and hasattr(_errors, name):
        return getattr(_errors, name)
    if name.startswith(("nvml", "NVML", "c_nvml")):
        try:
            import pynvml
        except ImportError:
            pynvml = None
        if hasattr(pynvml, name):
            return getattr(pynvml, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
