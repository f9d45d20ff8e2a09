# SPDX-License-Identifier: Apache-2.0
"""Fields of the structs about processes, their sessions and their accounts."""

from fills_memory import CONFIDENTIAL, ROOM, room_of
from follows import Constant, Fills, Move
from nvml_client import ULL, Refused
from rows_accounting import ON
from rows_encoder import CAPTURES, T4, WAVE
from rows_process import GRAPHICS, MPS, Holder
from structs import filled, listed
from truth import Another, Load, LoadEnds, Waits

MIB = 1 << 20
H100 = ("--gpus", "h100-80gb-hbm3")
NOWHERE = 0xffffffff
SMALL, LARGE = Load("train:0,mem=2GiB"), Load("train:0,mem=4GiB")
SPLIT = (*H100, "--mig", "0=3g.40gb+1g.10gb")
IN_INSTANCE = [Another(*SPLIT), Load("train:0:1")]
VERSIONS = ("", "_v2", "_v3")
NO_VGPU = Constant("the machine is no vGPU host")
NO_CODEC = Constant("not modelled: a load does not say what it encodes")
NO_SCREEN = Constant("not modelled: what is captured has no screen")


def another_holder(types):
    """A process that is listed in place of the first."""
    return [EndsHolder(), Holder(types, mib=128)]


class EndsHolder:  # pylint: disable=too-few-public-methods
    """Ends the process that a Holder started."""

    def apply(self, run):
        run.at_end.pop()()


def compute(version):
    """The fields of the list of each generation of the function."""
    moves = [Move("another process", [LoadEnds(), LARGE], {
        "usedGpuMemory": (2048 * MIB, 4096 * MIB)}, differ="pid",
        given=[SMALL])]
    if version:
        moves.append(Move("it runs in a MIG device", IN_INSTANCE, {
            "gpuInstanceId": (NOWHERE, 7), "computeInstanceId": (NOWHERE, 0)},
            given=[SMALL]))
    return Fills(f"nvmlDeviceGetComputeRunningProcesses{version}", listed(),
                 *moves)


def held(version, name, types):
    """The same for processes that are not loads."""
    moves = [Move("another process", another_holder(types), {
        "usedGpuMemory": (64 * MIB, 128 * MIB)}, differ="pid",
        given=[Holder(types)])]
    if version:
        moves.append(Move("it runs in a MIG device", [
            Another(*SPLIT), Holder(types, instance=(7, 0))], {
                "gpuInstanceId": (NOWHERE, 7),
                "computeInstanceId": (NOWHERE, 0)}, given=[Holder(types)]))
    return Fills(f"nvmlDeviceGet{name}RunningProcesses{version}", listed(),
                 *moves)


def newest_pid(client):
    """The pid of the current process, or of the last one."""
    there = client.nvml.nvmlDeviceGetComputeRunningProcesses(client.device)
    if there:
        client.keep["pid"] = there[0].pid
    if "pid" not in client.keep:
        raise Refused("NOT_FOUND")
    return client.keep["pid"]


def between(low, high):
    return lambda now: low <= now <= high


def account(version, ask, *moves, **more):
    return Fills(f"nvmlDeviceGetAccountingStats{version}", ask, Move(
        "the process ends", LoadEnds(), {
            "isRunning": (1, 0), "time": (0, lambda ms: ms > 0)}),
        Move("another process", [
            LoadEnds(), Load("train:0,mem=4GiB,util=20,membw=5")], {
                "maxMemoryUsage": (2048 * MIB, 4096 * MIB),
                "gpuUtilization": (between(25, 100), between(1, 24)),
                "memoryUtilization": (between(6, 100), between(0, 5))},
             differ="startTime"),
        *moves, given=ON, load="train:0,mem=2GiB,util=90,membw=30", **more)


BUSY = "train:0,mem=1GiB,util=20,membw=5,enc=10,dec=10,jpg=10,ofa=10"
BUSIER = Load("train:0,mem=1GiB,util=90,membw=60,enc=80,dec=80,jpg=80,ofa=80")


