# SPDX-License-Identifier: Apache-2.0
"""Shares of a GPU's time are tested here: policies, several GPUs, work in
flight, errors. Real programs run on a machine that others use, so this shows
only whether there is a limit. tests/limit/throttle checks how exact it is, in
simulated time."""

import os
import select

import pytest

from conftest import preload
from limit_shells import VGPU
from limit_tools import directory, make

# pylint: disable=redefined-outer-name
LAUNCH_FAILED = 719
STREAMS = """
streams = [ctypes.c_void_p() for _ in range(3)]
assert not any(cuda.cuStreamCreate(ctypes.byref(s), 1) for s in streams)
def on_each():
    return [cuda.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s, None, None)
            for s in streams]
def results():
    return [cuda.cuStreamSynchronize(s) for s in streams]
"""


def in_group(machine, name):
    return {**machine.env, "LD_PRELOAD": preload(VGPU),
            "GPUKIT_LIMIT_GROUP": os.path.join(directory(), name)}


def throttled_ns(gpukit, name, device=0):
    one = gpukit.json("limit", "show", name, "--json")["groups"][0]
    return {each["index"]: each["throttled_ns"]
            for each in one["devices"]}[device]


@pytest.fixture
def beside(gpukit, group):
    """Another group of the same user."""
    make(gpukit, group + ".2", "--compute", "50")
    yield group + ".2"
    gpukit("limit", "rm", group + ".2")


def test_an_elastic_share_is_kept_while_others_want_the_gpu(
        gpukit, beside, group, machine, shell):
    make(gpukit, group, "--compute", "10", "--policy", "elastic")
    # A GPU with a name of its own, which no other test's group uses.
    one = machine("--gpus", "h100", "--seed", str(os.getpid()))
    mine, other = [shell(in_group(one, name)).start()
                   for name in (group, beside)]
    assert mine("load()") == other("load()") == 0

    def throttled():
        before = throttled_ns(gpukit, group)
        mine("waited(10)")
        return throttled_ns(gpukit, group) > before

    # A program alone may wait for a moment after a launch that took unusually
    # long, as on a busy host.
    assert any(not throttled() for _ in range(10))
    other.ask("work(3)")
    assert any(throttled() for _ in range(10))
    assert other.answer() == 0


def test_gpus_of_one_program_have_shares_of_their_own(
        gpukit, group, machine, shell):
    make(gpukit, group, "--compute", "10,1=none")
    one = machine("--gpus", "h100:2")
    mine = shell(in_group(one, group)).start()
    for device in (0, 1):
        assert mine(f"use({device})") == mine("load()") == 0
        mine("waited(10)")
    assert throttled_ns(gpukit, group, 0) > 0
    assert throttled_ns(gpukit, group, 1) == 0


def test_work_in_flight_ends_while_the_group_is_suspended(
        gpukit, group, machine, shell):
    make(gpukit, group, "--compute", "90")
    mine = shell(in_group(machine("--gpus", "h100"), group)).start()
    assert mine("load()") == 0
    mine(f"exec({STREAMS!r}, globals())")
    assert mine("on_each()") == [0, 0, 0]
    gpukit.ok("limit", "suspend", group)
    assert mine("results()") == [0, 0, 0]
    mine.ask("on_each()")
    assert not select.select([mine.process.stdout], [], [], 0.3)[0]
    gpukit.ok("limit", "resume", group)
    assert mine.answer() == [0, 0, 0]
    assert mine("results()") == [0, 0, 0]


FAULTED = ("launch(spin)", "launch(spin)", "alloc(1 << 20)", "info()",
           "cuda.cuCtxSynchronize()")


@pytest.mark.parametrize("fault, error", [
    ("sticky", LAUNCH_FAILED), ("launch=illegal-address", 700),
    ("launch=assert", 710)])
