# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Iterable
from typing import Any

from gpukit._errors import NVMLError as NVMLError
from gpukit.na import NA as NA, NaType
from gpukit.utils import UINT_MAX as UINT_MAX, ULONGLONG_MAX as ULONGLONG_MAX

def nvmlInit() -> None: ...
def nvmlInitWithFlags(flags: int) -> None: ...
def nvmlShutdown() -> None: ...
def nvmlExceptionClass(nvmlErrorCode: int) -> type[NVMLError]: ...
def nvmlCheckReturn(
    retval: object, types: type | tuple[type, ...] | None = None, /
) -> bool: ...
def nvmlQuery(
    func: Callable[..., Any] | str,
    /,
    *args: object,
    default: Any = ...,
    ignore_errors: bool = True,
    ignore_function_not_found: bool = False,
    **kwargs: object,
) -> Any: ...
def nvmlQueryFieldValues(
    handle: object, field_ids: Iterable[int | tuple[int, int]]
) -> list[tuple[int | float | NaType, int]]: ...

# NVMLError_..., and all names of nvidia-ml-py if it is installed.
def __getattr__(name: str) -> Any: ...
