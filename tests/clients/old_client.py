# SPDX-License-Identifier: Apache-2.0
"""Calls every getter that takes nothing but a device, with whatever
nvidia-ml-py is on PYTHONPATH, and prints as JSON

    {"driver": TEXT, "outcomes": {FUNCTION: [OUTCOME, [SYMBOL, ...]]},
     "processes": {GPU: {PID: BYTES}}}

OUTCOME is "ok" or the name of an NVMLError; SYMBOLs are what the function looks
up itself. Processes come from the newest list that the driver has.
"""

import inspect
import json
import re

import pynvml as n

# Newer clients raise this when a function without a version in its name is
# missing.
Mismatch = getattr(n, "NVMLLibraryMismatchError", n.NVMLError)
LOOK_UP = re.compile(r"_nvmlGetFunctionPointer\(\s*[\"'](nvml\w+)")


def outcome(function, *args):
    try:
        function(*args)
        return "ok"
    except n.NVMLError as error:
        return type(error).__name__
    except Mismatch:
        return "NVMLError_FunctionNotFound"


def getters():
    for name, function in sorted(vars(n).items()):
        if not name.startswith("nvmlDeviceGet"):
            continue
        if not inspect.isfunction(function):
            continue
        needed = [p.name for p in
                  inspect.signature(function).parameters.values()
                  if p.default is p.empty]
        if needed in (["handle"], ["device"]):
            yield name, function


def symbols(function):
    return LOOK_UP.findall(inspect.getsource(function))


def processes(device):
    for suffix in ("_v3", "_v2", ""):
        get = getattr(n, "nvmlDeviceGetComputeRunningProcesses" + suffix,
                      None)
        if not get:
            continue
        try:
            return {p.pid: p.usedGpuMemory for p in get(device)}
        except (n.NVMLError_FunctionNotFound, Mismatch):
            pass
    return None


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def main():
    n.nvmlInit()
    devices = [n.nvmlDeviceGetHandleByIndex(i)
               for i in range(n.nvmlDeviceGetCount())]
    print(json.dumps({
        "driver": text(n.nvmlSystemGetDriverVersion()),
        "nvml": text(n.nvmlSystemGetNVMLVersion()),
        "cuda": n.nvmlSystemGetCudaDriverVersion_v2(),
        "outcomes": {name: [outcome(function, devices[0]), symbols(function)]
                     for name, function in getters()},
        "processes": {i: processes(d) for i, d in enumerate(devices)},
    }))
    n.nvmlShutdown()


if __name__ == "__main__":
    main()
