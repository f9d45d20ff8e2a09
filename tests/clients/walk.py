# SPDX-License-Identifier: Apache-2.0
"""Calls every function that nvidia-ml-py binds, on the machine it is started
on, and prints the results as one JSON object:

    {NAME: [[OUTCOME, SHAPE], [OUTCOME, SHAPE]]}

for a first and a second call (one for what frees or ends): OUTCOME is "ok", the
name of an NVMLError, or the text of a Python error; SHAPE is the types of the
result, or the number of the error.

Run it as a process of its own: a function that crashes ends it, and the last
name on stderr says which one it was.
"""

import ctypes
import faulthandler
import inspect
import json
import os
import sys

import pynvml

faulthandler.enable()


class Scratch(ctypes.c_ubyte * 65536):
    """Room for any struct, all zero: its version is never valid."""


def value_types(value, depth=0):
    """The shape of a result: nested types without values."""
    name = type(value).__name__
    if isinstance(value, (list, tuple)) and depth < 3:
        inner = sorted({value_types(v, depth + 1) for v in value})
        return f"{name}[{','.join(inner)}]"
    return name


def serial_of(device):
    try:
        return pynvml.nvmlDeviceGetSerial(device)
    except pynvml.NVMLError_NotSupported:  # consumer boards have none
        return "0"


# The argument for a parameter of each name; all functions use a name in the
# same sense.
def arguments(device, other):
    pci = pynvml.nvmlDeviceGetPciInfo(device)
    return {
        "handle": device, "device": device, "device1": device,
        "device2": other, "handle1": device, "handle2": other,
        "migDevice": device, "unit": pynvml.c_nvmlUnit_t(),
        "gpuInstance": pynvml.c_nvmlGpuInstance_t(),
        "computeInstance": pynvml.c_nvmlComputeInstance_t(),
        "gpmSample": pynvml.c_nvmlGpmSample_t(),
        "vgpuInstance": 1, "vgpuTypeId": 1, "pciInfo": pci,
        "index": 0, "pid": os.getpid(), "flags": 0, "fan": 0, "link": 0,
        "serial": serial_of(device),
        "uuid": pynvml.nvmlDeviceGetUUID(device),
        "pciBusId": pci.busId, "cpuSetSize": 4, "nodeSetSize": 4,
        "cpuNumber": 0, "fieldIds": [pynvml.NVML_FI_DEV_MEMORY_TEMP],
        "c_nonce": bytes(32), "hostname": "host", "memoryClockMHz": 1593,
        "eventTypes": pynvml.nvmlEventTypeXidCriticalError,
        "timeoutms": 1, "timeoutMs": 1, "eventDataSize": 1, "result": 3,
        "mode": 0, "speed": 50,
        "powerLimit": 300000, "limit": 300000, "temp": 80,
        "countRef": ctypes.byref(ctypes.c_uint(0)),
        "setHandle": None, "timeStamp": 0,
        "eventData": (pynvml.c_nvmlSystemEventData_v1_t * 1)(),
        "control": pynvml.nvmlNvLinkUtilizationControl_t(),
        "max_atk_adv": 1, "l1threshold": 1, "infoRomObject": 0,
        "minGpuClockMHz": 210, "maxGpuClockMHz": 1410,
        "minMemClockMHz": 1593, "maxMemClockMHz": 1593,
        "maxGraphicsClockMHz": 1410,
    }


