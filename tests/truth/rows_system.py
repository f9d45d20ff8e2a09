# SPDX-License-Identifier: Apache-2.0
"""NVML itself: starting, shutting down, its error texts."""

import ctypes

from nvml_client import INT, UINT, Refused, Text, structure
from truth import Another, Changes, Ctl, Does, front_of, of_system

THREE = Another("--gpus", "t4:3")


def count_after(*args):
    """The number of GPUs after the function has initialised NVML."""
    def ask(c):
        while c.raw("nvmlShutdown") == 0:
            pass
        code = c.raw(c.function, *args)
        if code:
            raise Refused(code)
        return c.call("nvmlDeviceGetCount_v2", UINT)
    return ask


def count(c):
    return c.call("nvmlDeviceGetCount_v2", UINT)


def shut_down(c):
    assert c.raw("nvmlShutdown") == 0


def error_of_call(c):
    """The error text of a call whose GPU is gone."""
    if "handle" not in c.keep:
        c.keep["handle"] = c.device
    code = c.raw("nvmlDeviceGetTemperature", c.keep["handle"], 0,
                 ctypes.byref(UINT()))
    c.lib.nvmlErrorString.restype = ctypes.c_char_p
    return c.lib.nvmlErrorString(code).decode()


BRANCH = structure(("version", UINT), ("branch", ctypes.c_char * 80))
OLD_DRIVER = Another("--gpus", "t4", "--driver", "535", front=front_of("535"))
NEW_DRIVER = Another("--gpus", "t4", "--driver", "590", front=front_of("590"))


def branch(c):
    one = BRANCH(ctypes.sizeof(BRANCH) | 1 << 24)
    return c.call(c.function, one, 80)["branch"]


ROWS = [
    Changes("nvmlInit", count_after(), THREE, before=1, after=3),
    Changes("nvmlInit_v2", count_after(), THREE, before=1, after=3),
    Changes("nvmlInitWithFlags", count_after(0), THREE, before=1, after=3),
    Changes("nvmlShutdown", count, Does(shut_down), before=1,
            after=Refused("UNINITIALIZED")),
    # the driver
    Changes("nvmlSystemGetDriverVersion", of_system(Text(80)), OLD_DRIVER,
            before="580.95.05", after="535.261.03"),
    Changes("nvmlSystemGetNVMLVersion", of_system(Text(80)), OLD_DRIVER,
            before="13.580.95.05", after="12.535.261.03"),
    Changes("nvmlSystemGetCudaDriverVersion", of_system(INT), OLD_DRIVER,
            before=13000, after=12020),
    Changes("nvmlSystemGetCudaDriverVersion_v2", of_system(INT), OLD_DRIVER,
            before=13000, after=12020),
    Changes("nvmlSystemGetDriverBranch", branch, NEW_DRIVER,
            before="r580_00", after="r590_00"),
    Changes("nvmlErrorString", error_of_call, Ctl("fail", 0, "lost"),
            before="Success", after="GPU is lost"),
]
