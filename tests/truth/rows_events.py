# SPDX-License-Identifier: Apache-2.0
"""Which events exist, and those of the system."""

import ctypes

import pynvml

from nvml_client import Refused, versioned
from truth import Changes, Ctl, of_device

ECC = pynvml.nvmlEventTypeSingleBitEccError | \
    pynvml.nvmlEventTypeDoubleBitEccError
ALWAYS = pynvml.nvmlEventTypeXidCriticalError | pynvml.nvmlEventTypePState
UNBIND, BIND = 1, 2
REGISTER = versioned(pynvml.c_nvmlSystemRegisterEventRequest_v1_t, 1)
WAIT = versioned(pynvml.c_nvmlSystemEventSetWaitRequest_v1_t, 1)
EVENT = pynvml.c_nvmlSystemEventData_v1_t


def system_set(c):
    if "set" not in c.keep:
        c.keep["set"] = c.nvml.nvmlSystemEventSetCreate(
            pynvml.nvmlSystemEventSetCreateRequest_v1)
        c.call("nvmlSystemRegisterEvents",
               REGISTER(eventTypes=UNBIND | BIND, set=c.keep["set"]))
    return c.keep["set"]


def next_of_system(c):
    """(type, PCI bus) of what the driver did to a GPU; TIMEOUT if nothing."""
    data = (EVENT * 4)()
    request = WAIT(timeoutms=0, set=system_set(c), data=data, dataSize=4)
    code = c.raw(c.function, ctypes.byref(request))
    if code:
        raise Refused(code)
    assert request.numEvent == 1
    return data[0].eventType, data[0].gpuId >> 8 & 0xff


ROWS = [
    Changes("nvmlDeviceGetSupportedEventTypes",
            of_device(ctypes.c_ulonglong), Ctl("set", 0, "ecc=0"),
            before=lambda types: types & (ECC | ALWAYS) == ECC | ALWAYS,
            after=lambda types: types & (ECC | ALWAYS) == ALWAYS),
    Changes("nvmlSystemEventSetWait", next_of_system,
            Ctl("set", 0, "removed=1"),
            before=Refused("TIMEOUT"), after=(UNBIND, 7)),
]
