# SPDX-License-Identifier: Apache-2.0
"""Power, its limits, energy."""

import time

import pynvml

from nvml_client import UINT, ULL, Refused, made, structure, versioned
from rows_modes import get, put
from truth import Changes, Constant, Ctl, Sets, of_device

B200 = ("--gpus", "b200")
BUSY = "train:0,util=100"
MAX_Q, COMPUTE, NETWORK = (pynvml.NVML_POWER_PROFILE_MAX_Q,
                           pynvml.NVML_POWER_PROFILE_COMPUTE,
                           pynvml.NVML_POWER_PROFILE_NETWORK)
CURRENT = versioned(pynvml.c_nvmlWorkloadPowerProfileCurrentProfiles_v1_t, 1)
PROFILES = versioned(pynvml.c_nvmlWorkloadPowerProfileProfilesInfo_v1_t, 1)
UPDATE = structure(("operation", UINT), ("mask", UINT * 8))
POWER_V2 = made(structure(("version", UINT), ("scope", UINT), ("mw", UINT)),
                version=12 | 2 << 24, mw=300000)
LIMIT = get("nvmlDeviceGetEnforcedPowerLimit", UINT)
DRAW = get("nvmlDeviceGetPowerUsage", UINT)

LOWER_LIMIT = Ctl("set", 0, "power-limit=300W")

def watts(c):
    """The mean over half a second, which is three bins of the model."""
    readings = []
    for pause in (0.5, 0):
        readings.append((c.call(c.function, c.device, ULL),
                         time.monotonic()))
        time.sleep(pause)
    (first, began), (last, ended) = readings
    return (last - first) / (ended - began) / 1000


def bits(*profiles):
    return sum(1 << one for one in profiles)


def asked(*profiles):
    """The struct that requests power profiles."""
    def make():
        one = versioned(
            pynvml.c_nvmlWorkloadPowerProfileRequestedProfiles_v1_t, 1)()
        one.requestedProfilesMask.mask[0] = bits(*profiles)
        return one
    return make


def updated(operation, *profiles):
    def make():
        one = UPDATE(operation=operation)
        one.mask[0] = bits(*profiles)
        return one
    return make


def current(c):
    """The requested and the enforced profiles."""
    told = CURRENT()
    c.call("nvmlDeviceWorkloadPowerProfileGetCurrentProfiles", c.device, told)
    return (told.requestedProfilesMask.mask[0],
            told.enforcedProfilesMask.mask[0])


def profile_count(c):
    """The number of profiles; checks that conflicts are mutual."""
    told = PROFILES()
    c.call(c.function, c.device, told)
    there = {one.profileId: one.conflictingmask.mask[0]
             for at, one in enumerate(told.perfProfile[:32])
             if told.perfProfilesMask.mask[0] >> at & 1}
    assert all(there[other] >> one & 1 for one, bad in there.items()
               for other in there if bad >> other & 1)
    return len(there)


def smoothing(name, profile=0):
    """A field of power smoothing."""
    return field(f"PWR_SMOOTHING_{name}", profile)


def field(name, scope=0):
    """A field of the whole GPU."""
    number = getattr(pynvml, f"NVML_FI_{name}")
    return lambda c: c.nvml.nvmlDeviceGetFieldValues(
        c.device, [(number, scope)])[0].value.uiVal


def limits(profile):
    found = profile["power_min_mw"], profile["power_max_mw"]
    return Refused("NOT_SUPPORTED") if "none" in found else found


LIMIT_FIELD = field("DEV_POWER_CURRENT_LIMIT")


def draw_and_limit(c):
    return LIMIT(c), DRAW(c) <= LIMIT(c) + 5000


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
             expect=limits),
    # 62 W at rest; one bin more or less changes that by a third.
    Changes("nvmlDeviceGetTotalEnergyConsumption", watts,
            Ctl("set", 0, "power=1kW"), before=lambda w: 30 < w < 100,
            after=lambda w: 600 < w < 1400),
    Sets("nvmlDeviceSetPowerManagementLimit", put(250000), draw_and_limit,
         load=BUSY, before=(400000, True), after=(250000, True)),
    Sets("nvmlDeviceSetPowerManagementLimit_v2", put(POWER_V2), LIMIT,
         before=400000, after=300000),
    Changes("nvmlDeviceGetPowerSource", of_device(UINT),
            Ctl("set", 0, "power-source=2"), before=0, after=2),
    # workload power profiles
    Constant("nvmlDeviceWorkloadPowerProfileGetProfilesInfo",
             profile_count,
             expect=lambda p: 15 if p["compute_major"] >= 10
             else Refused("NOT_SUPPORTED")),
    Changes("nvmlDeviceWorkloadPowerProfileGetCurrentProfiles", current,
            Ctl("set", 0, f"power-profiles={bits(COMPUTE, NETWORK)}"),
            machine=B200, before=(0, 0),
            after=(bits(COMPUTE, NETWORK), bits(COMPUTE))),
    # A profile that saves power lowers the effective limit.
    Sets("nvmlDeviceWorkloadPowerProfileSetRequestedProfiles",
         put(asked(MAX_Q)), lambda c: (current(c), LIMIT(c), LIMIT_FIELD(c)),
         machine=B200, before=((0, 0), 1000000, 1000000),
         after=((2, 2), 800000, 800000)),
    Sets("nvmlDeviceWorkloadPowerProfileClearRequestedProfiles",
         put(asked(NETWORK)), current, machine=B200,
         given=[Ctl("set", 0, f"power-profiles={bits(MAX_Q, NETWORK)}")],
         before=(bits(MAX_Q, NETWORK),) * 2, after=(bits(MAX_Q),) * 2),
    Sets("nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1",
         put(updated(2, COMPUTE)), current, machine=B200, driver="590",
         given=[Ctl("set", 0, f"power-profiles={bits(NETWORK)}")],
         before=(bits(NETWORK),) * 2, after=(bits(COMPUTE),) * 2),
    # power smoothing
    Sets("nvmlDevicePowerSmoothingSetState",
         put(made(pynvml.c_nvmlPowerSmoothingState_v1_t, state=1,
                  version=pynvml.nvmlPowerSmoothingState_v1)),
         smoothing("ENABLED"), machine=B200, before=0, after=1),
    Sets("nvmlDevicePowerSmoothingActivatePresetProfile",
         put(made(pynvml.c_nvmlPowerSmoothingProfile_v1_t, profileId=3,
                  version=pynvml.nvmlPowerSmoothingProfile_v1)),
         smoothing("ACTIVE_PRESET_PROFILE"), machine=B200, before=0, after=3),
    Sets("nvmlDevicePowerSmoothingUpdatePresetProfileParam",
         put(made(pynvml.c_nvmlPowerSmoothingProfile_v1_t, profileId=2,
                  paramId=0, value=62.0,
                  version=pynvml.nvmlPowerSmoothingProfile_v1)),
         smoothing("PROFILE_PERCENT_TMP_FLOOR", 2), machine=B200, before=50,
         after=62),
]
