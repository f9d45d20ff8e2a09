# SPDX-License-Identifier: Apache-2.0
"""What `gpukit export` says of performance (GPM) and of split GPUs, compared
with nvidia-ml-py on the same machine."""

import json
import subprocess
import sys
import time

import pytest

from conftest import clean_env, needed
from exporter import BUILT, Exporter, export

needed("pynvml", __file__)
pytestmark = BUILT
assert export  # the fixture

# Prints the means of three seconds for a GPU, or for one of its GPU instances.
CLIENT = """
import json, sys, time
import pynvml as n

n.nvmlInit()
gpu = n.nvmlDeviceGetHandleByIndex(int(sys.argv[1]))
samples = [n.nvmlGpmSampleAlloc() for _ in range(2)]
for at, sample in enumerate(samples):
    time.sleep(3 * at)
    if len(sys.argv) > 2:
        n.nvmlGpmMigSampleGet(gpu, int(sys.argv[2]), sample)
    else:
        n.nvmlGpmSampleGet(gpu, sample)
ids = [value for name, value in sorted(vars(n).items())
       if name.startswith("NVML_GPM_METRIC_") and isinstance(value, int)
       and value < 62]
get = n.c_nvmlGpmMetricsGet_t(version=1, numMetrics=len(ids),
                              sample1=samples[0], sample2=samples[1])
for i, value in enumerate(ids):
    get.metrics[i].metricId = value
n.nvmlGpmMetricsGet(get)
print(json.dumps({get.metrics[i].metricId: get.metrics[i].value
                  for i in range(len(ids)) if not get.metrics[i].nvmlReturn}))
"""

# Prints the bytes that a GPU has moved over NVLink and over PCIe, by direction.
COUNTERS = """
import json, sys
import pynvml as n

n.nvmlInit()
gpu = n.nvmlDeviceGetHandleByIndex(int(sys.argv[1]))
print(json.dumps([field.value.ullVal for field in n.nvmlDeviceGetFieldValues(
    gpu, [(n.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, 0xffffffff),
          (n.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, 0xffffffff),
          n.NVML_FI_DEV_PCIE_COUNT_TX_BYTES,
          n.NVML_FI_DEV_PCIE_COUNT_RX_BYTES])]))
"""

# Our name, DCGM's name, NVML's number of the metric, what it is a part of.
MIB = 1 << 20
METRICS = [
    ("graphics_active_ratio", "GR_ENGINE_ACTIVE", 1, 1 / 100),
    ("sm_active_ratio", "SM_ACTIVE", 2, 1 / 100),
    ("sm_occupancy_ratio", "SM_OCCUPANCY", 3, 1 / 100),
    ("tensor_active_ratio", "PIPE_TENSOR_ACTIVE", 5, 1 / 100),
    ("dram_active_ratio", "DRAM_ACTIVE", 10, 1 / 100),
    ("fp64_active_ratio", "PIPE_FP64_ACTIVE", 11, 1 / 100),
    ("fp32_active_ratio", "PIPE_FP32_ACTIVE", 12, 1 / 100),
    ("fp16_active_ratio", "PIPE_FP16_ACTIVE", 13, 1 / 100),
    ("pcie_transmit_bytes_per_second", "PCIE_TX_BYTES", 20, MIB),
    ("pcie_receive_bytes_per_second", "PCIE_RX_BYTES", 21, MIB),
    ("nvlink_transmit_bytes_per_second", "NVLINK_TX_BYTES", 61, MIB),
    ("nvlink_receive_bytes_per_second", "NVLINK_RX_BYTES", 60, MIB)]


def means(made, *which):
    """What nvidia-ml-py tells, by the number of the metric."""
    done = subprocess.run([sys.executable, "-c", CLIENT, *map(str, which)],
                          env=clean_env(**made.env), check=True, timeout=120,
                          capture_output=True, text=True)
    return {int(k): v for k, v in json.loads(done.stdout).items()}


def compare(told, made, which, prefix, column, **labels):
    """Both are means of some seconds, of a load that varies little."""
    wanted = means(made, *which)
    for row in METRICS:
        name = prefix + row[column]
        if row[2] in wanted:
            assert told.of(name, **labels) == pytest.approx(
                wanted[row[2]] * row[3], rel=0.25, abs=0.02), name
        else:
            assert not any(labels.items() <= have.items()
                           for have, _ in told.get(name, ())), name


@pytest.mark.slow
def test_gpm_of_gpus(export):
    e = export(["--gpus", "h100:2,a100:1", "--load", "train:0,util=80,period=1h"])
    name = "gpukit_gpm_sm_active_ratio"
    told = e.until(lambda m: m.of(name, gpu="0") > 0.2 and
                   m.of(name, gpu="1") == 0)
    compare(told, export.made, [0], "gpukit_gpm_", 0, gpu="0")
    assert not any(have["gpu"] == "2" for have, _ in told[name])


