# SPDX-License-Identifier: Apache-2.0
"""GPU statistics of each training step, for the loggers of pytorch_lightning."""

from pytorch_lightning.callbacks import Callback
from pytorch_lightning.utilities.exceptions import MisconfigurationException

from gpukit.callbacks._lightning import StepLogger

__all__ = ["GpuStatsLogger"]


class GpuStatsLogger(StepLogger, Callback):
    __doc__ = StepLogger.__doc__
    _misconfigured = MisconfigurationException
