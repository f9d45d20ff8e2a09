# SPDX-License-Identifier: Apache-2.0
"""All figures that programs get of a device under a limit are consistent."""

import json
import os
import subprocess

import pytest

import can
from conftest import GPUKIT
from limit_shells import GIB, MIB, hami

LIMIT = 2 * GIB
PENDING = 7  # NVML_ERROR_INSUFFICIENT_SIZE
# nvmlProcessMode_t
COMPUTE, GRAPHICS, MPS, ALL = range(4)


def used_by_story(told, limit=LIMIT):
    """Checks that all figures are consistent; returns the used bytes."""
    free, total = told["info"]
    first, second = told["memory"]
    used = limit - free
    assert total == told["total"] == limit
    assert first == {"total": limit, "free": free, "used": used}
    assert (second["total"], second["free"], second["used"],
            second["reserved"]) == (limit, free, used, 0)
    assert sum(held for _, held in told["processes"]) == used
    return used


def unlimited(machine):
    """The environment of a program that sees the machine as the driver reports
    it."""
    return machine.env


def test_one_story_at_every_step(machine, shell, tmp_path):
    one = machine("--gpus", "h100:2")
    env = hami(one, tmp_path / "x.cache")
    first, second = shell(env).start(), shell(env).start()
    judge = shell(unlimited(one)).start(1)
    for step in ["alloc(100 << 20)", "alloc(1)", "alloc(64 << 20)", "free()",
                 "free()"]:
        for program in (first, second):
            assert program(step) == 0
            told = [p("story(0, 0)") for p in (first, second)]
            assert used_by_story(told[0]) == used_by_story(told[1])
            truth = dict(map(tuple, judge("processes(0)")))
            assert dict(map(tuple, told[0]["processes"])) == truth


def test_one_story_when_less_is_allowed_than_held(machine, shell, tmp_path,
                                                  gpukit):
    one = machine("--gpus", "h100")
    cache = tmp_path / "x.cache"
    first, second = [shell(hami(one, cache)).start() for _ in range(2)]
    assert first("alloc(700 << 20)") == second("alloc(3)") == 0
    gpukit("limit", "set", cache, "--memory", f"0={GIB}")
    for program in (first, second):
        told = program("story(0, 0)")
        assert used_by_story(told, GIB) == GIB
        assert len(told["processes"]) == 2
        assert all(held > 0 for _, held in told["processes"])
    gpukit.ok("limit", "set", cache, "--memory", "0=3GiB")
    assert used_by_story(first("story(0, 0)"), 3 * GIB) > GIB


def test_figures_belong_together_in_the_midst_of_it(machine, shell, tmp_path):
    """A call that may take everything reserves everything for a moment; nobody
    sees that."""
    one = machine("--gpus", "h100")
    env = hami(one, tmp_path / "x.cache")
    watcher, churner = shell(env).start(), shell(env).start()
    at_first = watcher("info()")[0]
    watcher.ask("extremes(1.5)")
    churner.ask("churn(1)")
    newest = shell(env).start()
    assert newest.ask("churn(0.5)") is None
    least, most, odd = watcher.answer()
    assert newest.answer() is churner.answer() is None
    assert odd == 0
    context = (LIMIT - at_first) // 2
    assert most <= at_first
    assert least >= at_first - context - 2 * 70 * MIB


def test_only_the_group_is_there(machine, shell, tmp_path):
    one = machine("--gpus", "h100", "--load", "train:0,mem=20GiB")
    mine = shell(hami(one, tmp_path / "x.cache")).start()
    told = mine("story(0, 0)")
    used_by_story(told)
    assert [pid for pid, _ in told["processes"]] == [mine.pid]
    assert len(shell(unlimited(one)).start()("processes(0)")) == 3


