# SPDX-License-Identifier: Apache-2.0
"""The processes on a device, and how busy it is."""

import ctypes
import os
import signal

import pynvml

from conftest import core_function
from nvml_client import UINT, ULL, Refused, Text, structure, versioned
from truth import Changes, Load, LoadEnds

MIB = 1 << 20
INFO_V1 = structure(("pid", UINT), ("usedGpuMemory", ULL))
INFO_V2 = pynvml.c_nvmlProcessInfo_v2_t
SAMPLE = pynvml.c_nvmlProcessUtilizationSample_t
TWO_GIB = Load("train:0,mem=2GiB")
THEIRS = [("gpukit-load", 2048)]
GRAPHICS, MPS = 2, 4  # of enum gkf_process_type


def program_of(pid):
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        return file.read().split("\0")[0]


def holders(records):
    """(program, MiB) of each process."""
    return [(program_of(one["pid"]), one["usedGpuMemory"] // MIB)
            for one in records]


def listed(record):
    return lambda c: holders(c.records(c.function, record, c.device))


def details(c):
    return holders({"pid": one.pid, "usedGpuMemory": one.usedGpuMemory}
                   for one in c.nvml.nvmlDeviceGetRunningProcessDetailList(
                       c.device, pynvml.nvmlProcessDetailList_v1,
                       pynvml.NVML_PROCESS_MODE_COMPUTE))


class Holder:
    """A process of that type with memory of GPU 0, or of its compute instance
    (GI, CI): like clients that a graphics driver or the MPS server puts there,
    which no load is."""

    def __init__(self, types, wave=b"", mib=64, instance=None):
        self.types, self.wave, self.mib = types, wave, mib
        self.instance = instance

    def apply(self, run):
        ready, tell = os.pipe()
        child = os.fork()
        if not child:
            try:
                self.hold(run.machine.path.encode())
                os.write(tell, b"y")
                signal.pause()
            finally:
                os._exit(1)
        os.close(tell)
        run.client.keep["child"] = child
        run.at_end.append(lambda: end(child))
        with os.fdopen(ready, "rb") as pipe:
            assert pipe.read(1) == b"y", "it could not attach"

    def hold(self, path):
        machine, slot = ctypes.c_void_p(), UINT()
        wave = ctypes.create_string_buffer(self.wave, 256)
        assert core_function("gkf_machine_open")(
            path, ctypes.byref(machine)) == 0
        assert self.attach(machine, wave, ctypes.byref(slot)) == 0
        assert core_function("gkf_books_charge")(
            machine, slot, ULL(self.mib * MIB)) == 0

    def attach(self, machine, wave, slot):
        if not self.instance:
            return core_function("gkf_attach")(machine, 0, self.types, wave,
                                               slot)
        gi, ci = self.instance
        return core_function("gkf_attach_instance")(
            machine, 0, UINT(gi << 16 | ci), self.types, wave, slot)


def end(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def held(record):
    """(whether it is the Holder, MiB) of each process."""
    return lambda c: [(one["pid"] == c.keep.get("child"),
                       one["usedGpuMemory"] // MIB)
                      for one in c.records(c.function, record, c.device)]


def of_type(name, types):
    """The three generations of a list that shows only this type."""
    return [Changes(f"nvmlDeviceGet{name}RunningProcesses{version}",
                    held(record), Holder(types), load="train:0,mem=2GiB",
                    before=[], after=[(True, 64)])
            for version, record in (("", INFO_V1), ("_v2", INFO_V2),
                                    ("_v3", INFO_V2))]


def name_of_first(c):
    """The name of the first process ever seen, asked for again."""
    there = c.nvml.nvmlDeviceGetComputeRunningProcesses(c.device)
    if "pid" not in c.keep and not there:
        raise Refused("NO_DATA")
    c.keep.setdefault("pid", there[0].pid if there else None)
    return c.call(c.function, c.keep["pid"], Text())


def busy(c):
    """The SM percentage of each process over all time."""
    count, room = UINT(64), (SAMPLE * 64)()
    code = c.raw(c.function, c.device, room, ctypes.byref(count), ULL(0))
    if code:
        raise Refused(code)
    return [one.smUtil for one in room[:count.value]]


def busy_of_all_engines(c):
    """The same from the newer function: (SM, JPEG, optical flow)."""
    room = (pynvml.c_nvmlProcessUtilizationInfo_v1_t * 64)()
    info = versioned(pynvml.c_nvmlProcessesUtilizationInfo_v1_t, 1)(
        processSamplesCount=64, procUtilArray=room)
    code = c.raw(c.function, c.device, ctypes.byref(info))
    if code:
        raise Refused(code)
    return [(one.smUtil, one.jpgUtil, one.ofaUtil)
            for one in room[:info.processSamplesCount]]


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
    Changes("nvmlDeviceGetProcessesUtilizationInfo", busy_of_all_engines,
            Load("train:0,util=100,jpg=60,ofa=40"),
            before=Refused("NOT_FOUND"),
            after=lambda told: (len(told) == 1 and
                                told[0][0] > told[0][1] > told[0][2] > 5)),
    *of_type("Graphics", GRAPHICS),
    *of_type("MPSCompute", MPS),
]
