# SPDX-License-Identifier: Apache-2.0
"""What a group holds, by the fake driver's own books, is never a byte above its
limit; nothing is refused while there is room, and nothing is left afterwards.
"""

import json
import os
import random
import struct
import subprocess
import time

import pytest

from conftest import GPUKIT, clean_env

MIB = 1 << 20
BLOCK = 2 * MIB
OUT_OF_MEMORY = 2
BUILD = os.path.dirname(os.path.dirname(GPUKIT))
SHELL = os.path.join(BUILD, "tests/limit/memory_shell")
VGPU = os.path.join(BUILD, "lib/gpukit/libvgpu.so")
LIMIT = 1200 * MIB + 1234567
CONTEXT = 518 * MIB

# What one more piece of a size needs, by class, in whole blocks.
CLASSES = ["plain", "pitch", "array", "mipmap", "virtual", "mapped", "async",
           "freed-async", "freed-sync", "pool", "module"]
SIZES = [300000, 3000000, 100 << 20]


class Shell:
    """Runs memory_shell.c and sends it commands."""

    def __init__(self, env):
        self.process = subprocess.Popen(
            [SHELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=clean_env(**env))
        self.pid = self.process.pid

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, f"ended: {self.process.wait()}"
        return [int(word) for word in line.split()]

    def __call__(self, line):
        self.send(line)
        return self.answer()

    def ok(self, line):
        result, *values = self(line)
        assert result == 0, (line, result)
        return values

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Group:
    """Programs under one limit, and a judge without one."""

    def __init__(self, machine, path, **more):
        self.machine = machine
        self.env = {**machine.env, "LD_PRELOAD": VGPU,
                    "CUDA_DEVICE_MEMORY_LIMIT": str(LIMIT),
                    "CUDA_DEVICE_MEMORY_SHARED_CACHE": str(path / "x.cache"),
                    **more}
        self.shells = []
        self.judge = self.add(machine.env)

    def add(self, env):
        self.shells.append(Shell(env))
        return self.shells[-1]

    def start(self, **more):
        one = self.add({**self.env, **more})
        one.ok("open 0")
        return one

    def held(self, *shells):
        """The bytes that they hold, by the driver's books."""
        return sum(self.judge.ok(f"used {s.pid}")[0] for s in shells)


def await_that(what):
    end = time.monotonic() + 20
    while not what():
        assert time.monotonic() < end


@pytest.fixture
def group(machine, tmp_path):
    made = []

    def start(**more):
        report = tmp_path / "report.json"
        one = machine("--gpus", "h100:2", "--report", report)
        made.append(Group(one, tmp_path, **more))
        made[-1].report = report
        return made[-1]

    yield start
    for one in made:
        for program in one.shells:
            program.process.kill()
            program.end()


def region_sum(one):
    """The bytes of GPU 0 of all processes, as HAMi's monitor reads them."""
    with open(one.env["CUDA_DEVICE_MEMORY_SHARED_CACHE"], "rb") as f:
        data = f.read()
    return sum(struct.unpack_from("<Q", data, 1856 + 1960 * slot + 8 + 32)[0]
               for slot in range(1024))


def most_of(kind, size):
    """The most that one more piece takes: a granule of its class."""
    if kind == "mipmap":  # four levels of rows of 4096, 2048, 1024, 512 bytes
        size = size * 4 // 3 + BLOCK
    return -(-max(size * 1.05, 1) // BLOCK) * BLOCK


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", CLASSES)
def test_a_limit_is_exact(group, kind, size):
    one = group()
    program = one.start()
    assert one.held(program) == CONTEXT
    for _ in range(2):
        error, count = program(f"fill {kind} {size}")
        assert error == OUT_OF_MEMORY and count > 0
        left = LIMIT - one.held(program)
        assert 0 <= left < most_of(kind, size)
        program.ok("empty")
        assert one.held(program) == CONTEXT
    # All that is left can be allocated.
    assert program("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - CONTEXT) // BLOCK]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["graph", "captured", "launched"])
def test_memory_of_graphs_is_exact(group, kind, size):
    """Memory of a graph is freed a moment after the graph, when the driver does
    so."""
    one = group()
    program = one.start()
    error, count = program(f"fill {kind} {size}")
    assert error == OUT_OF_MEMORY and count > 0
    assert 0 <= LIMIT - one.held(program) < most_of(kind, size)
    for refill, fit in [(f"fill {kind} {size}", count),
                        ("fill virtual 1", (LIMIT - CONTEXT) // BLOCK)]:
        program.ok("empty")
        await_that(lambda: one.held(program) == CONTEXT)
        assert program(refill) == [OUT_OF_MEMORY, fit]


def test_managed_memory_counts_in_full(group):
    """A driver does not count managed memory for a process, wherever it is."""
    one = group()
    program = one.start()
    for _ in range(2):
        assert program("fill managed 10485760") == [
            OUT_OF_MEMORY, (LIMIT - CONTEXT) // (10 * MIB)]
        assert one.held(program) == CONTEXT
        program.ok("empty")


def test_contexts_count(group):
    """Two of 518 MiB fit, however they are made; the third is refused before
    the driver makes it."""
    one = group()
    first, second = one.start(), one.start()
    third = one.add(one.env)
    assert third("open 0") == [OUT_OF_MEMORY]
    assert one.held(first, second, third) == 2 * CONTEXT
    second.ok("close 0")
    third.ok("open 0")
    assert one.held(first, second, third) == 2 * CONTEXT


def test_a_second_context_of_a_process_is_measured(group):
    """A second context costs three quarters of the first here."""
    one = group()
    program = one.start()
    program.ok("take context 0")
    second = one.held(program) - CONTEXT
    assert 0 < second < CONTEXT
    assert program("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - CONTEXT - second) // BLOCK]
    program.ok("empty")
    assert program("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - CONTEXT) // BLOCK]


@pytest.mark.parametrize("end", ["close 0", "reset 0"])
def test_what_a_context_had_goes_with_it(group, end):
    one = group()
    program = one.start()
    for kind in ["plain", "array", "managed", "async", "module"]:
        program.ok(f"take {kind} 50000000")
    program.ok(end)
    program.ok("forget 0")
    assert one.held(program) == 0
    program.ok("open 0")
    assert program("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - CONTEXT) // BLOCK]


def test_a_storm_leaves_exactly_nothing(group):
    """Weakness 10: after hours of small allocations the count returns to 0."""
    one = group()
    program = one.start()
    refused = program.ok("storm 1 200000 30000000 400 "
                         "plain,pitch,virtual,mapped,async,pool,managed,"
                         "freed-sync")
    assert refused[0] > 0
    program.ok("empty")
    assert one.held(program) == CONTEXT
    assert program("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - CONTEXT) // BLOCK]


def test_small_pieces_share_blocks_with_code_and_arrays(group):
    """The last piece in a block gives the block back, and no piece before it.
    """
    one = group()
    program = one.start()
    program.ok("storm 2 4000 300000 60 plain,array,module,mipmap,freed-async")
    assert program("fill virtual 1")[0] == OUT_OF_MEMORY
    assert 0 <= LIMIT - one.held(program) < BLOCK
    program.ok("empty")
    assert one.held(program) == CONTEXT
    assert program("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - CONTEXT) // BLOCK]


@pytest.mark.parametrize("kind", ["module", "array"])
def test_the_last_in_a_block_gives_it_back(group, kind):
    """The driver puts small pieces of all kinds into one block."""
    one = group()
    program = one.start()
    for first, second in [("plain", kind), (kind, "plain")]:
        program.ok(f"take {first} 1000")
        program.ok(f"take {second} 1000")
        assert one.held(program) == CONTEXT + BLOCK
        # A refusal recounts: what was counted twice is counted once.
        assert program(f"take virtual {LIMIT}") == [OUT_OF_MEMORY]
        for line in ["give 0", "give 0"]:
            assert program.ok("info")[0] == LIMIT - one.held(program)
            program.ok(line)
        assert one.held(program) == CONTEXT
        assert program.ok("info")[0] == LIMIT - CONTEXT


def test_never_less_is_counted_than_the_driver_has(group):
    """Checked at each step; the count is higher only where small pieces share
    blocks with arrays or code, and only until a request is refused."""
    one = group()
    program = one.start()
    rng, live = random.Random(1), 0
    for _ in range(1500):
        if live and rng.random() < 0.5:
            program.ok(f"give {rng.randrange(live)}")
            live -= 1
        else:
            kind = rng.choice([*CLASSES, "captured", "launched"])
            size = rng.choice([500, 3000, 200000, 700000, 3000000])
            live += program(f"take {kind} {size}") == [0]
        counted = LIMIT - program.ok("info")[0]
        assert 0 <= counted - one.held(program) <= 4 * BLOCK


def test_threads_together_stay_within(group):
    one = group()
    program = one.start()
    program.ok("threads 8 20000 60000000")
    assert one.held(program) == CONTEXT
    assert program("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - CONTEXT) // BLOCK]


def test_what_came_and_went_at_once_is_not_told_of(group):
    """One thread measures what another has taken and gives back."""
    one = group()
    program = one.start()
    program.ok("both 40000 300000")
    assert program.ok("info") == [LIMIT - CONTEXT, LIMIT]


def test_who_else_retains_the_context_loses_no_byte(group):
    one = group()
    program = one.start()
    program.ok("retains 20000 4000000")
    assert program("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - CONTEXT) // BLOCK]


@pytest.mark.parametrize("kind", ["async", "pool", "graph"])
def test_many_pools_are_no_way_past_the_limit(group, kind):
    one = group()
    program = one.start()
    program.ok("pools 1100")
    for _ in range(20):
        program(f"take {kind} {100 * MIB}")
        assert one.held(program) <= LIMIT


def test_a_forked_child_holds_and_frees_nothing(group):
    one = group()
    program = one.start()
    program.ok("take plain 100000000")
    program.ok("take virtual 100000000")
    held = one.held(program)
    program.ok("fork")
    assert one.held(program) == held
    assert program("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - held) // BLOCK]


@pytest.mark.parametrize("kind, size", [("plain", 100 * MIB),
                                        ("pitch", 30 * MIB)])
def test_a_limit_stays_if_more_than_the_gpu_is_allowed(group, kind, size):
    one = group(CUDA_OVERSUBSCRIBE="true")
    program = one.start()
    error, count = program(f"fill {kind} {size}")
    assert error == OUT_OF_MEMORY and count > 0
    assert LIMIT - most_of(kind, size) < one.held(program) <= LIMIT
    program.ok("empty")
    assert one.held(program) == CONTEXT


def device_of(one):
    told = subprocess.run(
        [GPUKIT, "limit", "show", one.env["CUDA_DEVICE_MEMORY_SHARED_CACHE"],
         "--json"], check=True, capture_output=True, text=True,
        env=clean_env()).stdout
    return json.loads(told)["groups"][0]["devices"][0]


@pytest.mark.parametrize("kind", ["plain", "pitch"])
def test_what_the_gpu_has_no_room_for_is_managed_and_counts(group, kind):
    """Others have filled the GPU: the limit leaves room, but the driver has
    none."""
    one = group(CUDA_OVERSUBSCRIBE="true")
    program = one.start()
    room = LIMIT - one.held(program)
    one.judge.ok("open 0")
    one.judge.ok(f"take plain {one.judge.ok('info')[0] - 64 * MIB}")
    size = 100 * MIB
    for taken in range(1, room // (size + 6 * MIB) + 1):
        program.ok(f"take {kind} {size}")
        device = device_of(one)
        assert taken * size <= device["kinds"]["managed"] < (
            taken * (size + 6 * MIB))
        assert device["memory_used_bytes"] == CONTEXT + device["kinds"]["managed"]
    assert region_sum(one) == device["memory_used_bytes"]
    error, _ = program(f"fill {kind} {size}")
    assert error == OUT_OF_MEMORY
    assert device_of(one)["memory_used_bytes"] <= LIMIT
    program.ok("empty")
    assert device_of(one)["memory_used_bytes"] == CONTEXT == region_sum(one)


def test_who_is_refused_is_killed_if_that_is_asked_for(group, capfd):
    one = group(ACTIVE_OOM_KILLER="true")
    program = one.start()
    program.send("take plain 2000000000")
    assert program.process.wait() == -9
    assert capfd.readouterr().err == (
        f"libvgpu: process {program.pid} wanted 1908 MiB of GPU 0, where 683 "
        "of 1201 MiB are left: killed, as ACTIVE_OOM_KILLER asks\n")
    one.start().ok(f"take virtual {(LIMIT - CONTEXT) // BLOCK * BLOCK}")


def test_contexts_are_free_if_the_group_says_so(machine, gpukit):
    """As HAMi-core counts: the driver then holds more than the limit, by
    contexts."""
    one = machine("--gpus", "h100:2")
    done = subprocess.run(
        [GPUKIT, "limit", "--memory", "600MiB", "--contexts", "free", "--",
         SHELL], input="open 0\nfill virtual 1\n", text=True,
        capture_output=True, check=False, env=clean_env(**one.env))
    assert done.stdout == "0\n2 300\n", done.stderr


def test_a_green_context_holds_the_primary_one(group):
    one = group()
    program = one.start()
    program.ok("take green 0")
    program.ok("close 0")
    assert one.held(program) == CONTEXT
    second, third = one.start(), one.add(one.env)
    assert third("open 0") == [OUT_OF_MEMORY]
    program.ok("empty")
    assert one.held(program) == 0
    third.ok("open 0")
    assert one.held(second, third) == 2 * CONTEXT


def test_what_is_exported_is_its_makers_until_all_let_go(group):
    """As in the driver: a process that imported the memory keeps it."""
    one = group()
    maker, taker = one.start(), one.start()
    maker.ok("take virtual 100000000")
    fd, = maker.ok("export 0")
    held = one.held(maker)
    taker.ok(f"import {maker.pid} {fd}")
    maker.ok("empty")
    assert one.held(maker) == held
    assert one.held(taker) == CONTEXT
    free, _ = maker.ok("info")
    assert free == LIMIT - one.held(maker, taker)
    assert maker("fill virtual 1")[1] == (LIMIT - held - CONTEXT) // BLOCK
    maker.ok("empty")
    maker.ok(f"close-fd {fd}")  # whose descriptor is one of those that keep it
    taker.ok("empty")
    assert maker("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - 2 * CONTEXT) // BLOCK]


def test_what_others_share_is_theirs(group, tmp_path):
    one = group()
    maker, taker = one.start(), one.start()
    maker.ok("take plain 100000000")
    maker.ok(f"tell 0 {tmp_path}/handle")
    taker.ok(f"hear {tmp_path}/handle")
    assert one.held(taker) == CONTEXT
    fit = (LIMIT - one.held(maker, taker)) // BLOCK
    assert taker("fill virtual 1") == [OUT_OF_MEMORY, fit]
    taker.ok("empty")
    maker.ok("empty")
    assert taker("fill virtual 1") == [
        OUT_OF_MEMORY, (LIMIT - 2 * CONTEXT) // BLOCK]