def test_the_end_of_a_process_is_seen(machine, shell, tmp_path):
    one = machine("--gpus", "h100")
    env = hami(one, tmp_path / "x.cache")
    stays, goes = shell(env).start(), shell(env).start()
    alone = used_by_story(stays("story(0, 0)"))
    assert goes("alloc(1 << 28)") == 0
    goes.kill()
    told = stays("wait_until(lambda: info()[0] > %d, 1) and story(0, 0)"
                 % (LIMIT - alone))
    assert used_by_story(told) == alone // 2


def test_without_a_limit_the_driver_answers(machine, shell, tmp_path):
    """Weakness 14: a total of 0 without a limit, and a crash at NULL."""
    one = machine("--gpus", "h100:2", "--load", "train:1,mem=3GiB")
    mine = shell(hami(one, tmp_path / "x.cache")).start(1)
    plain = shell(unlimited(one)).start(1)
    for line in ["total(1)", "total_v1(1)", "info()", "info_v1()",
                 "info_of_nothing()", "memory(1)", "processes(1)"]:
        assert mine(line) == plain(line), line
    assert mine("total(1)") > 79 * GIB


def test_null_is_answered_as_the_driver_does(machine, shell, tmp_path):
    one = machine("--gpus", "h100")
    mine = shell(hami(one, tmp_path / "x.cache")).start()
    free, total = mine("info()")
    assert mine("info_of_nothing()") == [0, free, total]


def test_the_first_versions_have_32_bits(machine, shell, tmp_path):
    one = machine("--gpus", "h100")
    small = shell(hami(one, tmp_path / "a.cache")).start()
    large = shell(hami(one, tmp_path / "b.cache", "9g")).start()
    assert small("total_v1(0)") == small("info_v1()")[1] == LIMIT
    assert large("total_v1(0)") == large("info_v1()")[1] == 2**32 - 1


def test_a_limit_above_the_gpu_is_the_gpu(machine, shell, tmp_path):
    one = machine("--gpus", "t4", "--load", "train:0,mem=3GiB")
    mine = shell(hami(one, tmp_path / "x.cache", "100g")).start()
    plain = shell(unlimited(one))
    plain("nvml_init()")
    assert mine("memory(0)")[0]["total"] == plain("memory(0)")[0]["total"]
    free, total = mine("info()")
    first, second = mine("memory(0)")
    assert total == mine("total(0)") < 16 * GIB
    assert first["free"] == second["free"] == free
    assert second["total"] == sum(second[n] for n in
                                  ("reserved", "used", "free"))
    assert free == plain("memory(0)")[0]["free"]  # what is really free


def test_what_others_hold_is_not_free(machine, shell, tmp_path):
    """Limits may promise more than there is."""
    one = machine("--gpus", "t4", "--load", "train:0,mem=14GiB")
    mine = shell(hami(one, tmp_path / "x.cache", "10g")).start()
    plain = shell(unlimited(one))
    plain("nvml_init()")
    free, total = mine("info()")
    assert total == 10 * GIB
    assert free == plain("memory(0)")[0]["free"] < 2 * GIB
    assert mine("memory(0)")[1]["used"] == total - free


LISTS = [(kind, suffix) for kind in ("compute", "graphics", "mps")
         for suffix in ("", "_v2", "_v3")]


def test_every_list_of_processes_is_of_the_group(machine, shell, tmp_path):
    one = machine("--gpus", "h100", "--load", "train:0,mem=20GiB")
    env = hami(one, tmp_path / "x.cache")
    programs = [shell(env).start() for _ in range(2)]
    held = programs[0]("processes(0)")
    assert sorted(pid for pid, _ in held) == sorted(p.pid for p in programs)
    for kind, suffix in LISTS:
        ask = f"processes(0, {kind!r}, {suffix!r}, "
        expected = held if kind == "compute" else []
        assert programs[0](ask + "64)") == expected
        assert programs[0](ask + "2)") == expected
        short = [PENDING, 2] if expected else []
        assert programs[0](ask + "1)") == short
        assert programs[0](ask + "0)") == short
    for mode, expected in ((COMPUTE, held), (GRAPHICS, []), (MPS, []),
                           (ALL, held)):
        assert programs[0](f"details(0, {mode})") == expected


