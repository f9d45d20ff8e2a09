# SPDX-License-Identifier: Apache-2.0
"""Files of a group that others truncated, made first, or removed."""

import os
import time

import pytest

import can
from exporter import Exporter
from hami_region import awaited
from limit_shells import GIB, MIB, hami

NOT_PERMITTED = 800
STRANGER = 12345


def beside(cache, what):
    return f"{str(cache).removesuffix('.cache')}.gpukit-{what}"


# ---- truncated ----

@pytest.mark.parametrize("what,left", [("ledger", 0), ("ledger", 4096),
                                       ("policy", 0)])
def test_a_limit_that_is_cut_off_refuses_work(machine, shell, tmp_path, what,
                                              left):
    cache = tmp_path / "x.cache"
    mine = shell(hami(machine("--gpus", "h100"), cache)).start()
    assert mine("load()") == mine("launch()") == mine("alloc(1)") == 0
    os.truncate(beside(cache, what), left)
    assert mine(f"[alloc({64 * MIB}), alloc({64 * MIB})][1]") in (
        (NOT_PERMITTED, 2) if left else (NOT_PERMITTED,))
    assert mine("wait_until(lambda: alloc(4 << 30) != 0, 1)") is True
    if not left:
        assert mine("wait_until(lambda: launch() == 800, 5)") is True
    assert mine("free()") == 0  # it may still free what it has


@pytest.mark.parametrize("what", ["ledger", "policy"])
def test_one_that_is_as_long_again_refuses_it_too(machine, shell, tmp_path,
                                                  what):
    """Nobody touches it while it is short: it then contains zeros, without a
    fault."""
    cache = tmp_path / "x.cache"
    mine = shell(hami(machine("--gpus", "h100"), cache)).start()
    assert mine("load()") == mine("launch()") == mine("alloc(1)") == 0
    path = beside(cache, what)
    size = os.stat(path).st_size
    os.truncate(path, 0)
    os.truncate(path, size)
    assert mine("alloc(1 << 30)") == NOT_PERMITTED
    assert mine("wait_until(lambda: launch() == 800, 5)") is True
    assert mine("free()") == 0


def test_a_region_that_is_cut_off_is_missed_by_nobody(machine, shell,
                                                      tmp_path):
    cache = tmp_path / "x.cache"
    mine = shell(hami(machine("--gpus", "h100"), cache)).start()
    assert mine("load()") == mine("launch()") == 0
    os.truncate(cache, 0)
    assert mine("launch()") == mine("alloc(1 << 20)") == mine("free()") == 0
    assert mine("info()")[1] == 2 * GIB
    assert mine("alloc(2 << 30)") == 2


# ---- made by strangers ----

@pytest.fixture
def common(tmp_path):
    """A directory like /tmp."""
    can.need("other-users")
    place = tmp_path / "common"
    place.mkdir()
    place.chmod(0o1777)
    return place


def test_among_strangers_files_are_closed_to_them(machine, shell, common):
    cache = common / "x.cache"
    shell(hami(machine("--gpus", "h100"), cache)).start()
    for path in (cache, beside(cache, "ledger"), beside(cache, "policy")):
        assert not os.stat(path).st_mode & 0o022, path


def test_a_strangers_region_holds_up_nobody(machine, shell, monitor, common):
    cache = common / "x.cache"
    one = machine("--gpus", "h100")
    first = shell(hami(one, cache)).start()
    first.end()
    seen = monitor(cache)
    seen.write("recent_kernel", -1)
    os.chown(cache, STRANGER, STRANGER)
    mine = shell(hami(one, cache)).start()
    assert mine("load()") == mine("launch()") == 0
    assert mine("alloc(2 << 30)") == 2  # the limit holds without it
    assert seen.pids() == []


def test_a_strangers_ledger_is_not_believed(machine, shell, common):
    cache = common / "x.cache"
    one = machine("--gpus", "h100")
    shell(hami(one, cache)).start().end()
    os.chown(beside(cache, "ledger"), STRANGER, STRANGER)
    mine = shell(hami(one, cache))
    assert mine("cu_init()") == 0
    assert mine("use(0)") == NOT_PERMITTED


# ---- removed ----

def test_who_removes_the_region_gets_the_new_limit(machine, shell, monitor,
                                                   tmp_path):
    cache = tmp_path / "x.cache"
    one = machine("--gpus", "h100")
    shell(hami(one, cache)).start().kill()
    cache.unlink()
    mine = shell(hami(one, cache, memory="3072m")).start()
    assert mine("info()")[1] == 3 * GIB
    assert monitor(cache).limits()[0] == 3 * GIB
    # Not while somebody uses it.
    cache.unlink()
    other = shell(hami(one, cache, memory="4096m")).start()
    assert other("info()")[1] == mine("info()")[1] == 3 * GIB
    # Nor when nobody does.
    mine.end(), other.end()
    last = shell(hami(one, cache, memory="4096m")).start()
    assert last("info()")[1] == 3 * GIB


# ---- the dead ----

