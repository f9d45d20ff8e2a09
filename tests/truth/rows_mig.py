# SPDX-License-Identifier: Apache-2.0
"""Split GPUs: the mode, instances, handles."""

import ctypes
import json

import pynvml

from nvml_client import INT, UINT, Refused, Text, friendly, made
from truth import Another, Changes, Ctl, Load, Sets, of_device

H100 = ("--gpus", "h100-80gb-hbm3")
SPLIT = (*H100, "--mig", "0=3g.40gb+1g.10gb")  # GPU instances 2 and 7
ON = (*H100, "--mig", "0=on")
A100_40 = Another("--gpus", "a100-pcie-40gb", "--mig", "0=3g.20gb")
T4 = Another("--gpus", "t4")
MIG_ON = Ctl("mig", 0, "on")
GONE = Ctl("mig", 0, "destroy", 2)
TWO_HALVES = [Ctl("mig", 0, "destroy", 7),
              Ctl("mig", 0, "create", "3g.40gb")]
HANDLE = pynvml.c_nvmlDevice_t
GI, CI = pynvml.c_nvmlGpuInstance_t, pynvml.c_nvmlComputeInstance_t
PLACE = pynvml.c_nvmlGpuInstancePlacement_t
CI_PLACE = pynvml.c_nvmlComputeInstancePlacement_t
GI_INFO, CI_INFO = (pynvml.c_nvmlGpuInstanceInfo_t,
                    pynvml.c_nvmlComputeInstanceInfo_t)
GI_PROFILE_V2 = made(pynvml.c_nvmlGpuInstanceProfileInfo_v2_t,
                     version=pynvml.nvmlGpuInstanceProfileInfo_v2)
CI_PROFILE_V2 = made(pynvml.c_nvmlComputeInstanceProfileInfo_v2_t,
                     version=pynvml.nvmlComputeInstanceProfileInfo_v2)
ONE_SLICE, THREE_SLICES = 0, 2
ID_1G, ID_3G = 19, 9


def allowed(c):
    """Lets everybody do what only root may."""
    if c.keep.get("allowed") != c.machine.path:
        assert c.machine.ctl("set", "permission=all").returncode == 0
        c.keep["allowed"] = c.machine.path


def mig(c, index=0):
    return c.call("nvmlDeviceGetMigDeviceHandleByIndex", c.device, index,
                  HANDLE)


def gpu_instance(c, number=2):
    return c.call("nvmlDeviceGetGpuInstanceById", c.device, number, GI)


def compute_instance(c, gi=2, number=0):
    return c.call("nvmlGpuInstanceGetComputeInstanceById",
                  gpu_instance(c, gi), number, CI)


def name(c, handle):
    return c.call("nvmlDeviceGetName", handle, Text())


def name_by_index(c):
    return name(c, c.call(c.function, c.device, 0, HANDLE))


def of_mig(*results, index=0):
    """The function's result for a MIG device."""
    return lambda c: c.call(c.function, mig(c, index), *results)


def is_one(c):
    """Asks the GPU while it is whole, else its MIG device."""
    try:
        handle = mig(c)
    except Refused:
        handle = c.device
    return c.call(c.function, handle, UINT)


def parent(c):
    """The GPU of two that has the only MIG device."""
    for gpu in (0, 1):
        try:
            handle = c.call("nvmlDeviceGetMigDeviceHandleByIndex",
                            c.handle(gpu), 0, HANDLE)
        except Refused:
            continue
        return c.call("nvmlDeviceGetIndex",
                      c.call(c.function, handle, HANDLE), UINT)
    raise Refused("NOT_FOUND")


def each_id(c):
    """The ids of all MIG devices."""
    told = []
    for index in range(7):
        try:
            told.append(c.call(c.function, mig(c, index), UINT))
        except Refused as refused:
            assert refused == Refused("NOT_FOUND")
    return told


def privileged(ask):
    def asked(c):
        allowed(c)
        return ask(c)
    return asked