@pytest.mark.parametrize("nvml_first", [True, False])
@pytest.mark.parametrize("visible", ["1,0", "uuid", "1", "bus"])
def test_devices_are_those_of_nvml(machine, shell, tmp_path, visible,
                                   nvml_first):
    """Weakness 2: limits use NVML's numbers, whatever order CUDA shows."""
    gpus = ["t4", "h100"] if visible == "bus" else ["h100", "h100"]
    one = machine("--gpus", ",".join(gpus))
    uuids = [gpu["uuid"] for gpu in one.show()["gpus"]]
    more = {"1,0": {"CUDA_VISIBLE_DEVICES": "1,0"},
            "uuid": {"CUDA_VISIBLE_DEVICES": f"{uuids[1]},{uuids[0]}"},
            "1": {"CUDA_VISIBLE_DEVICES": "1"}, "bus": {}}[visible]
    mine = shell(hami(one, tmp_path / "x.cache", "1g",
                      CUDA_DEVICE_MEMORY_LIMIT_1="3g", **more))
    order = ["nvml_init()", "cu_init()"]
    for line in order if nvml_first else reversed(order):
        assert mine(line) == 0
    count = mine("cu_count()")
    assert count == (1 if visible == "1" else 2)
    for device in range(count):
        number = uuids.index(mine(f"uuid({device})"))
        # By default the fastest come first, else as requested.
        assert number == 1 - device
        limit = [1, 3][number] * GIB
        assert mine(f"use({device})") == 0
        used_by_story(mine(f"story({device}, {number})"), limit)
        assert mine("alloc(2 << 30)") == (0 if number else 2)
        used_by_story(mine(f"story({device}, {number})"), limit)


def test_the_order_of_the_bus_is_obeyed(machine, shell, tmp_path):
    one = machine("--gpus", "t4,h100")
    mine = shell(hami(one, tmp_path / "x.cache", "1g",
                      CUDA_DEVICE_MEMORY_LIMIT_1="3g",
                      CUDA_DEVICE_ORDER="PCI_BUS_ID")).start()
    assert mine("total(0)") == GIB
    assert mine("total(1)") == 3 * GIB


def test_a_mig_device_has_the_limit_of_its_gpu(machine, shell, tmp_path):
    one = machine("--gpus", "h100")
    assert one.ctl("mig", "0", "on").returncode == 0
    for _ in range(2):
        assert one.ctl("mig", "0", "create", "3g.40gb").returncode == 0
    mine = shell(hami(one, tmp_path / "x.cache")).start()
    assert mine("total(0)") == LIMIT
    used = used_by_story({**mine("story(0, 0)"),
                          "memory": mine("memory(0, mig=0)"),
                          "processes": mine("processes(0, mig=0)")})
    assert used == LIMIT - mine("memory(0)")[0]["free"]
    assert mine("processes(0, mig=1)") == []


def test_nvml_is_left_alone_where_hami_says_so(machine, shell, tmp_path):
    one = machine("--gpus", "h100", "--load", "train:0,mem=3GiB")
    mine = shell(hami(one, tmp_path / "x.cache",
                      HOOK_NVML_ENABLE="0")).start()
    plain = shell(unlimited(one))
    plain("nvml_init()")
    assert mine("memory(0)") == plain("memory(0)")
    assert mine("processes(0)") == plain("processes(0)")
    assert mine("info()")[1] == LIMIT


def test_a_forked_child_tells_the_same(machine, shell, tmp_path):
    one = machine("--gpus", "h100")
    mine = shell(hami(one, tmp_path / "x.cache"))
    assert mine("nvml_init()") == 0
    told = mine("child('[nvml_init(), memory(0)]')")
    assert told[1][0] == {"total": LIMIT, "free": LIMIT, "used": 0}


