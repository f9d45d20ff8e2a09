# SPDX-License-Identifier: Apache-2.0
"""gpukit.libnvml with the exceptions of nvidia-ml-py, if that is installed:
`except` then catches gpukit's errors and those of pynvml's own functions."""

import sys

from gpukit import _errors, libnvml as _gpukit

try:
    import pynvml as _pynvml
except ImportError:
    _pynvml = None


def _has_nvidias(name):
    return name.startswith("NVMLError") or name == "nvmlExceptionClass"


def __getattr__(name):
    if _pynvml and _has_nvidias(name) and hasattr(_pynvml, name):
        value = getattr(_pynvml, name)
    else:
        value = getattr(_gpukit, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *dir(_gpukit)})


_errors.join_pynvml()
# `with libnvml:` opens the driver's library.
sys.modules[__name__].__class__ = type(_gpukit)
