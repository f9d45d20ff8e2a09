# SPDX-License-Identifier: Apache-2.0
"""gpukit.select under nvitop's name; `python -m nvitop.select` is nvisel."""

import sys

from gpukit import select as _select

if __name__ == "__main__":
    from nvitop.cli import nvisel

    sys.exit(nvisel())
sys.modules[__name__] = _select
