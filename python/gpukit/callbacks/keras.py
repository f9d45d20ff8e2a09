# SPDX-License-Identifier: Apache-2.0
"""GPU statistics of each batch and epoch, added to the logs of Keras."""

from keras.callbacks import Callback

from gpukit.callbacks._stats import GpuStats, StepTimer

__all__ = ["GpuStatsLogger"]


class GpuStatsLogger(Callback):
    """Adds memory and utilization of GPUs and, if requested, step times (ms),
    fan speed and temperature to the logs of each batch, and their means to the
    logs of each epoch. CSVLogger, TensorBoard and History write these values
    if they follow this callback in the list.

    gpus: CUDA ordinals, or Keras' names for them ("/GPU:1"); a number N: the
    first N; None: all that CUDA sees. Raises ValueError for another name,
    RuntimeError for a GPU that CUDA does not see, NVMLError without a driver.
    """

    def __init__(self, gpus=None, *, memory_utilization=True,
                 gpu_utilization=True, intra_step_time=False,
                 inter_step_time=False, fan_speed=False, temperature=False):
        super().__init__()
        self._stats = GpuStats(
            memory_utilization=memory_utilization,
            gpu_utilization=gpu_utilization, fan_speed=fan_speed,
            temperature=temperature)
        self._stats.watch(_numbers(gpus))
        self._timer = StepTimer(intra_step_time, inter_step_time)
        self._seen = {}  # key -> the numbers of this epoch so far

    def on_epoch_begin(self, epoch, logs=None):
        self._timer.restart()
        self._seen = {}

    def on_train_batch_begin(self, batch, logs=None):
        self._timer.begin()

    def on_train_batch_end(self, batch, logs=None):
        found = self._timer.finish()
        found.update(self._stats.collect())
        for key, number in found.items():
            self._seen.setdefault(key, []).append(number)
        if logs is not None:
            logs.update(found)

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs.update((key, sum(numbers) / len(numbers))
                        for key, numbers in self._seen.items())


def _numbers(gpus):
    if gpus is None:
        return None
    if isinstance(gpus, int):
        return range(gpus)
    return [_number(gpu) for gpu in gpus]


def _number(gpu):
    """Parses an ordinal: 1, "1", "GPU:1", "/gpu:1" or "/device:GPU:1"."""
    kind, _, number = str(gpu).upper().rpartition(":")
    if kind not in ("", "GPU", "/GPU", "/DEVICE:GPU") or not number.isdigit():
        raise ValueError(f"not a GPU: {gpu!r}")
    return int(number)
