# SPDX-License-Identifier: Apache-2.0
"""NVML's errors as exceptions. There is a class for each nvmlReturn_t, with
nvidia-ml-py's name: NVMLError_GpuIsLost for NVML_ERROR_GPU_IS_LOST. All are
derived from NVMLError.
"""

import sys

from gpukit import _core

_KNOWN = {code: (name, text) for code, name, text in _core.nvml_errors()}
_CLASSES = {}


class _Error(Exception):
    """A class between NVMLError and Exception, because Python allows changing
    the bases of a class only if they are not just Exception. The bases of
    NVMLError may become nvidia-ml-py's."""


class NVMLError(_Error):
    """NVML returned an error: `value` is its code, `name` the code's name, and
    the text comes from nvmlErrorString.

    >>> NVMLError(15)
    NVMLError_GpuIsLost(15)
    """

    value = None

    def __new__(cls, value=None):
        if cls is NVMLError and value is not None:
            cls = _CLASSES.get(value, cls)
        join_pynvml()
        self = Exception.__new__(cls, value)
        if value is not None:
            self.value = value
        return self

    def __init__(self, value=None):
        Exception.__init__(self, self.value if value is None else value)

    @property
    def name(self):
        """The code's name in nvml.h."""
        return _KNOWN.get(self.value, ("NVML_ERROR_UNKNOWN",))[0]

    def __str__(self):
        if self.value in _KNOWN:
            return _KNOWN[self.value][1]
        return "Unknown Error"

    def __eq__(self, other):
        if not isinstance(other, NVMLError):
            return NotImplemented
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __reduce__(self):
        return NVMLError, (self.value,)


def join_pynvml():
    """If nvidia-ml-py has been imported, makes our classes subclasses of its
    classes, so that `except pynvml.NVMLError` also catches our errors."""
    pynvml = sys.modules.get("pynvml")
    theirs = getattr(pynvml, "NVMLError", None)
    if not isinstance(theirs, type) or issubclass(NVMLError, theirs):
        return  # not imported, or replaced by a test
    NVMLError.__bases__ = (theirs,)
    for cls in _CLASSES.values():
        one = getattr(pynvml, cls.__name__, None)
        if isinstance(one, type) and issubclass(one, theirs):
            cls.__bases__ = (NVMLError, one)


def class_of(value):
    """Our class for a code, or NVMLError if NVML has no such code."""
    return _CLASSES.get(value, NVMLError)


def _class_name(name):
    words = name[len("NVML_ERROR_"):].split("_")
    return "NVMLError_" + "".join(word.capitalize() for word in words)


def _make_classes():
    for code, (name, text) in _KNOWN.items():
        if not code:
            continue
        made = type(_class_name(name), (NVMLError,),
                    {"value": code, "__module__": __name__,
                     "__doc__": f"{name} ({code}): {text}"})
        _CLASSES[code] = globals()[made.__name__] = made


_make_classes()


def error_of(value):
    """The exception for an NVML code."""
    return NVMLError(value)
