# SPDX-License-Identifier: Apache-2.0
from typing_extensions import Self

class Timing:
    name: str
    calls: int
    own: float
    total: float
    longest: float
    def __init__(
        self, name: str, calls: int, own_ns: int, total_ns: int, longest_ns: int
    ) -> None: ...

class timings:
    def __init__(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...
    @property
    def rows(self) -> list[Timing]: ...
    def __getitem__(self, name: str) -> Timing: ...
