# SPDX-License-Identifier: Apache-2.0
"""Temperatures and their thresholds."""

import ctypes

import pynvml

from nvml_client import INT, UINT, answer, structure
from truth import Changes, Constant, Ctl, Sets, if_known, of_device

TEMPERATURE = structure(("version", UINT), ("sensorType", INT),
                        ("temperature", INT), version=1)
GEFORCE = ("--gpus", "rtx-4090")
MARGIN = structure(("version", UINT), ("margin", INT), version=1)
TARGET = pynvml.NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR
GPU, MEMORY, ALL = (pynvml.NVML_THERMAL_TARGET_GPU,
                    pynvml.NVML_THERMAL_TARGET_MEMORY,
                    pynvml.NVML_THERMAL_TARGET_ALL)
THRESHOLDS = {"SHUTDOWN": "shutdown", "SLOWDOWN": "slowdown",
              "GPU_MAX": "max_operating"}
MORE = ("MEM_MAX", "ACOUSTIC_CURR")


def thresholds(c):
    """The thresholds of the core, of the memory, and the target; a board may
    lack the last two."""
    kinds = [getattr(pynvml, f"NVML_TEMPERATURE_THRESHOLD_{kind}")
             for kind in (*THRESHOLDS, *MORE)]
    return [answer(c.call, c.function, c.device, kind, UINT)
            for kind in kinds]


def profile_thresholds(profile):
    keys = [*(f"temperature_{key}_c" for key in THRESHOLDS.values()),
            "memory_temperature_max_c", "temperature_target_c"]
    return [if_known(key)(profile) for key in keys]


def sensors(c):
    """The target of each sensor, and its temperature."""
    told = pynvml.c_nvmlGpuThermalSettings_t()
    c.call(c.function, c.device, ALL, told)
    return [(one.target, one.currentTemp)
            for one in told.sensor[:told.count]]


ROWS = [
    Changes("nvmlDeviceGetTemperature", of_device(0, UINT),
            Ctl("set", 0, "temperature=95"), before=31, after=95),
    Changes("nvmlDeviceGetTemperatureV",
            of_device(TEMPERATURE, pick=lambda told: told["temperature"]),
            Ctl("set", 0, "temperature=95"), before=31, after=95),
    Constant("nvmlDeviceGetTemperatureThreshold", thresholds,
             expect=profile_thresholds),
    Sets("nvmlDeviceSetTemperatureThreshold",
         lambda c: c.call(c.function, c.device, TARGET,
                          ctypes.byref(INT(70))),
         lambda c: c.call("nvmlDeviceGetTemperatureThreshold", c.device,
                          TARGET, UINT), machine=GEFORCE, before=84, after=70),
    Changes("nvmlDeviceGetMarginTemperature",
            of_device(MARGIN, pick=lambda told: told["margin"]),
            Ctl("set", 0, "temperature=80"), machine=("--gpus", "h200"),
            before=59, after=7),
    Changes("nvmlDeviceGetThermalSettings", sensors,
            Ctl("set", 0, "temperature=80", "memory-temperature=90"),
            before=[(GPU, 31), (MEMORY, 35)], after=[(GPU, 80), (MEMORY, 90)]),
]
