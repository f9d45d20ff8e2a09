# SPDX-License-Identifier: Apache-2.0
"""Unmodified monitors under a limit see a GPU of the limit's size with only the
group's processes; the next GPU, without a limit, is unchanged."""

import csv
import re

import pytest

import peers
from conftest import GPUKIT, clean_env
from limit_shells import GIB, MIB, hami
from screen import Terminal
from test_nvitop import processes as of_nvitop, used as used_in_nvitop
from test_top_screen import rows as of_top, size

LIMIT = 4 * GIB


@pytest.fixture
def limited(machine, shell, tmp_path):
    """Two programs of a group on GPU 0, where others hold 20 GiB as well."""
    one = machine("--gpus", "a100:2", "--load", "train:0,mem=20GiB",
                  "--load", "train:1,mem=3GiB")
    one.limits = hami(one, tmp_path / "x.cache", "4g")
    programs = [shell(one.limits).start() for _ in range(2)]
    assert programs[0]("alloc(1 << 30)") == 0
    one.held = dict(programs[0]("processes(0)"))
    assert sorted(one.held) == sorted(p.pid for p in programs)
    one.used = sum(one.held.values())
    assert one.used > GIB + 2 * 100 * MIB
    return one


@pytest.mark.parametrize("client", ["pynvml", "nvitop", "gpustat", "stat"])
def test_a_client_sees_the_limit(limited, client):
    told = getattr(peers, f"of_{client}")(limited.limits)
    plain = getattr(peers, f"of_{client}")(limited.env)
    assert (told[0]["total"], told[0]["used"], told[0]["processes"]) == \
        (LIMIT, limited.used, limited.held)
    assert plain[0]["total"] > 39 * GIB
    assert len(plain[0]["processes"]) == 3
    assert (told[1]["total"], told[1]["used"], told[1]["processes"]) == \
        (plain[1]["total"], plain[1]["used"], plain[1]["processes"])


def smi(env, *options):
    out = peers.run([GPUKIT, "smi", *options,
                     "--format=csv,noheader,nounits"], env)
    return [[cell.strip() for cell in row]
            for row in csv.reader(out.splitlines())]


def test_smi_sees_the_limit(limited):
    names = ["total", "used", "free", "reserved"]
    query = "--query-gpu=" + ",".join("memory." + name for name in names)
    told, other = smi(limited.limits, query)
    assert told == [str(n // MIB) for n in
                    (LIMIT, limited.used, LIMIT - limited.used, 0)]
    assert other == smi(limited.env, query)[1]
    apps = smi(limited.limits, "-i", "0",
               "--query-compute-apps=pid,used_memory")
    assert {int(pid): int(held) for pid, held in apps} == \
        {pid: held // MIB for pid, held in limited.held.items()}
    table = peers.run([GPUKIT, "smi"], limited.limits)
    assert f"{limited.used // MIB}MiB /   4096MiB" in table
    shown = re.findall(r"^\| +0 +\S+ +\S+ +(\d+) +C ", table, re.M)
    assert {int(pid) for pid in shown} == set(limited.held)


def test_nvitop_shows_the_limit(limited):
    text = peers.run([peers.NVITOP, "--once"], limited.limits)
    shown = of_nvitop(text)[0]
    assert shown.keys() == limited.held.keys()
    assert used_in_nvitop(text)[0] == pytest.approx(limited.used, rel=0.01)
    assert re.search(r"/ 4096MiB │", text)


def test_the_viewer_shows_the_limit(limited, tmp_path):
    terminal = Terminal([GPUKIT, "top", "--look", "nvitop"],
                        clean_env(XDG_CONFIG_HOME=str(tmp_path),
                                  **limited.limits), 120, 60)

    def of_the_group(text):
        found = {int(row[1]): size(row[4]) for row in of_top(text)
                 if row[0] == "0"}
        return found.keys() == limited.held.keys() and found

    try:
        text = terminal.wait_for(of_the_group)
        for pid, held in of_the_group(text).items():
            assert held == pytest.approx(limited.held[pid], rel=0.01)
        assert re.search(r"/ (4096MiB|4\.0+GiB) │", text), text
        terminal.send(b"q")
    finally:
        terminal.close()
