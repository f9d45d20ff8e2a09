# SPDX-License-Identifier: Apache-2.0
"""Runs PyTorch programs on the fake machine, each in a process of its own. They
need the virtual environment build/venv-torch, or GPUKIT_TORCH_PYTHON, a Python
with another PyTorch; without it they are skipped."""

import functools
import json
import os
import subprocess

import pytest

from conftest import BUILD, GPUKIT, ROOT, clean_env

PYTHON = os.environ.get("GPUKIT_TORCH_PYTHON") or os.path.join(
    ROOT, "build", "venv-torch", "bin", "python")

PROGRAMS = os.path.join(ROOT, "tests", "torch", "programs")

BEGIN = """
import torch
from torch import nn
import torch.nn.functional as F

def same(found, expected, **how):
    assert found.is_cuda, found.device
    torch.testing.assert_close(found.cpu(), expected, **how)

def raises(function, kind, *words):
    try:
        function()
    except kind as error:
        for word in words:
            assert word in str(error), (word, str(error))
    else:
        raise AssertionError("nothing was raised")
"""


# Additions to the environment of all programs, for tests that change it.
MORE = {}


def torch_env(**more):
    """One thread each; what is built is kept in the build tree."""
    return clean_env(**{"OMP_NUM_THREADS": "1",
                        "XDG_CACHE_HOME": os.path.join(BUILD, "torch-cache"),
                        **MORE, **more})


def python():
    """The Python that has PyTorch."""
    if not os.path.exists(PYTHON):
        pytest.skip("no PyTorch in build/venv-torch: ./run torch")
    return PYTHON


@functools.cache
def _version():
    text = subprocess.check_output(
        [python(), "-c",
         "from importlib.metadata import version; print(version('torch'))"],
        text=True)
    return tuple(int(one) for one in text.split(".")[:2])


def needs(major, minor):
    """Skips if the PyTorch is older."""
    if _version() < (major, minor):
        pytest.skip(f"PyTorch {major}.{minor} has it first")


def run(program, gpus="h100:2", options=(), check=True, **more):
    """Runs a program on a fake machine; returns its output."""
    done = subprocess.run(
        [GPUKIT, "fake", "--quiet", "--gpus", gpus, *options, "--", python(),
         "-c", BEGIN + program],
        env=torch_env(**more), text=True, capture_output=True, check=False,
        timeout=600)
    if check:
        assert not done.returncode, done.stderr[-3000:]
    return done


def run_file(words, gpus=None, timeout=600):
    """The output of python WORD... in the folder of the programs; gpus: the
    fake machine that it runs on."""
    around = [GPUKIT, "fake", "--gpus", gpus, "--"] if gpus else []
    done = subprocess.run(
        [*around, python(), *words], cwd=PROGRAMS, check=False, text=True,
        env=torch_env(PYTHONPATH=PROGRAMS, TOKENIZERS_PARALLELISM="false"),
        stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def told(printed):
    """The program's last line, which is JSON."""
    return json.loads(printed.splitlines()[-1])


def on_both(*words, folder, gpus="h100:1"):
    """The results of PROGRAM DEVICE FOLDER WORD... for cuda and for the CPU."""
    program, *more = words
    return [told(run_file([program, device, str(folder), *more], where))
            for device, where in (("cuda", gpus), ("cpu", None))]
