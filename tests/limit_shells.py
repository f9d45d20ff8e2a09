# SPDX-License-Identifier: Apache-2.0
"""GPU programs under limits, as the tests drive them: gpu_shell.py with
libvgpu.so preloaded, in the environment that HAMi makes."""

import json
import os
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT, clean_env, preload

VGPU = os.path.join(BUILD, "lib", "gpukit", "libvgpu.so")
SHELL = os.path.join(ROOT, "tests", "limit", "gpu_shell.py")
MIB, GIB = 1 << 20, 1 << 30


class Shell:
    """A program that answers; end() ends it, or its fixture at the latest."""

    def __init__(self, env, *before):
        self.process = subprocess.Popen(
            [*before, sys.executable, SHELL], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=clean_env(**env))
        self.pid = self.process.pid

    def __call__(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        told = self.process.stdout.readline()
        assert told, f"{line}: it ended with {self.process.wait()}"
        return json.loads(told)

    def ask(self, line):
        """Does not wait for the answer, which answer() reads."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def start(self, device=0):
        """Initialises NVML and CUDA, and makes a context on a device."""
        assert self("nvml_init()") == 0
        assert self("cu_init()") == 0
        assert self(f"use({device})") == 0
        return self

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
        self.process.wait(timeout=60)

    def kill(self):
        self.process.kill()
        self.process.wait()


def hami(machine, cache, memory="2048m", **more):
    """The environment of a container of HAMi's."""
    return {**machine.env, "LD_PRELOAD": preload(VGPU),
            "CUDA_DEVICE_MEMORY_LIMIT_0": memory,
            "CUDA_DEVICE_MEMORY_SHARED_CACHE": str(cache), **more}


@pytest.fixture
def shell():
    """shell(ENV, WORD...) starts a program, through the given command; all are
    ended after the test."""
    started = []

    def start(env, *before):
        started.append(Shell(env, *before))
        return started[-1]

    yield start
    for one in started:
        one.end()
