# SPDX-License-Identifier: Apache-2.0
"""Clocks, their limits, what reduces them, performance states."""

import ctypes

import pynvml

from nvml_client import INT, UINT, ULL, Refused, answer, made, structure
from rows_modes import get, put
from truth import (Changes, Constant, Ctl, Load, Sets, if_known, of_device)

SM, MEMORY, VIDEO = (pynvml.NVML_CLOCK_SM, pynvml.NVML_CLOCK_MEM,
                     pynvml.NVML_CLOCK_VIDEO)
IDLE, HW_THERMAL = 0x1, 0x40


def clocks(c):
    return [c.call(c.function, c.device, kind, UINT)
            for kind in (SM, MEMORY, VIDEO)]


def boost(c):
    """The highest clock that a customer may set; only some boards have one."""
    return answer(c.call, c.function, c.device, SM, UINT)


def profile_boost(profile):
    return (profile["sm_clock_max_mhz"]
            if profile["brand"] in ("NVIDIA", "TESLA")
            else Refused("NOT_SUPPORTED"))


GEFORCE = ("--gpus", "rtx-4090")
BUSY = "train:0,util=100"
GRAPHICS = pynvml.NVML_CLOCK_GRAPHICS
SM_NOW = get("nvmlDeviceGetClockInfo", SM, UINT)
MEMORY_NOW = get("nvmlDeviceGetClockInfo", MEMORY, UINT)
APP_SM = get("nvmlDeviceGetApplicationsClock", SM, UINT)
APP_MEMORY = get("nvmlDeviceGetApplicationsClock", MEMORY, UINT)
LOCK_1005 = Ctl("set", 0, "sm-clock-lock-min=1005", "sm-clock-lock-max=1005")
APPS_1005 = Ctl("set", 0, "application-sm-clock=1005")
PERF_TEXT = structure(("version", UINT), ("text", ctypes.c_char * 2048),
                      version=1)
VIOLATION = pynvml.c_nvmlViolationTime_t
OFFSET = pynvml.c_nvmlClockOffset_t


def memory_of_applications(profile):
    """GeForce boards have no applications clocks."""
    if profile["brand"] == "GEFORCE":
        return Refused("NOT_SUPPORTED")
    return if_known("memory_clock_max_mhz")(profile)


def offset_of(clock, mhz=0):
    return made(OFFSET, type=clock, pstate=0, clockOffsetMHz=mhz,
                version=pynvml.nvmlClockOffset_v1)


def all_clocks(c):
    """For each clock id: current, requested, default, highest."""
    return [c.call(c.function, c.device, SM, which, UINT)
            for which in range(4)]


# Memory clocks of boards whose captures list others than those of the profile,
# and the step of graphics clocks of boards with another one than 15 MHz.
LISTED = {0x233010de: [2619, 1593], 0x290110de: [3996, 3402],
          0x27b010de: [7001, 6801, 5001, 810, 405], 0x26b910de: [9001, 405]}
HALVES = {10}  # compute capability


