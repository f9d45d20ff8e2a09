"""Clocks, their limits, what holds them back, performance states."""

import pynvml

from nvml_client import UINT, ULL, Refused, answer
from truth import Changes, Constant, Ctl, Load, of_device

SM, MEMORY, VIDEO = (pynvml.NVML_CLOCK_SM, pynvml.NVML_CLOCK_MEM,
                     pynvml.NVML_CLOCK_VIDEO)
IDLE, HW_THERMAL = 0x1, 0x40


def clocks(c):
    return [c.call(c.function, c.device, kind, UINT)
            for kind in (SM, MEMORY, VIDEO)]


def boost(c):
    """The highest that a customer may set; only some boards have one."""
    return answer(c.call, c.function, c.device, SM, UINT)


def profile_boost(profile):
    return (profile["sm_clock_max_mhz"]
            if profile["brand"] in ("NVIDIA", "TESLA")
            else Refused("NOT_SUPPORTED"))


ROWS = [
    Changes("nvmlDeviceGetClockInfo", clocks,
            Ctl("set", 0, "sm-clock=1005", "memory-clock=900",
                "video-clock=800"),
            before=[210, 1593, 585], after=[1005, 900, 800]),
    Changes("nvmlDeviceGetClock",
            of_device(SM, pynvml.NVML_CLOCK_ID_CURRENT, UINT),
            Load("train:0,util=100"), before=210, after=1410),
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
]
