# SPDX-License-Identifier: Apache-2.0
"""How GPUs are connected, and what of the host is near them."""

import ctypes
import os

import pynvml

from nvml_client import UINT, Refused
from truth import Another, Changes, Ctl, Does

DEVICE = pynvml.c_nvmlDevice_t
ULONG = ctypes.c_ulong
WORDS = 16
ONE, FOUR = ("--gpus", "t4"), ("--gpus", "t4:4")
SINGLE, HOSTBRIDGE, SYSTEM = 10, 30, 50
OK, NOT_SUPPORTED = 0, 5
NVLINK = pynvml.NVML_P2P_CAPS_INDEX_NVLINK


def online():
    """The processors of the host, from lists such as "0-3,6"."""
    with open("/sys/devices/system/cpu/online", encoding="ascii") as file:
        ends = [part.split("-") for part in file.read().split(",")]
    return [cpu for end in ends
            for cpu in range(int(end[0]), int(end[-1]) + 1)]


def allowed():
    """The processors on which a thread may run, whatever it was bound to."""
    bound_to = os.sched_getaffinity(0)
    os.sched_setaffinity(0, ONLINE)
    widest = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, bound_to)
    return widest


ONLINE = online()
ALLOWED = allowed()


def first_and_last(*args):
    """Asks about the first and the last GPU of the machine."""
    def ask(c):
        last = c.nvml.nvmlDeviceGetCount() - 1
        return c.call(c.function, c.handle(0), c.handle(last), *args)
    return ask


def devices(c, *args):
    """Indices of the GPUs that function(ARG..., &count, handles) returns."""
    count = c.call(c.function, *args, UINT, None)
    room = (DEVICE * max(count, 1))()
    told = UINT(count)
    code = c.raw(c.function, *args, ctypes.byref(told), room)
    if code:
        raise Refused(code)
    assert told.value == count
    return [c.call("nvmlDeviceGetIndex", one, UINT) for one in room[:count]]


def bits(words):
    return [i for i in range(64 * len(words)) if words[i // 64] >> i % 64 & 1]


def last(c):
    return c.handle(c.nvml.nvmlDeviceGetCount() - 1)


def near_last(*more):
    """The processors or nodes near the last GPU."""
    def ask(c):
        return bits(c.call(c.function, last(c), WORDS, (ULONG * WORDS)(),
                           *more))
    return ask


def half(cpus):
    """The processors of the second of two nodes."""
    return cpus[len(cpus) // 2:]


def bound(c):
    """Where this thread may run after the call, in a child."""
    def bind():
        c.call(c.function, last(c))
        return sorted(os.sched_getaffinity(0))
    return c.being("root" if os.geteuid() == 0 else "nobody", bind)


def unbound(c):
    """Where a thread bound to one processor may run, after the call if that was
    made."""
    def clear():
        os.sched_setaffinity(0, ALLOWED[:1])
        if "clear" in c.keep:
            c.call(c.function, c.device)
        return sorted(os.sched_getaffinity(0))
    return c.being("root" if os.geteuid() == 0 else "nobody", clear)


ROWS = [
    Changes("nvmlDeviceGetTopologyCommonAncestor", first_and_last(UINT),
            Another("--gpus", "t4:8"), machine=("--gpus", "t4:2"),
            before=SINGLE, after=SYSTEM),
    Changes("nvmlDeviceGetTopologyNearestGpus",
            lambda c: devices(c, c.device, HOSTBRIDGE),
            Another("--gpus", "h100:8", "--topology", "mesh"),
            machine=("--gpus", "h100:8"), before=[], after=[2, 3]),
    Changes("nvmlSystemGetTopologyGpuSet",
            lambda c: devices(c, ONLINE[0]),
            Another("--gpus", "t4:3"), machine=ONE,
            before=[0], after=[0, 1, 2]),
    Changes("nvmlDeviceOnSameBoard", first_and_last(ctypes.c_int),
            Another(*FOUR), machine=ONE, before=1, after=0),
    Changes("nvmlDeviceGetP2PStatus", first_and_last(NVLINK, UINT),
            Ctl("set", 1, "nvlink.all.state=down"),
            machine=("--gpus", "rtx-3090:2"), before=OK,
            after=NOT_SUPPORTED),
    Changes("nvmlDeviceGetCpuAffinity", near_last(), Another(*FOUR),
            machine=ONE, before=ONLINE, after=half(ONLINE)),
    Changes("nvmlDeviceGetCpuAffinityWithinScope", near_last(0),
            Another(*FOUR), machine=ONE, before=ONLINE, after=half(ONLINE)),
    Changes("nvmlDeviceGetMemoryAffinity", near_last(0), Another(*FOUR),
            machine=ONE, before=[0], after=[1]),
    Changes("nvmlDeviceSetCpuAffinity", bound, Another(*FOUR),
            machine=ONE, before=ALLOWED,
            after=[cpu for cpu in half(ONLINE) if cpu in ALLOWED]),
    Changes("nvmlDeviceClearCpuAffinity", unbound,
            Does(lambda c: c.keep.update(clear=True)),
            before=ALLOWED[:1], after=ALLOWED),
]
