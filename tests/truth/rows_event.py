# SPDX-License-Identifier: Apache-2.0
"""Event sets of devices and of the system."""

import ctypes

import pynvml

from nvml_client import Refused, answer, versioned
from truth import Changes, Ctl, Does

XID = pynvml.nvmlEventTypeXidCriticalError
OFF_THE_BUS = 79
SET = ctypes.c_void_p
EVENT = pynvml.c_nvmlEventData_t
TWO = ("--gpus", "t4:2")
LOSE = Ctl("fail", 0, "lost")
CREATE = versioned(pynvml.c_nvmlSystemEventSetCreateRequest_v1_t, 1)
FREE = versioned(pynvml.c_nvmlSystemEventSetFreeRequest_v1_t, 1)
REGISTER = versioned(pynvml.c_nvmlSystemRegisterEventRequest_v1_t, 1)


def new_set(c):
    handle = SET()
    code = c.raw("nvmlEventSetCreate", ctypes.byref(handle))
    if code:
        raise Refused(code)
    return handle


def set_for(c, name, gpu):
    """The set of that name, registered for the GPU's Xids."""
    if name not in c.keep:
        c.keep[name] = new_set(c)
        c.call("nvmlDeviceRegisterEvents", c.handle(gpu),
               ctypes.c_ulonglong(XID), c.keep[name])
    return c.keep[name]


def xid(c, handle, wait="nvmlEventSetWait_v2"):
    """(type, number) of the next event; TIMEOUT if none has come."""
    event = EVENT()
    code = c.raw(wait, handle, ctypes.byref(event), 0)
    if code:
        raise Refused(code)
    return event.eventType, event.eventData


def next_xid(c):
    return xid(c, set_for(c, "set", 0), c.function)


def of_both(c):
    """The events that a set for GPU 0 and one for GPU 1 received."""
    sets = [set_for(c, f"of {gpu}", gpu) for gpu in range(2)]
    return [answer(xid, c, handle) for handle in sets]


def fill(c, create):
    """Creates sets until there is no room; returns how many exist."""
    sets = c.keep.setdefault("sets", [])
    try:
        while len(sets) < 10000:
            sets.append(create(c))
    except Refused as refused:
        assert refused == Refused("INSUFFICIENT_RESOURCES")
    return len(sets)


def create(c):
    """Creates one more after all room was used."""
    if "sets" not in c.keep:
        fill(c, OF_FUNCTION[c.function])
    return bool(OF_FUNCTION[c.function](c))


def new_system_set(c):
    return c.nvml.nvmlSystemEventSetCreate(
        pynvml.nvmlSystemEventSetCreateRequest_v1)


OF_FUNCTION = {"nvmlEventSetCreate": new_set,
               "nvmlEventSetFree": new_set,
               "nvmlSystemEventSetCreate": new_system_set,
               "nvmlSystemEventSetFree": new_system_set}


def free_device_set(c):
    c.call("nvmlEventSetFree", c.keep["sets"].pop())


def free_system_set(c):
    c.call("nvmlSystemEventSetFree", FREE(set=c.keep["sets"].pop()))


def register(c):
    """Registers the system's set for drivers that unbind."""
    if "sets" not in c.keep:
        c.keep["sets"] = [new_system_set(c)]
        c.keep["set"] = c.keep["sets"][0]
    c.call(c.function, REGISTER(eventTypes=1, set=c.keep["set"]))
    return "registered"


FULL = Refused("INSUFFICIENT_RESOURCES")

ROWS = [
    Changes("nvmlEventSetWait", next_xid, LOSE,
            before=Refused("TIMEOUT"), after=(XID, OFF_THE_BUS)),
    Changes("nvmlEventSetWait_v2", next_xid, LOSE,
            before=Refused("TIMEOUT"), after=(XID, OFF_THE_BUS)),
    Changes("nvmlDeviceRegisterEvents", of_both, LOSE, machine=TWO,
            before=[Refused("TIMEOUT")] * 2,
            after=[(XID, OFF_THE_BUS), Refused("TIMEOUT")]),
    Changes("nvmlEventSetCreate", create, Does(free_device_set),
            before=FULL, after=True),
    Changes("nvmlEventSetFree", create, Does(free_device_set),
            before=FULL, after=True),
    Changes("nvmlSystemEventSetCreate", create, Does(free_system_set),
            before=FULL, after=True),
    Changes("nvmlSystemEventSetFree", create, Does(free_system_set),
            before=FULL, after=True),
    Changes("nvmlSystemRegisterEvents", register, Does(free_system_set),
            before="registered", after=Refused("INVALID_ARGUMENT")),
]
