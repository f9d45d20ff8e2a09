# SPDX-License-Identifier: Apache-2.0
"""python -m gpukit and python -m gpukit.select run as users start them; the
second is compared with nvitop's."""

import json
import os
import re
import subprocess
import sys

import pytest

from conftest import Machine, clean_env
from python_package import PACKAGE, check_built

check_built()


@pytest.fixture(scope="module", name="made_up")
def made_up_machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("machine") / "m", "--frozen",
                      "--gpus", "h100-80gb-hbm3:3,a100-sxm4-80gb:1",
                      "--mig", "3=3g.40gb+2g.20gb",
                      "--load", "train:0", "--load", "idle:1,mem=30GiB")
    yield machine
    machine.stop()


def start(module, *arguments, PATH="/nowhere", **env):
    """Runs without an installed gpukit command, unless PATH has one."""
    done = subprocess.run([sys.executable, "-m", module, *arguments],
                          text=True, capture_output=True, check=False,
                          timeout=60,
                          env=clean_env(PYTHONPATH=PACKAGE, PATH=PATH, **env))
    return done.returncode, done.stdout, done.stderr


def test_a_line_for_each_gpu_and_each_process(made_up):
    status, out, err = start("gpukit", **made_up.env)
    lines = out.splitlines()
    assert (status, err, len(lines)) == (0, "", 6 + 2)
    assert lines[0].split()[:4] == ["0", "NVIDIA", "H100", "80GB"]
    assert "gpukit-load" in lines[-1]


def test_once_is_the_usual(made_up):
    for option in ("-1", "--once"):
        lines = start("gpukit", option, **made_up.env)[1].splitlines()
        assert len(lines) == 6 + 2


def viewer_of(place):
    """A directory with a command that prints its arguments."""
    tool = place / "gpukit"
    tool.write_text("#!/bin/sh\nprintf '%s|' \"$@\"\nexit 3\n")
    tool.chmod(0o755)
    return f"{place}:{os.environ['PATH']}"


@pytest.mark.parametrize("line", ["", "-1", "-o 0 1", "-m full", "--help",
                                  "--once -U --only-compute"])
def test_the_command_is_handed_over_to(tmp_path, line):
    status, out, err = start("gpukit", *line.split(),
                             PATH=viewer_of(tmp_path))
    assert (status, err) == (3, "")
    assert out.split("|")[:-1] == ["top", *line.split()]


@pytest.mark.parametrize("line", ["--json", "--version", "-V", "--json -1"])
def test_what_the_command_has_not_stays_here(made_up, tmp_path, line):
    status, out, err = start("gpukit", *line.split(), **made_up.env,
                             PATH=viewer_of(tmp_path))
    assert (status, err) == (0, "") and not out.startswith("top")


@pytest.mark.parametrize("module", ["gpukit", "gpukit.select"])
def test_a_reader_that_goes_away_is_no_error(made_up, module):
    """The pipe has no reader from the start, so every write fails."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", module], text=True,
                          stdout=write, stderr=subprocess.PIPE, check=False,
                          timeout=60, env=clean_env(PYTHONPATH=PACKAGE,
                                                    PATH="/nowhere",
                                                    **made_up.env))
    os.close(write)
    assert done.returncode == 0
    assert not [line for line in done.stderr.splitlines()
                if not line.startswith("CUDA_VISIBLE_DEVICES=")]


@pytest.mark.parametrize("module", ["gpukit", "gpukit.select"])
def test_a_closed_stdout_is_one_line(made_up, module):
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -m "$1" --json >&-', sys.executable, module],
        stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        env=clean_env(PYTHONPATH=PACKAGE, **made_up.env))
    assert done.returncode == 1
    assert done.stderr == (
        f"{module}: cannot write the output: Bad file descriptor\n")


@pytest.mark.parametrize("module", ["gpukit", "gpukit.select"])
def test_a_full_disk_is_one_line(made_up, module):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([sys.executable, "-m", module], text=True,
                              stdout=full, stderr=subprocess.PIPE,
                              check=False, timeout=60,
                              env=clean_env(PYTHONPATH=PACKAGE, PATH="/nowhere",
                                            **made_up.env))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"{module}: cannot write the output: No space left on device")
    assert "Traceback" not in done.stderr


PCI = """import sys
sys.modules["pynvml"] = None  # as where nvidia-ml-py is not installed
import gpukit
for gpu in gpukit.Device.all():
    for each in (gpu, *gpu.mig_devices()):
        print(*each.pci_info())
