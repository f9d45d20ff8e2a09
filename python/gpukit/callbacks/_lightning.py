# SPDX-License-Identifier: Apache-2.0
"""The common code of the loggers for lightning and pytorch_lightning. These
packages are the same program under two names."""

from gpukit.callbacks._stats import GpuStats, StepTimer


class StepLogger:
    """Logs memory and utilization of GPUs and, if requested, step times (ms),
    fan speed and temperature. It does so at each step that the trainer logs
    (`log_every_n_steps`), under the number of that step.

    Logs the trainer's GPUs; if the trainer uses none, logs all GPUs that CUDA
    sees. Raises NVMLError without a driver. If the trainer has no logger, the
    start of training raises lightning's MisconfigurationException.
    """

    # the exception class; set for each package
    _misconfigured = None

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
        # lightning's own callbacks use this condition. There is no public
        # interface for it.
        if not trainer._logger_connector.should_update_logs:
            return
        if trainer.is_global_zero:
            step = trainer.fit_loop.epoch_loop._batches_that_stepped
            found = {**self._stats.collect(), **times}
            for logger in trainer.loggers if found else ():
                logger.log_metrics(found, step=step)
