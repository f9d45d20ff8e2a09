# SPDX-License-Identifier: Apache-2.0
from typing import Any

# In fact a pytorch_lightning.Callback, which has more methods.
class GpuStatsLogger:
    def __init__(
        self,
        *,
        memory_utilization: bool = True,
        gpu_utilization: bool = True,
        intra_step_time: bool = False,
        inter_step_time: bool = False,
        fan_speed: bool = False,
        temperature: bool = False,
    ) -> None: ...
    def on_train_start(self, trainer: Any, pl_module: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
