# SPDX-License-Identifier: Apache-2.0
"""Every public name of nvitop is compared with gpukit's on one fake machine:
tests/python/introspect.py lists kinds and signatures, and probes.py asks for
more than a thousand values and errors.

Each difference is a row of docs/PYTHON.md. A difference without a row fails
here, and so does a row without a difference."""

import json
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT, Machine, clean_env
from python_package import PACKAGE, check_built

check_built()
pytest.importorskip("nvitop")

# A row of the document -> patterns of the differences, or the test that shows
# it where two runs of a program cannot.
ROWS = {
    "`Device.as_snapshot`": ["device.* as_snapshot", "snapshot pcie"],
    "`take_snapshots()`": ["take_snapshots moments"],
    "`cpu_percent` in a snapshot": ["take_snapshots cpu"],
    "`running_time` in a snapshot": "test_a_running_time_is_exact",
    "GPU shares of processes": ["process shares .*"],
    "`NA`": ["NA (pickle|copy|deepcopy)", "snapshot pickle"],
    "`ttl_cache`": ["ttl_cache (used|untyped|parameters|None)"],
    "sampler of a collector": "test_the_sampler_starts_again_with_a_new_tag",
    "`root_pids` of a collector": ["collector of its parent"],
    "mean of a collector": "test_time_without_a_value_does_not_count",
    "`CudaDevice(0, nvml_index=1)`": [r"Device CudaDevice\(wrong\)"],
    "`Device(True).index`": ["Device index True"],
    "`CUDA_VISIBLE_DEVICES`": ["parse asks"],
    "`mig_devices`": "test_a_mig_slot_without_a_device_is_passed_over",
    "`GpuProcess.type`": ["process type again .*"],
    "`select_devices` with invalid constraints": [r"select \{.*"],
    "`timedelta2human(-5)`": [r"timedelta2human\(-5, .*"],
    "`bytes2human(True)`": [r"bytes2human\(True\)"],
    "`utilization2string(nan)`": [r"utilization2string\(nan\)"],
    "`command_join`, `add_quotes`": ["(command_join|add_quotes).*"],
    "`callbacks`": [r"module callbacks\..*"],
    "`HostProcess`, `.host` of an ended process": [r"HostProcess\(ended\)"],
    "`libnvml`": ["libnvml .*"],
    "`libcuda`, `libcudart`": ["cuda (device|memory|uuid)",
                               "(cuda|cudart) error"],
    "`version`": ["version PYNVML_VERSION_CANDIDATES"],
    "gpukit's own": ["select (parse_arguments|main)", "collector one device",
                     "Device cuda_version", "metric"],
}


@pytest.fixture(scope="module", name="made_up")
def made_up_machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("machine") / "m", "--frozen",
                      "--gpus", "h100-80gb-hbm3:1,a100-sxm4-80gb:1",
                      "--mig", "1=3g.40gb+2g.20gb",
                      "--load", "train:0", "--load", "infer:1:0")
    yield machine
    machine.stop()


def run_both(machine, program, told=""):
    """The program's output for nvitop, and for gpukit."""
    path = os.path.join(ROOT, "tests", "python", program)
    out = []
    for package in ("nvitop", "gpukit"):
        done = subprocess.run(
            [sys.executable, path, package], input=told, text=True,
            capture_output=True, check=False, timeout=240,
            env=clean_env(PYTHONPATH=PACKAGE, **machine.env))
        assert done.returncode == 0, done.stderr
        out.append(json.loads(done.stdout.splitlines()[-1]))
    return out


def rows_of_the_surface():
    path = os.path.join(ROOT, "tests", "data", "python-surface.txt")
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                owner, _, *names = line.split()
                yield from ([owner, name] for name in names)


def differences(theirs, ours):
    return {key for key, value in theirs.items()
            if value != "none" and ours.get(key) != value}


@pytest.fixture(scope="module", name="found")
def found_differences(made_up):
    names = run_both(made_up, "introspect.py",
                     json.dumps(list(rows_of_the_surface())))
    values = run_both(made_up, "probes.py")
    assert len(names[0]) > 2000 and len(values[0]) > 1000
    return differences(*names) | differences(*values)


def rows_of_the_document():
    with open(os.path.join(ROOT, "docs", "PYTHON.md"), encoding="utf-8") as f:
        part = f.read().split("## What differs from nvitop")[1]
    rows = [line for line in part.splitlines() if line.startswith("| ")][1:]
    return [row.split(" | ")[0][2:] for row in rows]


def matches(row, key):
    patterns = ROWS[row]
    return not isinstance(patterns, str) and any(
        re.fullmatch(pattern, key) for pattern in patterns)


def test_every_difference_has_a_row(found):
    assert [key for key in sorted(found)
            if not any(matches(row, key) for row in ROWS)] == []


def without_a_difference(found):
    return [(row, pattern) for row, patterns in ROWS.items()
            if not isinstance(patterns, str) for pattern in patterns
            if not any(re.fullmatch(pattern, key) for key in found)]


def test_every_row_has_a_difference(found, made_up):
    """Now and then both packages find the same for the parent of a process; why
    is not known. Then they are asked again."""
    found = set(found)
    for _ in range(3):
        if without_a_difference(found):
            found |= differences(*run_both(made_up, "probes.py"))
    assert without_a_difference(found) == []


def test_the_rows_are_those_of_the_document_and_few():
    assert sorted(rows_of_the_document()) == sorted(ROWS)
    assert len(ROWS) <= 30


def test_the_tests_that_rows_name_are_there():
    with open(os.path.join(ROOT, "tests", "python", "test_defects.py"),
              encoding="utf-8") as f:
        text = f.read()
    for row, name in ROWS.items():
        assert not isinstance(name, str) or f"def {name}(" in text, row
