# SPDX-License-Identifier: Apache-2.0
"""Programs plan by the figures of a device: models of the start of vLLM (it
profiles, takes a part of the memory for its cache, then captures graphs) and of
PyTorch's allocator under set_per_process_memory_fraction(). After every step
all figures are consistent."""

import pytest

from limit_shells import GIB, MIB, hami
from test_limit_view import used_by_story

LIMIT = 8 * GIB
OUT_OF_MEMORY = 2
SEGMENT = 20 * MIB  # the least that PyTorch requests beyond small blocks
GRAPHS = 35         # as many batch sizes as vLLM captures


class Planner:
    """A program that checks all figures after each step."""

    def __init__(self, program):
        self.program = program
        self.free, self.total = program("info()")

    def __call__(self, step, expected=0):
        assert self.program(step) == expected
        self.free = LIMIT - used_by_story(self.program("story(0, 0)"), LIMIT)

    def alloc(self, size, expected=0):
        self(f"alloc({int(size)})", expected)


def start_vllm(program, part, weights=GIB, activations=512 * MIB):
    """The steps of a worker; returns the bytes of its cache."""
    plan = Planner(program)
    at_first, requested = plan.free, plan.total * part
    assert requested <= at_first, "vLLM refuses to start"
    plan.alloc(weights)
    plan("load()")
    plan.alloc(activations)
    plan("launch()")
    after = plan.free
    assert after <= at_first, "somebody else gave memory back meanwhile"
    plan("free()")
    other = at_first - plan.free - weights  # contexts were made before
    cache = requested - weights - activations - other
    plan.alloc(cache)
    before_graphs = plan.free
    for nodes in range(1, GRAPHS + 1):
        plan(f"capture({nodes})")
    assert plan.free <= before_graphs
    return cache


def test_vllm_starts_within_a_limit(machine, shell, tmp_path):
    one = machine("--gpus", "h100", "--load", "train:0,mem=20GiB")
    mine = shell(hami(one, tmp_path / "x.cache", "8g")).start()
    cache = start_vllm(mine, 0.9)
    assert 5 * GIB < cache <= 0.9 * LIMIT - 1.5 * GIB


def test_two_servers_share_a_limit(machine, shell, tmp_path):
    one = machine("--gpus", "h100")
    env = hami(one, tmp_path / "x.cache", "8g")
    first = shell(env).start()
    start_vllm(first, 0.4, weights=512 * MIB)
    second = shell(env).start()
    start_vllm(second, 0.5, weights=512 * MIB)
    assert first("info()") == second("info()")
    third = shell(env).start()
    with pytest.raises(AssertionError, match="refuses to start"):
        start_vllm(third, 0.5)


@pytest.mark.parametrize("fraction", [0.25, 0.5, 1.0])
def test_pytorch_keeps_its_fraction(machine, shell, tmp_path,
                                    fraction):
    one = machine("--gpus", "h100", "--load", "train:0,mem=20GiB")
    mine = shell(hami(one, tmp_path / "x.cache", "8g")).start()
    plan = Planner(mine)
    allowed = int(mine("total(0)") * fraction)
    room, reserved = plan.free, 0
    segment = 16 * SEGMENT
    while reserved + segment <= allowed and plan.free >= segment:
        plan.alloc(segment)
        reserved += segment
        assert plan.free == room - reserved
    if fraction == 1.0:  # the driver's error, before PyTorch's own
        plan.alloc(segment, OUT_OF_MEMORY)
        # "Process N has ... in use", from NVML's list.
        assert mine("processes(0)") == [[mine.pid, LIMIT - plan.free]]
    for _ in range(reserved // segment):
        plan("free()")
    assert plan.free == room
    plan.alloc(reserved)
