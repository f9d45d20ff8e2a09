# SPDX-License-Identifier: Apache-2.0
# Internal: its functions and numbers are not for programs.

from typing import Any

__version__: str

def __getattr__(name: str) -> Any: ...