@pytest.mark.slow
def test_gpm_of_gpu_instances_under_dcgms_names(export):
    e = export(["--gpus", "h100:2", "--mig", "0=3g.40gb+2g.20gb",
                "--load", "train:0:0,util=80,period=1h", "--load", "train:1,util=80,period=1h"],
               "--names", "dcgm")
    told = e.until(lambda m: len(m["DCGM_FI_PROF_SM_ACTIVE"]) == 3 and any(
        value > 0.2 for have, value in m["DCGM_FI_PROF_SM_ACTIVE"]
        if have["gpu"] == "0"))
    profiles = {have["GPU_I_PROFILE"]: have["GPU_I_ID"]
                for have, _ in told["DCGM_FI_PROF_SM_ACTIVE"]
                if have["gpu"] == "0"}
    assert set(profiles) == {"3g.40gb", "2g.20gb"}
    for profile, busy in ("3g.40gb", True), ("2g.20gb", False):
        name = profiles[profile]
        compare(told, export.made, [0, name], "DCGM_FI_PROF_", 1, gpu="0",
                GPU_I_ID=name)
        assert (told.of("DCGM_FI_PROF_SM_ACTIVE", gpu="0",
                        GPU_I_ID=name) > 0.1) == busy
    compare(told, export.made, [1], "DCGM_FI_PROF_", 1, gpu="1")


def counters(made, gpu):
    done = subprocess.run([sys.executable, "-c", COUNTERS, str(gpu)],
                          env=clean_env(**made.env), check=True, timeout=120,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_dcgms_bandwidth_of_nvlink(export):
    """The growth of NVML's counters, in KiB, per second and divided by 1000."""
    name = "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"
    e = export(["--gpus", "a100-sxm4-80gb:3", "--load",
                "train:0-1,util=80,period=1h"], "--names", "dcgm")
    e.until(lambda m: m.of(name, gpu="0") > 0 and m.of(name, gpu="2") == 0)
    # The load is steady now.
    began, first = time.monotonic(), counters(export.made, 0)
    told = e.until(lambda m: time.monotonic() > began + 3)
    seconds = time.monotonic() - began
    last = counters(export.made, 0)
    grown = sum(last[:2]) - sum(first[:2])
    assert told.of(name, gpu="0") == pytest.approx(
        grown / seconds / 1000, rel=0.3)
    assert told.types[name] == "gauge"


def test_otels_bytes_over_pcie(export):
    """NVML's counters, by direction; a driver that tells none is believed."""
    e = export(["--gpus", "h100:2", "--load", "train:0"], "--names", "otel")

    def io(m, direction):
        return m.of("hw_gpu_io_bytes_total", hw_name="gpu0", hw_type="gpu",
                    network_io_direction=direction)

    before = counters(export.made, 0)
    old = io(e.metrics(), "transmit")
    told = e.until(lambda m: io(m, "transmit") > old)
    after = counters(export.made, 0)
    for direction, at in ("transmit", 2), ("receive", 3):
        assert 0 < before[at] * 0.5 < io(told, direction) <= after[at]
    assert told.types["hw_gpu_io_bytes_total"] == "counter"
    assert export.made.ctl(
        "fail", "all", "nvmlDeviceGetFieldValues=NOT_SUPPORTED").returncode == 0
    e.until(lambda m: "hw_gpu_io_bytes_total" not in m)


@pytest.mark.slow
def test_a_mig_device_of_an_unknown_instance_has_no_values(machine):
    """Those of the whole board would be wrong. It has its own as soon as the
    driver tells its instance."""
    made = machine("--gpus", "h100", "--mig", "0=3g.40gb+2g.20gb", "--load",
                   "train:0:0,util=80,period=1h")
    name, rule = "gpukit_gpm_sm_active_ratio", "nvmlDeviceGetGpuInstanceId"

    def has(m, gpus):
        return {have["gpu"] for have, _ in m.get(name, ())} == gpus

    assert made.ctl("fail", "all", f"{rule}=UNKNOWN").returncode == 0
    e = Exporter(made.env, "-i", "0.1")
    e.until(lambda m: has(m, {"0"}))
    assert made.ctl("clear", rule).returncode == 0
    e.until(lambda m: has(m, {"0", "0:0", "0:1"}))
    assert e.stop() == (0, "")


def test_a_split_gpu_is_told_by_its_instances_alone(export, gpukit):
    """Two compute instances share one GPU instance, which is told once."""
    e = export(["--gpus", "h100:3", "--frozen", "--mig",
                "1=3g.40gb(2c+1c)+2g.20gb",
                "--load", "train:1:0,mem=20GiB", "--load",
                "train:0,mem=10GiB"], "--names", "dcgm")
    told = e.metrics()
    used = told["DCGM_FI_DEV_FB_USED"]
    assert [(have["gpu"], have.get("GPU_I_PROFILE")) for have, _ in used] == [
        ("0", None), ("1", "3g.40gb"), ("1", "2g.20gb"), ("2", None)]
    stat = gpukit.json("stat", "--json", env=export.made.env)["devices"]
    parts = {d["gpu_instance"]: d["memory_used_bytes"] >> 20 for d in stat
             if d["index"] == 1 and d["mig_index"] is not None}
    assert sum(value for have, value in used if have["gpu"] == "1") == sum(
        parts.values())
    # What only a whole board has is told for each instance.
    board = next(d for d in stat if d["index"] == 1 and d["mig_index"] is None)
    assert [value for have, value in told["DCGM_FI_DEV_POWER_USAGE"]
            if have["gpu"] == "1"] == [board["power_watts"]] * 2
