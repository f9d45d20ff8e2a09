"""Power, its limits, energy."""

import time

from nvml_client import UINT, ULL
from truth import Changes, Constant, Ctl, of_device

LOWER_LIMIT = Ctl("set", 0, "power-limit=300W")

def watts(c):
    """The mean of half a second, which is three bins of the model."""
    readings = []
    for pause in (0.5, 0):
        readings.append((c.call(c.function, c.device, ULL),
                         time.monotonic()))
        time.sleep(pause)
    (first, began), (last, ended) = readings
    return (last - first) / (ended - began) / 1000


ROWS = [
    Changes("nvmlDeviceGetPowerUsage", of_device(UINT),
            Ctl("set", 0, "power=250W"), before=62000, after=250000),
    Changes("nvmlDeviceGetPowerManagementLimit", of_device(UINT), LOWER_LIMIT,
            before=400000, after=300000),
    Changes("nvmlDeviceGetEnforcedPowerLimit", of_device(UINT), LOWER_LIMIT,
            before=400000, after=300000),
    Constant("nvmlDeviceGetPowerManagementDefaultLimit", of_device(UINT),
             "power_limit_mw"),
    Constant("nvmlDeviceGetPowerManagementLimitConstraints",
             of_device(UINT, UINT),
             expect=lambda p: (p["power_min_mw"], p["power_max_mw"])),
    # At rest 62 W; a bin more or less is a third of it.
    Changes("nvmlDeviceGetTotalEnergyConsumption", watts,
            Ctl("set", 0, "power=1kW"), before=lambda w: 30 < w < 100,
            after=lambda w: 600 < w < 1400),
]
