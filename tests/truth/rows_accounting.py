# SPDX-License-Identifier: Apache-2.0
"""The accounts of processes, live and ended."""

import ctypes

import pynvml

from nvml_client import UINT, ULL, Refused, structure
from truth import (Changes, Ctl, Does, Load, LoadEnds, Sets, await_answer,
                   of_device)

GIB = 1 << 30
ON = (Ctl("set", 0, "accounting=1"),)
STATS_V2 = structure(
    ("pid", UINT), ("isRunning", UINT), ("gpuUtilization", UINT),
    ("memoryUtilization", UINT), ("maxMemoryUsage", ULL),
    ("sampleCount", UINT), ("sumGpuUtil", ULL), ("sumFbUtil", ULL),
    ("time", ULL), ("startTime", ULL))
BUSY = "train:0,mem=2GiB,util=90"


def pids(client):
    """The pids that have accounts."""
    count, room = UINT(64), (UINT * 64)()
    code = client.raw("nvmlDeviceGetAccountingPids", client.device,
                      ctypes.byref(count), room)
    if code:
        raise Refused(code)
    return list(room[:count.value])


def of_first(record):
    """The answer of record(client, pid) about the first process ever seen:
    (still running, its time is known, GiB, was busy, since 2020)."""
    def ask(client):
        known = pids(client)
        if "pid" not in client.keep and not known:
            raise Refused("NOT_FOUND")
        told = record(client, client.keep.setdefault("pid", known[0]))
        return (told["isRunning"], told["time"] > 0,
                told["maxMemoryUsage"] // GIB, told["gpuUtilization"] > 5,
                told["startTime"] > 1577836800000000)
    return ask


def stats(client, pid):
    return client.call("nvmlDeviceGetAccountingStats", client.device, pid,
                       pynvml.c_nvmlAccountingStats_t)


def stats_v2(client, pid):
    return client.call("nvmlDeviceGetAccountingStats_v2", client.device,
                       STATS_V2(pid=pid))


def mode(client):
    return client.call("nvmlDeviceGetAccountingMode", client.device, UINT)


def await_one(client):
    """Waits until a process has an account."""
    await_answer(lambda c: len(pids(c)), client, 1, "accounts")


ALIVE, ENDED = (1, False, 2, True, True), (0, True, 2, True, True)

ROWS = [
    Changes("nvmlDeviceGetAccountingMode", mode, ON[0], before=0, after=1),
    Sets("nvmlDeviceSetAccountingMode",
         lambda c: c.call("nvmlDeviceSetAccountingMode", c.device, 1), mode,
         before=0, after=1),
    Changes("nvmlDeviceGetAccountingPids", lambda c: len(pids(c)),
            Load(BUSY), given=ON, before=0, after=1),
    Changes("nvmlDeviceGetAccountingStats", of_first(stats), LoadEnds(),
            given=ON, load=BUSY, before=ALIVE, after=ENDED),
    Changes("nvmlDeviceGetAccountingStats_v2", of_first(stats_v2),
            LoadEnds(), given=ON, load=BUSY, before=ALIVE, after=ENDED,
            driver="610"),
    Sets("nvmlDeviceClearAccountingPids",
         of_device(), lambda c: len(pids(c)),
         given=(*ON, Load(BUSY), Does(await_one), LoadEnds()), before=1, after=0),
]
