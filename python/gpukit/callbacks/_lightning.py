"""What the loggers of lightning and of pytorch_lightning, which are one
program under two names, do alike."""

from gpukit.callbacks._stats import GpuStats, StepTimer


class StepLogger:
    """Logs memory, utilization and, if asked, times (ms), fan and temperature
    of the devices that CUDA sees, at each logged step."""

    def __init__(self, memory_utilization=True, gpu_utilization=True,
                 intra_step_time=False, inter_step_time=False,
                 fan_speed=False, temperature=False):
        super().__init__()
        self._stats = GpuStats(memory_utilization, gpu_utilization, fan_speed,
                               temperature)
        self._intra, self._inter = intra_step_time, inter_step_time
        self._timer = StepTimer()

    def on_train_epoch_start(self, trainer, pl_module):
        self._timer = StepTimer()

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx,
                             *args):
        between = self._timer.begin()
        if self._inter and between is not None:
            self._log(trainer, {"batch_time/inter_step (ms)": between})

    def on_train_batch_end(self, trainer, pl_module, outputs, batch,
                           batch_idx, *args):
        within = self._timer.finish()
        found = self._stats.collect()
        if self._intra and within is not None:
            found["batch_time/intra_step (ms)"] = within
        self._log(trainer, found)

    @staticmethod
    def _log(trainer, found):
        for logger in trainer.loggers if found else ():
            logger.log_metrics(found, step=trainer.global_step)
