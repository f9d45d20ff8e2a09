# SPDX-License-Identifier: Apache-2.0
"""Values of a device that are found by name because no method is defined for
them."""

from gpukit import _core
from gpukit.na import NA

METRIC_IDS = {row[0]: number for number, row in enumerate(_core.metrics())}


def _camel(name):
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _find_nvml(device, name):
    """Makes a function of our device from nvidia-ml-py's nvmlDeviceGetX."""
    from gpukit import libnvml

    function = "nvmlDeviceGet" + _camel(name)
    if not hasattr(libnvml, function):
        raise AttributeError(
            f"{type(device).__name__!r} object has no attribute {name!r}")

    def call(*args, **kwargs):
        from ctypes import cast

        handle = cast(device.handle, libnvml.c_nvmlDevice_t)
        return libnvml.nvmlQuery(function, handle, *args, **kwargs)

    return call


def find_value(device, name):
    """Returns a function that reads a metric. The unit is the one in the
    metric's name; without one, it is the core's (bytes, mW, Hz, C, percent,
    ns, mJ)."""
    if name not in METRIC_IDS:
        return _find_nvml(device, name)
    ids = (METRIC_IDS[name],)

    def read():
        value = device._read(ids)[0]
        return NA if value is None else value

    return read
