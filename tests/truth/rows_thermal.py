"""Temperatures and fans."""

from nvml_client import UINT, INT, structure
from truth import Changes, Ctl, of_device

TEMPERATURE = structure(("version", UINT), ("sensorType", INT),
                        ("temperature", INT), version=1)

ROWS = [
    Changes("nvmlDeviceGetTemperature", of_device(0, UINT),
            Ctl("set", 0, "temperature=95"), before=31, after=95),
    Changes("nvmlDeviceGetTemperatureV",
            of_device(TEMPERATURE, pick=lambda told: told["temperature"]),
            Ctl("set", 0, "temperature=95"), before=31, after=95),
    Changes("nvmlDeviceGetFanSpeed", of_device(UINT),
            Ctl("set", 0, "fan=77"), machine=("--gpus", "rtx-4090"),
            before=30, after=77),
    Changes("nvmlDeviceGetFanSpeed_v2", of_device(1, UINT),
            Ctl("set", 0, "fan=77"), machine=("--gpus", "rtx-4090"),
            before=30, after=77),
]
