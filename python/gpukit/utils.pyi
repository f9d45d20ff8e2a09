# SPDX-License-Identifier: Apache-2.0
import datetime
import re
from collections.abc import Callable, Iterable
from typing import Any

from typing_extensions import TypeVar

from gpukit.caching import ttl_cache as ttl_cache
from gpukit.na import (
    NA as NA,
    NaType as NaType,
    NotApplicable as NotApplicable,
    NotApplicableType as NotApplicableType,
)
from gpukit.snapshot import Snapshot as Snapshot
from gpukit.termcolor import Attribute, Color, Highlight

Method = TypeVar("Method", bound=Callable[..., Any])

UINT_MAX: int
ULONGLONG_MAX: int
KiB: int
MiB: int
GiB: int
TiB: int
PiB: int
SIZE_UNITS: dict[str | None, int]
SIZE_PATTERN: re.Pattern[str]
COLOR: bool

def bytes2human(b: int | float | str | NaType, /, *, min_unit: int = 1) -> str: ...
def human2bytes(s: int | str, /) -> int: ...
def timedelta2human(
    dt: int | float | datetime.timedelta | NaType | None, /, *, round: bool = False
) -> str: ...
def utilization2string(utilization: int | float | NaType | None, /) -> str: ...
def boolify(string: str, /, default: object = None) -> bool: ...
def set_color(value: object) -> None: ...
def colored(
    text: object,
    /,
    color: Color | None = None,
    on_color: Highlight | None = None,
    attrs: Iterable[Attribute] | None = None,
) -> str: ...
def add_quotes(s: str) -> str: ...
def command_join(cmdline: list[str]) -> str: ...
def memoize_when_activated(method: Method, /) -> Method: ...
