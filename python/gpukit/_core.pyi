# SPDX-License-Identifier: Apache-2.0
# Internal: programs should not use its functions and numbers.

from typing import Any

__version__: str

def __getattr__(name: str) -> Any: ...
