# SPDX-License-Identifier: Apache-2.0
"""The reasons why values of a device are NA."""

from gpukit import _core
from gpukit._device_values import SINGLE
from gpukit._errors import NVMLError
from gpukit._more_values import METRIC_IDS

_UNSUPPORTED, _DENIED, _LOST, _LATE, _REFUSED, _NONE = 2, 4, 5, 6, 7, 11
# nvmlReturn_t -> reason as numbered in the core.
_OF_NVML = {3: _UNSUPPORTED, 4: _DENIED, 10: _LATE, 15: _LOST}

# Method -> the methods or metrics from which its result is computed.
_MADE_OF = {
    "memory_info": ("memory_total", "memory_free", "memory_used",
                    "memory_reserved_bytes"),
    "memory_percent": ("memory_used", "memory_total"),
    "memory_usage": ("memory_used", "memory_total"),
    "bar1_memory_info": ("bar1_memory_total", "bar1_memory_free",
                         "bar1_memory_used"),
    "bar1_memory_percent": ("bar1_memory_used", "bar1_memory_total"),
    "bar1_memory_usage": ("bar1_memory_used", "bar1_memory_total"),
    "utilization_rates": ("gpu_utilization", "memory_utilization",
                          "encoder_utilization", "decoder_utilization"),
    "gpu_percent": ("gpu_utilization",),
    "clock_infos": ("graphics_clock", "sm_clock", "memory_clock",
                    "video_clock"),
    "max_clock_infos": ("max_graphics_clock", "max_sm_clock",
                        "max_memory_clock", "max_video_clock"),
    "power_draw": ("power_usage",),
    "power_status": ("power_usage", "power_limit"),
    "pcie_throughput": ("pcie_tx_throughput", "pcie_rx_throughput"),
    "is_mig_mode_enabled": ("mig_mode",),
}
_MADE_OF["clocks"] = _MADE_OF["clock_infos"]
_MADE_OF["max_clocks"] = _MADE_OF["max_clock_infos"]
_MADE_OF["clock_speed_infos"] = (*_MADE_OF["clocks"],
                                 *_MADE_OF["max_clocks"])
_FACTS = ("name", "uuid", "bus_id", "pci_info", "serial", "cuda_compute_capability",
          "gpu_instance_id", "compute_instance_id", "current_driver_model",
          "driver_model")
# Methods that return true or false, never NA.
_SWITCHES = ("memory_unified",)
_VERSIONS = ("driver_version", "cuda_driver_version", "max_cuda_version",
             "cuda_version", "cuda_runtime_version", "cudart_version")


def _metrics_of(name):
    """The ids of the metrics from which a value is computed; empty if
    unknown."""
    name = name[:-len("_human")] if name.endswith("_human") else name
    parts = _MADE_OF.get(name, (name,))
    return tuple(SINGLE[part][0] if part in SINGLE else METRIC_IDS[part]
                 for part in parts if part in SINGLE or part in METRIC_IDS)


def _why_no_fact(device, name):
    if getattr(device, name)() != "N/A":
        return 0
    error = device._facts.nvml_error
    return _OF_NVML.get(error, _REFUSED) if error else _UNSUPPORTED


def _why_no_links(device):
    """The reason why an NVLink value is missing. A MIG device has no links;
    for a GPU, it is the reason given for its first link."""
    if device._at[1] >= 0:
        return _NONE
    try:
        rows = _core.links(device._at[0])
    except NVMLError as error:
        return _OF_NVML.get(error.value, _REFUSED)
    if not rows:
        lost = device._facts.nvml_error
        return _OF_NVML.get(lost, _REFUSED) if lost else _NONE
    return 0 if all(None not in row[2:4] for row in rows) else _UNSUPPORTED


def reason_text(device, number):
    """The text for a reason; '' for 0 (no reason). If the GPU does not answer,
    the text includes for how long."""
    if not number:
        return ""
    silence = _core.silence(device._at[0]) if number == _LATE else 0
    return late_text(silence) if silence else _core.reason(number)


def late_text(seconds):
    """The reason text for a value that is this many seconds late."""
    return f"no answer for {round(seconds)} s"


def find_reason(device, name):
    """The core's number of the reason; 0 if the value is not missing. Raises
    AttributeError for other names."""
    metrics = _metrics_of(name)
    if name in _SWITCHES:
        return 0
    if metrics:
        numbers = [number for number, _ in _core.explain(*device._at, metrics)]
        # The reserved part of BAR1 memory never exists.
        always = _NONE if name == "bar1_memory_info" else 0
        return next(filter(None, numbers), always)
    if name in _FACTS and hasattr(device, name):
        return _why_no_fact(device, name)
    if name in _VERSIONS:
        return 0 if getattr(device, name)() != "N/A" else _NONE
    if name.startswith("nvlink_") and hasattr(type(device), name):
        return _why_no_links(device)
    raise AttributeError(f"not a value of a device: {name!r}")
