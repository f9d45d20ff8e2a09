# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake join` opens a second terminal on a fake machine."""

import os
import subprocess

import pytest

from conftest import GPUKIT, clean_env


def join(*args, env=None, **kwargs):
    return subprocess.run([GPUKIT, "fake", "join", *map(str, args)],
                          text=True, capture_output=True, check=False,
                          env=clean_env(**(env or {})), timeout=60, **kwargs)


@pytest.mark.parametrize("driver, version", [("535", "535.261.03"),
                                             ("580", "580.95.05")])
def test_it_sees_the_same_gpus_by_the_same_driver(machine, driver, version):
    one = machine("--gpus", "t4:2", "--driver", driver)
    one.ctl("set", "1", "temperature=83")
    done = join(one.path, "--", "nvidia-smi", "--format=csv,noheader",
                "--query-gpu=index,name,driver_version,temperature.gpu")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split(", ") for line in done.stdout.splitlines()]
    assert [row[:3] for row in rows] == [["0", "Tesla T4", version],
                                         ["1", "Tesla T4", version]]
    assert rows[1][3] == "83"
    # An older library lacks newer functions.
    symbols = join("--name", one.path, "--", "python3", "-c",
                   "import ctypes; print(hasattr(ctypes.CDLL("
                   "'libnvidia-ml.so.1'), 'nvmlDeviceGetPdi'))")
    assert symbols.stdout == f"{driver != '535'}\n"


def test_the_status_is_the_commands(machine):
    one = machine("--gpus", "t4")
    for command, status in ((("sh", "-c", "exit 7"), 7), (("true",), 0),
                            (("sh", "-c", "kill -9 $$"), 137),
                            (("/nosuch",), 127)):
        assert join(one.path, "--", *command).returncode == status


@pytest.mark.parametrize("shell", [{"SHELL": "/bin/sh"}, {"SHELL": ""}, {}])
def test_a_shell_without_a_command(machine, shell):
    one = machine("--gpus", "t4:3")
    done = join(one.path, env=shell, input="nvidia-smi -L | wc -l; exit 5\n")
    assert (done.returncode, done.stdout.strip()) == (5, "3"), done


def test_the_path_of_the_machine_is_absolute(machine, tmp_path):
    one = machine("--gpus", "t4")
    done = join("./" + os.path.basename(one.path), "--", "sh", "-c",
                "cd / && nvidia-smi -L && echo $GPUKIT_MACHINE",
                cwd=os.path.dirname(one.path))
    assert done.stdout.splitlines()[-1] == one.path, done


def test_the_machine_stays(machine):
    one = machine("--gpus", "t4")
    assert join(one.path, "--", "true").returncode == 0
    assert one.show(0)["gpus"][0]["name"] == "Tesla T4"


@pytest.mark.parametrize("words, status, says", [
    (["one", "two"], 2, "put a command after --"),
    (["/nosuch/machine", "--", "true"], 1, "no machine at /nosuch/machine"),
    (["--wrong"], 2, "unrecognized option"),
])
def test_wrong_usage(words, status, says):
    done = join(*words)
    assert done.returncode == status and says in done.stderr, done
