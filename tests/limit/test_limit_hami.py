# SPDX-License-Identifier: Apache-2.0
"""HAMi's monitor works beside us."""

import os
import subprocess
import sys
import time

import pytest

from conftest import clean_env
from hami_region import SIZE, awaited
from limit_shells import GIB, MIB, SHELL, hami

OUT_OF_MEMORY = 2


def test_the_monitor_sums_what_the_driver_has(machine, shell, monitor,
                                              tmp_path):
    one = machine("--gpus", "h100:2")
    cache = tmp_path / "x.cache"
    env = hami(one, cache, CUDA_DEVICE_SM_LIMIT="50")
    programs = [shell(env).start() for _ in range(2)]
    plain = shell(one.env).start(1)
    assert os.stat(cache).st_mode & 0o7777 == 0o666
    assert os.stat(cache).st_size >= SIZE
    seen = monitor(cache)
    assert (seen.read("magic"), seen.read("major")) == (19920718, 1)
    assert seen.uuids() == [gpu["uuid"] for gpu in one.show()["gpus"]]
    assert seen.limits()[:2] == (2 * GIB, 0)
    assert seen.sm_limits()[:2] == (50, 50)
    assert sorted(seen.pids()) == sorted(p.pid for p in programs)
    for step in ["alloc(100 << 20)", "alloc(3)", "free()", "free()"]:
        for program in programs:
            assert program(step) == 0
            truth = dict(map(tuple, plain("processes(0)")))
            assert set(truth) == {p.pid for p in programs}
            assert seen.used(0) == sum(truth.values())
            assert seen.used(0) == sum(seen.used(0, of) for of in
                                       ("context", "module", "data"))
    assert seen.used(1) == 0
    assert seen.used(0, "data") == 0
    assert seen.used(0, "context") == 2 * plain("processes(1)")[0][1]


def test_the_slots_of_the_dead_go(machine, shell, monitor, tmp_path):
    one = machine("--gpus", "h100")
    env = hami(one, tmp_path / "x.cache")
    stays, goes = shell(env).start(), shell(env).start()
    seen = monitor(tmp_path / "x.cache")
    before = seen.used(0)
    goes.kill()
    awaited(lambda: stays("info()") and seen.pids() == [stays.pid], 1)
    assert seen.used(0) == before // 2
    stays.end()  # regularly, without help from others
    assert seen.pids() == []
    assert (seen.used(0), seen.read("proc_num")) == (0, 0)


def test_who_comes_next_takes_out_the_dead(machine, shell, monitor, tmp_path):
    one = machine("--gpus", "h100")
    env = hami(one, tmp_path / "x.cache")
    shell(env).start().kill()
    seen = monitor(tmp_path / "x.cache")
    assert len(seen.pids()) == 1
    alive = shell(env).start()
    awaited(lambda: alive("info()") and seen.pids() == [alive.pid], 1)
    assert seen.used(0) == alive("memory(0)")[0]["used"]


@pytest.mark.parametrize("priority", ["0", "1", None])
def test_the_monitor_holds_up_low_priorities(machine, shell, monitor,
                                             tmp_path, priority):
    one = machine("--gpus", "h100")
    more = {"CUDA_TASK_PRIORITY": priority} if priority else {}
    mine = shell(hami(one, tmp_path / "x.cache", **more)).start()
    seen = monitor(tmp_path / "x.cache")
    assert seen.read("priority") == int(priority or 1)
    assert mine("load()") == mine("launch()") == 0
    assert seen.read("recent_kernel") == 2
    seen.write("recent_kernel", -1)
    mine.ask("launch()")
    if priority == "0":
        assert mine.answer() == 0
        assert seen.read("recent_kernel") == 2
        return
    time.sleep(0.3)
    assert seen.read("recent_kernel") == -1  # nothing was launched
    seen.write("recent_kernel", 0)
    assert mine.answer() == 0
    assert seen.read("recent_kernel") == 2


def test_the_monitor_says_when_time_is_limited(machine, shell, monitor,
                                               tmp_path):
    one = machine("--gpus", "h100")
    mine = shell(hami(one, tmp_path / "x.cache",
                      CUDA_DEVICE_SM_LIMIT="10")).start()
    seen = monitor(tmp_path / "x.cache")
    assert seen.read("utilization_switch") == 1
    assert mine("load()") == 0
    seen.write("utilization_switch", 0)
    free = mine("waited(8)")
    seen.write("utilization_switch", 1)
    assert mine("waited(8)") > max(0.5, 3 * free)


def test_force_limits_time_whatever_the_monitor_says(machine, shell, monitor,
                                                     tmp_path):
    one = machine("--gpus", "h100")
    mine = shell(hami(one, tmp_path / "x.cache", CUDA_DEVICE_SM_LIMIT="10",
                      GPU_CORE_UTILIZATION_POLICY="force")).start()
    seen = monitor(tmp_path / "x.cache")
    assert mine("load()") == 0
    seen.write("utilization_switch", 0)
    assert mine("waited(8)") > 0.4


def test_a_launch_tells_its_time(machine, shell, monitor, tmp_path):
    one = machine("--gpus", "h100")
    mine = shell(hami(one, tmp_path / "x.cache")).start()
    seen = monitor(tmp_path / "x.cache")
    assert mine("load()") == 0
    seen.write("recent_kernel", 1)  # as the monitor's countdown does
    before = int(time.time())
    assert mine("launch()") == 0
    assert before <= seen.read("last_kernel_time") <= int(time.time())