def instances(c):
    """[(GPU instance, profile, compute profile)...] as ctl lists them."""
    done = c.machine.ctl("mig", 0, "ls", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["instances"]
    return [(one["gpu_instance"], one["profile"],
             one.get("compute_profile")) for one in told]


def mode(c):
    return c.call("nvmlDeviceGetMigMode", c.device, UINT, UINT)


def set_mode(c):
    assert c.call(c.function, c.device, 1, INT) == 0


def places(kind, *, gi=None, profile):
    """The possible places of a profile as (start, size)."""
    def ask(c):
        allowed(c)
        target = gpu_instance(c, gi) if gi else c.device
        count, room = UINT(), (kind * 8)()
        code = c.raw(c.function, target, profile, room, ctypes.byref(count))
        if code:
            raise Refused(code)
        return [tuple(friendly(one).values()) for one in room[:count.value]]
    return ask


def listed(kind, profile, what, *, gi=None, by=None):
    """The facts of each instance of a profile; by: the function that lists
    them."""
    def ask(c):
        allowed(c)
        target = gpu_instance(c, gi) if gi else c.device
        count, room = UINT(), (kind * 8)()
        code = c.raw(by or c.function, target, profile, room,
                     ctypes.byref(count))
        if code:
            raise Refused(code)
        return [what(c, one) for one in room[:count.value]]
    return ask


def gi_id(c, handle):
    return c.call("nvmlGpuInstanceGetInfo", handle, GI_INFO)["id"]


def ci_id(c, handle):
    return c.call("nvmlComputeInstanceGetInfo_v2", handle, CI_INFO)["id"]


def pick(*keys):
    return lambda told: tuple(told[key] for key in keys)


def create_ci(*more):
    return lambda c: c.call(c.function, gpu_instance(c), ONE_SLICE,
                            *more, CI) and None


def create_gi(*more):
    return lambda c: c.call(c.function, c.device, ID_1G, *more, GI) and None


def destroy_gi(c):
    c.call(c.function, gpu_instance(c))


def destroy_ci(c):
    c.call(c.function, compute_instance(c))


def busy_parts(c):
    """The percentage of each GPU instance's time since the last call."""
    told = []
    for number in (2, 7):
        now = ctypes.c_void_p()
        assert c.raw("nvmlGpmSampleAlloc", ctypes.byref(now)) == 0
        code = c.raw(c.function, c.device, number, now)
        if code:
            raise Refused(code)
        last = c.keep.get(number, now)
        get = pynvml.c_nvmlGpmMetricsGet_t(
            version=pynvml.NVML_GPM_METRICS_GET_VERSION, numMetrics=1,
            sample1=ctypes.cast(last, pynvml.c_nvmlGpmSample_t),
            sample2=ctypes.cast(now, pynvml.c_nvmlGpmSample_t))
        get.metrics[0].metricId = pynvml.NVML_GPM_METRIC_SM_UTIL
        assert c.raw("nvmlGpmMetricsGet", ctypes.byref(get)) == 0
        c.keep.setdefault(number, now)
        told.append(get.metrics[0].value
                    if get.metrics[0].nvmlReturn == 0 else 0)
    return told


SIZES = pick("multiprocessorCount", "memorySizeMB", "decoderCount")
ATTRIBUTES = pynvml.c_nvmlDeviceAttributes
WHOLE = [(2, "3g.40gb", "3g.40gb"), (7, "1g.10gb", "1g.10gb")]
SMALLER = [Ctl("mig", 0, "destroy", 2), Ctl("mig", 0, "create", "1g.10gb@6")]
NO_CI = (*H100, "--mig", "0=3g.40gb()+1g.10gb")
TWO_CIS = (*H100, "--mig", "0=3g.40gb(1c+1c)")
FIRST_GONE = Ctl("mig", 0, "destroy", "2/0")


ROWS = [
    Changes("nvmlDeviceGetMigMode", of_device(UINT, UINT), MIG_ON,
            machine=H100, before=(0, 0), after=(1, 1)),
    Sets("nvmlDeviceSetMigMode", set_mode, mode, machine=H100,
         before=(0, 0), after=(1, 1)),
    Changes("nvmlDeviceGetMaxMigDeviceCount", of_device(UINT), MIG_ON,
            machine=H100, before=0, after=7),
    Changes("nvmlDeviceGetMigDeviceHandleByIndex", name_by_index, SMALLER,
            machine=SPLIT, before="NVIDIA H100 80GB HBM3 MIG 3g.40gb",
            after="NVIDIA H100 80GB HBM3 MIG 1g.10gb"),
    Changes("nvmlDeviceIsMigDeviceHandle", is_one,
            Ctl("mig", 0, "create", "1g.10gb"), machine=H100,
            before=0, after=1),
    Changes("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", parent,
            [Ctl("mig", 0, "destroy", 2), Ctl("mig", 1, "create", "1g.10gb")],
            machine=("--gpus", "h100-80gb-hbm3:2", "--mig", "0=3g.40gb"),
            before=0, after=1),
    Changes("nvmlDeviceGetGpuInstanceId", of_mig(UINT), SMALLER,
            machine=SPLIT, before=2, after=13),
    Changes("nvmlDeviceGetComputeInstanceId", each_id,
            Ctl("mig", 0, "destroy", "2/0"),
            machine=(*H100, "--mig", "0=3g.40gb(1c+1c)"),
            before=[0, 1], after=[1]),
    Changes("nvmlDeviceGetAttributes",
            lambda c: c.call(c.function, mig(c), ATTRIBUTES)
            ["multiprocessorCount"], SMALLER, machine=SPLIT,
            before=60, after=16),
    Changes("nvmlDeviceGetAttributes_v2", of_mig(ATTRIBUTES), SMALLER,
            machine=SPLIT,
            before={"multiprocessorCount": 60, "sharedCopyEngineCount": 3,
                    "sharedDecoderCount": 3, "sharedEncoderCount": 0,
                    "sharedJpegCount": 3, "sharedOfaCount": 0,
                    "gpuInstanceSliceCount": 3,
                    "computeInstanceSliceCount": 3, "memorySizeMB": 40448},
            after=lambda told: told["memorySizeMB"] == 9984),

    # GPU instances
    Changes("nvmlDeviceGetGpuInstanceProfileInfo",
            of_device(THREE_SLICES, pynvml.c_nvmlGpuInstanceProfileInfo_t,
                      pick=SIZES),
            A100_40, machine=H100, before=(60, 40448, 3),
            after=(42, 19968, 2)),
    Changes("nvmlDeviceGetGpuInstanceProfileInfoV",
            of_device(THREE_SLICES, GI_PROFILE_V2, pick=pick("name", "id")),
            A100_40, machine=H100, before=("MIG 3g.40gb", 9),
            after=("MIG 3g.20gb", 9)),
    Changes("nvmlDeviceGetGpuInstanceProfileInfoByIdV",
            of_device(ID_3G, GI_PROFILE_V2, pick=pick("name", "id")),
            A100_40, machine=H100, before=("MIG 3g.40gb", 9),
            after=("MIG 3g.20gb", 9)),
    Changes("nvmlDeviceGetGpuInstancePossiblePlacements",
            places(PLACE, profile=ID_3G), T4, machine=H100,
            before=[(0, 4), (4, 4)], after=Refused("NOT_SUPPORTED")),
    Changes("nvmlDeviceGetGpuInstancePossiblePlacements_v2",
            places(PLACE, profile=ID_1G), T4, machine=H100,
            before=[(start, 1) for start in range(7)],
            after=Refused("NOT_SUPPORTED")),
    Changes("nvmlDeviceGetGpuInstanceRemainingCapacity",
            privileged(of_device(ID_1G, UINT)), GONE, machine=SPLIT,
            before=3, after=6),
    Sets("nvmlDeviceCreateGpuInstance", create_gi(), instances, machine=ON,
         before=[], after=[(13, "1g.10gb", None)]),
    Sets("nvmlDeviceCreateGpuInstanceWithPlacement",
         create_gi(ctypes.pointer(PLACE(3, 1))), instances, machine=ON,
         before=[], after=[(10, "1g.10gb", None)]),
    Sets("nvmlGpuInstanceDestroy", destroy_gi, instances,
         machine=(*H100, "--mig", "0=3g.40gb()+1g.10gb"),
         before=[(2, "3g.40gb", None), WHOLE[1]], after=[WHOLE[1]]),
    Changes("nvmlDeviceGetGpuInstances", listed(GI, ID_3G, gi_id),
            TWO_HALVES, machine=SPLIT, before=[2], after=[1, 2]),
    Changes("nvmlDeviceGetGpuInstanceById",
            privileged(lambda c: gi_id(c, c.call(c.function, c.device, 2,
                                                 GI))),
            GONE, machine=SPLIT, before=2, after=Refused("NOT_FOUND")),
    Changes("nvmlGpuInstanceGetInfo",
            listed(GI, ID_1G, lambda c, one: c.call(
                c.function, one, GI_INFO)["placement"]["start"],
                   by="nvmlDeviceGetGpuInstances"),
            SMALLER, machine=SPLIT, before=[0], after=[0, 6]),

    # compute instances
    Changes("nvmlGpuInstanceGetComputeInstanceProfileInfo",
            privileged(lambda c: c.call(
                c.function, gpu_instance(c), THREE_SLICES, 0,
                pynvml.c_nvmlComputeInstanceProfileInfo_t)
                       ["multiprocessorCount"]),
            A100_40, machine=SPLIT, before=60, after=42),
    Changes("nvmlGpuInstanceGetComputeInstanceProfileInfoV",
            privileged(lambda c: c.call(
                c.function, gpu_instance(c), ONE_SLICE, 0,
                CI_PROFILE_V2())["name"]),
            A100_40, machine=SPLIT, before="MIG 1c.3g.40gb",
            after="MIG 1c.3g.20gb"),
    Changes("nvmlGpuInstanceGetComputeInstancePossiblePlacements",
            places(CI_PLACE, gi=2, profile=ONE_SLICE),
            GONE, machine=SPLIT,
            before=[(0, 1), (1, 1), (2, 1)], after=Refused("NOT_FOUND")),
    Changes("nvmlGpuInstanceGetComputeInstanceRemainingCapacity",
            privileged(lambda c: c.call(c.function, gpu_instance(c),
                                        ONE_SLICE, UINT)),
            FIRST_GONE, machine=TWO_CIS, before=1, after=2),
    Sets("nvmlGpuInstanceCreateComputeInstance", create_ci(), instances,
         machine=NO_CI, before=[(2, "3g.40gb", None), WHOLE[1]],
         after=[(2, "3g.40gb", "1c.3g.40gb"), WHOLE[1]]),
    Sets("nvmlGpuInstanceCreateComputeInstanceWithPlacement",
         create_ci(ctypes.pointer(CI_PLACE(2, 1))), instances,
         machine=NO_CI, before=[(2, "3g.40gb", None), WHOLE[1]],
         after=[(2, "3g.40gb", "1c.3g.40gb"), WHOLE[1]]),
    Sets("nvmlComputeInstanceDestroy", destroy_ci, instances, machine=SPLIT,
         before=WHOLE, after=[(2, "3g.40gb", None), WHOLE[1]]),
    Changes("nvmlGpuInstanceGetComputeInstances",
            listed(CI, ONE_SLICE, ci_id, gi=2), FIRST_GONE, machine=TWO_CIS,
            before=[0, 1], after=[1]),
    Changes("nvmlGpuInstanceGetComputeInstanceById",
            privileged(lambda c: ci_id(c, c.call(
                c.function, gpu_instance(c), 0, CI))),
            FIRST_GONE, machine=TWO_CIS, before=0,
            after=Refused("NOT_FOUND")),
    Changes("nvmlComputeInstanceGetInfo",
            listed(CI, ONE_SLICE,
                   lambda c, one: c.call(c.function, one, CI_INFO)["id"],
                   gi=2, by="nvmlGpuInstanceGetComputeInstances"),
            FIRST_GONE, machine=TWO_CIS, before=[0, 1], after=[1]),
    Changes("nvmlComputeInstanceGetInfo_v2",
            listed(CI, ONE_SLICE,
                   lambda c, one: c.call(c.function, one, CI_INFO)
                   ["placement"]["start"],
                   gi=2, by="nvmlGpuInstanceGetComputeInstances"),
            FIRST_GONE, machine=TWO_CIS, before=[0, 1], after=[1]),

    # how busy
    Changes("nvmlGpmMigSampleGet", busy_parts, Load("train:0:1,util=100"),
            machine=SPLIT, before=[0, 0],
            after=lambda told: told[0] == 0 and told[1] > 20),
]
