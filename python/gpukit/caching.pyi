# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Generic, NamedTuple, TypedDict, overload

from typing_extensions import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

class _CacheInfo(NamedTuple):
    hits: int
    misses: int
    maxsize: int | None
    currsize: int

class _Parameters(TypedDict):
    maxsize: int | None
    ttl: float
    timer: Callable[[], float]
    typed: bool

class _Cached(Generic[_P, _T]):
    __wrapped__: Callable[_P, _T]
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T: ...
    def cache_info(self) -> _CacheInfo: ...
    def cache_clear(self) -> None: ...
    def cache_parameters(self) -> _Parameters: ...

@overload
def ttl_cache(
    maxsize: Callable[_P, _T],
    *,
    ttl: float = 600.0,
    timer: Callable[[], float] = ...,
    typed: bool = False,
) -> _Cached[_P, _T]: ...
@overload
def ttl_cache(
    maxsize: int | None = 128,
    *,
    ttl: float = 600.0,
    timer: Callable[[], float] = ...,
    typed: bool = False,
) -> Callable[[Callable[_P, _T]], _Cached[_P, _T]]: ...
