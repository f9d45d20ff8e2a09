"""Snapshots of everything at one moment."""

from gpukit import _core
from gpukit._device_values import SNAPSHOT_METRICS, _named
from gpukit.device import Device, MigDevice, PhysicalDevice
from gpukit.process import GpuProcess, from_core

__all__ = ["take_snapshots"]

SnapshotResult = _named("SnapshotResult", "devices gpu_processes",
                        "Snapshots of devices, and of processes on them.")


def take_snapshots(devices=None, *, gpu_processes=None):
    """Snapshots of devices and of the processes on them.

    devices: one or some; all GPUs, each followed by its MIG devices, without
    any. gpu_processes: one or some, whose devices are then taken; False or
    none of them for devices alone. Raises NVMLError without a driver.
    """
    if devices is None and gpu_processes in (None, True):
        return _take_all()
    listed = None
    if gpu_processes is not None and not isinstance(gpu_processes, bool):
        listed = [gpu_processes] if isinstance(gpu_processes, GpuProcess) \
            else list(gpu_processes)
    if isinstance(devices, Device):
        devices = [devices]
    if devices is None:
        devices = _all_devices() if not listed else _devices_of(listed)
    devices = list(devices)
    if listed is None and gpu_processes is not False:
        listed = [process for device in _leaves(devices)
                  for process in device.processes().values()]
    elif listed:
        for process in listed:
            process.update_gpu_status()
    return SnapshotResult([device.as_snapshot() for device in devices],
                          GpuProcess.take_snapshots(listed or (),
                                                    failsafe=True))


def _all_devices():
    return [each for device in Device.all()
            for each in (device, *device.mig_devices())]


def _devices_of(processes):
    return list(dict.fromkeys(process.device for process in processes))


def _leaves(devices):
    leaves = [leaf for device in devices for leaf in device.to_leaf_devices()]
    return list(dict.fromkeys(leaves))


def _take_all():
    """All at one moment, by one call of the core."""
    shot = _core.snapshot(_core.WITHOUT_BOARD, SNAPSHOT_METRICS)
    timestamp = shot.wall_ns / 1e9
    devices = [_device_of(facts) for facts in shot.devices]
    taken = [device._snapshot_of(values, timestamp)
             for device, values in zip(devices, shot.values)]
    told = {}
    return SnapshotResult(taken, [
        from_core(row, devices[row.device], timestamp, shot.host.mem_total,
                  told) for row in shot.processes])


def _device_of(facts):
    if facts.mig_index < 0:
        return PhysicalDevice._of_facts(facts, facts.index)
    return MigDevice._of_facts(facts, (facts.index, facts.mig_index))