# Structs of the right version, for functions that take one.
STRUCTS = {
    "nvmlDeviceGetCapabilities": "c_nvmlDeviceCapabilities_v1_t",
    "nvmlDeviceGetClockOffsets": "c_nvmlClockOffset_t",
    "nvmlDeviceSetClockOffsets": "c_nvmlClockOffset_t",
    "nvmlDeviceGetGpuFabricInfo": "c_nvmlGpuFabricInfo_t",
    "nvmlDeviceGetGpuFabricInfoV": "c_nvmlGpuFabricInfo_v3_t",
    "nvmlDeviceGetNvLinkInfo": "c_nvmlNvLinkInfo_v2_t",
    "nvmlDeviceGetNvlinkBwMode": "c_nvmlNvlinkGetBwMode_v1_t",
    "nvmlDeviceSetNvlinkBwMode": "c_nvmlNvlinkSetBwMode_v1_t",
    "nvmlDeviceGetNvlinkSupportedBwModes":
        "c_nvmlNvlinkSupportedBwModes_v1_t",
    "nvmlDeviceGetPciInfoExt": "nvmlPciInfoExt_v1_t",
    "nvmlDeviceGetPlatformInfo": "c_nvmlPlatformInfo_v2_t",
    "nvmlDeviceGetSramEccErrorStatus": "c_nvmlEccSramErrorStatus_v1_t",
    "nvmlDeviceGetPowerMizerMode_v1": "c_nvmlDevicePowerMizerModes_v1_t",
    "nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts":
        "c_nvmlEccSramUniqueUncorrectedErrorCounts_v1_t",
    "nvmlDevicePowerSmoothingActivatePresetProfile":
        "c_nvmlPowerSmoothingProfile_v1_t",
    "nvmlDevicePowerSmoothingUpdatePresetProfileParam":
        "c_nvmlPowerSmoothingProfile_v1_t",
    "nvmlDevicePowerSmoothingSetState": "c_nvmlPowerSmoothingState_v1_t",
    "nvmlDeviceWorkloadPowerProfileGetProfilesInfo":
        "c_nvmlWorkloadPowerProfileProfilesInfo_v1_t",
    "nvmlDeviceWorkloadPowerProfileGetCurrentProfiles":
        "c_nvmlWorkloadPowerProfileCurrentProfiles_v1_t",
    "nvmlDeviceWorkloadPowerProfileSetRequestedProfiles":
        "c_nvmlWorkloadPowerProfileRequestedProfiles_v1_t",
    "nvmlDeviceWorkloadPowerProfileClearRequestedProfiles":
        "c_nvmlWorkloadPowerProfileRequestedProfiles_v1_t",
    "nvmlGpmMetricsGet": "c_nvmlGpmMetricsGet_t",
    "nvmlSystemGetConfComputeSettings":
        "c_nvmlSystemConfComputeSettings_v1_t",
    "nvmlGpuInstanceGetActiveVgpus": "c_nvmlActiveVgpuInstanceInfo_v1_t",
    "nvmlGpuInstanceGetCreatableVgpus": "c_nvmlVgpuTypeIdInfo_v1_t",
    "nvmlGpuInstanceGetVgpuTypeCreatablePlacements":
        "c_nvmlVgpuCreatablePlacementInfo_v1_t",
}
# Versions that the class of a struct does not set.
VERSIONS = {
    "nvmlDeviceGetPciInfoExt": "nvmlPciInfoExt_v1",
    "nvmlGpmMetricsGet": "NVML_GPM_METRICS_GET_VERSION",
}
# Parameters that are passed as the address of a struct.
POINTERS = {
    "caps", "info", "gpuFabricInfo", "c_info", "getBwMode", "setBwMode",
    "supportedBwModes", "platformInfo", "status", "counts", "state",
    "requestedProfiles", "currentProfiles", "profilesInfo", "metricsGet",
    "settings", "c_vgpu_instance_info", "c_vgpus", "c_vgpu_placements",
    "c_vgpu_sched_log_info", "c_vgpu_sched_state_info", "sched_state",
    "vgpuMetadata", "pgpuMetadata", "vgpuVersion", "placementsRef",
    "gpuInstancesRef", "computeInstancesRef", "placement",
}
# pynvml takes the address itself and needs the struct.
BYREF_INSIDE = {
    "nvmlGpmMetricsGet", "nvmlDeviceReadPRMCounters_v1",
    "nvmlDeviceReadWritePRM_v1", "nvmlGpuInstanceGetActiveVgpus",
    "nvmlGpuInstanceGetCreatableVgpus",
    "nvmlGpuInstanceGetVgpuTypeCreatablePlacements",
}
STRUCT_PARAMETERS = POINTERS | {"profile"}
# Functions in which a name of POINTERS is an enum.
ENUM_STATE = {"nvmlDeviceSetVgpuCapabilities", "nvmlGpmSetStreamingEnabled",
              "nvmlSystemSetConfComputeGpusReadyState"}
