"""GPU statistics of each batch, among the logs of Keras."""

from keras.callbacks import Callback

from gpukit.callbacks._stats import GpuStats, StepTimer

__all__ = ["GpuStatsLogger"]


class GpuStatsLogger(Callback):
    """Adds memory, utilization and, if asked, times (ms), fan and temperature
    of the devices that CUDA sees to the logs of each batch: give it before
    the callbacks that write them."""

    def __init__(self, memory_utilization=True, gpu_utilization=True,
                 intra_step_time=False, inter_step_time=False,
                 fan_speed=False, temperature=False):
        super().__init__()
        self._stats = GpuStats(memory_utilization, gpu_utilization, fan_speed,
                               temperature)
        self._intra, self._inter = intra_step_time, inter_step_time
        self._timer = StepTimer()

    def on_epoch_begin(self, epoch, logs=None):
        self._timer = StepTimer()

    def on_train_batch_begin(self, batch, logs=None):
        between = self._timer.begin()
        if self._inter and between is not None and logs is not None:
            logs["batch_time/inter_step (ms)"] = between

    def on_train_batch_end(self, batch, logs=None):
        within = self._timer.finish()
        if logs is None:
            return
        logs.update(self._stats.collect())
        if self._intra and within is not None:
            logs["batch_time/intra_step (ms)"] = within
