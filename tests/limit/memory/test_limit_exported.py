# SPDX-License-Identifier: Apache-2.0
"""Exported memory outlives its maker and counts as long as anybody holds it: in
the fake machine, which stands for a driver, and in the limit."""

import ctypes
import json
import os
import resource
import socket
import subprocess
import time

import pytest

from conftest import GPUKIT, clean_env
from test_limit_memory import (BLOCK, CONTEXT, MIB, OUT_OF_MEMORY,
                               await_that, group, region_sum)

__all__ = ["group"]

SIZE = 512 * MIB
LIMIT = 2 * CONTEXT + 1024 * MIB
MORE = 600 * MIB


def used(judge):
    """What is used of the GPU by anybody, without the judge's context."""
    room, total = judge.ok("info")
    return total - room - CONTEXT


def export(maker):
    maker.ok(f"take virtual {SIZE}")
    return maker.ok("export 0")[0]


def hold_by_import(holder, maker, path):
    holder.ok(f"import {maker.pid} {export(maker)}")
    return "empty"


def hold_by_descriptor(holder, maker, path):
    return f"close-fd {holder.ok(f'hold {maker.pid} {export(maker)}')[0]}"


def hold_by_handle(holder, maker, path):
    maker.ok(f"take plain {SIZE}")
    maker.ok(f"tell 0 {path / 'handle'}")
    holder.ok(f"hear {path / 'handle'}")
    return "empty"


def hold_by_pool(holder, maker, path):
    """The pool is imported, its piece is not yet."""
    maker.ok(f"take shared-pool {SIZE}")
    maker.ok(f"tell-pointer 0 {path / 'handle'}")
    fd, = maker.ok("export-pool")
    holder.ok(f"import-pool {maker.pid} {fd}")
    return "drop-pool"


def hold_by_piece_of_pool(holder, maker, path):
    hold_by_pool(holder, maker, path)
    holder.ok(f"hear-pointer {path / 'handle'}")
    holder.ok("drop-pool")
    return "empty"


WAYS = [hold_by_import, hold_by_descriptor, hold_by_handle, hold_by_pool,
        hold_by_piece_of_pool]


def kill(program):
    program.process.kill()
    program.process.wait()


def leave(program):
    program.end()


def run_another(program):
    program.send("exec")


ENDS = [kill, leave]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("way", WAYS)
def test_the_machine_keeps_what_others_have_of_the_dead(
        group, tmp_path, way, end):
    one = group()
    one.judge.ok("open 0")
    maker, holder = one.add(one.machine.env), one.add(one.machine.env)
    maker.ok("open 0")
    holder.ok("open 0")
    release = way(holder, maker, tmp_path)
    assert used(one.judge) == 2 * CONTEXT + SIZE
    end(maker)
    await_that(lambda: used(one.judge) == CONTEXT + SIZE)
    assert one.held(maker) == 0 and one.held(holder) == CONTEXT
    # Nobody else can get it.
    room, _ = one.judge.ok("info")
    assert one.judge(f"take plain {room + BLOCK}") == [OUT_OF_MEMORY]
    assert used(one.judge) == CONTEXT + SIZE
    holder.ok(release)
    await_that(lambda: used(one.judge) == CONTEXT)
    one.judge.ok(f"take plain {room + SIZE - BLOCK}")


# ---- within a limit ----


def group_of(group):
    return group(CUDA_DEVICE_MEMORY_LIMIT=str(LIMIT))


def device_of(one):
    told = subprocess.run(
        [GPUKIT, "limit", "show", one.env["CUDA_DEVICE_MEMORY_SHARED_CACHE"],
         "--json"], check=True, capture_output=True, text=True,
        env=clean_env()).stdout
    return json.loads(told)["groups"][0]


def audit(one):
    """Whether the ledger and the driver agree about all living processes."""
    return subprocess.run(
        [GPUKIT, "limit", "audit",
         one.env["CUDA_DEVICE_MEMORY_SHARED_CACHE"]],
        check=False, stdout=subprocess.DEVNULL,
        env=clean_env(**one.machine.env)).returncode


def await_exported(one, bytes_):
    """Waits until the ledger, the region and the machine agree on these bytes.
    """
    def is_so():
        shown = device_of(one)
        told = shown["devices"][0]
        return (told["kinds"]["exported"] == bytes_
                and told["memory_used_bytes"] == sum(
                    told["kinds"].values())
                and sum(p["ended"] for p in shown["processes"]) == (
                    bytes_ > 0)
                and audit(one) == 0
                and region_sum(one) == told["memory_used_bytes"]
                and used(one.judge) == told["memory_used_bytes"])
    await_that(is_so)


