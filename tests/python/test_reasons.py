# SPDX-License-Identifier: Apache-2.0
"""There is no NA without a reason and no reason without an NA: all values of
devices of many kinds are checked, including those of a lost GPU and those that
take no argument."""

import json
import os

import pytest

from conftest import GPUKIT, ROOT
from python_package import check_built, program_on_machine

check_built()
program = program_on_machine

# Names that are not values: objects, other devices, numbers that are always
# known.
NO_VALUES = {
    "GPU_PROCESS_CLASS", "SNAPSHOT_KEYS", "UUID_PATTERN", "all", "as_snapshot",
    "count", "cuda", "cuda_index", "from_cuda_indices",
    "from_cuda_visible_devices", "from_indices", "handle", "index",
    "is_available", "is_leaf_device", "is_mig_device", "max_mig_device_count",
    "mig_device", "mig_devices", "mig_index", "normalize_cuda_visible_devices",
    "nvml_index", "oneshot", "parent", "parse_cuda_visible_devices",
    "physical_index", "processes", "reason", "to_leaf_devices",
    "is_mig_mode_enabled", "nvlink_link_count"}

WALK = """
import gpukit, json, sys
from gpukit._more_values import METRIC_IDS
def has_na(value):
    if isinstance(value, (list, tuple)):
        return not value or any(map(has_na, value))
    return isinstance(value, str) and "N/A" in value
wrong, absent, asked = {}, {}, 0
for d in gpukit.Device.all() + gpukit.MigDevice.all():
    if d.index == 0 and LOST:
        machine_fails()
        d = gpukit.Device(0)
    names = [x for x in dir(type(d)) if x[0] != "_" and x not in NO_VALUES]
    for name in [*names, *METRIC_IDS]:
        if name.startswith("pcie_") and "throughput" in name and SLOW:
            continue
        value = getattr(d, name)()
        asked += 1
        why = d.reason(name)
        if has_na(value) != bool(why):
            wrong[f"{d.index} {name}"] = (repr(value), why)
        if why:
            absent[why] = absent.get(why, 0) + 1
print(json.dumps([wrong, absent, asked]))
"""

LOSE = """
import subprocess
def machine_fails():
    subprocess.run([GPUKIT, "fake", "ctl", "fail", "0", "lost"], check=True)
"""


def walk(program, *options, lost=False):
    code = (f"NO_VALUES = {NO_VALUES!r}\nLOST, SLOW = {lost}, False\n"
            f"GPUKIT = {GPUKIT!r}\n{LOSE}\n{WALK}")
    return json.loads(program(code, "--frozen", *options))


PROFILES = sorted(name[:-5] for name in os.listdir(os.path.join(
    ROOT, "profiles")) if name.endswith(".yaml"))


@pytest.mark.parametrize("profile", PROFILES)
def test_every_na_has_a_reason(program, profile):
    wrong, absent, asked = walk(program, "--gpus", f"{profile}:1")
    assert wrong == {} and "not supported" in absent and asked > 250


def test_every_na_of_mig_devices_has_a_reason(program):
    wrong, absent, asked = walk(program, "--gpus", "a100-sxm4-80gb:1",
                                "--mig", "0=3g.40gb+2g.20gb")
    assert wrong == {} and absent["not supported"] > 100 and asked > 750


def test_every_na_of_a_lost_gpu_has_a_reason(program):
    wrong, absent, _ = walk(program, "--gpus", "h100:1", lost=True)
    assert wrong == {} and absent["GPU is lost"] > 100


def test_what_is_no_value_has_no_reason(program):
    out = program("""
import gpukit
for name in ("no_such_value", "_at", "reason", "count", "", "nvlink_x",
             "processes"):
    try:
        print(name, gpukit.Device(0).reason(name))
    except AttributeError:
        pass
""", "--gpus", "h100:1")
    assert out == ""


def test_a_refusal_names_itself(program):
    """From NVML's own errors, one function after another."""
    out = program("""
import gpukit, subprocess
d = gpukit.Device(0)
for error in ("NO_PERMISSION", "NOT_SUPPORTED", "GPU_IS_LOST", "UNKNOWN",
              "FUNCTION_NOT_FOUND", "TIMEOUT"):
    subprocess.run(["GPUKIT", "fake", "ctl", "fail", "0",
                    "nvmlDeviceGetPowerUsage=NVML_ERROR_" + error], check=True)
    print(d.power_usage(), d.reason("power_usage"), d.temperature() > 0,
          sep="|")
""".replace("GPUKIT", GPUKIT), "--gpus", "h100:1")
    assert out.splitlines() == [
        "N/A|permission denied|True", "N/A|not supported|True",
        "N/A|GPU is lost|True", "N/A|driver reported an error|True",
        "N/A|driver library lacks the function|True",
        "N/A|driver did not answer in time|True"]
