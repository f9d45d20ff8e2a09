# SPDX-License-Identifier: Apache-2.0
"""Programs plan by the figures that CUDA gives them: at every step the free
memory and what the driver has given add up to the limit."""

from test_limit_memory import BLOCK, CONTEXT, LIMIT, MIB, OUT_OF_MEMORY, group

__all__ = ["group"]


class Plan:
    """A program alone in its group; each look compares it with the driver."""

    def __init__(self, one):
        self.one, self.program = one, one.start()

    def look(self):
        free, total = self.program.ok("info")
        assert total == LIMIT
        assert free == LIMIT - self.one.held(self.program)
        return free, total

    def take(self, kind, size):
        result, *_ = self.program(f"take {kind} {size}")
        self.look()
        return result

    def ok(self, line):
        self.program.ok(line)
        return self.look()[0]


def segment_of(size):
    """What PyTorch's allocator requests from a driver: 2 MiB for small sizes,
    20 MiB for those up to 10 MiB, whole blocks for larger ones."""
    if size <= MIB:
        return 2 * MIB
    if size < 10 * MIB:
        return 20 * MIB
    return -(-size // BLOCK) * BLOCK


def test_set_per_process_memory_fraction(group):
    """A program that may take half of the total in segments gets it, as long as
    that much is free."""
    plan = Plan(group())
    free, total = plan.look()
    allowed, reserved = total // 2, 0
    for size in [4, 1 << 19, 3 * MIB, 64 * MIB, 5 * MIB, 100 * MIB] * 20:
        segment = segment_of(size)
        if reserved + segment > allowed:
            break
        assert plan.take("plain", segment) == 0
        reserved += segment
        assert plan.look()[0] == free - reserved
    assert reserved > allowed - 100 * MIB
    assert plan.ok("empty") == free


def test_the_start_of_vllm(group):
    """vLLM requests a share of the total: weights, then a run that measures the
    peak of activations, then the rest of the share for keys and values, then
    graphs."""
    plan = Plan(group())
    free, total = plan.look()
    wanted = int(total * 0.5)
    assert wanted <= free
    before = free
    for _ in range(12):  # weights
        assert plan.take("plain", 13 * MIB) == 0
    weights = before - plan.look()[0]
    assert weights == 12 * 14 * MIB
    # The run: activations come and go while code is loaded.
    assert plan.take("module", 3 * MIB) == 0
    for size in [40 * MIB, 20 * MIB, 60 * MIB]:
        assert plan.take("plain", size) == 0
    peak = before - plan.look()[0]
    for _ in range(3):
        plan.program.ok("give 13")
    assert plan.look()[0] == before - weights - 4 * MIB
    # The share less the run's peak is for keys and values.
    cache = (wanted - peak) // BLOCK * BLOCK
    assert cache > 0
    assert plan.take("plain", cache) == 0
    for _ in range(4):  # graphs, with pools of their own
        assert plan.take("graph", 10 * MIB) == 0
        assert plan.take("async", 3 * MIB) == 0
    assert total - plan.look()[0] <= CONTEXT + wanted + 4 * 14 * MIB
    assert plan.program("fill virtual 1")[0] == OUT_OF_MEMORY
    assert plan.look()[0] < BLOCK


def test_two_programs_see_each_other(group):
    one = group()
    first, second = one.start(), one.start()
    for line in ["take plain 10000000", "take async 10000000",
                 "take array 1000000", "give 1", "empty"]:
        for program in (first, second):
            program.ok(line)
            told = first.ok("info")
            assert told == second.ok("info")
            assert told[0] == LIMIT - one.held(first, second)
