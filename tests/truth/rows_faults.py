# SPDX-License-Identifier: Apache-2.0
"""Values that only a broken GPU shows."""

import ctypes

from truth import Changes, Ctl, of_device

ROWS = [
    Changes("nvmlDeviceGetPcieReplayCounter", of_device(ctypes.c_uint),
            Ctl("fail", 0, "pcie=1x4"),
            before=0, after=lambda count: count > 1),
]
