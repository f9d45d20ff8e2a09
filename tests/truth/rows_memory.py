# SPDX-License-Identifier: Apache-2.0
"""Device memory, BAR1, confidential memory."""

import pynvml

from nvml_client import made
from truth import Changes, Constant, Ctl, Load, of_device

MIB = 1 << 20
GIB = 1 << 30
TOTAL, RESERVED = 81920 * MIB, 615 * MIB
MEMORY_V2 = made(pynvml.c_nvmlMemory_v2_t, version=pynvml.nvmlMemory_v2)
NO_CARE = {"version": pynvml.nvmlMemory_v2}

ROWS = [
    Changes("nvmlDeviceGetMemoryInfo", of_device(pynvml.c_nvmlMemory_t),
            Ctl("set", 0, "extra-memory=4GiB"),
            before={"total": TOTAL, "used": RESERVED,
                    "free": TOTAL - RESERVED},
            after={"total": TOTAL, "used": RESERVED + 4 * GIB,
                   "free": TOTAL - RESERVED - 4 * GIB}),
    Changes("nvmlDeviceGetMemoryInfo_v2", of_device(MEMORY_V2),
            Load("train:0,mem=2GiB"),
            before=NO_CARE | {"total": TOTAL, "reserved": RESERVED, "used": 0,
                              "free": TOTAL - RESERVED},
            after=NO_CARE | {"total": TOTAL, "reserved": RESERVED,
                             "used": 2 * GIB,
                             "free": TOTAL - RESERVED - 2 * GIB}),
    Changes("nvmlDeviceGetBAR1MemoryInfo",
            of_device(pynvml.c_nvmlBAR1Memory_t),
            Ctl("set", 0, "bar1-used=128MiB"), machine=("--gpus", "t4"),
            before={"bar1Total": 256 * MIB, "bar1Used": MIB,
                    "bar1Free": 255 * MIB},
            after={"bar1Total": 256 * MIB, "bar1Used": 128 * MIB,
                   "bar1Free": 128 * MIB}),
    Constant("nvmlDeviceGetConfComputeMemSizeInfo",
             of_device(pynvml.c_nvmlConfComputeMemSizeInfo_t),
             expect=lambda p: {"protectedMemSizeKib": 0,
                               "unprotectedMemSizeKib":
                               p["memory_mib"] * 1024}),
]