def busier(prefix, *engines):
    """Samples of a process, and of another that does more."""
    def few(told):
        return 0 <= first(told) < 30

    def many(told):
        return 30 <= first(told) <= 100

    return [
        Move("another process", [LoadEnds(), BUSIER], {
            f"{prefix}{engine}Util": (few, many) for engine in engines},
            differ=f"{prefix}pid", load=BUSY),
        Move("time", Waits(), differ=f"{prefix}timeStamp", load=BUSY)]


def first(told):
    return told[0] if isinstance(told, tuple) else told


def busy_of(name):
    return filled(processSamplesCount=ROOM, lastSeenTimeStamp=0,
                  procUtilArray=room_of(name))


FEW, MUCH = "train:0,mem=1GiB,util=100,enc=20", Load(
    "train:0,mem=1GiB,util=100,enc=90")
SESSION = {"vgpuInstance": NO_VGPU, "hResolution": NO_CODEC,
           "vResolution": NO_CODEC}
SLOW, FAST = CAPTURES, Holder(GRAPHICS, WAVE, mib=65)

FILLS = [
    *(compute(version) for version in VERSIONS),
    *(held(version, "Graphics", GRAPHICS) for version in VERSIONS),
    *(held(version, "MPSCompute", MPS) for version in VERSIONS),
    Fills("nvmlDeviceGetRunningProcessDetailList",
          filled(mode=0, numProcArrayEntries=ROOM,
                 procArray=room_of("nvmlProcessDetail_v1_t")),
          Move("a process comes", SMALL, {"numProcArrayEntries": (0, 1)}),
          Move("another process", [LoadEnds(), LARGE], {
              "procArray[].usedGpuMemory": ((2048 * MIB,), (4096 * MIB,))},
               differ="procArray[].pid", given=[SMALL]),
          Move("it runs in a MIG device", IN_INSTANCE, {
              "procArray[].gpuInstanceId": ((NOWHERE,), (7,)),
              "procArray[].computeInstanceId": ((NOWHERE,), (0,))},
               given=[SMALL]),
          Move("confidential computing", CONFIDENTIAL, {
              "procArray[].usedGpuCcProtectedMemory": (
                  (0,), (2048 * MIB,))}, machine=H100, given=[SMALL])),
    account("", filled(newest_pid)),
    account("_v2", filled(pid=newest_pid), Move(
        "time", Waits(), differ="sampleCount sumGpuUtil sumFbUtil"),
            driver="610"),
    Fills("nvmlDeviceGetProcessUtilization",
          listed(first_count=False, tail=(ULL(0),)),
          *busier("", "sm", "mem", "enc", "dec")),
    Fills("nvmlDeviceGetProcessesUtilizationInfo",
          busy_of("nvmlProcessUtilizationInfo_v1_t"),
          *busier("procUtilArray[].", "sm", "mem", "enc", "dec", "jpg",
                  "ofa"),
          Move("one more process", BUSIER, {"processSamplesCount": (1, 2)},
               load=BUSY)),
    # sessions
    Fills("nvmlDeviceGetEncoderSessions", listed(at=-1),
          Move("one more process", MUCH, differ="sessionId pid", load=FEW),
          Move("another process", [LoadEnds(), MUCH], {
              "averageFps": (between(0, 250), between(300, 600)),
              "averageLatency": (between(1, 2500), between(2600, 3500))},
               load=FEW),
          machine=T4, constant=SESSION | {"codecType": NO_CODEC}),
    Fills("nvmlDeviceGetFBCSessions", listed(at=-1),
          Move("one more process", FAST, differ="sessionId pid",
               given=[SLOW]),
          Move("more is encoded", MUCH, differ="averageFPS averageLatency",
               given=[SLOW]),
          machine=T4, constant=SESSION | {
              "displayOrdinal": NO_SCREEN, "sessionFlags": NO_SCREEN,
              "sessionType": NO_CODEC, "hMaxResolution": NO_CODEC,
              "vMaxResolution": NO_CODEC}),
    Fills("nvmlDeviceGetFBCStats", filled(),
          Move("a process captures", SLOW, {
              "sessionsCount": (0, 1),
              "averageFPS": (0, between(1, 600)),
              "averageLatency": (0, between(1, 5000))}, machine=T4)),
]
