"""NVML itself: coming up, going down, its words."""

import ctypes

from nvml_client import UINT, Refused
from truth import Another, Changes, Ctl, Does

THREE = Another("--gpus", "t4:3")


def count_after(*args):
    """How many GPUs there are after NVML came up by the function."""
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
    """The words for what a call says that outlives its GPU."""
    if "handle" not in c.keep:
        c.keep["handle"] = c.device
    code = c.raw("nvmlDeviceGetTemperature", c.keep["handle"], 0,
                 ctypes.byref(UINT()))
    c.lib.nvmlErrorString.restype = ctypes.c_char_p
    return c.lib.nvmlErrorString(code).decode()


ROWS = [
    Changes("nvmlInit", count_after(), THREE, before=1, after=3),
    Changes("nvmlInit_v2", count_after(), THREE, before=1, after=3),
    Changes("nvmlInitWithFlags", count_after(0), THREE, before=1, after=3),
    Changes("nvmlShutdown", count, Does(shut_down), before=1,
            after=Refused("UNINITIALIZED")),
    Changes("nvmlErrorString", error_of_call, Ctl("fail", 0, "lost"),
            before="Success", after="GPU is lost"),
]
