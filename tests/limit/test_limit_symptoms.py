# SPDX-License-Identifier: Apache-2.0
"""Tests the table of symptoms in docs/LIMIT-HAMI.md, and the layout that HAMi's
monitor reads."""

import os
import re
import subprocess
import time

from conftest import BUILD, ROOT, clean_env
from hami_region import MOST, PROC, PROCS, awaited
from limit_shells import GIB, MIB, hami

UTILIZATION = os.path.join(BUILD, "tests", "limit",
                           "test_multi_gpu_utilization")


def table():
    """Rows of the table: symptom, HAMi-core, here."""
    with open(os.path.join(ROOT, "docs", "LIMIT-HAMI.md"),
              encoding="utf-8") as file:
        text = file.read().split("| symptom |")[1]
    return [line.strip("| \n").split(" | ") for line in text.splitlines()[2:]
            if line.startswith("|")]


def names_in(folder):
    found = set()
    for place, _, names in os.walk(os.path.join(ROOT, "tests", folder)):
        for name in names:
            if not name.endswith(".py"):
                continue
            with open(os.path.join(place, name), encoding="utf-8") as file:
                found |= set(re.findall(r"^def (test_\w+)", file.read(),
                                        re.M))
    return found


def test_each_symptom_has_a_test():
    rows = table()
    there = names_in("limit") | names_in("cli")
    assert len(rows) > 20
    for row in rows:
        assert len(row) == 3, row
        named = re.findall(r"`(test_\w+)`", row[2])
        assert named, row
        assert not set(named) - there, row
    weaknesses = {n for n in there if n.startswith("test_weakness_")}
    covered = {name[:16] for row in rows for name in
               re.findall(r"`(test_weakness_\w+)`", row[2])}
    assert covered == {name[:16] for name in weaknesses}


def test_several_gpus_are_told_apart(machine, monitor, tmp_path):
    """The monitor tells the figures apart while a program uses two of three
    GPUs."""
    one = machine("--gpus", "h100:3")
    cache = tmp_path / "x.cache"
    env = hami(one, cache, CUDA_VISIBLE_DEVICES="2,0",
               CUDA_DEVICE_SM_LIMIT="30")
    with subprocess.Popen([UTILIZATION, "30", "6"], env=clean_env(**env), text=True,
                          stdout=subprocess.PIPE) as program:
        awaited(cache.exists)
        seen = monitor(cache)
        awaited(lambda: seen.busy(0) and seen.busy(2))
        assert seen.busy(1) == 0
        assert max(seen.busy(0), seen.busy(2)) <= 45
        told = program.communicate()[0]
    assert program.returncode == 0, told
    assert len(told.splitlines()) == 2


def test_the_layout_is_what_the_monitor_reads(machine, shell, monitor,
                                              tmp_path):
    """Each field of version 1 is at its offset, for a program that has used all
    of them."""
    one = machine("--gpus", "h100:2")
    cache = tmp_path / "x.cache"
    before = int(time.time())
    mine = shell(hami(one, cache, CUDA_DEVICE_SM_LIMIT="60",
                      CUDA_TASK_PRIORITY="0")).start()
    assert mine("alloc(100 << 20)") == mine("load()") == mine("launch()") == 0
    seen = monitor(cache)
    assert os.path.getsize(cache) == PROCS + PROC * MOST + 2008952 - 2008896
    assert (seen.word(0), seen.word(4), seen.word(8)) == (19920718, 1, 2)
    assert seen.quad(16) == 0  # nobody holds HAMi-core's lock
    assert seen.quad(24) == seen.quad(2008920) == 1  # which is free
    assert seen.quad(56) == 2
    assert seen.uuids() == [gpu["uuid"] for gpu in one.show()["gpus"]]
    assert [seen.quad(1600 + 8 * i) for i in range(3)] == [2 * GIB, 0, 0]
    assert [seen.quad(1728 + 8 * i) for i in range(3)] == [60, 60, 60]
    assert (seen.word(PROCS), seen.word(PROCS + 4)) in (
        (mine.pid, mine.pid), (mine.pid, 0))
    context, module, data, offset, total = [
        seen.quad(PROCS + 8 + 8 * i) for i in range(5)]
    assert context == 518 * MIB and offset == 0 and data >= 100 * MIB
    assert total == context + module + data == seen.quad(PROCS + 1032)
    assert [seen.quad(PROCS + 1160 + 8 * i) for i in range(2)] == [0, 0]
    assert (seen.word(PROCS + 1928), seen.quad(PROCS + 1936) % 2) == (1, 0)
    assert not any(seen.at[PROCS + PROC:PROCS + PROC * MOST])  # other slots
    assert [seen.word(2008896 + 4 * i) for i in range(4)] == [1, 1, 2, 0]
    assert before <= seen.quad(2008912) <= time.time()
