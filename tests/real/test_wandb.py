# SPDX-License-Identifier: Apache-2.0
"""Weights & Biases records the figures of the GPUs by itself, with a program of
its own; offline, it writes them to a file. They are those that `gpukit stat`
shows: the machine's time stands still."""

import pytest

from real_program import Program

WANDB = Program("wandb")

# Reads the records of a run: protobuf in blocks of 32 KiB, like the log of
# LevelDB, after 7 bytes of its own.
RECORDS = """
import glob, struct, tempfile, time
import wandb
from wandb.proto.wandb_internal_pb2 import Record

BLOCK, HEAD, WHOLE, LAST = 32768, struct.Struct("<IHB"), 1, 4

def records():
    with open(glob.glob("wandb/offline-run-*/*.wandb")[0], "rb") as file:
        told = file.read()
    at, found = 7, b""
    while at + HEAD.size <= len(told):
        if BLOCK - at % BLOCK < HEAD.size:
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = HEAD.unpack_from(told, at)
        at += HEAD.size + length
        found += told[at - length:at]
        if kind in (WHOLE, LAST):
            yield Record.FromString(found)
            found = b""

os.chdir(tempfile.mkdtemp())
run = wandb.init(project="project", mode="offline", settings=wandb.Settings(
    x_stats_sampling_interval=0.5, silent=True))
time.sleep(5)
run.finish()
# Its other process writes on for a moment.
deadline = time.monotonic() + 60
while not any(one.HasField("exit") for one in records()):
    assert time.monotonic() < deadline, "the run has no end"
    time.sleep(0.1)
all_records = list(records())
"""

FIGURES = """
CORES = {"NVIDIA A100-SXM4-80GB": 6912, "NVIDIA GeForce RTX 3090": 10496}
environment = [one.environment for one in all_records
               if one.HasField("environment")][-1]
assert [(gpu.name, gpu.memory_total, gpu.cuda_cores, gpu.architecture,
         gpu.uuid, gpu.pci_bus_id) for gpu in environment.gpu_nvidia] == [
    (one["name"], one["memory_total_bytes"], CORES[one["name"]], "Ampere",
     one["uuid"], one["bus_id"]) for one in OURS]
assert environment.cuda_version == TOLD["cuda_version"]

samples = [{item.key: json.loads(item.value_json)
            for item in one.stats.item if item.key.startswith("gpu.")}
           for one in all_records if one.HasField("stats")]
assert len(samples) >= 3
for one in OURS:
    wanted = {
        "gpu": one["gpu_utilization_percent"],
        "memory": one["memory_utilization_percent"],
        "memoryAllocatedBytes": one["memory_used_bytes"],
        "memoryAllocated":
            100 * one["memory_used_bytes"] / one["memory_total_bytes"],
        "temp": one["temperature_celsius"],
        "powerWatts": one["power_watts"],
        "enforcedPowerLimitWatts": one["power_limit_enforced_watts"],
        "powerPercent":
            100 * one["power_watts"] / one["power_limit_enforced_watts"],
        "energyJoules": one["energy_joules"],
        "smClock": one["sm_clock_hertz"] // 1000000,
        "memoryClock": one["memory_clock_hertz"] // 1000000,
        "fanSpeed": one["fan_speed_percent"],
        "correctedMemoryErrors": one["ecc_errors_corrected_volatile_total"],
        "uncorrectedMemoryErrors":
            one["ecc_errors_uncorrected_volatile_total"]}
    for sample in samples:
        for key, value in wanted.items():
            found = sample.get(f"gpu.{one['index']}.{key}")
            assert found == value or abs(found - value) < 1e-9, (
                key, found, value)
"""


# It reads memory by a function that drivers before 510 do not have.
@pytest.mark.parametrize("driver", [535, 580, 610])
def test_the_figures_of_gpus(driver):
    WANDB.compare(RECORDS + FIGURES, "--frozen", "--gpus",
                  "a100-sxm4-80gb:1,rtx3090:1", "--load", "train:0,mem=5GiB",
                  "--driver", str(driver))