def dead_one(machine, shell, monitor, cache):
    one = machine("--gpus", "h100")
    dead, alive = [shell(hami(one, cache)).start() for _ in range(2)]
    seen = monitor(cache)
    alive.machine = one
    dead.kill()
    assert len(seen.pids()) == 2
    return alive, seen


def test_show_takes_out_the_dead(machine, shell, monitor, tmp_path, gpukit):
    cache = tmp_path / "x.cache"
    alive, seen = dead_one(machine, shell, monitor, cache)
    gpukit.ok("limit", "show", cache)
    awaited(lambda: gpukit.ok("limit", "show", cache)
            and seen.pids() == [alive.pid], 2)


@pytest.mark.parametrize("words", [("limit", "ls"), ("limit", "show"),
                                   ("limit", "top"), ("stat",)])
def test_so_does_who_looks_in_the_container(machine, shell, monitor, tmp_path,
                                            gpukit, words):
    cache = tmp_path / "x.cache"
    alive, seen = dead_one(machine, shell, monitor, cache)
    env = hami(alive.machine, cache)
    awaited(lambda: gpukit.ok(*words, env=env) and seen.pids() == [alive.pid],
            5)
    if words[0] == "limit":
        assert str(cache) in gpukit.ok(*words, env=env)
        told = gpukit.json("limit", "ls", "--json", env=env)["groups"]
        (group,) = [g for g in told if g["path"] == str(cache)]
        assert group["policy"]["memory_bytes"][0] == 2 * GIB


def test_so_does_an_exporter_in_the_container(machine, shell, monitor,
                                              tmp_path):
    cache = tmp_path / "x.cache"
    alive, seen = dead_one(machine, shell, monitor, cache)
    one = Exporter(hami(alive.machine, cache))
    try:
        awaited(lambda: one.get("/metrics")[0] == 200
                and seen.pids() == [alive.pid])
    finally:
        one.stop()


def test_time_is_shown_that_is_not_limited(machine, shell, monitor, tmp_path,
                                           gpukit):
    cache = tmp_path / "x.cache"
    mine = shell(hami(machine("--gpus", "h100"), cache)).start()
    mine.ask("work(3)")
    awaited(lambda: (gpukit.json("limit", "show", cache, "--json")["groups"][0]
                     ["devices"][0]["compute_percent"] or 0) > 20)
    assert mine.answer() == 0


def test_who_ends_in_order_takes_out_the_dead(machine, shell, monitor,
                                              tmp_path):
    alive, seen = dead_one(machine, shell, monitor, tmp_path / "x.cache")
    time.sleep(0.1)  # its files are closed
    alive.end()
    assert seen.pids() == []
    assert (seen.used(0), seen.read("proc_num")) == (0, 0)


def test_set_tells_the_region_at_once(machine, shell, monitor, tmp_path,
                                      gpukit):
    cache = tmp_path / "x.cache"
    shell(hami(machine("--gpus", "h100"), cache)).start().end()
    gpukit.ok("limit", "set", cache, "--memory", "0=5GiB", "--compute", "40")
    seen = monitor(cache)
    assert seen.limits()[0] == 5 * GIB
    assert seen.sm_limits()[0] == 40


# ---- a place that somebody else has taken ----

SQUAT = {"a stranger's": "mkdir -m 777 /dev/shm/{0}; chmod 777 /dev/shm/{0}",
         "a file": "touch /dev/shm/{0}",
         "read-only": "mount -o remount,bind,ro /dev/shm"}


@pytest.mark.parametrize("how", SQUAT)
def test_groups_lie_elsewhere_then(private_shm, tmp_path, how):
    done = private_shm(
        SQUAT[how].format("gpukit-limit-0") + f"""
        export XDG_RUNTIME_DIR={tmp_path}
        "$G" limit --group x --memory 2GiB -- "$G" limit show | head -1
        "$G" limit ls | grep -c ^x; "$G" limit rm x; "$G" limit ls
        "$G" limit -- sh -c 'ls $XDG_RUNTIME_DIR/gpukit-limit | wc -l'
        """)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.split("\n")[:2] == ["group: x", "1"]
    assert done.stdout.rstrip().endswith("1")


@pytest.mark.parametrize("how", SQUAT)
def test_machines_lie_elsewhere_then(private_shm, tmp_path, how):
    done = private_shm(
        SQUAT[how].format("gpukit-0") + f"""
        export XDG_RUNTIME_DIR={tmp_path}
        "$G" fake --gpus h100:3 --name m -- "$G" stat --json | grep -c GPU-
        "$G" fake --gpus h100:3 --name m -- sh -c 'ls {tmp_path}/gpukit'
        """)
    assert done.returncode == 0, done
    assert done.stdout == "3\nm\n", done


@pytest.mark.parametrize("verb", ["limit", "fake --name m"])
def test_but_not_where_another_user_may_write(private_shm, tmp_path, verb):
    """The variable may belong to the user who became this one."""
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o777)
    done = private_shm(f"""
        mkdir -m 777 /dev/shm/gpukit-0 /dev/shm/gpukit-limit-0
        export XDG_RUNTIME_DIR={place}
        "$G" {verb} -- echo ran || echo $?; ls {place}
        """)
    assert done.stdout == "1\n", done
    assert done.stderr.count("\n") == 1