NOT_FOUND = 6


def test_samples_are_of_the_group(machine, shell, tmp_path):
    one = machine("--gpus", "h100", "--load", "train:0,mem=1GiB,util=20")
    mine = shell(hami(one, tmp_path / "x.cache")).start()
    plain = shell(unlimited(one))
    assert plain("nvml_init()") == 0
    assert plain(f"wait_until(lambda: samples(0)[0] != {NOT_FOUND}, 10)")
    assert mine("samples(0)") == [NOT_FOUND, 64]
    assert mine("busies(0)") == [NOT_FOUND, 64]
    assert mine("work(1)") == 0
    for ask in ("samples", "busies"):
        found = mine(f"{ask}(0)")
        assert [pid for pid, _ in found] == [mine.pid]
        assert 0 < found[0][1] <= 100
        assert mine(f"{ask}(0, 0)") == [PENDING, 1]
        assert len(plain(f"{ask}(0)")) == 2


def test_a_group_that_starts_again_has_its_gpus_of_now(machine, shell,
                                                       tmp_path):
    """After a removal GPU 1 becomes GPU 0 and has that GPU's limit."""
    can.need("rights-of-root")
    one = machine("--gpus", "h100:2")
    env = hami(one, tmp_path / "x.cache", "1g", CUDA_DEVICE_MEMORY_LIMIT_1="3g")
    first = shell(env).start()
    assert [first(f"total({i})") for i in (0, 1)] == [GIB, 3 * GIB]
    stays = first("uuid(1)")
    first.end()
    plain = shell(unlimited(one))
    assert plain("nvml_init()") == plain("remove(0)") == 0
    second = shell(env).start()
    assert second("uuid(0)") == stays
    assert second("total(0)") == second("info()")[1] == GIB


@pytest.fixture
def container():
    can.need("processes-of-its-own")
    return can.PROCESSES


def test_a_container_sees_its_own_pids(machine, shell, tmp_path, container):
    """A process in another namespace has no pid here, but its bytes count."""
    one = machine("--gpus", "h100")
    env = hami(one, tmp_path / "x.cache")
    inside = shell(env, *container).start()
    told = inside("story(0, 0)")
    context = used_by_story(told)
    assert [pid for pid, _ in told["processes"]] == [inside("os.getpid()")]
    outside = shell(env).start()
    assert outside("alloc(64 << 20)") == 0
    held = context + 64 * MIB
    assert outside("processes(0)") == [[outside.pid, held]]
    assert inside("processes(0)") == told["processes"]
    assert inside("info()") == outside("info()") == \
        [LIMIT - context - held, LIMIT]


def test_the_owner_sees_who_is_in_a_container(machine, shell, tmp_path,
                                              container):
    """Runs in the host's first namespace, the only one that sees all pids."""
    env = hami(machine("--gpus", "h100"), tmp_path / "x.cache")
    inside = shell(env, *container).start()
    told = json.loads(subprocess.check_output(
        [GPUKIT, "limit", "show", "--json", str(tmp_path / "x.cache")]))
    shown, = told["groups"][0]["processes"]
    assert shown["pid"] == inside("os.getpid()")
    with open(f"/proc/{inside.pid}/task/{inside.pid}/children",
              encoding="ascii") as f:
        child, = f.read().split()
    with open(f"/proc/{child}/comm", encoding="ascii") as f:
        command = f.read().strip()
    in_first = os.stat("/proc/self/ns/pid").st_ino == 4026531836
    assert (shown["host_pid"], shown["command"]) == (
        (int(child), command) if in_first else (None, None))


def test_nobody_is_refused_what_others_only_reserve(machine, shell, tmp_path):
    one = machine("--gpus", "h100")
    env = hami(one, tmp_path / "x.cache")
    many = [shell(env).start() for _ in range(3)]
    for program in many:
        program.ask("churn(2)")
    assert [program.answer() for program in many] == [None] * 3
