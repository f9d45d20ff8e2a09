# SPDX-License-Identifier: Apache-2.0
"""Code and contexts reserve a bound while they are made, not all that is left:
other allocations do not wait for them, even while they are stopped."""

import select

import pytest

from test_limit_exported import device_of
from test_limit_held import HELD, Steps
from test_limit_memory import (BLOCK, CONTEXT, MIB, OUT_OF_MEMORY, VGPU,
                               group)

__all__ = ["group"]

LIMIT = 4096 * MIB
PIECE = 64 * MIB
PTX = (".version 7.0\n.target sm_70\n.address_size 64\n"
       ".visible .global .align 4 .b8 room[3000000];\n")


@pytest.fixture
def steps(tmp_path):
    one = Steps(tmp_path / "held")
    yield one
    one.close()


def stoppable(one, steps):
    return one.add({**one.env, "HELD": str(steps.path),
                    "LD_PRELOAD": f"{VGPU}:{HELD}"})


def answer_soon(program, line):
    """Answers long before the minute for which a loader might be waited for."""
    program.send(line)
    assert select.select([program.process.stdout], [], [], 20)[0], line
    return program.answer()


@pytest.mark.parametrize("opened, line, step", [
    (True, "take module 3000000", "before-alloc"),
    (True, "load {ptx}", "before-alloc"),
    (False, "open 0", "before-context"),
])
def test_nobody_waits_for_who_is_stopped_while_loading(
        group, steps, tmp_path, opened, line, step):
    (tmp_path / "x.ptx").write_text(PTX)
    one = group(CUDA_DEVICE_MEMORY_LIMIT=str(LIMIT))
    loader = stoppable(one, steps)
    if opened:
        loader.ok("open 0")
    steps.hold(step)
    loader.send(line.format(ptx=tmp_path / "x.ptx"))
    steps.arrivals(1)
    program = one.add(one.env)
    assert answer_soon(program, "open 0") == [0]
    for _ in range(3):
        assert answer_soon(program, f"take plain {PIECE}") == [0]
    # Nobody else gets what the loader may take at most, and nobody waits.
    error, count = answer_soon(program, f"fill virtual {PIECE}")
    assert error == OUT_OF_MEMORY
    assert one.held(program) <= LIMIT - opened * CONTEXT
    assert count * PIECE >= LIMIT - 2 * CONTEXT - 3 * PIECE - 600 * MIB
    steps.go(step)
    assert loader.answer() == [0]
    assert one.held(program, loader) <= LIMIT
    # The rest of the bound is free again.
    left = LIMIT - one.held(program, loader)
    assert answer_soon(program, "fill virtual 1") == [
        OUT_OF_MEMORY, left // BLOCK]


@pytest.mark.parametrize("limit", [LIMIT, 0])
def test_what_a_loader_may_take_makes_no_peak(
        group, steps, limit):
    """Nor is it reserved where memory is not limited."""
    one = group(CUDA_DEVICE_MEMORY_LIMIT=str(limit), CUDA_DEVICE_SM_LIMIT="90")
    loader, program = stoppable(one, steps), one.start()
    loader.ok("open 0")
    steps.hold("before-alloc")
    loader.send("take module 3000000")
    steps.arrivals(1)
    program.ok(f"take plain {PIECE}")
    shown = device_of(one)["devices"][0]
    assert shown["memory_peak_bytes"] == 2 * CONTEXT + PIECE
    assert (shown["kinds"]["loading"] > 32 * MIB) is (limit > 0)
    steps.go("before-alloc")
    assert loader.answer() == [0]


def test_two_first_contexts_fit_where_two_bounds_do_not(
        group, steps):
    """One has what is left, and the other waits for it."""
    one = group(CUDA_DEVICE_MEMORY_LIMIT=str(2 * CONTEXT))
    first, second = stoppable(one, steps), one.add(one.env)
    steps.hold("before-context")
    first.send("open 0")
    steps.arrivals(1)
    second.send("open 0")
    assert not select.select([second.process.stdout], [], [], 0.2)[0]
    steps.go("before-context")
    assert first.answer() == [0] == second.answer()
    assert one.held(first, second) == 2 * CONTEXT


def test_threads_load_and_allocate_at_once(group):
    one = group(CUDA_DEVICE_MEMORY_LIMIT=str(LIMIT))
    programs = [one.start() for _ in range(3)]
    for i, program in enumerate(programs):
        kinds = "module,plain" if i else "plain"
        program.send(f"storm {i + 1} 300 3000000 8 {kinds}")
    for program in programs:
        assert program.answer() == [0, 0]
        program.ok("empty")
    assert one.held(*programs) == 3 * CONTEXT
