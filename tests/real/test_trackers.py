# SPDX-License-Identifier: Apache-2.0
"""Trackers of experiments, and a profiler, read of GPUs what `gpukit stat` shows
of the same moment: the machine's time stands still. They are asked through the
classes that their own threads ask: a run of theirs wants an account."""

import pytest

from real_program import Program

TRACKERS = Program("trackers")

MACHINE = ["--frozen", "--gpus", "a100-sxm4-80gb:1,rtx3090:1",
           "--load", "train:0,n=2,mem=5GiB", "--load", "idle:1,mem=3GiB"]

MLFLOW = """
from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor

monitor = GPUMonitor()
monitor.collect_metrics()
told = monitor.aggregate_metrics()
for index, one in enumerate(OURS):
    wanted = {
        "memory_usage_percentage":
            100 * in_use(one) / one["memory_total_bytes"],
        "memory_usage_megabytes": in_use(one) / 1000000,
        "utilization_percentage": one["gpu_utilization_percent"],
        "power_usage_watts": one["power_watts"],
        "power_usage_percentage":
            100 * one["power_watts"] / one["power_limit_enforced_watts"]}
    for name, value in wanted.items():
        assert abs(told[f"gpu_{index}_{name}"] - value) < 0.0501, (name, told)
"""

SWANLAB = """
from types import SimpleNamespace
from swanlab.sdk.internal.probe_python.hardware_vendor.accelerator.nvidia \\
    import NvidiaGPU

told = NvidiaGPU.get()
assert told.version == DRIVER
# Without nvcc. Driver 610 no longer prints the words that it searches for.
assert NvidiaGPU._get_cuda_version_from_smi() == (
    None if DRIVER.startswith("610") else TOLD["cuda_version"])
assert [(one.index, one.name, one.memory) for one in told.devices] == [
    (one["index"], one["name"], round(one["memory_total_bytes"] / 1024**3))
    for one in OURS]

monitor, scalars = NvidiaGPU.new(SimpleNamespace(accelerators=[
    SimpleNamespace(vendor="nvidia", device_indices=[0, 1])]))
values = {key: read() for key, read in monitor._handlers}
assert set(values) == {one.key for one in scalars}
for index, one in enumerate(OURS):
    assert {key.split(".", 2)[2]: value for key, value in values.items()
            if key.startswith(f"gpu.{index}.")} == {
        "pct": one["gpu_utilization_percent"],
        "mem.pct": in_use(one) / one["memory_total_bytes"] * 100,
        "mem.value": in_use(one) // MIB,
        "temp": one["temperature_celsius"], "power": one["power_watts"],
        "mem.time": one["memory_utilization_percent"]}
"""

CLEARML = """
from clearml.utilities.gpu.gpustat import GPUStatCollection

told = GPUStatCollection.new_query(get_driver_info=True)
assert told.driver_version == DRIVER
for gpu, one in zip(told, OURS, strict=True):
    assert (gpu.index, gpu.name, gpu.uuid) == (
        one["index"], one["name"], one["uuid"])
    assert (gpu.memory_total, gpu.memory_used) == (
        mib(one, "total"), in_use(one) // MIB)
    assert (gpu.temperature, gpu.utilization, gpu.fan_speed) == (
        one["temperature_celsius"], one["gpu_utilization_percent"],
        one["fan_speed_percent"])
    assert (gpu.power_draw, gpu.power_limit) == (
        int(one["power_watts"]), int(one["power_limit_enforced_watts"]))
"""

COMET = """
from comet_ml.system.gpu import gpu_logging

assert [(gpu["name"], gpu["uuid"], gpu["gpu_index"], gpu["power_limit"],
         gpu["total_memory"]) for gpu in gpu_logging.get_gpu_static_info()
        ] == [(one["name"], one["uuid"], one["index"],
               one["power_limit_enforced_watts"] * 1000,
               one["memory_total_bytes"]) for one in OURS]
assert gpu_logging.get_driver_version() == DRIVER
for gpu, one in zip(gpu_logging.get_recurrent_gpu_metric(), OURS, strict=True):
    assert gpu == {
        "gpu_utilization": one["gpu_utilization_percent"],
        "memory_utilization": one["memory_utilization_percent"],
        "power_usage": round(one["power_watts"] * 1000),
        "temperature": one["temperature_celsius"],
        "free_memory": one["memory_free_bytes"], "used_memory": in_use(one),
        "percent.used_memory":
            in_use(one) / one["memory_total_bytes"] * 100}
"""

# Scalene looks for its own process, which has a context here, and an
# allocation; it switches accounting on.
SCALENE = """
import ctypes
from scalene.scalene_nvidia_gpu import ScaleneNVIDIAGPU

cuda = ctypes.CDLL("libcuda.so.1")
made, at = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(made), 0) == 0
assert cuda.cuCtxSetCurrent(made) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(1 << 30)) == 0
held, = [one["gpu_memory_bytes"] for gpu in stat()["devices"]
         for one in gpu["processes"] if one["pid"] == os.getpid()]
gpus = ScaleneNVIDIAGPU()
assert gpus.has_gpu() and gpus.get_num_cores() == len(OURS)
load, memory = gpus.get_stats()
assert memory == held / MIB > 1024, (memory, held)
assert load == 0
"""

# A process of a load, asked as if it were Scalene's own.
SCALENE_LOAD = """
from scalene.scalene_nvidia_gpu import ScaleneNVIDIAGPU
import time

gpus = ScaleneNVIDIAGPU()
pid = PROCESSES[0][1]
time.sleep(3)
process, = [one for one in stat()["devices"][0]["processes"]]
load = gpus.gpu_utilization(pid)
assert 0.25 < load <= 0.5, load  # of two GPUs, one of which works
assert gpus.gpu_memory_usage(pid) == process["gpu_memory_bytes"] / MIB
"""


@pytest.mark.parametrize("driver", [470, 535, 580, 610])
@pytest.mark.parametrize("script", [MLFLOW, SWANLAB, CLEARML, COMET],
                         ids=["mlflow", "swanlab", "clearml", "comet"])
def test_trackers(script, driver):
    TRACKERS.compare(script, *MACHINE, "--driver", str(driver))


def test_scalene():
    TRACKERS.compare(SCALENE, *MACHINE)


def test_scalene_sees_a_load():
    TRACKERS.compare(SCALENE_LOAD, "--twins", "--gpus", "a100-sxm4-80gb:2",
                     "--load", "train:0,mem=5GiB")