EXPECTED_VERSION = {
    "nvmlDeviceGetRunningProcessDetailList": "nvmlProcessDetailList_v1",
    "nvmlSystemEventSetCreate": "nvmlSystemEventSetCreateRequest_v1",
    "nvmlSystemEventSetFree": "nvmlSystemEventSetFreeRequest_v1",
    "nvmlSystemEventSetWait": "nvmlSystemEventSetWaitRequest_v1",
    "nvmlSystemRegisterEvents": "nvmlSystemRegisterEventRequest_v1",
}
# Called once and last: they destroy what they work on.
ENDS = {"nvmlDeviceRemoveGpu", "nvmlEventSetFree"}
# Helpers in Python that call nothing, and the functions called first and last.
NOT_CALLED = {"nvmlExceptionClass", "nvmlFriendlyObjectToStruct",
              "nvmlStructToFriendlyObject", "nvmlShutdown"}


def argument(function, name, table):
    """A plausible argument for a parameter of a function."""
    if name == "version":
        return getattr(pynvml, EXPECTED_VERSION.get(function, ""), 1)
    if name == "eventSet":
        return table["event set"]
    if name in STRUCT_PARAMETERS and function in STRUCTS:
        struct = getattr(pynvml, STRUCTS[function])()
        if function in VERSIONS:
            struct.version = getattr(pynvml, VERSIONS[function])
        return (struct if function in BYREF_INSIDE
                else ctypes.byref(struct))
    if name in POINTERS and function not in ENUM_STATE:
        return Scratch()
    return table.get(name, 0)


def call(function, table):
    """(outcome, shape) of one call."""
    bound = getattr(pynvml, function)
    given = [argument(function, parameter.name, table)
             for parameter in inspect.signature(bound).parameters.values()
             if parameter.default is parameter.empty]
    try:
        return "ok", value_types(bound(*given))
    except pynvml.NVMLError as error:
        return type(error).__name__, error.value
    except Exception as error:  # pylint: disable=broad-except
        return f"{type(error).__name__}: {error}", None


def names():
    """Every bound function; those that free or change something come last."""
    found = [name for name, value in vars(pynvml).items()
             if name.startswith("nvml") and inspect.isfunction(value)
             and name not in NOT_CALLED]
    changes = ("Set", "Reset", "Clear", "Remove", "Free", "Destroy", "Modify",
               "Create")
    return sorted(found, key=lambda name: (
        name in ENDS,
        any(word in name.removeprefix("nvmlEventSet") for word in changes),
        name))


def main():
    pynvml.nvmlInit()
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    other = pynvml.nvmlDeviceGetHandleByIndex(
        pynvml.nvmlDeviceGetCount() - 1)
    table = arguments(device, other)
    table["event set"] = pynvml.nvmlEventSetCreate()
    outcomes = {}
    for name in names():
        sys.stderr.write(f"{name}\n")
        outcomes[name] = [call(name, table)
                          for _ in range(1 if name in ENDS else 2)]
    while True:  # as often as nvmlInit() was called
        sys.stderr.write("nvmlShutdown\n")
        ended = call("nvmlShutdown", table)
        if ended[0] != "ok":
            break
        outcomes["nvmlShutdown"] = [ended]
    assert ended[0] == "NVMLError_Uninitialized", ended
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
