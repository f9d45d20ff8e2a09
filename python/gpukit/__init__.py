# SPDX-License-Identifier: Apache-2.0
"""GPUs, the processes that use them, and the host.

Names and meanings are those of nvitop: `import gpukit as nvitop` works.
Submodules are loaded on first use.
"""

_PARTS = {
    "utils": ("NA", "NaType", "NotApplicable", "NotApplicableType",
              "UINT_MAX", "ULONGLONG_MAX", "KiB", "MiB", "GiB", "TiB", "PiB",
              "SIZE_UNITS", "bytes2human", "human2bytes", "timedelta2human",
              "utilization2string", "colored", "set_color", "boolify",
              "Snapshot", "ttl_cache", "command_join"),
    "_errors": ("NVMLError",),
    "libnvml": ("nvmlCheckReturn",),
    "device": ("Device", "PhysicalDevice", "MigDevice", "CudaDevice",
               "CudaMigDevice", "parse_cuda_visible_devices",
               "normalize_cuda_visible_devices"),
    "process": ("HostProcess", "GpuProcess"),
    "collector": ("take_snapshots", "collect_in_background",
                  "ResourceMetricCollector"),
    "select": ("select_devices",),
    "_timings": ("timings",),
    "_core": ("set_deadline",),
    "version": ("__version__",),
}
_PART_OF = {name: part for part, names in _PARTS.items() for name in names}
_MODULES = ("libnvml", "libcuda", "libcudart", "callbacks", "utils", "caching",
            "na", "snapshot", "fake", "device", "host", "process", "collector",
            "termcolor", "version")

__all__ = [*_PART_OF, "host", "libnvml", "libcuda", "libcudart"]


def __getattr__(name):
    from importlib import import_module

    if name in _PART_OF:
        value = getattr(import_module(f"gpukit.{_PART_OF[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"gpukit.{name}")
    else:
        raise AttributeError(f"module 'gpukit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__, *_MODULES])
