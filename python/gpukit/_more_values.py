"""Values of a device that have no method: found by name."""

from gpukit import _core
from gpukit.na import NA

METRIC_IDS = {row[0]: number for number, row in enumerate(_core.metrics())}


def _camel(name):
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _find_nvml(device, name):
    """nvmlDeviceGetX of nvidia-ml-py, on our handle."""
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
    """A function that reads a metric, in the unit that its name says or the
    core's (bytes, mW, Hz, C, percent, ns, mJ)."""
    if name not in METRIC_IDS:
        return _find_nvml(device, name)
    ids = (METRIC_IDS[name],)

    def read():
        value = device._read(ids)[0]
        return NA if value is None else value

    return read
