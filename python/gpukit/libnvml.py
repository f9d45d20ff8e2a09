# SPDX-License-Identifier: Apache-2.0
"""NVML's errors, checks and queries. If nvidia-ml-py is installed, this module
also has all of its functions. They raise gpukit's NVMLError, and
NVMLError_Timeout at the deadline. `with libnvml:` opens the driver's
library."""

import os
import sys
from types import ModuleType

from gpukit import _core, _errors
from gpukit._deadline import STARTS_SLOWER, call_within
from gpukit._errors import NVMLError
from gpukit.na import NA
from gpukit.utils import UINT_MAX as UINT_MAX, ULONGLONG_MAX as ULONGLONG_MAX

_OWN = ["NA", "UINT_MAX", "ULONGLONG_MAX", "NVMLError", "nvmlCheckReturn",
        "nvmlExceptionClass", "nvmlQuery", "nvmlQueryFieldValues",
        "nvmlInit", "nvmlInitWithFlags", "nvmlShutdown"]

_FUNCTION_NOT_FOUND = 13
_NAMES_TOLD = 1024  # max. number of unknown functions to log
_opened_by = None  # pid of the process that initialized nvidia-ml-py
_known = {}
_unknown = set()  # unknown functions that have been logged


def nvmlInit():
    """Opens the driver's library. Raises NVMLError if there is none."""
    _core.open()


def nvmlInitWithFlags(flags):
    """Opens the driver's library. The flags are those of nvidia-ml-py; without
    it they must be 0. Raises NVMLError if there is no library."""
    pynvml = _find_pynvml()
    if pynvml is not None and flags:
        call_within(_converted,
                    (pynvml, pynvml.nvmlInitWithFlags, (flags,), {}), {},
                    slower=STARTS_SLOWER)
    _core.open()


def nvmlShutdown():
    """Does nothing: gpukit keeps the library open until the process ends."""


def nvmlExceptionClass(nvmlErrorCode):
    """Returns the class of a code: NVMLError_GpuIsLost for 15. Raises
    ValueError for a code that NVML does not have."""
    made = _errors.class_of(nvmlErrorCode)
    if made is NVMLError:
        raise ValueError(f"NVML has no error {nvmlErrorCode}")
    return made


def nvmlCheckReturn(retval, types=None, /):
    """Whether a value is not NA and, if types are given, has one of them."""
    return retval != NA and (types is None or isinstance(retval, types))


def nvmlQuery(func, /, *args, default=NA, ignore_errors=True,
              ignore_function_not_found=False, **kwargs):
    """Calls an NVML function, given as a function or by name, and returns its
    result, with bytes as text.

    If it fails or is late, returns the default, or raises NVMLError if
    ignore_errors is False. An unknown function is logged once, unless
    ignore_function_not_found is set. Without a driver, always raises
    NVMLError.
    """
    _core.open()
    asked = func
    try:
        if isinstance(func, str):
            func = _find_function(func)
        result = func(*args, **kwargs) if _has_own_deadline(func) else \
            call_within(func, args, kwargs)
    except NVMLError as error:
        unknown = error.value == _FUNCTION_NOT_FOUND
        if unknown and not ignore_function_not_found:
            _tell_unknown(asked)
        if ignore_errors or (unknown and ignore_function_not_found):
            return default
        raise
    return result.decode("utf-8", "replace") if isinstance(
        result, bytes) else result


def _tell_unknown(func):
    name = func if isinstance(func, str) else getattr(
        func, "__name__", repr(func))
    if name in _unknown or len(_unknown) >= _NAMES_TOLD:
        return
    import logging

    _unknown.add(name)
    logging.getLogger(__name__).error(
        "%s: neither nvidia-ml-py nor the driver has this function", name)


def nvmlQueryFieldValues(handle, field_ids):
    """Reads several fields. A field is a number or (number, scope). Returns a
    list of (value or NA, its time in microseconds since 1970). Needs
    nvidia-ml-py. Raises NVMLError if all fields are refused."""
    rows = _find_function("nvmlDeviceGetFieldValues")(handle, field_ids)
    return [(_field_of(row), row.timestamp) for row in rows]


# The members of nvmlValue_t, in the order of nvmlValueType_t.
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
    """Finds a function by name, in nvidia-ml-py or in this module."""
    try:
        return globals().get(name) or __getattr__(name)
    except AttributeError:
        raise NVMLError(_FUNCTION_NOT_FOUND) from None


def _with_our_errors(pynvml, function):
    """Wraps a function of nvidia-ml-py: the wrapper opens the library and
    raises our errors."""
    from functools import update_wrapper

    def in_time(*args, **kwargs):
        _open_pynvml(pynvml)
        return _converted(pynvml, function, args, kwargs)

    def call(*args, **kwargs):
        slower = 1 if _opened_by == os.getpid() else STARTS_SLOWER
        return call_within(in_time, args, kwargs, slower=slower)

    return update_wrapper(
        in_time if _has_own_deadline(function) else call, function)


def _has_own_deadline(function):
    """Whether the function has a timeout argument of its own. It must then run
    in the caller's thread: if the caller of another thread had given up, an
    event delivered to that thread would be lost."""
    return "EventSetWait" in getattr(function, "__name__", "")


def _nvidias(name):
    """Returns an attribute of nvidia-ml-py, or None."""
    pynvml = _find_pynvml()
    value = getattr(pynvml, name, None)
    if name.startswith("nvml") and callable(value) \
            and not isinstance(value, type):
        return _with_our_errors(pynvml, value)
    return value


def _all():
    names = [name for name in vars(_errors) if name.startswith("NVMLError_")]
    pynvml = _find_pynvml()
    names += [name for name in dir(pynvml)
              if name.startswith(("nvml", "NVML_"))
              and getattr(pynvml, name) is not None]
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


class _Module(ModuleType):
    """The type of this module, so that `with libnvml:` opens and closes the
    driver's library."""

    def __enter__(self):
        nvmlInit()
        return self

    def __exit__(self, *exc):
        nvmlShutdown()


sys.modules[__name__].__class__ = _Module