"""


def test_the_place_on_the_bus_needs_no_bindings(made_up):
    done = subprocess.run([sys.executable, "-c", PCI], text=True, check=True,
                          capture_output=True, timeout=60,
                          env=clean_env(PYTHONPATH=PACKAGE, **made_up.env))
    pynvml = pytest.importorskip("pynvml")
    script = """import pynvml
pynvml.nvmlInit()
for i in range(4):
    p = pynvml.nvmlDeviceGetPciInfo(pynvml.nvmlDeviceGetHandleByIndex(i))
    print(p.domain, p.bus, p.device, p.busId, p.busIdLegacy, p.pciDeviceId,
          p.pciSubSystemId)
"""
    theirs = subprocess.run([sys.executable, "-c", script], text=True,
                            check=True, capture_output=True, timeout=60,
                            env=clean_env(**made_up.env)).stdout.splitlines()
    assert pynvml and done.stdout.splitlines() == [*theirs, *theirs[-1:] * 2]


def test_json_has_every_value(made_up):
    status, out, err = start("gpukit", "--json", **made_up.env)
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert [each["index"] for each in told["devices"]] == [
        0, 1, 2, 3, [3, 0], [3, 1]]
    gpu = told["devices"][1]
    assert gpu["memory_used"] == gpu["memory_info"]["used"] == 30 << 30
    assert gpu["fan_speed"] is None and gpu["mig_mode"] == "Disabled"
    assert gpu["cuda_compute_capability"] == [9, 0]
    assert "N/A" not in json.dumps(gpu["clock_speed_infos"])
    idle = told["processes"][1]
    assert (idle["device"], idle["gpu_memory"]) == (1, 30 << 30)
    assert round(idle["running_time_in_seconds"] - idle["running_time"],
                 5) == 0


@pytest.mark.parametrize("module", ["gpukit", "gpukit.select"])
def test_help_version_and_wrong_options(module):
    status, out, err = start(module, "--help")
    assert status == 0 and err == "" and f"usage: python -m {module}" in out
    assert "exit status:" in out
    assert re.fullmatch(r"gpukit [0-9]+\.[0-9]+\.[0-9]+\n",
                        start(module, "--version")[1])
    for wrong in (["--no-such"], ["word"]):
        status, out, err = start(module, *wrong)
        assert status == 2 and out == "" and wrong[0] in err


@pytest.mark.parametrize("module", ["gpukit", "gpukit.select"])
def test_no_driver_is_one_line(module):
    status, out, err = start(module)
    assert (status, out) == (1, "") and err.count("\n") == 1
    assert err == f"{module}: NVML Shared Library Not Found\n"


LINES = ["", "-n 2", "-c 5", "-c 1 -C 2", "-f 40GiB", "-f 1PiB", "-O uuid",
         "--newline", "-0", "-s ;", "-S", "-i", "-i 1,0", "-i 3", "-i 7",
         "-n 0", "-C 0", "--account-as-free", "--account-as-free root nobody",
         "-f 75GiB --tol 20", "-G 50", "-M 50", "-t 70GiB -O uuid --newline",
         "-f x", "-O x", "-G", "-n -1", "--no-such", "word"]


@pytest.mark.parametrize("line", LINES)
def test_a_selection_is_nvitops(made_up, line):
    pytest.importorskip("nvitop")
    theirs, ours = (start(f"{package}.select", *line.split(), **made_up.env)
                    for package in ("nvitop", "gpukit"))
    assert theirs[:2] == ours[:2]
    chosen = [{text for text in err.splitlines() if text.startswith("CUDA")}
              for _, _, err in (theirs, ours)]
    assert chosen[0] == chosen[1] or ours[0] == 4


@pytest.mark.parametrize("line, word", [
    ("-C 1 -c 2", "--max-count"), ("--tol=-1", "--tolerance"),
    ("-n=-3", "--min-count"), ("-f 5X", "invalid size value: '5X'"),
    ("-G=-1", "--max-gpu-utilization")])
def test_a_wrong_wish_is_named(made_up, line, word):
    status, out, err = start("gpukit.select", *line.split(), **made_up.env)
    assert (status, out) == (2, "") and word in err.splitlines()[-1]


def test_too_few_devices_are_told(made_up):
    status, out, err = start("gpukit.select", "-n", "9", **made_up.env)
    assert status == 4 and "3 devices, fewer than 9" in err
    assert sorted(out.strip().split(",")) == ["0", "1", "2"]
