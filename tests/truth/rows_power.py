"""Power, its limits, energy."""

from nvml_client import UINT, ULL
from truth import Changes, Constant, Ctl, of_device

LOWER_LIMIT = Ctl("set", 0, "power-limit=300W")

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
    # A second of rest is 62 J, of full power 390 J.
    Changes("nvmlDeviceGetTotalEnergyConsumption", of_device(ULL),
            Ctl("set", 0, "power=2kW"), before=lambda mj: mj < 300e3,
            after=lambda mj: mj > 900e3),
]
