# SPDX-License-Identifier: Apache-2.0
"""Every client sees the same machine, and the same changes to it."""

import os
import signal
import time

import pytest

import peers
from peers import loads

GIB = 1 << 30
CLIENTS = {"nvidia-ml-py": peers.of_pynvml, "nvitop": peers.of_nvitop,
           "gpustat": peers.of_gpustat, "gpukit": peers.of_stat}
# Idle loads: their processes hold memory and do nothing.
LOADS = ["--load", "idle:0-1,mem=7GiB", "--load", "idle:1,n=3,mem=2GiB",
         "--load", "idle:3,mem=11GiB"]


def keys(gpu, wanted):
    return gpu and {key: gpu[key] for key in wanted if key in gpu}


def agree(one):
    """gpukit's answers, once all the others agree with them."""
    mine = CLIENTS["gpukit"](one.env)
    for name, client in CLIENTS.items():
        theirs = client(one.env)
        assert sorted(theirs) == sorted(mine), name
        for index, gpu in theirs.items():
            assert keys(gpu, ("name", "uuid", "used", "total",
                              "processes")) == \
                keys(mine[index], ("name", "uuid", "used", "total",
                                   "processes")), (name, index)
    return mine


@pytest.mark.parametrize("gpus", [
    "a100-sxm4-80gb:8", "h100:2,t4,rtx-4090", "t4:32,h100:32"])
def test_all_see_the_same(machine, gpus):
    one = machine("--gpus", gpus, *LOADS)
    held = loads(one.process.pid)
    mine = agree(one)
    for index, gpu in mine.items():
        assert gpu["processes"] == held.get(index, {})
        assert gpu["used"] == sum(held.get(index, {}).values())
    assert [gpu["uuid"] for gpu in mine.values()] == \
        [gpu["uuid"] for gpu in one.show()["gpus"]]
    assert len({gpu["uuid"] for gpu in mine.values()}) == len(mine)


@pytest.mark.parametrize("client", CLIENTS)
def test_no_gpus(machine, client):
    assert not CLIENTS[client](machine("--gpus", "none").env)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_change_is_seen_at_once(machine, client):
    one = machine("--gpus", "a100-sxm4-80gb:3", "--load", "idle:1,mem=5GiB")
    see = CLIENTS[client]
    before = see(one.env)
    assert one.ctl("set", 1, "temperature=83", "power=212000",
                   f"extra-memory={3 * GIB}").returncode == 0
    after = see(one.env)
    assert after[1]["temperature"] == 83
    assert after[1].get("power", 212000) == 212000
    assert after[1]["used"] == 8 * GIB == before[1]["used"] + 3 * GIB
    assert after[1]["processes"] == before[1]["processes"]
    assert after[0]["used"] == after[2]["used"] == 0
    assert one.ctl("clear", 1).returncode == 0
    assert see(one.env)[1]["used"] == 5 * GIB


@pytest.mark.parametrize("client", CLIENTS)
def test_a_lost_gpu_and_its_return(machine, client):
    one = machine("--gpus", "a100-sxm4-80gb:3", "--load", "idle:2,mem=5GiB")
    see = CLIENTS[client]
    held = loads(one.process.pid)[2]
    assert one.ctl("fail", 1, "lost").returncode == 0
    lost = see(one.env)
    assert [gpu is None for gpu in lost.values()] == [False, True, False]
    assert lost[2]["processes"] == held
    assert one.ctl("clear", 1).returncode == 0
    assert None not in see(one.env).values()


def test_a_process_that_ends_is_gone_for_all(machine):
    one = machine("--gpus", "a100-sxm4-80gb:2", "--load",
                  "idle:1,n=2,mem=2GiB")
    pid, other = loads(one.process.pid)[1]
    agree(one)
    os.kill(pid, signal.SIGKILL)
    patience = time.monotonic() + 20
    while pid in peers.of_pynvml(one.env)[1]["processes"]:
        assert time.monotonic() < patience, "still there"
    assert list(agree(one)[1]["processes"]) == [other]
