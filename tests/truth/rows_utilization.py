# SPDX-License-Identifier: Apache-2.0
"""How busy the engines of a device are."""

import pynvml

from nvml_client import UINT
from truth import Changes, Ctl, of_device

BIN_US = 166666  # the model's bin, 1/6 s

ROWS = [
    Changes("nvmlDeviceGetUtilizationRates",
            of_device(pynvml.c_nvmlUtilization_t),
            Ctl("set", 0, "utilization=77", "memory-utilization=33"),
            before={"gpu": 0, "memory": 0}, after={"gpu": 77, "memory": 33}),
    Changes("nvmlDeviceGetEncoderUtilization", of_device(UINT, UINT),
            Ctl("set", 0, "encoder=55"), before=(0, BIN_US),
            after=(55, BIN_US)),
    Changes("nvmlDeviceGetDecoderUtilization", of_device(UINT, UINT),
            Ctl("set", 0, "decoder=44"), before=(0, BIN_US),
            after=(44, BIN_US)),
]
