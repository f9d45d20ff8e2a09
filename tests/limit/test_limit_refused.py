# SPDX-License-Identifier: Apache-2.0
"""Where all GPU work is refused, one line on stderr says why."""

import os
import subprocess
import sys

import pytest

import can
from conftest import clean_env, preload
from limit_shells import SHELL, VGPU, hami

PROGRAM = """
import gpu_shell as g
assert g.cu_init() == 0
results = [g.use(0), g.alloc(1), g.use(0)]
assert all(results), results
"""


def told_by(env):
    """The stderr of a program whose GPU work is all refused."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], text=True, capture_output=True,
        env=clean_env(PYTHONPATH=os.path.dirname(SHELL), **env), check=False,
        timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done
    return done.stderr


# The error, and words of its line.
WRONG = {
    "no size": ({"CUDA_DEVICE_MEMORY_LIMIT": "a lot"},
                ["CUDA_DEVICE_MEMORY_LIMIT=a lot"]),
    "no share": ({"CUDA_DEVICE_SM_LIMIT_3": "half"},
                 ["CUDA_DEVICE_SM_LIMIT_3=half"]),
    "no group": ({"GPUKIT_LIMIT_GROUP": "/nowhere/at/all"},
                 ["/nowhere/at/all", "not found"]),
    "8 bytes": ({"CUDA_DEVICE_MEMORY_LIMIT_0": "8"},
                ["less than one context needs", "518 MiB"]),
    "100 MiB": ({"CUDA_DEVICE_MEMORY_LIMIT_0": "100m"},
                ["100 MiB", "less than one context needs", "518 MiB"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_it_says_why_once(machine, tmp_path, case):
    more, words = WRONG[case]
    env = {**hami(machine("--gpus", "h100"), tmp_path / "x.cache"), **more}
    told = told_by(env)
    assert told.startswith("libvgpu: GPU work is refused: "), told
    assert told.count("\n") == 1
    assert not [word for word in words if word not in told], told
    assert told_by({**env, "GPUKIT_LOG": "off"}) == ""


def test_a_strangers_file_is_named(machine, tmp_path):
    policy = tmp_path / "x.gpukit-policy"
    policy.symlink_to("/etc/passwd")
    told = told_by(hami(machine("--gpus", "h100"), tmp_path / "x.cache"))
    assert "x.cache cannot be enforced" in told, told
    assert told.count("\n") == 1


def test_a_place_in_the_ledger_is_missing(machine, tmp_path):
    """Its /proc shows the processes of another namespace."""
    can.need("processes-of-its-own")
    env = hami(machine("--gpus", "h100"), tmp_path / "x.cache")
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--pid", "--fork",
         sys.executable, "-c", PROGRAM], text=True, capture_output=True,
        env=clean_env(PYTHONPATH=os.path.dirname(SHELL), **env), check=False,
        timeout=60)
    assert "no slot for process" in done.stderr, done
    assert done.stderr.count("\n") == 1


def test_who_is_not_limited_hears_nothing(machine):
    one = machine("--gpus", "h100")
    done = subprocess.run(
        [sys.executable, "-c", "import gpu_shell as g\n"
         "assert g.cu_init() == g.use(0) == g.alloc(1) == 0"],
        env=clean_env(PYTHONPATH=os.path.dirname(SHELL), **one.env,
                      LD_PRELOAD=preload(VGPU)),
        capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
