"""What the loggers of lightning and of pytorch_lightning, which are one
program under two names, do alike."""

from gpukit.callbacks._stats import GpuStats, StepTimer


class StepLogger:
    """Logs memory and utilization of GPUs and, if asked, the times of steps
    (ms), fan and temperature, wherever the trainer logs a step
    (`log_every_n_steps`), with the number of that step.

    The GPUs are the trainer's; all that CUDA sees where it trains without any.
    Raises NVMLError without a driver; when training starts, lightning's
    MisconfigurationException for a trainer without a logger.
    """

    _misconfigured = None  # the exception, of each of the two names

    def __init__(self, *, memory_utilization=True, gpu_utilization=True,
                 intra_step_time=False, inter_step_time=False,
                 fan_speed=False, temperature=False):
        super().__init__()
        self._stats = GpuStats(
            memory_utilization=memory_utilization,
            gpu_utilization=gpu_utilization, fan_speed=fan_speed,
            temperature=temperature)
        self._timer = StepTimer(intra_step_time, inter_step_time)

    def on_train_start(self, trainer, pl_module):
        if not trainer.loggers:
            raise self._misconfigured(
                "GpuStatsLogger has nothing to log to: give the trainer a "
                "logger, as in Trainer(logger=True)")
        on_gpus = trainer.strategy.root_device.type == "cuda"
        self._stats.watch(trainer.device_ids if on_gpus else None)

    def on_train_epoch_start(self, trainer, pl_module):
        self._timer.restart()

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx,
                             *args):
        self._timer.begin()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch,
                           batch_idx, *args):
        times = self._timer.finish()
        # As lightning's own callbacks decide it; there is no public way.
        if not trainer._logger_connector.should_update_logs:
            return
        if trainer.is_global_zero:
            step = trainer.fit_loop.epoch_loop._batches_that_stepped
            found = {**self._stats.collect(), **times}
            for logger in trainer.loggers if found else ():
                logger.log_metrics(found, step=step)
