# SPDX-License-Identifier: Apache-2.0
"""Programs from PyPI as a user runs them: each has a Python of its own,
build/real/NAME, which `./run real` makes from tests/real/NAME.txt."""

import os
import subprocess
import tempfile

from conftest import BUILD, GPUKIT, clean_env

# A script that compares begins so: OURS is what gpukit tells of the same
# machine, PROCESSES its processes as (GPU, pid, MiB).
OURS = """
import json, os, re, subprocess, sys

MIB = 1 << 20
BIN = os.path.dirname(sys.executable)

def run(*argv, **env):
    done = subprocess.run(argv, text=True, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120,
                          env={**os.environ, **env})
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout

def stat():
    return json.loads(run(os.environ["GPUKIT_COMMAND"], "stat", "--json"))

def mib(gpu, what):
    return gpu[f"memory_{what}_bytes"] // MIB

# The memory in use as nvmlDeviceGetMemoryInfo tells it: with what the driver
# itself keeps; drivers before 510 tell of no such memory.
def in_use(gpu):
    return gpu["memory_used_bytes"] + (gpu["memory_reserved_bytes"] or 0)

TOLD = stat()
OURS, DRIVER = TOLD["devices"], TOLD["driver_version"]
PROCESSES = sorted((gpu["index"], one["pid"], one["gpu_memory_bytes"] // MIB)
                   for gpu in OURS for one in gpu["processes"])
"""


class Program:
    """A package with its Python; called with a script, it runs that."""

    def __init__(self, name, *options):
        """options: of the launcher, for all its scripts."""
        self.name, self.options = name, options
        self.venv = os.path.join(BUILD, "real", name)
        self.python = os.path.join(self.venv, "bin", "python")

    def __call__(self, script, *options, around=(), **env):
        """The output of a script, which must succeed. The script is a file,
        since a process that it spawns reads it again; around: a command that
        runs the launcher."""
        assert os.access(self.python, os.X_OK), f"missing: ./run real {self.name}"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(script)
            file.flush()
            done = subprocess.run(
                [*around, GPUKIT, "fake", *self.options, *options, "--",
                 self.python, file.name], text=True, capture_output=True,
                stdin=subprocess.DEVNULL, check=False, timeout=300,
                env=clean_env(**env))
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done

    def compare(self, script, *options, **env):
        """The output of a script that compares with what gpukit tells."""
        return self(OURS + script, *options, GPUKIT_COMMAND=GPUKIT, **env)
