"""NVML's errors, checks and queries. What nvidia-ml-py has is here as well, where
it is installed: its functions raise gpukit's NVMLError."""

import os

from gpukit import _core, _errors
from gpukit._errors import NVMLError
from gpukit.na import NA
from gpukit.utils import UINT_MAX, ULONGLONG_MAX

_OWN = ["NA", "UINT_MAX", "ULONGLONG_MAX", "NVMLError", "nvmlCheckReturn",
        "nvmlExceptionClass", "nvmlQuery", "nvmlQueryFieldValues",
        "nvmlInit", "nvmlInitWithFlags", "nvmlShutdown"]

_FUNCTION_NOT_FOUND = 13
_opened_by = None  # the process in which nvidia-ml-py was initialized
_known = {}


def nvmlInit():
    """Opens the driver's library. NVMLError where there is none."""
    _core.open()


def nvmlInitWithFlags(flags):
    """Opens the driver's library; flags are nvidia-ml-py's, and 0 without it.
    NVMLError where there is none."""
    pynvml = _find_pynvml()
    if pynvml is not None and flags:
        _converted(pynvml, pynvml.nvmlInitWithFlags, (flags,), {})
    _core.open()


def nvmlShutdown():
    """Nothing: gpukit keeps the library until the process ends."""


def nvmlExceptionClass(nvmlErrorCode):
    """The class of a code: NVMLError_GpuIsLost of 15. ValueError for a code
    that NVML does not have."""
    made = type(NVMLError(nvmlErrorCode))
    if made is NVMLError:
        raise ValueError(f"NVML has no error {nvmlErrorCode}")
    return made


def nvmlCheckReturn(retval, types=None, /):
    """Whether a value is there (and of one of the types)."""
    return retval != NA and (types is None or isinstance(retval, types))


def nvmlQuery(func, /, *args, default=NA, ignore_errors=True,
              ignore_function_not_found=False, **kwargs):
    """What a function of NVML (or one by its name) answers, its bytes as text.

    When it refuses: the default; NVMLError with ignore_errors=False. NVMLError
    in any case where there is no driver.
    """
    _core.open()
    try:
        if isinstance(func, str):
            func = _find_function(func)
        result = func(*args, **kwargs)
    except NVMLError as error:
        unknown = error.value == _FUNCTION_NOT_FOUND
        if ignore_errors or (unknown and ignore_function_not_found):
            return default
        raise
    return result.decode("utf-8", "replace") if isinstance(
        result, bytes) else result


def nvmlQueryFieldValues(handle, field_ids):
    """[(value or NA, its time in microseconds since 1970)] of fields, each by
    its number or (number, scope). Needs nvidia-ml-py; NVMLError where all are
    refused."""
    rows = _find_function("nvmlDeviceGetFieldValues")(handle, field_ids)
    return [(_field_of(row), row.timestamp) for row in rows]


# The members of nvmlValue_t, by nvmlValueType_t.
_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")


def _field_of(row):
    if row.nvmlReturn or row.valueType >= len(_MEMBERS):
        return NA
    return getattr(row.value, _MEMBERS[row.valueType])


def _find_pynvml():
    try:
        import pynvml
    except ImportError:
        return None
    return pynvml


def _converted(pynvml, function, args, kwargs):
    try:
        return function(*args, **kwargs)
    except pynvml.NVMLError as error:
        raise NVMLError(error.value) from None


def _open_pynvml(pynvml):
    global _opened_by
    if _opened_by != os.getpid():
        _converted(pynvml, pynvml.nvmlInit, (), {})
        _opened_by = os.getpid()


def _find_function(name):
    """A function by its name, nvidia-ml-py's or one of these."""
    try:
        return globals().get(name) or __getattr__(name)
    except AttributeError:
        raise NVMLError(_FUNCTION_NOT_FOUND) from None


def _with_our_errors(pynvml, function):
    """nvidia-ml-py's function, on its own open library, with our errors."""
    from functools import update_wrapper

    def call(*args, **kwargs):
        _open_pynvml(pynvml)
        return _converted(pynvml, function, args, kwargs)

    return update_wrapper(call, function)


def _nvidias(name):
    """A name of nvidia-ml-py, or None."""
    pynvml = _find_pynvml()
    value = getattr(pynvml, name, None)
    if name.startswith("nvml") and callable(value) \
            and not isinstance(value, type):
        return _with_our_errors(pynvml, value)
    return value


def _all():
    names = [name for name in vars(_errors) if name.startswith("NVMLError_")]
    names += [name for name in dir(_find_pynvml())
              if name.startswith(("nvml", "NVML_"))]
    return list(dict.fromkeys([*_OWN, *names]))


def __dir__():
    return sorted({*globals(), *_all()})


def __getattr__(name):
    if name == "__all__":
        return _all()
    if name in _known:
        return _known[name]
    if name.startswith("NVMLError_") and hasattr(_errors, name):
        return getattr(_errors, name)
    if name.startswith(("nvml", "NVML", "c_nvml")):
        value = _nvidias(name)
        if value is not None:
            return _known.setdefault(name, value)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