@pytest.mark.parametrize("end", [kill, leave, run_another])
@pytest.mark.parametrize("way", WAYS)
def test_what_others_have_of_the_dead_counts(
        group, tmp_path, way, end):
    one = group_of(group)
    one.judge.ok("open 0")
    maker, holder = one.start(), one.start()
    release = way(holder, maker, tmp_path)
    end(maker)
    await_exported(one, SIZE)
    third = one.start()
    left = LIMIT - 2 * CONTEXT - SIZE
    assert third("info") == [0, left, LIMIT]
    assert third(f"take plain {left + BLOCK}") == [OUT_OF_MEMORY]
    assert third("fill virtual 1") == [OUT_OF_MEMORY, left // BLOCK]
    third.ok("empty")
    holder.ok(release)
    await_that(lambda: third("info") == [0, left + SIZE, LIMIT])
    third.ok(f"take plain {left + SIZE - BLOCK}")
    await_exported(one, 0)


@pytest.mark.parametrize("way", WAYS)
def test_a_holder_who_is_killed_lets_go(group, tmp_path, way):
    one = group_of(group)
    one.judge.ok("open 0")
    maker, holder = one.start(), one.start()
    way(holder, maker, tmp_path)
    kill(maker)
    await_exported(one, SIZE)
    kill(holder)
    third = one.start()
    await_exported(one, 0)
    third.ok(f"take plain {SIZE + MORE - 88 * MIB}")


def test_a_descriptor_on_its_way_counts(group, tmp_path):
    """Memory whose descriptor is only in a socket counts."""
    one = group_of(group)
    one.judge.ok("open 0")
    maker, holder = one.start(), one.start()
    fd = os.pidfd_open(maker.pid)
    number = export(maker)
    taken = take_descriptor(fd, number)
    there, here = socket.socketpair()
    socket.send_fds(there, [b"x"], [taken])
    os.close(taken)
    os.close(fd)
    kill(maker)
    await_exported(one, SIZE)
    assert holder(f"take plain {LIMIT - CONTEXT - SIZE + BLOCK}") == [
        OUT_OF_MEMORY]
    there.close()
    here.close()
    await_exported(one, 0)
    holder.ok(f"take plain {LIMIT - CONTEXT - BLOCK}")


def take_descriptor(pidfd, number):
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(438, pidfd, number, 0)  # pidfd_getfd
    assert fd >= 0, os.strerror(ctypes.get_errno())
    return fd


def test_one_program_after_the_other_gets_no_more(group):
    """Each program exports, keeps the descriptor and runs exec for the next."""
    one = group_of(group)
    one.judge.ok("open 0")
    program = one.start()
    for taken in (1, 2):
        program.ok(f"take virtual {SIZE}")
        fd, = program.ok("export 0")
        program.ok(f"hold {program.pid} {fd}")
        program.send("exec")
        await_that(lambda: one.held(program) == 0)
        program.ok("open 0")
        assert device_of(one)["devices"][0]["memory_used_bytes"] == (
            CONTEXT + taken * SIZE)
    assert program(f"take virtual {CONTEXT + BLOCK}") == [OUT_OF_MEMORY]
    assert used(one.judge) <= LIMIT
    kill(program)
    await_exported(one, 0)


def test_what_its_maker_frees_is_its_own_until_others_let_go(
        group):
    one = group_of(group)
    one.judge.ok("open 0")
    maker, holder = one.start(), one.start()
    holder.ok(f"import {maker.pid} {export(maker)}")
    maker.ok("close-fd " + str(maker.ok("export 0")[0]))
    maker.ok("empty")
    kill(maker)
    await_exported(one, SIZE)
    holder.ok("empty")
    await_exported(one, 0)


def test_who_has_no_descriptor_left_gets_nothing_back(group):
    """Without a descriptor the kernel cannot be asked who holds the memory."""
    one = group_of(group)
    one.judge.ok("open 0")
    maker, holder = one.start(), one.start()
    holder.ok(f"import {maker.pid} {export(maker)}")
    kill(maker)
    await_exported(one, SIZE)
    third = one.start()
    room = [0, LIMIT - 2 * CONTEXT - SIZE, LIMIT]
    resource.prlimit(third.pid, resource.RLIMIT_NOFILE, (0, 4096))
    end = time.monotonic() + 0.3  # it looks for the dead every 50 ms
    while time.monotonic() < end:
        assert third("info") == room
    resource.prlimit(third.pid, resource.RLIMIT_NOFILE, (1024, 4096))
    holder.ok("empty")
    await_that(lambda: third("info")[1] == room[1] + SIZE)
    await_exported(one, 0)


def test_what_nobody_else_has_goes_with_its_maker(
        group, tmp_path):
    one = group_of(group)
    one.judge.ok("open 0")
    maker, holder = one.start(), one.start()
    export(maker)
    maker.ok("take plain 30000000")
    maker.ok(f"tell 1 {tmp_path / 'handle'}")
    maker.ok(f"take plain {100 * MIB}")
    kill(maker)
    await_that(lambda: holder("info")[1] == LIMIT - CONTEXT)
    await_exported(one, 0)


def test_thousands_of_exports_leave_room_for_more(
        group, tmp_path):
    """Freed exports make room in the table."""
    one = group_of(group)
    maker = one.start()
    for _ in range(5000):
        maker.send("take virtual 1")
        maker.send("export 0")
        assert maker.answer() == [0]
        error, fd = maker.answer()
        assert error == 0
        maker.send(f"close-fd {fd}")
        maker.send("give 0")
        assert maker.answer() == [0] == maker.answer()
    assert one.held(maker) == CONTEXT
