# SPDX-License-Identifier: Apache-2.0
"""Processes of a group are stopped and killed at each step of allocating and
freeing memory: before the reservation, between it and the driver's call, after
that call, and between the driver's freeing and ours. The driver's own books say
what is held; each pause is at a fixed place, so nothing is left to chance."""

import os
import select
import struct
import subprocess
import time

import pytest

from conftest import GPUKIT
from test_limit_memory import (BUILD, CONTEXT, MIB, OUT_OF_MEMORY, VGPU,
                               await_that, group)
from test_limit_race import living, used

__all__ = ["group"]

HELD = os.path.join(BUILD, "tests/limit/libheld.so")
COUNT, KILLED = 64, 10
PIECE = 1024 * MIB
LIMIT = COUNT * CONTEXT + 40 * PIECE + 12345
TAKE = f"take plain {PIECE}"
FUTEX = "202" if os.uname().machine == "x86_64" else "98"


def fit(count):
    """How many pieces fit beside this many contexts."""
    return (LIMIT - count * CONTEXT) // PIECE


FIRST, LEFT = fit(COUNT), COUNT - KILLED
MORE = fit(LEFT) - (FIRST - KILLED)  # if the killed ones had a piece


class Steps:
    """Holds programs up at steps; see held.c."""

    def __init__(self, path):
        self.path, self.fds = path, []
        path.mkdir()
        os.mkfifo(path / "arrived")
        self.arrived = self.open("arrived")

    def open(self, name):
        self.fds.append(os.open(self.path / name, os.O_RDWR))
        return self.fds[-1]

    def hold(self, step):
        os.mkfifo(self.path / step)

    def go(self, step):
        """Releases all who are at the step or come to it."""
        self.open(step)
        os.unlink(self.path / step)

    def arrivals(self, count):
        """The pids of the next processes that arrive."""
        told = b""
        while len(told) < 4 * count:
            assert select.select([self.arrived], [], [], 20)[0], "nobody"
            told += os.read(self.arrived, 4 * count - len(told))
        return {pid for pid, in struct.iter_unpack("i", told)}

    def close(self):
        for fd in self.fds:
            os.close(fd)


class Crowd:
    """COUNT programs, and a judge outside the group."""

    def __init__(self, one, steps):
        self.one, self.steps = one, steps
        self.programs = [one.add(one.env) for _ in range(COUNT)]

    def send(self, line, programs):
        for program in programs:
            program.send(line)

    def answers(self, programs):
        """The errors, sorted."""
        return sorted(program.answer()[0] for program in programs)

    def open(self):
        self.send("open 0", self.programs)
        assert set(self.answers(self.programs)) == {0}
        return self

    def arrivals(self, count):
        pids = self.steps.arrivals(count)
        return [p for p in self.programs if p.pid in pids]

    def kill(self, programs):
        """Kills programs and removes them from the crowd."""
        for program in programs:
            program.process.kill()
        for program in programs:
            program.process.wait()
            self.programs.remove(program)

    def living(self):
        held = living(self.one)
        assert held <= LIMIT
        return held

    def limit(self, verb):
        subprocess.run([GPUKIT, "limit", verb,
                        self.one.env["CUDA_DEVICE_MEMORY_SHARED_CACHE"]],
                       check=True, stdout=subprocess.DEVNULL)


@pytest.fixture
def crowd(group, tmp_path):
    steps = Steps(tmp_path / "held")
    yield Crowd(group(CUDA_DEVICE_MEMORY_LIMIT=str(LIMIT),
                      HELD=str(steps.path), LD_PRELOAD=f"{VGPU}:{HELD}"),
                steps)
    steps.close()


def waits_for_the_operator(program):
    with open(f"/proc/{program.pid}/syscall", encoding="ascii") as f:
        return f.read().split()[0] == FUTEX


def test_killed_before_reserving(crowd):
    """All are in the call, suspended by the operator."""
    crowd.open()
    crowd.limit("suspend")
    crowd.send(TAKE, crowd.programs)
    for program in crowd.programs:
        await_that(lambda: waits_for_the_operator(program))
    crowd.kill(crowd.programs[:KILLED])
    crowd.limit("resume")
    refused = LEFT - fit(LEFT)
    assert crowd.answers(crowd.programs) == (
        [0] * fit(LEFT) + [OUT_OF_MEMORY] * refused)
    assert crowd.living() == LEFT * CONTEXT + fit(LEFT) * PIECE


@pytest.mark.parametrize("step, taken", [("before-alloc", 0),
                                         ("after-alloc", PIECE)])
def test_killed_while_allocating(crowd, step, taken):
    """A process that finds no room waits while other calls are under way, and
    gets what the dead had."""
    crowd.open()
    crowd.steps.hold(step)
    crowd.send(TAKE, crowd.programs)
    there = crowd.arrivals(FIRST)
    assert crowd.living() == COUNT * CONTEXT + FIRST * taken
    assert used(crowd.one) == COUNT * CONTEXT + FIRST * PIECE
    crowd.kill(there[:KILLED])
    began = time.monotonic()
    crowd.arrivals(MORE)
    assert time.monotonic() - began < 0.1
    assert crowd.living() == LEFT * CONTEXT + fit(LEFT) * taken
    crowd.steps.go(step)
    refused = LEFT - fit(LEFT)
    assert crowd.answers(crowd.programs) == (
        [0] * fit(LEFT) + [OUT_OF_MEMORY] * refused)
    assert crowd.living() == LEFT * CONTEXT + fit(LEFT) * PIECE


@pytest.mark.parametrize("step, left", [("before-free", PIECE),
                                        ("after-free", 0)])
def test_killed_while_freeing(crowd, step, left):
    crowd.open()
    have, want = crowd.programs[:FIRST], crowd.programs[FIRST:FIRST + MORE]
    crowd.send(TAKE, have)
    assert set(crowd.answers(have)) == {0}
    crowd.steps.hold(step)
    crowd.send("give 0", have)
    crowd.arrivals(FIRST)
    assert crowd.living() == COUNT * CONTEXT + FIRST * left
    assert used(crowd.one) == COUNT * CONTEXT + FIRST * PIECE
    crowd.kill(have[:KILLED])
    crowd.send(TAKE, want)
    assert crowd.answers(want) == [0] * MORE
    assert crowd.living() == (
        LEFT * CONTEXT + (FIRST - KILLED) * left + MORE * PIECE)
    crowd.steps.go(step)
    assert set(crowd.answers(have[KILLED:])) == {0}
    assert crowd.living() == LEFT * CONTEXT + MORE * PIECE
    assert used(crowd.one) == LEFT * CONTEXT + MORE * PIECE


def test_killed_while_a_context_is_made(crowd):
    """Its size is not known yet: one process reserves all that is left, the
    others wait."""
    crowd.steps.hold("before-context")
    crowd.send("open 0", crowd.programs)
    for _ in range(KILLED):
        crowd.kill(crowd.arrivals(1))
    crowd.arrivals(1)
    assert crowd.living() == 0
    crowd.steps.go("before-context")
    assert crowd.answers(crowd.programs) == [0] * LEFT
    assert crowd.living() == LEFT * CONTEXT == used(crowd.one)
