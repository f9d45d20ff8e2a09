"""PyTorch as PyPI has it, in build/venv-torch, which `./run torch` makes."""

import json
import os
import subprocess

import pytest

from conftest import BUILD, GPUKIT, clean_env

PYTHON = os.path.join(BUILD, "venv-torch", "bin", "python")
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")

needs_torch = pytest.mark.skipif(
    not os.access(PYTHON, os.X_OK), reason="PyTorch is not installed: ./run torch")


def run(arguments, gpus=None, timeout=300):
    """A program's output; gpus: the machine that is made up around it."""
    around = [GPUKIT, "fake", "--gpus", gpus, "--"] if gpus else []
    env = clean_env(OMP_NUM_THREADS="1", PYTHONPATH=PROGRAMS,
                    TOKENIZERS_PARALLELISM="false")
    done = subprocess.run(
        [*around, PYTHON, *arguments], cwd=PROGRAMS, env=env, check=False,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=timeout)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done


def told(done):
    """The program's last line."""
    return json.loads(done.stdout.splitlines()[-1])


def both(program, folder, gpus="h100:1", before=()):
    """What a program tells of cuda and of the CPU."""
    return [told(run([*before, program, device, str(folder)], where))
            for device, where in (("cuda", gpus), ("cpu", None))]
