# SPDX-License-Identifier: Apache-2.0
"""HAMi's monitor is told the GPU time that a container uses, whether time is
limited or not: it considers a pod that uses none idle."""

import time

import pytest

from hami_region import awaited
from limit_shells import hami

# None of these limits time.
FREE = {"unset": {}, "0": {"CUDA_DEVICE_SM_LIMIT": "0"},
        "100": {"CUDA_DEVICE_SM_LIMIT": "100"},
        "disable": {"CUDA_DEVICE_SM_LIMIT": "10",
                    "GPU_CORE_UTILIZATION_POLICY": "disable"},
        "switch": {"CUDA_DEVICE_SM_LIMIT": "10"}}


def begin(machine, shell, monitor, tmp_path, case):
    one = machine("--gpus", "h100:2")
    mine = shell(hami(one, tmp_path / "x.cache", **FREE[case])).start()
    seen = monitor(tmp_path / "x.cache")
    if case == "switch":
        seen.write("utilization_switch", 0)
    assert mine("load()") == 0
    return mine, seen


@pytest.mark.parametrize("case", FREE)
def test_time_is_told_where_it_is_not_limited(machine, shell, monitor,
                                              tmp_path, case):
    mine, seen = begin(machine, shell, monitor, tmp_path, case)
    mine.ask("work(4)")
    awaited(lambda: 60 <= seen.busy(0) <= 100)
    assert seen.busy(1) == 0
    assert mine.answer() == 0
    awaited(lambda: seen.busy(0) == 0)  # no program makes a call


def test_who_rests_is_not_told_to_be_busy(machine, shell, monitor, tmp_path):
    mine, seen = begin(machine, shell, monitor, tmp_path, "unset")
    mine.ask("rests(6, 0.25)")
    awaited(lambda: seen.busy(0))
    told = []
    end = time.monotonic() + 3.5
    while time.monotonic() < end:
        told.append(seen.busy(0))
        time.sleep(0.1)
    assert mine.answer() == 0
    # Less where the host slows the program down.
    assert 0 < sorted(told)[len(told) // 2] <= 45


def test_two_who_share_a_gpu_have_its_time_once(machine, shell, monitor,
                                                tmp_path):
    one = machine("--gpus", "h100")
    both = [shell(hami(one, tmp_path / "x.cache")).start() for _ in range(2)]
    seen = monitor(tmp_path / "x.cache")
    for mine in both:
        assert mine("load()") == 0
        mine.ask("work(5)")
    awaited(lambda: seen.busy(0) > 50)
    time.sleep(2)
    # 200 if each had it alone; more than 100 where the host is busy
    assert seen.busy(0) <= 150
    assert [mine.answer() for mine in both] == [0, 0]


def test_the_first_kernel_tells_its_time(machine, shell, monitor, tmp_path):
    one = machine("--gpus", "h100")
    cache = tmp_path / "x.cache"
    before = int(time.time())
    mine = shell(hami(one, cache)).start()
    seen = monitor(cache)
    assert seen.read("last_kernel_time") == 0
    assert mine("load()") == mine("launch()") == 0
    assert before <= seen.read("last_kernel_time") <= int(time.time())
    seen.write("last_kernel_time", 0)
    assert mine("launch()") == 0  # the monitor has not counted down yet
    other = shell(hami(one, cache)).start()
    assert other("load()") == other("launch()") == 0
    assert seen.read("last_kernel_time") >= before


def test_the_last_kernel_time_goes_on_while_it_works(machine, shell, monitor,
                                                     tmp_path):
    mine, seen = begin(machine, shell, monitor, tmp_path, "unset")
    assert mine("launch()") == 0
    first = seen.read("last_kernel_time")
    mine.ask("work(4)")
    awaited(lambda: seen.read("last_kernel_time") >= first + 2)
    assert mine.answer() == 0


def test_the_monitor_is_told_what_is_used(machine, shell, monitor, tmp_path):
    mine, seen = begin(machine, shell, monitor, tmp_path, "unset")
    for step in ("alloc(100 << 20)", "alloc(3)", "free()"):
        assert mine(step) == 0
        assert seen.told_used(0) == seen.used(0) > 0
    mine.end()
    assert seen.told_used(0) == 0
