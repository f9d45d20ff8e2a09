# SPDX-License-Identifier: Apache-2.0
"""Devices: GPUs and MIG devices, and both by their CUDA ordinal."""

from gpukit._device_base import Device
from gpukit._device_cuda import CudaDevice, CudaMigDevice
from gpukit._device_find import (
    ValueOmitted, is_mig_device_uuid as is_mig_device_uuid,
    normalize_cuda_visible_devices, parse_cuda_visible_devices)
from gpukit._device_kinds import MigDevice, PhysicalDevice
from gpukit._device_values import (
    ClockInfos as ClockInfos, ClockSpeedInfos as ClockSpeedInfos,
    MemoryInfo as MemoryInfo, PciInfo as PciInfo,
    ThroughputInfo as ThroughputInfo, UtilizationRates as UtilizationRates)

__all__ = ["Device", "PhysicalDevice", "MigDevice", "CudaDevice",
           "CudaMigDevice", "parse_cuda_visible_devices",
           "normalize_cuda_visible_devices"]

Device.cuda = CudaDevice
Device._physical, Device._mig = PhysicalDevice, MigDevice
for _class in (Device, PhysicalDevice, MigDevice, CudaDevice, CudaMigDevice,
               ValueOmitted):
    _class.__module__ = __name__  # for pickle and help()
