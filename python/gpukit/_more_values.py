"""Values of a device that have no method: found by name."""

from gpukit import _core
from gpukit._device_values import SINGLE
from gpukit.na import NA

_IDS = {row[0]: number for number, row in enumerate(_core.metrics())}
_ALIASES = {"power_draw": "power_usage", "gpu_percent": "gpu_utilization",
            "memory_info": "memory_total", "clock_infos": "sm_clock",
            "utilization_rates": "gpu_utilization",
            "memory_percent": "memory_used",
            "pcie_throughput": "pcie_tx_throughput",
            "bar1_memory_info": "bar1_memory_total",
            "power_status": "power_usage", "max_clock_infos": "max_sm_clock"}


def find_metric(name):
    """The id of a metric by the name of a method or its own."""
    name = name[:-len("_human")] if name.endswith("_human") else name
    name = _ALIASES.get(name, name)
    if name in SINGLE:
        return SINGLE[name][0]
    if name in _IDS:
        return _IDS[name]
    raise AttributeError(f"no value of a device: {name!r}")


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
    if name not in _IDS:
        return _find_nvml(device, name)
    ids = (_IDS[name],)

    def read():
        value = device._read(ids)[0]
        return NA if value is None else value

    return read
