# SPDX-License-Identifier: Apache-2.0
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import ClassVar, NamedTuple

from gpukit.device import Device
from gpukit.process import GpuProcess
from gpukit.snapshot import Snapshot

class SnapshotResult(NamedTuple):
    devices: list[Snapshot]
    gpu_processes: list[Snapshot]

def timer() -> float: ...
def take_snapshots(
    devices: Device | Iterable[Device] | None = None,
    *,
    gpu_processes: bool | GpuProcess | Iterable[GpuProcess] | None = None,
) -> SnapshotResult: ...

class _Daemon(threading.Thread):
    collector: ResourceMetricCollector

class ResourceMetricCollector:
    DEVICE_METRICS: ClassVar[list[tuple[str, str, float]]]
    PROCESS_METRICS: ClassVar[list[tuple[str, str | None, str, float]]]
    interval: float
    devices: list[Device]
    all_devices: list[Device]
    root_pids: set[int]
    def __init__(
        self,
        devices: Device | Iterable[Device] | None = None,
        *,
        root_pids: Iterable[int] | None = None,
        interval: float = 1.0,
    ) -> None: ...
    def __del__(self) -> None: ...
    def activate(self, tag: str) -> ResourceMetricCollector: ...
    def start(self, tag: str) -> ResourceMetricCollector: ...
    def deactivate(self, tag: str | None = None) -> ResourceMetricCollector: ...
    def stop(self, tag: str | None = None) -> ResourceMetricCollector: ...
    def context(self, tag: str) -> AbstractContextManager[ResourceMetricCollector]: ...
    def __call__(self, tag: str) -> AbstractContextManager[ResourceMetricCollector]: ...
    def clear(self, tag: str | None = None) -> None: ...
    def reset(self, tag: str | None = None) -> None: ...
    def collect(self) -> dict[str, float]: ...
    def daemonize(
        self,
        on_collect: Callable[[dict[str, float]], bool],
        interval: float | None = None,
        *,
        on_start: Callable[[ResourceMetricCollector], object] | None = None,
        on_stop: Callable[[ResourceMetricCollector], object] | None = None,
        tag: str = "metrics-daemon",
        start: bool = True,
    ) -> _Daemon: ...
    def take_snapshots(self) -> SnapshotResult: ...

def collect_in_background(
    on_collect: Callable[[dict[str, float]], bool],
    collector: ResourceMetricCollector | None = None,
    interval: float | None = None,
    *,
    on_start: Callable[[ResourceMetricCollector], object] | None = None,
    on_stop: Callable[[ResourceMetricCollector], object] | None = None,
    tag: str = "metrics-daemon",
    start: bool = True,
) -> _Daemon: ...
