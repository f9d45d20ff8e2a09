"""Temperatures and fans."""

import pynvml

from nvml_client import INT, UINT, Refused, answer, structure
from truth import Changes, Constant, Ctl, of_device

TEMPERATURE = structure(("version", UINT), ("sensorType", INT),
                        ("temperature", INT), version=1)
FANNED = ("--gpus", "rtx-4090")
THRESHOLDS = {"SHUTDOWN": "shutdown", "SLOWDOWN": "slowdown",
              "GPU_MAX": "max_operating"}


def thresholds(c):
    """Those of the core, and that of the memory, which a board may lack."""
    kinds = [getattr(pynvml, f"NVML_TEMPERATURE_THRESHOLD_{kind}")
             for kind in (*THRESHOLDS, "MEM_MAX")]
    return [answer(c.call, c.function, c.device, kind, UINT)
            for kind in kinds]


def profile_thresholds(profile):
    memory = profile["memory_temperature_max_c"]
    return [*(profile[f"temperature_{key}_c"] for key in THRESHOLDS.values()),
            Refused("NOT_SUPPORTED") if memory == "none" else memory]


ROWS = [
    Changes("nvmlDeviceGetTemperature", of_device(0, UINT),
            Ctl("set", 0, "temperature=95"), before=31, after=95),
    Changes("nvmlDeviceGetTemperatureV",
            of_device(TEMPERATURE, pick=lambda told: told["temperature"]),
            Ctl("set", 0, "temperature=95"), before=31, after=95),
    Constant("nvmlDeviceGetTemperatureThreshold", thresholds,
             expect=profile_thresholds),
    Changes("nvmlDeviceGetFanSpeed", of_device(UINT),
            Ctl("set", 0, "fan=77"), machine=FANNED, before=0, after=77),
    Changes("nvmlDeviceGetFanSpeed_v2", of_device(1, UINT),
            Ctl("set", 0, "fan=77"), machine=FANNED, before=0, after=77),
]
