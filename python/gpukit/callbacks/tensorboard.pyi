# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping
from typing import Any

from gpukit.na import NaType

def add_scalar_dict(
    writer: Any,
    main_tag: str | None,
    tag_scalar_dict: Mapping[str, int | float | NaType],
    global_step: int | float | None = None,
    walltime: float | None = None,
) -> None: ...
