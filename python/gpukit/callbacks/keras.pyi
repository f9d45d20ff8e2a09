# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterable
from typing import Any

# In fact a keras.callbacks.Callback, which has more methods.
class GpuStatsLogger:
    def __init__(
        self,
        gpus: int | Iterable[int | str] | None = None,
        *,
        memory_utilization: bool = True,
        gpu_utilization: bool = True,
        intra_step_time: bool = False,
        inter_step_time: bool = False,
        fan_speed: bool = False,
        temperature: bool = False,
    ) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
