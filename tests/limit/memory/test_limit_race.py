# SPDX-License-Identifier: Apache-2.0
"""Many processes of a group run at once and are stopped, continued and killed
anywhere: by the fake driver's own books they are never a byte above their
limit."""

import json
import os
import random
import select
import signal
import subprocess
import time

import pytest

from conftest import GPUKIT
from test_limit_memory import (BLOCK, CONTEXT, LIMIT, MIB, OUT_OF_MEMORY,
                               await_that, group)

__all__ = ["group"]

ALL = "plain,pitch,virtual,mapped,async,pool,freed-sync,freed-async"


def limit_of(contexts, rest=1000 * MIB + 12345):
    return {"CUDA_DEVICE_MEMORY_LIMIT": str(contexts * CONTEXT + rest)}


def living(one):
    """The bytes of all living processes."""
    return one.judge.ok("used 1")[1]


def fill_together(one, programs):
    """All allocate what is left at once; returns what is left then."""
    for program in programs:
        program.send("fill virtual 1")
    assert {program.answer()[0] for program in programs} == {OUT_OF_MEMORY}
    return int(one.env["CUDA_DEVICE_MEMORY_LIMIT"]) - living(one)


def used(one):
    """Bytes by the ledger, including those reserved for calls under way."""
    told = subprocess.check_output(
        [GPUKIT, "limit", "show", "--json",
         one.env["CUDA_DEVICE_MEMORY_SHARED_CACHE"]])
    return json.loads(told)["groups"][0]["devices"][0]["memory_used_bytes"]


def test_who_loads_code_for_long_holds_up_nobody(group, tmp_path):
    """The driver waits for somebody to write the file."""
    one = group(**limit_of(2))
    loads, takes = one.start(), one.start()
    code = tmp_path / "code"
    os.mkfifo(code)
    loads.send(f"load {code}")
    await_that(lambda: used(one) > 2 * CONTEXT)
    takes.send("take plain 1000000")
    answered, _, _ = select.select([takes.process.stdout], [], [], 20)
    assert answered and takes.answer() == [0]
    with open(code, "wb"):
        assert loads.answer() != [0]
    assert used(one) == 2 * CONTEXT + 2 * MIB


@pytest.mark.parametrize("count", [64])
def test_64_processes_race(group, count):
    """The size of a context is not known when they start."""
    one = group(**limit_of(count))
    limit = int(one.env["CUDA_DEVICE_MEMORY_LIMIT"])
    programs = [one.add(one.env) for _ in range(count)]
    for program in programs:
        program.send("open 0")
    assert {program.answer()[0] for program in programs} == {0}
    assert living(one) == count * CONTEXT
    for i, program in enumerate(programs):
        program.send(f"storm {i + 1} 100 60000000 40 {ALL}")
    answers = [program.answer() for program in programs]
    assert {r for r, *_ in answers} == {0}
    assert sum(refused for _, refused in answers) > 0
    for program in programs:
        program.ok("empty")
    assert living(one) == count * CONTEXT
    assert 0 <= fill_together(one, programs) < BLOCK
    one.machine.stop()
    with open(one.report, encoding="utf-8") as f:
        peak = json.load(f)["devices"][0]["memory_peak_bytes"]
    assert limit - BLOCK < peak <= limit


class Storm:
    """Programs in an endless storm."""

    def __init__(self, one, count, classes):
        self.one, self.classes = one, classes
        self.started = 0
        self.programs = [self.start() for _ in range(count)]

    def start(self):
        self.started += 1
        program = self.one.add(self.one.env)
        program.send("open 0")
        program.send(f"storm {self.started} 4000000000 60000000 40 "
                     f"{self.classes}")
        return program

    def kill(self, i):
        self.programs[i].process.kill()
        self.programs[i].process.wait()
        self.programs[i] = self.start()

    def signal(self, number):
        for program in self.programs:
            os.kill(program.pid, number)

    def held_in_a_pause(self):
        """All are stopped somewhere, so that the books show one moment."""
        self.signal(signal.SIGSTOP)
        for program in self.programs:
            while state_of(program.pid) not in "tT":
                pass
        held = living(self.one)
        self.signal(signal.SIGCONT)
        return held


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


@pytest.mark.slow
@pytest.mark.parametrize("classes", [
    "plain", "virtual,mapped", "async,pool,freed-sync", "module,plain",
    ALL + ",array,mipmap,module,context"])
def test_kills_and_pauses_anywhere(group, classes):
    """Afterwards all that the dead had can be allocated again."""
    count = 6
    one = group(**limit_of(count + 1))
    limit = int(one.env["CUDA_DEVICE_MEMORY_LIMIT"])
    last = one.start()
    storm = Storm(one, count, classes)
    rng = random.Random(1)
    for _ in range(30):
        storm.kill(rng.randrange(count))
        time.sleep(rng.random() * 0.01)
        assert storm.held_in_a_pause() <= limit
    for program in storm.programs:
        program.process.kill()
        program.process.wait()
    fit = (limit - CONTEXT) // BLOCK
    assert last("fill virtual 1") == [OUT_OF_MEMORY, fit]


def test_the_dead_leave_their_memory_within_100_ms(group):
    one = group()
    room = (LIMIT - 2 * CONTEXT) // BLOCK * BLOCK
    dies, waits = one.start(), one.start()
    dies.ok(f"take virtual {room}")
    assert waits(f"take virtual {room}") == [OUT_OF_MEMORY]
    dies.process.kill()
    dies.process.wait()
    began = time.monotonic()
    while waits(f"take virtual {room}") != [0]:
        pass
    assert time.monotonic() - began < 0.1
