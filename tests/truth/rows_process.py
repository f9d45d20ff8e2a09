"""Who is on a device, and how busy."""

import ctypes

import pynvml

from nvml_client import UINT, ULL, Refused, Text, structure
from truth import Changes, Load, LoadEnds, of_device

MIB = 1 << 20
INFO_V1 = structure(("pid", UINT), ("usedGpuMemory", ULL))
INFO_V2 = pynvml.c_nvmlProcessInfo_v2_t
SAMPLE = pynvml.c_nvmlProcessUtilizationSample_t
TWO_GIB = Load("train:0,mem=2GiB")
THEIRS = [("gpukit-load", 2048)]


def program_of(pid):
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        return file.read().split("\0")[0]


def holders(records):
    """(program, MiB) of each."""
    return [(program_of(one["pid"]), one["usedGpuMemory"] // MIB)
            for one in records]


def listed(record):
    return lambda c: holders(c.records(c.function, record, c.device))


def details(c):
    return holders({"pid": one.pid, "usedGpuMemory": one.usedGpuMemory}
                   for one in c.nvml.nvmlDeviceGetRunningProcessDetailList(
                       c.device, pynvml.nvmlProcessDetailList_v1,
                       pynvml.NVML_PROCESS_MODE_COMPUTE))


def name_of_first(c):
    """The name of the first process that is ever there, asked for again."""
    there = c.nvml.nvmlDeviceGetComputeRunningProcesses(c.device)
    if "pid" not in c.keep and not there:
        raise Refused("NO_DATA")
    c.keep.setdefault("pid", there[0].pid if there else None)
    return c.call(c.function, c.keep["pid"], Text())


def busy(c):
    """SM percent of each process since ever."""
    count, room = UINT(64), (SAMPLE * 64)()
    code = c.raw(c.function, c.device, room, ctypes.byref(count), ULL(0))
    if code:
        raise Refused(code)
    return [one.smUtil for one in room[:count.value]]


ROWS = [
    Changes("nvmlDeviceGetComputeRunningProcesses", listed(INFO_V1), TWO_GIB,
            before=[], after=THEIRS),
    Changes("nvmlDeviceGetComputeRunningProcesses_v2", listed(INFO_V2),
            TWO_GIB, before=[], after=THEIRS),
    Changes("nvmlDeviceGetComputeRunningProcesses_v3", listed(INFO_V2),
            TWO_GIB, before=[], after=THEIRS),
    Changes("nvmlDeviceGetRunningProcessDetailList", details, TWO_GIB,
            before=[], after=THEIRS),
    Changes("nvmlSystemGetProcessName", name_of_first, LoadEnds(),
            load="train:0,mem=2GiB", before="gpukit-load",
            after=Refused("NOT_FOUND")),
    Changes("nvmlDeviceGetProcessUtilization", busy, Load("train:0,util=100"),
            before=Refused("NOT_FOUND"),
            after=lambda told: len(told) == 1 and told[0] > 10),
]
