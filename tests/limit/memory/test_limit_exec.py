# SPDX-License-Identifier: Apache-2.0
"""Memory belongs to one program on one GPU: exec gives it back, and each GPU of
a program has a limit of its own, by the driver's own books."""

from test_limit_memory import (BLOCK, CONTEXT, LIMIT, MIB, OUT_OF_MEMORY,
                               await_that, group)

__all__ = ["group"]


def test_exec_gives_memory_back(group):
    """The next program of that pid holds nothing and starts at 0."""
    one = group(CUDA_DEVICE_MEMORY_LIMIT=str(LIMIT + CONTEXT))
    becomes, waits = one.start(), one.start()
    room = (LIMIT - CONTEXT) // BLOCK
    becomes.ok(f"take virtual {room * BLOCK}")
    assert waits("take virtual 1") == [OUT_OF_MEMORY]
    becomes.send("exec")
    await_that(lambda: waits(f"take virtual {room * BLOCK}") == [0])
    becomes.ok("open 0")
    assert one.held(becomes, waits) == 2 * CONTEXT + room * BLOCK
    assert becomes("take virtual 1") == [OUT_OF_MEMORY]
    waits.ok("empty")
    assert becomes("fill virtual 1") == [OUT_OF_MEMORY, room]
    assert becomes.process.poll() is None


def test_each_gpu_of_a_program_has_its_limit(group):
    """Limits use NVML's numbers, programs those of CUDA_VISIBLE_DEVICES."""
    limits = {0: 600 * MIB, 1: 900 * MIB}
    one = group(CUDA_VISIBLE_DEVICES="1,0",
                **{f"CUDA_DEVICE_MEMORY_LIMIT_{gpu}": str(limit)
                   for gpu, limit in limits.items()})
    program, beside = one.add(one.env), one.add(one.env)
    fits = {gpu: (limit - CONTEXT) // BLOCK for gpu, limit in limits.items()}
    for number, gpu in [(0, 1), (1, 0)]:
        program.ok(f"open {number}")
        assert program("info")[1:] == [limits[gpu] - CONTEXT, limits[gpu]]
        assert program("fill virtual 1") == [OUT_OF_MEMORY, fits[gpu]]
        assert one.judge.ok(f"used-of {gpu} {program.pid}")[0] == (
            CONTEXT + fits[gpu] * BLOCK)
        assert beside(f"open {number}") == [OUT_OF_MEMORY]
    program.ok("empty")
    for number, gpu in [(0, 1), (1, 0)]:
        assert beside(f"open {number}") == (
            [0] if limits[gpu] >= 2 * CONTEXT else [OUT_OF_MEMORY])
    program.process.kill()
    program.process.wait()
    beside.ok("open 1")
    assert beside("fill virtual 1") == [OUT_OF_MEMORY, fits[0]]