def test_the_monitor_sees_what_time_is_used(machine, shell, monitor,
                                            tmp_path):
    one = machine("--gpus", "h100:2")
    mine = shell(hami(one, tmp_path / "x.cache",
                      CUDA_DEVICE_SM_LIMIT="30",
                      GPU_CORE_UTILIZATION_POLICY="force")).start()
    seen = monitor(tmp_path / "x.cache")
    assert mine("load()") == 0
    mine.ask("waited(40)")
    awaited(lambda: 15 <= seen.busy(0) <= 45, seconds=60)
    assert seen.busy(1) == 0
    mine.answer()
    awaited(lambda: seen.busy(0) == 0)  # no program makes a call
    mine.ask("waited(20)")
    awaited(lambda: seen.busy(0) > 0)
    mine.answer()


def test_who_waits_while_suspended_says_so(machine, shell, monitor, tmp_path,
                                           gpukit):
    one = machine("--gpus", "h100")
    cache = tmp_path / "x.cache"
    first, second = [shell(hami(one, cache)).start() for _ in range(2)]
    seen = monitor(cache)
    assert first("load()") == 0
    assert seen.statuses() == [1, 1]
    gpukit("limit", "suspend", cache)
    first.ask("launch()")
    awaited(lambda: sorted(seen.statuses()) == [1, 2])
    gpukit("limit", "resume", cache)
    assert first.answer() == 0
    assert seen.statuses() == [1, 1]


def test_limits_change_while_programs_run(machine, shell, monitor, tmp_path,
                                          gpukit):
    one = machine("--gpus", "h100")
    cache = tmp_path / "x.cache"
    mine = shell(hami(one, cache)).start()
    seen = monitor(cache)
    gpukit.ok("limit", "set", cache, "--memory", "0=1GiB", "--compute", "30")
    free, total = mine("info()")
    assert total == mine("total(0)") == seen.limits()[0] == GIB
    assert free == GIB - seen.used(0)
    assert seen.sm_limits()[0] == 30
    assert mine("alloc(1 << 30)") == OUT_OF_MEMORY
    gpukit.ok("limit", "set", cache, "--memory", "0=3GiB")
    assert mine("alloc(1 << 30)") == 0
    assert str(3 * GIB) in gpukit.ok("limit", "show", "--json", cache)


def test_nonsense_in_the_region_moves_no_limit(machine, shell, monitor,
                                               tmp_path):
    one = machine("--gpus", "h100")
    env = hami(one, tmp_path / "x.cache", CUDA_TASK_PRIORITY="0")
    mine = shell(env).start()
    seen = monitor(tmp_path / "x.cache")
    used = mine("memory(0)")[0]["used"]
    seen.at[56:SIZE] = b"\xa5" * (SIZE - 56)
    assert mine("alloc(2 << 30)") == OUT_OF_MEMORY
    assert mine("info()") == [2 * GIB - used, 2 * GIB]
    assert mine(f"alloc({(2 * GIB - used) // (2 * MIB) * 2 * MIB})") == 0
    assert mine("info()")[0] < 2 * MIB
    other = shell(env)
    assert other("cu_init()") == 0
    assert other("use(0)") == OUT_OF_MEMORY


def test_a_file_of_another_sort_is_left_alone(machine, shell, tmp_path):
    one = machine("--gpus", "h100")
    cache = tmp_path / "x.cache"
    cache.write_bytes(b"precious")
    mine = shell(hami(one, cache)).start()
    assert mine("info()")[1] == 2 * GIB
    assert mine("alloc(2 << 30)") == OUT_OF_MEMORY
    assert cache.read_bytes() == b"precious"


def test_a_forked_child_has_a_slot_of_its_own(machine, shell, monitor,
                                              tmp_path):
    one = machine("--gpus", "h100")
    mine = shell(hami(one, tmp_path / "x.cache"))
    assert mine("nvml_init()") == 0
    held = mine("child('[nvml_init(), cu_init(), use(0), alloc(1 << 20), "
                "processes(0)]')")
    (pid, used), = held.pop()
    assert held == [0, 0, 0, 0]
    seen = monitor(tmp_path / "x.cache")
    assert seen.pids() == [pid] != [mine.pid]
    assert seen.used(0) == used
    assert mine("cu_init()") == mine("use(0)") == 0
    awaited(lambda: mine("info()") and seen.pids() == [mine.pid], 1)
    assert seen.used(0) == mine("memory(0)")[0]["used"]


PROGRAM = """
import gpu_shell as g
assert g.cu_init() == 0
g.use(0), g.alloc(1 << 40)
"""


def told_by(env):
    """The stderr of a program that does the above on a fake machine."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], text=True, capture_output=True,
        env=clean_env(PYTHONPATH=os.path.dirname(SHELL), **env), check=False,
        timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
    return done.stderr


def test_nothing_is_printed_unasked(machine, tmp_path):
    one = machine("--gpus", "h100")
    bad = {"memory": "a lot"}
    assert told_by(hami(one, tmp_path / "x.cache")) == ""
    assert told_by(hami(one, tmp_path / "x.cache", GPUKIT_LOG="off",
                        **bad)) == ""
    told = told_by(hami(one, tmp_path / "x.cache", **bad,
                        LIBCUDA_LOG_LEVEL="0"))
    assert "CUDA_DEVICE_MEMORY_LIMIT_0=a lot" in told
    assert told_by(hami(one, tmp_path / "y.cache", LIBCUDA_LOG_LEVEL="0",
                        GPUKIT_LOG="off", **bad)) == ""
