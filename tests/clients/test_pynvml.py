# SPDX-License-Identifier: Apache-2.0
"""Every function that nvidia-ml-py binds is called."""

import json
import os
import sys

import pytest

from peers import HERE, run

WALK = os.path.join(HERE, "walk.py")
# Valid answers of a GPU without MIG, vGPU or sleeping processes.
REFUSALS = {"NVMLError_NotSupported", "NVMLError_InvalidArgument",
            "NVMLError_NotFound", "NVMLError_Timeout",
            "NVMLError_NoPermission", "NVMLError_NotReady",
            "NVMLError_InUse"}
LEAST = 300
# In the bindings of driver 580.126, but not yet in 580.95.
NEWER = {"nvmlDeviceReadPRMCounters_v1"}
# There are no samples before the first one is taken.
COMES_LATER = {"nvmlDeviceGetProcessUtilization",
               "nvmlDeviceGetProcessesUtilizationInfo",
               "nvmlDeviceGetSamples"}


@pytest.mark.parametrize("options", [
    ["--gpus", "a100-sxm4-80gb:8", "--load", "train:0-3,mem=2GiB"],
    ["--gpus", "t4,h100:2,rtx-4090", "--load", "infer:0,n=3,mem=1GiB"],
    ["--gpus", "gtx-1080-ti"],
])
def test_every_function_works_or_refuses(machine, options):
    one = machine(*options)
    outcomes = json.loads(run([sys.executable, WALK], one.env))
    assert len(outcomes) >= LEAST
    wrong = {name: calls for name, calls in outcomes.items()
             if calls[0][0] not in REFUSALS | {"ok"}}
    assert {name: calls[0][0] for name, calls in wrong.items()} == dict.fromkeys(
        NEWER, "NVMLError_FunctionNotFound")
    # A function that works in only one of two calls has lost its state.
    changed = {name: calls for name, calls in outcomes.items()
               if len(calls) == 2 and calls[0] != calls[1]
               and name not in COMES_LATER}
    assert not changed
    done = {name for name, calls in outcomes.items() if calls[0][0] == "ok"}
    assert len(done) >= 90, sorted(done)
    assert {"nvmlDeviceGetName", "nvmlDeviceGetUtilizationRates",
            "nvmlDeviceGetTemperatureV", "nvmlDeviceGetPciInfo",
            "nvmlDeviceGetComputeRunningProcesses",
            "nvmlDeviceGetFieldValues", "nvmlShutdown"} <= done


def test_the_walk_on_a_lost_gpu(machine):
    """Calls to the GPU report that it is lost, and nothing crashes."""
    one = machine("--gpus", "a100-sxm4-80gb:2")
    assert one.ctl("fail", 1, "lost").returncode == 0
    told = run([sys.executable, "-c", """
import pynvml as n
n.nvmlInit()
for i in range(2):
    try:
        d = n.nvmlDeviceGetHandleByIndex(i)
        print(n.nvmlDeviceGetPowerUsage(d) > 0)
    except n.NVMLError_GpuIsLost:
        print("lost")
"""], one.env)
    assert told.split() == ["True", "lost"]


def test_no_library_is_the_peers_own_message(tmp_path):
    told = run([sys.executable, "-c", """
import pynvml
try:
    pynvml.nvmlInit()
except pynvml.NVMLError_LibraryNotFound:
    print("none")
"""], {"LD_LIBRARY_PATH": str(tmp_path)})
    assert told == "none\n"


# A user's report has the text of 27 (pynvml's issue 54, an H100 whose fabric was
# not up); nvidia-smi prints that of 26, as it does the others, in its cells.
TEXTS = {26: "Requested functionality has been deprecated",
         27: "System is not in ready state"}


def test_the_texts_of_errors(machine):
    """nvidia-ml-py has most of them, too."""
    told = json.loads(run([sys.executable, "-c", """
import ctypes, json, pynvml
nvml = ctypes.CDLL("libnvidia-ml.so.1")
nvml.nvmlErrorString.restype = ctypes.c_char_p
theirs = dict(pynvml.NVMLError._errcode_to_string)
print(json.dumps([theirs, {code: nvml.nvmlErrorString(code).decode()
                           for code in [*theirs, 26, 27]}]))
"""], machine("--gpus", "t4").env))
    theirs, ours = ({int(code): text for code, text in texts.items()}
                    for texts in told)
    assert len(theirs) > 18
    assert ours == theirs | TEXTS