def test_an_error_that_stays_is_the_native_one(gpukit, group, machine, shell,
                                               fault, error):
    make(gpukit, group, "--memory", "2GiB", "--compute", "20")
    one = machine("--gpus", "h100")
    native = shell(one.env).start()
    mine = shell(in_group(one, group)).start()
    for each in (native, mine):
        assert each("load()") == each("alloc(64 << 20)") == 0
        assert each("launch(spin)") == 0
    assert one.ctl("fail", "0", fault).returncode == 0
    told = [[each(line) for line in FAULTED] for each in (native, mine)]
    assert told[0] == told[1]
    assert told[0][0] == told[0][-1] == error
    mine.end()
    device = gpukit.json("limit", "show", group,
                         "--json")["groups"][0]["devices"][0]
    assert device["memory_used_bytes"] == 0
    assert one.ctl("clear", "0").returncode == 0
    # Other processes of the group continue.
    other = shell(in_group(one, group)).start()
    assert other("load()") == other("launch(spin)") == 0


# A graph of ten launches and one that allocates, allocations from a pool, and
# calls after an error of each.
HAVE_MORE = """
def size(count):
    return ctypes.c_size_t(count)
def from_pool(count):
    at = ctypes.c_ulonglong()
    result = cuda.cuMemAllocAsync(ctypes.byref(at), size(count), None)
    return result or (kept.append(at) or 0)
def to_pool():
    return cuda.cuMemFreeAsync(kept.pop(), None)
def again():
    return (cuda.cuGraphLaunch(graphs[-1], None)
            or cuda.cuCtxSynchronize())
"""
OF_GRAPHS = ("again()", "capture(3)", "again()", "launch(spin)",
             "cuda.cuCtxSynchronize()")
OF_POOLS = ("from_pool(1 << 20)", "cuda.cuCtxSynchronize()", "alloc(1 << 20)",
            "launch(spin)")


def both(gpukit, group, machine, shell):
    """The machine, a program alone on it, and one in a group."""
    make(gpukit, group, "--memory", "2GiB", "--compute", "50")
    one = machine("--gpus", "h100")
    pair = [shell(one.env).start(), shell(in_group(one, group)).start()]
    for each in pair:
        each(f"exec({HAVE_MORE!r}, globals())")
        assert each("load()") == each("capture(10)") == each("again()") == 0
        assert each("from_pool(64 << 20)") == 0
    return one, pair


def used(gpukit, group):
    one = gpukit.json("limit", "show", group, "--json")["groups"][0]
    return one["devices"][0]["memory_used_bytes"]


@pytest.mark.parametrize("fault, error", [
    ("sticky", LAUNCH_FAILED), ("launch=illegal-address", 700)])
@pytest.mark.parametrize("lines", [OF_GRAPHS, OF_POOLS],
                         ids=["graphs", "pools"])
def test_errors_of_graphs_and_pools_are_the_native_ones(
        gpukit, group, machine, shell, fault, error, lines):
    one, pair = both(gpukit, group, machine, shell)
    assert one.ctl("fail", "0", fault).returncode == 0
    told = [[each(line) for line in lines] for each in pair]
    assert told[0] == told[1]
    assert error in told[0]
    pair[1].end()
    assert used(gpukit, group) == 0


def test_memory_that_the_driver_refuses_is_not_counted(gpukit, group, machine,
                                                       shell):
    one, pair = both(gpukit, group, machine, shell)
    held = used(gpukit, group)
    for line in ("alloc(3 << 20)", "from_pool(512 << 20)"):
        for each in pair:
            assert one.ctl("fail", "0", "oom=1").returncode == 0
            assert each("alloc(1 << 20)") == 0
            assert each(line) == 2
            assert one.ctl("clear", "0").returncode == 0
            assert each("free()") == 0
        assert used(gpukit, group) == held
    for each in pair:
        assert each("alloc(3 << 20)") == each("free()") == 0
        assert each("from_pool(3 << 20)") == each("to_pool()") == 0
        assert each("again()") == 0
