# SPDX-License-Identifier: Apache-2.0
"""Which drivers `gpukit fake --driver` takes, and with which boards."""

import os
import re
import subprocess

import pytest

from conftest import FAKE_DIR, GPUKIT, ROOT, clean_env
from generations import GENERATIONS

with open(os.path.join(ROOT, "src", "abi", "nvml", "nvml_branches.def"),
          encoding="ascii") as file:
    BRANCHES = re.findall(r'^BRANCH\("(\d+)", "([\d.]+)", (\d+)\)$',
                          file.read(), re.M)


def fake(*args):
    return subprocess.run([GPUKIT, "fake", "-q", *args], text=True,
                          capture_output=True, check=False, timeout=60,
                          env=clean_env())


def versions(driver):
    """What nvidia-smi --version says of a machine with a driver."""
    smi = os.path.join(FAKE_DIR, "bin", "nvidia-smi")
    done = fake("--gpus", "a100", "--driver", driver, "--", smi, "--version")
    assert done.returncode == 0, done.stderr
    return [line.split(": ")[1] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name, driver, cuda", BRANCHES)
def test_a_branch_has_its_version_and_cuda(name, driver, cuda):
    major, minor = divmod(int(cuda), 1000)
    told = versions(name)
    if int(name) >= 610:  # two lines that say where the version is
        told = [line for line in told if not line.startswith("Deprecated")]
    assert told == [driver, ".".join(driver.split(".")[:2]), driver,
                    f"{major}.{minor // 10}"]


def test_a_version_in_between_has_the_library_below():
    told = fake("--gpus", "a100", "--driver", "530.30.02", "--", "env").stdout
    path = re.search(r"^LD_LIBRARY_PATH=([^:\n]*)", told, re.M)[1]
    assert os.path.basename(path) == "525"
    assert versions("530.41.03")[0] == "530.41.03"


@pytest.mark.parametrize("driver", ["390", "469.99.01", "611", "580.x",
                                    "5", "1.2", "620.x"])
def test_other_drivers_are_refused(driver):
    done = fake("--gpus", "a100", "--driver", driver, "--", "true")
    assert done.returncode == 2 and done.stderr.count("allowed are 470, ") == 1


@pytest.mark.parametrize("driver, version", [
    ("615.71.09", "615.71.09"), ("620.10.01", "620.10.01"),
    ("620", BRANCHES[-1][1])])
def test_a_newer_driver_has_the_newest_library(driver, version):
    told = fake("--gpus", "a100", "--driver", driver, "--", "env").stdout
    path = re.search(r"^LD_LIBRARY_PATH=([^:\n]*)", told, re.M)[1]
    assert os.path.basename(path) == GENERATIONS[-1].name
    assert versions(driver)[0] == version


def test_the_help_and_errors_name_all():
    names = [one.name for one in GENERATIONS] + [row[0] for row in BRANCHES]
    told = " ".join(fake("--help").stdout.split())
    listed = told[told.index("Driver: a generation"):told.index("exact version")]
    assert sorted(re.findall(r"\d[\d.]+", listed)) == sorted(names)
    refused = " ".join(fake("--driver", "5", "--", "true").stderr.split())
    listed = refused[refused.index("allowed are"):refused.index(", versions")]
    assert re.findall(r"\d[\d.]+", listed) == sorted(
        names, key=lambda name: float(name) if name != "535" else 535.9)


NEVER_MET = [("b200", "470", "570 or a newer one"),
             ("h100", "515", "525 or a newer one"),
             ("rtx-4090", "470", "520 or a newer one"),
             ("gtx-1080-ti", "590", "580 or an older one"),
             ("v100", "610", "580 or an older one")]


@pytest.mark.parametrize("board, driver, range_", NEVER_MET)
def test_a_board_that_the_driver_never_knew(board, driver, range_):
    done = fake("--gpus", f"a100,{board}", "--driver", driver, "--", "true")
    assert done.returncode == 2 and range_ in done.stderr, done.stderr
    assert fake("--gpus", board, "--driver", driver, "--any-driver", "--",
                "true").returncode == 0


def test_boards_that_the_driver_knew():
    for board, driver in [("b200", "570"), ("h100", "525"), ("v100", "580"),
                          ("rtx-4090", "525"), ("gtx-1080-ti", "470")]:
        done = fake("--gpus", board, "--driver", driver, "--", "true")
        assert done.returncode == 0, (board, driver, done.stderr)


def test_the_page_tells_of_all():
    with open(os.path.join(ROOT, "docs", "DRIVERS.md"),
              encoding="utf-8") as page:
        text = page.read()
    for name, driver, _ in BRANCHES:
        assert f"| {name} | {driver} |" in text
    for one in GENERATIONS:
        assert f"| {one.name} | {one.driver} |" in text
