# SPDX-License-Identifier: Apache-2.0
"""The modes of a device that root sets."""

import ctypes

import pynvml

from nvml_client import UINT, made
from truth import Changes, Ctl, Sets, of_device

APP_CLOCKS = pynvml.NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS
CARD = ("--gpus", "rtx-5090")
MIZER = pynvml.c_nvmlDevicePowerMizerModes_v1_t
HIGHEST = pynvml.NVML_POWER_MIZER_MODE_PREFER_MAXIMUM_PERFORMANCE


def get(name, *results):
    """Calls another function than the row's."""
    return lambda c: c.call(name, c.device, *(results or (UINT,)))


def put(*args):
    """Calls the row's function with these arguments; a callable among them
    makes a new struct."""
    return lambda c: c.call(c.function, c.device, *(
        ctypes.byref(arg()) if callable(arg) else arg for arg in args))


def encryption(state=0):
    return made(pynvml.c_nvmlDramEncryptionInfo_t, encryptionState=state,
                version=pynvml.nvmlDramEncryptionInfo_v1)


def encryption_modes(c):
    """Current, pending."""
    told = c.call("nvmlDeviceGetDramEncryptionMode", c.device, encryption()(),
                  encryption()())
    return [one["encryptionState"] for one in told]


ROWS = [
    Sets("nvmlDeviceSetPersistenceMode", put(0),
         get("nvmlDeviceGetPersistenceMode"), before=1, after=0),
    Sets("nvmlDeviceSetComputeMode",
         put(pynvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS),
         get("nvmlDeviceGetComputeMode"), before=0, after=3),
    Changes("nvmlDeviceGetAPIRestriction", of_device(APP_CLOCKS, UINT),
            Ctl("set", 0, "open-application-clocks=1"), before=1, after=0),
    Sets("nvmlDeviceSetAPIRestriction", put(APP_CLOCKS, 0),
         get("nvmlDeviceGetAPIRestriction", APP_CLOCKS, UINT),
         before=1, after=0),
    Changes("nvmlDeviceGetDramEncryptionMode", encryption_modes,
            [Ctl("set", 0, "dram-encryption-pending=1"),
             Ctl("reset-gpu", 0),
             Ctl("set", 0, "dram-encryption-pending=0")],
            machine=CARD, before=[0, 0], after=[1, 0]),
    Sets("nvmlDeviceSetDramEncryptionMode", put(encryption(1)),
         encryption_modes, machine=CARD, before=[0, 0], after=[0, 1]),
    Changes("nvmlDeviceGetPowerMizerMode_v1",
            of_device(MIZER, pick=lambda told: told["currentMode"]),
            Ctl("set", 0, "power-mizer=2"), before=0, after=2),
    # The highest clocks are held although nothing runs.
    Sets("nvmlDeviceSetPowerMizerMode_v1", put(made(MIZER, mode=HIGHEST)),
         get("nvmlDeviceGetClockInfo", pynvml.NVML_CLOCK_SM, UINT),
         before=210, after=1410),
]
