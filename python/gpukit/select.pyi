# SPDX-License-Identifier: Apache-2.0
import argparse
from collections.abc import Iterable, Sequence
from typing import Literal, overload

from gpukit.device import Device

@overload
def select_devices(
    devices: Iterable[Device] | None = None,
    *,
    format: Literal["uuid"],
    force_index: bool = False,
    min_count: int = 0,
    max_count: int | None = None,
    min_free_memory: int | str | None = None,
    min_total_memory: int | str | None = None,
    max_gpu_utilization: int | None = None,
    max_memory_utilization: int | None = None,
    tolerance: int = 0,
    free_accounts: Sequence[str] | None = None,
    sort: bool = True,
) -> list[str]: ...
@overload
def select_devices(
    devices: Iterable[Device] | None = None,
    *,
    format: Literal["device"],
    force_index: bool = False,
    min_count: int = 0,
    max_count: int | None = None,
    min_free_memory: int | str | None = None,
    min_total_memory: int | str | None = None,
    max_gpu_utilization: int | None = None,
    max_memory_utilization: int | None = None,
    tolerance: int = 0,
    free_accounts: Sequence[str] | None = None,
    sort: bool = True,
) -> list[Device]: ...
@overload
def select_devices(
    devices: Iterable[Device] | None = None,
    *,
    format: Literal["index"] = "index",
    force_index: bool = False,
    min_count: int = 0,
    max_count: int | None = None,
    min_free_memory: int | str | None = None,
    min_total_memory: int | str | None = None,
    max_gpu_utilization: int | None = None,
    max_memory_utilization: int | None = None,
    tolerance: int = 0,
    free_accounts: Sequence[str] | None = None,
    sort: bool = True,
) -> list[int] | list[tuple[int, int]] | list[str]: ...
def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace: ...
def main(arguments: Sequence[str] | None = None) -> int: ...
