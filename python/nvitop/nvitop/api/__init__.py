# SPDX-License-Identifier: Apache-2.0
"""nvitop's API: the names of `nvitop` without select_devices."""

from nvitop import _modules

__all__ = [
    "NVMLError", "nvmlCheckReturn", "libnvml", "libcuda", "libcudart",
    "Device", "PhysicalDevice", "MigDevice", "CudaDevice", "CudaMigDevice",
    "parse_cuda_visible_devices", "normalize_cuda_visible_devices",
    "host", "HostProcess", "GpuProcess", "command_join",
    "take_snapshots", "collect_in_background", "ResourceMetricCollector",
    "ttl_cache", "NA", "NaType", "NotApplicable", "NotApplicableType",
    "UINT_MAX", "ULONGLONG_MAX", "KiB", "MiB", "GiB", "TiB", "PiB",
    "SIZE_UNITS", "bytes2human", "human2bytes", "timedelta2human",
    "utilization2string", "colored", "set_color", "boolify", "Snapshot",
]
__getattr__, __dir__ = _modules.attributes(
    __name__, __all__,
    ("caching", "collector", "device", "host", "libcuda", "libcudart",
     "libnvml", "process", "termcolor", "utils"))