def profile_graphics(profile):
    """From the highest clock to the one at rest, in steps of 15 or 7.5 MHz."""
    if profile["compute_major"] in HALVES:
        least, most = (2 * profile[f"sm_clock_{kind}_mhz"]
                       for kind in ("idle", "max"))
        most += (most - least) % 15 == 14
        return [at // 2 for at in range(most, least - 1, -15)]
    return list(range(profile["sm_clock_max_mhz"],
                      profile["sm_clock_idle_mhz"] - 1, -15))


def clocks_listed(*args):
    """A list of clocks, from a function that is called twice."""
    def ask(c):
        return c.records(c.function, UINT, c.device, *(
            arg(c) if callable(arg) else arg for arg in args))
    return ask


def highest_memory(c):
    return c.call("nvmlDeviceGetMaxClockInfo", c.device, MEMORY, UINT)


def profile_memory(profile):
    """The highest first, without duplicates."""
    if profile["pci_device_id"] in LISTED:
        return LISTED[profile["pci_device_id"]]
    return sorted({profile[f"memory_clock_{kind}_mhz"]
                   for kind in ("max", "busy", "idle")}, reverse=True)


def pstates(c):
    told = c.call(c.function, c.device, (UINT * 16)(), 64)
    return [state for state in told if state != pynvml.NVML_PSTATE_UNKNOWN]


def profile_pstates(profile):
    return sorted({0, profile["pstate_busy"], profile["pstate_idle"]})


def percentages(c):
    """GPU, memory, video, bus."""
    told = pynvml.c_nvmlGpuDynamicPstatesInfo_t()
    c.call(c.function, c.device, told)
    return [one.percentage for one in told.utilization[:3]]


def clock_faults(c):
    told = pynvml.nvmlClkMonStatus_t()
    c.call(c.function, c.device, told)
    return [told.bGlobalStatus] + [
        one.clkApiDomain for one in told.clkMonList[:told.clkMonListSize]]


def tokens(text):
    """The pairs of a text such as "perf=0, nvclock=210 ;" as a list."""
    return [dict(pair.strip().split("=") for pair in part.split(","))
            for part in text.split(";") if part.strip()]


def perf_text(pick):
    """The value that pick makes from the tokens of the function's text."""
    return of_device(PERF_TEXT, pick=lambda told: pick(tokens(told["text"])))



ROWS = [
    Changes("nvmlDeviceGetClockInfo", clocks,
            Ctl("set", 0, "sm-clock=1005", "memory-clock=900",
                "video-clock=800"),
            before=[210, 1593, 585], after=[1005, 900, 800]),
    Constant("nvmlDeviceGetMaxClockInfo", clocks,
             expect=lambda p: [p["sm_clock_max_mhz"], p["memory_clock_max_mhz"],
                               p["video_clock_max_mhz"]]),
    Constant("nvmlDeviceGetMaxCustomerBoostClock", boost,
             expect=profile_boost),
    Changes("nvmlDeviceGetCurrentClocksEventReasons", of_device(ULL),
            Ctl("set", 0, "temperature=91"), load="train:0,util=100",
            before=0, after=lambda bits: bits & HW_THERMAL),
    Changes("nvmlDeviceGetCurrentClocksThrottleReasons", of_device(ULL),
            Load("train:0,util=100"), before=IDLE,
            after=lambda bits: not bits & IDLE),
    Changes("nvmlDeviceGetPerformanceState", of_device(UINT),
            Load("train:0"), machine=("--gpus", "t4"), before=8, after=0),
    Changes("nvmlDeviceGetPowerState", of_device(UINT),
            Load("train:0"), machine=("--gpus", "t4"), before=8, after=0),
    # everything about clocks
    Changes("nvmlDeviceGetClock", all_clocks, [APPS_1005, Load(BUSY)],
            before=[210, 1140, 1140, 1410], after=[1005, 1005, 1140, 1410]),
    Constant("nvmlDeviceGetSupportedMemoryClocks", clocks_listed(),
             expect=profile_memory),
    Constant("nvmlDeviceGetSupportedGraphicsClocks",
             clocks_listed(highest_memory), expect=profile_graphics),
    Constant("nvmlDeviceGetSupportedPerformanceStates", pstates,
             expect=profile_pstates),
    Constant("nvmlDeviceGetMinMaxClockOfPState", of_device(SM, 0, UINT, UINT),
             expect=lambda p: (p["sm_clock_idle_mhz"],
                               p["sm_clock_max_mhz"])),
    Changes("nvmlDeviceGetPerformanceModes",
            perf_text(lambda levels: [one["nvclockmax"] for one in levels]),
            Ctl("set", 0, "sm-clock-offset=100"), machine=GEFORCE,
            before=["420", "3105", "3105"], after=["520", "3205", "3205"]),
    Changes("nvmlDeviceGetCurrentClockFreqs",
            perf_text(lambda told: (told[0]["nvclock"], told[0]["memclock"])),
            Ctl("set", 0, "sm-clock=1005", "memory-clock=900"),
            before=("210", "1593"), after=("1005", "900")),
    Changes("nvmlDeviceGetDynamicPstatesInfo", percentages,
            Ctl("set", 0, "utilization=70", "memory-utilization=30",
                "decoder=20"), before=[0, 0, 0], after=[70, 30, 20]),
    Changes("nvmlDeviceGetAdaptiveClockInfoStatus", of_device(UINT),
            Ctl("set", 0, "adaptive-clocking=1"), before=0, after=1),
    Changes("nvmlDeviceGetViolationStatus",
            of_device(pynvml.NVML_PERF_POLICY_POWER, VIOLATION,
                      pick=lambda told: told["violationTime"]),
            Ctl("set", 0, "power-limit=150W"), load=BUSY, before=0,
            after=lambda ns: ns > 100_000_000),
    # locked clocks
    Sets("nvmlDeviceSetGpuLockedClocks", put(900, 1005), SM_NOW, load=BUSY,
         before=1410, after=1005),
    Sets("nvmlDeviceResetGpuLockedClocks", put(), SM_NOW, load=BUSY,
         given=[LOCK_1005], before=1005, after=1410),
    Sets("nvmlDeviceSetMemoryLockedClocks", put(405, 405), MEMORY_NOW,
         machine=GEFORCE, load=BUSY, before=10251, after=405),
    Sets("nvmlDeviceResetMemoryLockedClocks", put(), MEMORY_NOW,
         machine=GEFORCE, load=BUSY,
         given=[Ctl("set", 0, "memory-clock-lock-max=5001")],
         before=5001, after=10251),
    # applications clocks
    Changes("nvmlDeviceGetApplicationsClock", of_device(SM, UINT), APPS_1005,
            before=1140, after=1005),
    Constant("nvmlDeviceGetDefaultApplicationsClock",
             of_device(MEMORY, UINT), expect=memory_of_applications),
    Sets("nvmlDeviceSetApplicationsClocks", put(1593, 1005),
         lambda c: (APP_SM(c), SM_NOW(c)), load=BUSY,
         before=(1140, 1410), after=(1005, 1005)),
    Sets("nvmlDeviceResetApplicationsClocks", put(), APP_SM,
         given=[APPS_1005], before=1005, after=1140),
    # offsets
    Changes("nvmlDeviceGetClockOffsets",
            of_device(offset_of(GRAPHICS),
                      pick=lambda told: told["clockOffsetMHz"]),
            Ctl("set", 0, "sm-clock-offset=60"), machine=GEFORCE, before=0,
            after=60),
    Sets("nvmlDeviceSetClockOffsets", put(offset_of(MEMORY, 500)), MEMORY_NOW,
         machine=GEFORCE, load=BUSY, before=10251, after=10751),
    Changes("nvmlDeviceGetGpcClkVfOffset", of_device(INT),
            Ctl("set", 0, "sm-clock-offset=-60"), machine=GEFORCE,
            before=0, after=-60),
    Changes("nvmlDeviceGetMemClkVfOffset", of_device(INT),
            Ctl("set", 0, "memory-clock-offset=-60"), machine=GEFORCE,
            before=0, after=-60),
    Sets("nvmlDeviceSetGpcClkVfOffset", put(-150), SM_NOW, load=BUSY,
         machine=GEFORCE, before=2745, after=2595),
    Sets("nvmlDeviceSetMemClkVfOffset", put(300), MEMORY_NOW, load=BUSY,
         machine=GEFORCE, before=10251, after=10551),
    Constant("nvmlDeviceGetGpcClkMinMaxVfOffset", of_device(INT, INT),
             expect=lambda p: (-1000, 1000) if p["fans"] else (0, 0)),
    Constant("nvmlDeviceGetMemClkMinMaxVfOffset", of_device(INT, INT),
             expect=lambda p: (-2000, 6000) if p["fans"] else (0, 0)),
    Changes("nvmlDeviceGetClkMonStatus", clock_faults,
            Ctl("set", 0, "clock-monitor-faults=5", "permission=all"),
            given=[Ctl("set", "permission=all")],
            before=[0], after=[1, 1, 4]),
]
