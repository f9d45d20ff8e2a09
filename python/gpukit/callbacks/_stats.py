"""What the callbacks of all frameworks have in common."""

import time

from gpukit.collector import _leaves
from gpukit.device import CudaDevice
from gpukit.utils import MiB


class GpuStats:
    """Numbers of the devices that CUDA sees, for a logger."""

    def __init__(self, memory, gpu, fan, temperature):
        self.devices = _leaves(CudaDevice.all())
        self.rows = []
        if memory:
            self.rows += [("memory_used", "memory_used (MiB)", MiB),
                          ("memory_free", "memory_free (MiB)", MiB)]
        if gpu:
            self.rows += [("gpu_utilization", "gpu_utilization (%)", 1),
                          ("memory_utilization", "memory_utilization (%)", 1)]
        if fan:
            self.rows.append(("fan_speed", "fan_speed (%)", 1))
        if temperature:
            self.rows.append(("temperature", "temperature (C)", 1))

    def collect(self):
        """Key -> number, of now; what is not there is left out."""
        found = {}
        for device in self.devices:
            shot = device.as_snapshot()
            for name, key, divisor in self.rows:
                if shot[name] != "N/A":
                    found[f"gpu:{device.index}/{key}"] = shot[name] / divisor
        return found


class StepTimer:
    """Milliseconds between and within steps."""

    def __init__(self):
        self.start = self.end = None

    def begin(self):
        """Milliseconds since the last end, or None."""
        self.start = time.monotonic()
        return None if self.end is None else 1e3 * (self.start - self.end)

    def finish(self):
        """Milliseconds since the begin, or None."""
        self.end = time.monotonic()
        return None if self.start is None else 1e3 * (self.end - self.start)
