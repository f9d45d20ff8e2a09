# SPDX-License-Identifier: Apache-2.0
"""The code that the callbacks for all frameworks share."""

import time

from gpukit.collector import _leaves
from gpukit.device import CudaDevice, Device
from gpukit.utils import MiB

# Option -> one or several of (value of the snapshot, key, divisor for the
# unit).
_ROWS = {
    "memory_utilization": (
        ("memory_utilization", "utilization.memory (%)", 1),
        ("memory_used", "memory.used (MiB)", MiB),
        ("memory_free", "memory.free (MiB)", MiB)),
    "gpu_utilization": (("gpu_utilization", "utilization.gpu (%)", 1),),
    "fan_speed": (("fan_speed", "fan.speed (%)", 1),),
    "temperature": (("temperature", "temperature.gpu (C)", 1),),
}


class GpuStats:
    """Numbers of GPUs for a logger, with the keys of nvitop's callbacks, such
    as `gpu_id: 0/memory.used (MiB)`. A GPU's name is its CUDA ordinal,
    followed by its NVML index if that differs.

    **wanted: options of _ROWS. Raises NVMLError without a driver.
    """

    def __init__(self, **wanted):
        self._rows = [row for name, rows in _ROWS.items() if wanted[name]
                      for row in rows]
        Device.count()
        self._devices = None

    def watch(self, gpus=None):
        """Picks GPUs by CUDA ordinal; all if gpus is None. Raises RuntimeError
        if CUDA does not see one."""
        if gpus is None:
            self._devices = _leaves(CudaDevice.all())
        else:
            self._devices = [CudaDevice(gpu) for gpu in dict.fromkeys(gpus)]

    def collect(self):
        """Returns a dict from key to current number of the GPUs that watch()
        has picked, without missing values."""
        return self.collect_from(self._devices)

    def collect_from(self, devices):
        """Does the same with the given devices."""
        found = {}
        for device in devices:
            scope, shot = _scope(device), device.as_snapshot()
            for name, key, divisor in self._rows:
                if shot[name] != "N/A":
                    found[f"{scope}/{key}"] = shot[name] / divisor
        return found


def _scope(device):
    scope, board = f"gpu_id: {device.cuda_index}", device.physical_index
    if device.cuda_index == board:
        return scope
    return f"{scope} (physical index: {board})"


class StepTimer:
    """Measures the steps of an epoch, and the time between steps, in
    milliseconds."""

    def __init__(self, intra, inter):
        self._intra, self._inter = intra, inter
        self.restart()

    def restart(self):
        """Forgets the steps so far."""
        self._start = self._end = self._between = None

    def begin(self):
        """Marks the start of a step."""
        self._start = time.monotonic()
        if self._end is not None:
            self._between = 1e3 * (self._start - self._end)

    def finish(self):
        """Marks the end of a step. Returns a dict from key to milliseconds,
        for the times that were requested. The first step of an epoch has no
        time between steps."""
        self._end = time.monotonic()
        found = {}
        if self._intra and self._start is not None:
            found["batch_time/intra_step (ms)"] = \
                1e3 * (self._end - self._start)
        if self._inter and self._between is not None:
            found["batch_time/inter_step (ms)"] = self._between
        return found
