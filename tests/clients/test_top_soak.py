# SPDX-License-Identifier: Apache-2.0
"""Half a minute of `./run soak`: nothing crashes, and no frame is torn."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "soak"))

# pylint: disable=wrong-import-position
from soak_top import soak


@pytest.mark.slow
@pytest.mark.parametrize("look", ["lanes", "nvitop"])
def test_half_a_minute(look):
    run = soak(30, warm=15, seed=7, look=look)
    assert run.size and len(run.memory) >= 15
    assert not run.torn, "\n\n".join(f"SHOWN\n{before}\nREDRAWN\n{after}"
                                     for before, after in run.torn)
