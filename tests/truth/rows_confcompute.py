# SPDX-License-Identifier: Apache-2.0
"""Confidential computing, and the fabric of GPUs."""

import ctypes

import pynvml

from nvml_client import UINT, ULL, Refused, made, structure
from truth import Changes, Constant, Ctl, Does, Load, Sets, of_device, \
    of_system

KIB, GIB = 1 << 10, 1 << 30
ONE, TWO = ("--gpus", "h100-80gb-hbm3"), ("--gpus", "b200:2")
TOTAL_KIB = 81559 * KIB
ON = Ctl("set", "conf-compute=on")
DEVTOOLS = Ctl("set", "conf-compute=devtools")
CAPS = structure(("cpuCaps", UINT), ("gpusCaps", UINT))
STATE = structure(("environment", UINT), ("ccFeature", UINT),
                  ("devToolsMode", UINT))
SETTINGS = structure(("version", UINT), ("environment", UINT),
                     ("ccFeature", UINT), ("devToolsMode", UINT),
                     ("multiGpuMode", UINT))
ROTATION = structure(("version", UINT), ("advantage", ULL))
SEV_SNP = 3
NVLINKS_ENCRYPTED = 2
FABRIC = structure(("clusterUuid", ctypes.c_ubyte * 16), ("status", UINT),
                   ("cliqueId", UINT), ("state", ctypes.c_ubyte))
FABRIC_V3 = made(pynvml.c_nvmlGpuFabricInfo_v3_t,
                 version=pynvml.nvmlGpuFabricInfo_v3)
COMPLETED, IN_PROGRESS = 3, 2
HEALTHY, LIMITED = 1, 3


def versioned(kind):
    def make():
        one = kind()
        one.version = ctypes.sizeof(kind) | 1 << 24
        return one
    return make


def rotation(advantage=0):
    one = versioned(ROTATION)()
    one.advantage = advantage
    return one


def turned_on(c):
    if "on" not in c.keep:
        c.keep["on"] = c.machine.ctl("set", "conf-compute=on")


def ready(c):
    turned_on(c)
    return c.call("nvmlSystemGetConfComputeGpusReadyState", UINT)


def set_ready(c):
    return c.call("nvmlSystemSetConfComputeGpusReadyState", 1)


def advantage(c):
    turned_on(c)
    return c.call("nvmlSystemGetConfComputeKeyRotationThresholdInfo",
                  rotation())["advantage"]


def set_advantage(c):
    return c.call("nvmlSystemSetConfComputeKeyRotationThresholdInfo",
                  ctypes.byref(rotation(55)))


def memory(c):
    turned_on(c)
    return c.call("nvmlDeviceGetConfComputeMemSizeInfo", c.device,
                  pynvml.c_nvmlConfComputeMemSizeInfo_t)


def set_open(c):
    return c.call("nvmlDeviceSetConfComputeUnprotectedMemSize", c.device,
                  ULL(GIB // KIB))


def protected(c):
    turned_on(c)
    return c.call(c.function, c.device, pynvml.c_nvmlMemory_t)


def at_rest(profile):
    """The answer of a board in the machine of all profiles, without the rest of
    its HGX."""
    if profile["nvlink_version"] < 4:
        return Refused("NOT_SUPPORTED")
    return COMPLETED


ROWS = [
    Changes("nvmlSystemGetConfComputeCapabilities", of_system(CAPS), ON,
            machine=ONE, before={"cpuCaps": 0, "gpusCaps": 1},
            after={"cpuCaps": SEV_SNP, "gpusCaps": 1}),
    Changes("nvmlSystemGetConfComputeState", of_system(STATE), DEVTOOLS,
            machine=ONE,
            before={"environment": 0, "ccFeature": 0, "devToolsMode": 0},
            after={"environment": 2, "ccFeature": 1, "devToolsMode": 1}),
    Changes("nvmlSystemGetConfComputeSettings",
            of_system(versioned(SETTINGS),
                      pick=lambda told: (told["ccFeature"],
                                         told["multiGpuMode"])),
            ON, machine=TWO, before=(0, 0), after=(1, NVLINKS_ENCRYPTED)),
    Changes("nvmlSystemGetConfComputeGpusReadyState", of_system(UINT), ON,
            machine=ONE, before=Refused("NOT_SUPPORTED"), after=0),
    Sets("nvmlSystemSetConfComputeGpusReadyState", set_ready, ready,
         machine=ONE, before=0, after=1),
    Changes("nvmlSystemGetConfComputeKeyRotationThresholdInfo", advantage,
            Does(lambda c: c.being("root", set_advantage, c)), machine=ONE,
            before=60, after=55),
    Sets("nvmlSystemSetConfComputeKeyRotationThresholdInfo", set_advantage,
         advantage, machine=ONE, before=60, after=55),
    Sets("nvmlDeviceSetConfComputeUnprotectedMemSize", set_open, memory,
         machine=ONE,
         before={"protectedMemSizeKib": TOTAL_KIB,
                 "unprotectedMemSizeKib": 0},
         after={"protectedMemSizeKib": TOTAL_KIB - GIB // KIB,
                "unprotectedMemSizeKib": GIB // KIB}),
    Changes("nvmlDeviceGetConfComputeProtectedMemoryUsage", protected,
            Load("train:0,mem=2GiB"), machine=ONE,
            before={"total": TOTAL_KIB * KIB, "used": 0,
                    "free": TOTAL_KIB * KIB},
            after={"total": TOTAL_KIB * KIB, "used": 2 * GIB,
                   "free": TOTAL_KIB * KIB - 2 * GIB}),
    # the fabric
    Constant("nvmlDeviceGetGpuFabricInfo",
             of_device(FABRIC, pick=lambda told: told["state"]),
             expect=at_rest),
    Changes("nvmlDeviceGetGpuFabricInfoV",
            of_device(FABRIC_V3, pick=lambda told: (told["state"],
                                                    told["healthSummary"])),
            [Ctl("set", 0, "nvlink.5.state=down"),
             Ctl("set", 0, "fabric-state=2")], machine=TWO,
            before=(COMPLETED, HEALTHY), after=(IN_PROGRESS, LIMITED)),
]
