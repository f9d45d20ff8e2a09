# SPDX-License-Identifier: Apache-2.0
"""Statistics of GPUs for loggers."""

from gpukit.callbacks._stats import GpuStats
from gpukit.device import CudaDevice

__all__ = ["get_devices_by_logical_ids", "get_gpu_stats"]


def get_devices_by_logical_ids(device_ids, unique=True):
    """Returns the devices with these CUDA ordinals; without duplicates if
    `unique`. Raises RuntimeError if CUDA does not see one."""
    ids = dict.fromkeys(device_ids) if unique else device_ids
    return [CudaDevice(each) for each in ids]


def get_gpu_stats(devices, memory_utilization=True, gpu_utilization=True,
                  fan_speed=False, temperature=False):
    """Returns the current numbers of these devices as a dict with keys such as
    `gpu_id: 0/memory.used (MiB)`, without missing values."""
    return GpuStats(
        memory_utilization=memory_utilization,
        gpu_utilization=gpu_utilization, fan_speed=fan_speed,
        temperature=temperature).collect_from(devices)
