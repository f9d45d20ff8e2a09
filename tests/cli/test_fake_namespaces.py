# SPDX-License-Identifier: Apache-2.0
"""Processes of containers: NVML shows the pid that the caller would see, and
only the processes that it could see, as the driver does."""

import json
import subprocess

import pytest

import can
from conftest import GPUKIT, clean_env
from tools import wait_until

NEW = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


@pytest.fixture(autouse=True)
def as_root(gpukit):
    del gpukit
    can.need("other-users")
    can.need("processes-of-root")


def inside(machine, *words):
    """Starts a program in a new pid namespace on the machine."""
    return subprocess.Popen([*NEW, *words], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            env=clean_env(**machine.env))


def listed(output):
    return {p["pid"] for d in json.loads(output)["devices"]
            for p in d["processes"]}


def nspids(pid):
    """The pids of a process, from ours to that in its own namespace."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("NSpid:"):
                return [int(word) for word in line.split()[1:]]
    raise AssertionError(pid)


def test_pids_are_those_that_the_caller_sees(machine, gpukit):
    one = machine("--gpus", "h100:2", "--load", "train:0,mem=2GiB")
    outer = listed(gpukit.ok("stat", "--json", env=one.env))
    assert len(outer) == 1
    with inside(one, "sh", "-c",
                f"{GPUKIT} fake load train:1,mem=1GiB & "
                "echo started; read line; "
                f"{GPUKIT} stat --json; read line") as box:
        assert box.stdout.readline() == "started\n"
        wait_until(lambda: len(listed(gpukit.ok(
            "stat", "--json", env=one.env))) == 2)
        # From outside: it has a pid here, which is not its own pid there.
        both = listed(gpukit.ok("stat", "--json", env=one.env))
        (added,) = both - outer
        pids = nspids(added)
        assert len(pids) == 2 and pids[0] == added
        # From inside: its own pid, and nothing of the host.
        box.stdin.write("\n")
        box.stdin.flush()
        text = ""
        while not text.endswith("\n}\n"):
            line = box.stdout.readline()
            assert line, text
            text += line
        assert listed(text) == {pids[1]}
        used = [d["memory_used_bytes"] for d in json.loads(text)["devices"]]
        assert used[0] >= 2 << 30  # memory of processes that it cannot see
        box.stdin.write("\n")
        box.stdin.close()


def accounted(output):
    return {int(word) for word in output.split()}


def test_accounts_have_the_pids_that_the_caller_sees(machine, gpukit):
    """Those of ended processes are told only where their pid is one."""
    query = ("smi", "-i", "1", "--query-accounted-apps=pid",
             "--format=csv,noheader")
    one = machine("--gpus", "h100:2")
    assert one.ctl("set", "1", "accounting=1").returncode == 0
    script = f"""
        {GPUKIT} fake load train:1,mem=1GiB & load=$!
        echo started; read line
        {GPUKIT} {' '.join(query)}; read line
        kill $load; wait $load
        {GPUKIT} {' '.join(query)}; echo ended; read line"""

    def outer():
        return accounted(gpukit.ok(*query, env=one.env))

    assert outer() == set()
    with inside(one, "sh", "-c", script) as box:
        def go_on():
            box.stdin.write("\n")
            box.stdin.flush()

        assert box.stdout.readline() == "started\n"
        wait_until(lambda: len(outer()) == 1)
        (seen,) = outer()
        pids = nspids(seen)
        assert len(pids) == 2 and pids[0] == seen
        go_on()
        assert accounted(box.stdout.readline()) == {pids[1]}
        go_on()
        assert accounted(box.stdout.readline()) == {pids[1]}
        assert box.stdout.readline() == "ended\n"
        assert outer() == set()
        box.stdin.close()
