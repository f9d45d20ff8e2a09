# SPDX-License-Identifier: Apache-2.0
"""CUDA programs are killed, forked and threaded by the dozen. Nothing of them
remains, and nobody is disturbed."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

import cuda_programs
import peers
from conftest import GPUKIT, clean_env

GPUS = 3
VICTIMS = 60
AT_ONCE = 10

# Reads all the time: the sums are right at every moment. Ends with its input.
LOOK = """
import select, sys, pynvml as n
n.nvmlInit()
devices = [n.nvmlDeviceGetHandleByIndex(i)
           for i in range(n.nvmlDeviceGetCount())]
looks = 0
print("looks", flush=True)
while not select.select([sys.stdin], [], [], 0.001)[0]:
    for d in devices:
        m = n.nvmlDeviceGetMemoryInfo(d, version=n.nvmlMemory_v2)
        assert m.used + m.free + m.reserved == m.total, m
        assert n.nvmlDeviceGetUtilizationRates(d).gpu <= 100
        for p in n.nvmlDeviceGetComputeRunningProcesses(d):
            assert p.usedGpuMemory <= m.total - m.reserved
        looks += 1
print(looks)
"""


def popen(env, *argv, **how):
    return subprocess.Popen([str(arg) for arg in argv], text=True,
                            env=clean_env(**env), stdout=subprocess.PIPE,
                            **how)


def victim(env, chance, nth):
    """Starts each kind of program in turn, with a seed of its own."""
    gpu = chance.randrange(GPUS)
    hold, churn, fill = (cuda_programs.driver(name + "_driver")
                         for name in ("hold", "churn", "fill"))
    argv = [(churn, gpu, chance.randrange(1 << 30), 0),
            (hold, gpu, chance.randrange(1, 4096), 3600),
            (churn, gpu, chance.randrange(1 << 30), 0),
            (fill, gpu, "wait")][nth % 4]
    # A program that finds the GPU full says so and ends, which is expected
    # here.
    return popen(env, *argv, stdin=subprocess.PIPE,
                 stderr=subprocess.DEVNULL)


def storm(env, seed):
    """Starts AT_ONCE at a time and kills each at a random moment: before
    cuInit, within a call, after its work."""
    chance = random.Random(seed)
    for first in range(0, VICTIMS, AT_ONCE):
        victims = [victim(env, chance, nth)
                   for nth in range(first, first + AT_ONCE)]
        chance.shuffle(victims)
        for nth, one in enumerate(victims):
            if nth == AT_ONCE // 2:
                one.stdout.readline()  # these live at least this long
            time.sleep(chance.random() * 0.05)
            one.send_signal(signal.SIGKILL)
        for one in victims:
            one.wait()
            one.stdout.close()
            one.stdin.close()


def nothing_is_left(one):
    """Checks it with every client."""
    gpus = peers.of_pynvml(one.env)
    assert {(gpu["used"], len(gpu["processes"])) for gpu in gpus.values()} \
        == {(0, 0)}
    told = json.loads(peers.run([GPUKIT, "stat", "--json"], one.env))
    for gpu in told["devices"]:
        assert gpu["memory_used_bytes"] == 0 and gpu["processes"] == []
        assert gpu["memory_used_bytes"] + gpu["memory_free_bytes"] + \
            gpu["memory_reserved_bytes"] == gpu["memory_total_bytes"]
    rows = peers.run([GPUKIT, "smi", "--query-gpu=memory.used",
                      "--format=csv,noheader"], one.env).splitlines()
    assert rows == ["0 MiB"] * len(gpus)
    assert peers.run([GPUKIT, "smi", "--query-compute-apps=pid",
                      "--format=csv,noheader"], one.env) == ""
    shown = one.show()["gpus"]
    assert {(gpu["memory_used"], gpu["processes"]) for gpu in shown} \
        == {(0, 0)}


def until(what, patience=30):
    end = time.monotonic() + patience
    while not what():
        assert time.monotonic() < end, "never happened"


def everything_is_free(one):
    """Checks that the dead are found, nobody keeps a device busy, all memory of
    each can be allocated, and programs do their work."""
    until(lambda: not any(gpu["processes"]
                          for gpu in peers.of_pynvml(one.env).values()))
    nothing_is_left(one)
    until(lambda: {gpu["gpu_utilization_percent"] for gpu in json.loads(
        peers.run([GPUKIT, "stat", "--json"], one.env))["devices"]} == {0})
    fill = cuda_programs.driver("fill_driver")
    churn = cuda_programs.driver("churn_driver")
    for gpu in range(GPUS):
        assert peers.run([fill, str(gpu)], one.env) == "0\n"
        assert peers.run([churn, str(gpu), "3", "200"], one.env) == "ready\n"
    nothing_is_left(one)
    assert one.ctl("set", 0, "temperature=77").returncode == 0
    assert peers.of_pynvml(one.env)[0]["temperature"] == 77


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_storm_of_kills(machine, seed):
    one = machine("--gpus", f"a100-sxm4-80gb:{GPUS}")
    looker = popen(one.env, sys.executable, "-c", LOOK, stdin=subprocess.PIPE)
    assert looker.stdout.readline() == "looks\n"
    storm(one.env, seed)
    looks, _ = looker.communicate("", timeout=30)
    assert looker.returncode == 0
    assert int(looks) > VICTIMS
    everything_is_free(one)


def test_all_are_killed_at_the_same_moment(machine):
    """A whole process group is killed at once; each process has memory, and
    most are at work."""
    one = machine("--gpus", f"a100-sxm4-80gb:{GPUS}")
    churn = cuda_programs.driver("churn_driver")
    for seed in (4, 5):
        group = [popen(one.env, churn, nth % GPUS, seed * 100 + nth, 0,
                       start_new_session=True) for nth in range(24)]
        for each in group:
            assert each.stdout.readline() == "ready\n"
        assert sum(len(gpu["processes"]) for gpu in
                   peers.of_pynvml(one.env).values()) == len(group)
        for each in group:
            os.killpg(each.pid, signal.SIGKILL)
        for each in group:
            assert each.wait() == -signal.SIGKILL
            each.stdout.close()
    everything_is_free(one)


def test_the_memory_of_the_dead_is_had_at_once(machine):
    """Nobody reads between the kill and the next program, which gets all
    memory."""
    one = machine("--gpus", f"a100-sxm4-80gb:{GPUS}")
    fill = cuda_programs.driver("fill_driver")
    for _ in range(5):
        first = popen(one.env, fill, 0, "wait", stdin=subprocess.PIPE)
        assert first.stdout.readline() == "0\n"
        first.send_signal(signal.SIGKILL)
        first.wait()
        first.stdout.close()
        first.stdin.close()
        assert peers.run([fill, "0"], one.env) == "0\n"


@pytest.mark.parametrize("storm_of", [
    ("fork_storm_driver", 100, 200), ("thread_storm_driver", 128, 20)])
def test_a_storm_of_children_or_threads(machine, storm_of):
    one = machine("--gpus", f"a100-sxm4-80gb:{GPUS}")
    name, *args = storm_of
    assert peers.run([cuda_programs.driver(name), *map(str, args)],
                     one.env) == ""
    nothing_is_left(one)  # each has freed what it had
    everything_is_free(one)


def test_a_parent_is_killed_among_its_children(machine):
    one = machine("--gpus", f"a100-sxm4-80gb:{GPUS}")
    chance = random.Random(6)
    for _ in range(10):
        each = popen(one.env, cuda_programs.driver("fork_storm_driver"), 60,
                     60, start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(chance.random() * 0.3)
        each.send_signal(signal.SIGKILL)  # its children continue
        each.communicate(timeout=60)  # until the last of them has ended
    everything_is_free(one)
