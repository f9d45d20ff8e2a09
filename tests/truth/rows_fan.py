# SPDX-License-Identifier: Apache-2.0
"""Fans: how fast they turn, and who controls them."""

import pynvml

from nvml_client import UINT, Refused, made
from rows_modes import get, put
from truth import Changes, Constant, Ctl, Sets, of_device

FANNED = ("--gpus", "rtx-4090")
MANUAL, AUTOMATIC = (pynvml.NVML_FAN_POLICY_MANUAL,
                     pynvml.NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW)
BY_HAND = [Ctl("set", 0, "fan-target=60")]
POLICY = get("nvmlDeviceGetFanControlPolicy_v2", 0, UINT)
SPEED = get("nvmlDeviceGetFanSpeed_v2", 1, UINT)
RPM = made(pynvml.c_nvmlFanSpeedInfo_t, fan=1,
           version=pynvml.nvmlFanSpeedInfo_v1)
COOLER = made(pynvml.c_nvmlCoolerInfo_t, index=0,
              version=pynvml.nvmlCoolerInfo_v1)


def if_fans(told):
    """Boards with fans report this; the others refuse."""
    return lambda profile: told(profile) if profile["fans"] \
        else Refused("NOT_SUPPORTED")


ROWS = [
    Changes("nvmlDeviceGetFanSpeed", of_device(UINT),
            Ctl("set", 0, "fan=77"), machine=FANNED, before=0, after=77),
    Changes("nvmlDeviceGetFanSpeed_v2", of_device(1, UINT),
            Ctl("set", 0, "fan-target=50"), machine=FANNED, before=0,
            after=50),
    Changes("nvmlDeviceGetTargetFanSpeed", of_device(1, UINT),
            Ctl("set", 0, "temperature=80"), machine=FANNED, before=0,
            after=lambda percent: percent > 40),
    Changes("nvmlDeviceGetFanSpeedRPM",
            of_device(RPM, pick=lambda told: told["speed"]),
            Ctl("set", 0, "fan=50"), machine=FANNED, before=0,
            after=lambda rpm: rpm > 1000),
    Constant("nvmlDeviceGetMinMaxFanSpeed", of_device(UINT, UINT),
             expect=if_fans(lambda p: (p["fan_min_percent"], 100))),
    Constant("nvmlDeviceGetCoolerInfo",
             of_device(COOLER, pick=lambda told: (told["coolerControlType"],
                                                  told["coolerTarget"])),
             expect=if_fans(lambda _: (
                 pynvml.NVML_THERMAL_COOLER_SIGNAL_VARIABLE,
                 pynvml.NVML_THERMAL_COOLER_TARGET_GPU_RELATED))),
    Changes("nvmlDeviceGetFanControlPolicy_v2", of_device(0, UINT), BY_HAND,
            machine=FANNED, before=AUTOMATIC, after=MANUAL),
    Sets("nvmlDeviceSetFanControlPolicy", put(0, MANUAL), POLICY,
         machine=FANNED, before=AUTOMATIC, after=MANUAL),
    Sets("nvmlDeviceSetFanSpeed_v2", put(0, 45),
         lambda c: (POLICY(c), SPEED(c)), machine=FANNED,
         before=(AUTOMATIC, 0), after=(MANUAL, 45)),
    Sets("nvmlDeviceSetDefaultFanSpeed_v2", put(0), POLICY, given=BY_HAND,
         machine=FANNED, before=MANUAL, after=AUTOMATIC),
]
