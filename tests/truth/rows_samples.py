# SPDX-License-Identifier: Apache-2.0
"""Samples of the last seconds, and engines that only some boards have."""

import ctypes

import pynvml

from nvml_client import UINT, ULL, Refused
from truth import Changes, Ctl, of_device

BIN_US = 166666  # the model's bin, 1/6 s
KINDS = (pynvml.NVML_TOTAL_POWER_SAMPLES, pynvml.NVML_GPU_UTILIZATION_SAMPLES,
         pynvml.NVML_MEMORY_UTILIZATION_SAMPLES,
         pynvml.NVML_ENC_UTILIZATION_SAMPLES,
         pynvml.NVML_DEC_UTILIZATION_SAMPLES,
         pynvml.NVML_PROCESSOR_CLK_SAMPLES, pynvml.NVML_MEMORY_CLK_SAMPLES)
SET = ("power=200W", "utilization=77", "memory-utilization=33", "encoder=4",
       "decoder=5", "sm-clock=1000", "memory-clock=1500")


def samples(client, kind, since=0):
    """[(time stamp, value)], oldest first."""
    kind_of, count = UINT(), UINT(200)
    room = (pynvml.c_nvmlSample_t * 200)()
    code = client.raw(client.function, client.device, kind, ULL(since),
                      ctypes.byref(kind_of), ctypes.byref(count), room)
    if code:
        raise Refused(code)
    assert kind_of.value == pynvml.NVML_VALUE_TYPE_UNSIGNED_INT
    told = [(one.timeStamp, one.sampleValue.uiVal)
            for one in room[:count.value]]
    assert all(now[0] > was[0] for was, now in zip(told, told[1:]))
    return told


def last_of_each(client):
    return [samples(client, kind)[-1][1] for kind in KINDS]


ROWS = [
    Changes("nvmlDeviceGetSamples", last_of_each, Ctl("set", 0, *SET),
            before=lambda told: told[1:5] == [0, 0, 0, 0],
            after=[200000, 77, 33, 4, 5, 1000, 1500]),
    Changes("nvmlDeviceGetJpgUtilization", of_device(UINT, UINT),
            Ctl("set", 0, "jpeg=55"), before=(0, BIN_US), after=(55, BIN_US)),
    Changes("nvmlDeviceGetOfaUtilization", of_device(UINT, UINT),
            Ctl("set", 0, "optical-flow=44"), before=(0, BIN_US),
            after=(44, BIN_US), machine=("--gpus", "h100")),
]
