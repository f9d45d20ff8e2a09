# SPDX-License-Identifier: Apache-2.0
"""gpustat runs unmodified, with text and JSON output."""

import json
import re

from peers import GPUSTAT, loads, run

BUSY = ["--gpus", "a100-sxm4-80gb:4,t4:2", "--load", "train:0-2,mem=20GiB",
        "--load", "infer:4,n=3,mem=2GiB"]
LINE = re.compile(r"\[(\d+)\] (.+?) *\| *(\d+)°C,.*?(\d+) %"
                  r".*\| +(\d+) / (\d+) MB \|(.*)")


def lines(text):
    return {int(m[1]): m for m in map(LINE.match, text.splitlines()) if m}


def test_the_text(machine):
    one = machine(*BUSY)
    held = loads(one.process.pid)
    told = lines(run([GPUSTAT, "-cup", "--no-color"], one.env))
    assert sorted(told) == list(range(6))
    for gpu, line in told.items():
        mine = held.get(gpu, {})
        assert line[2] == ("Tesla T4" if gpu > 3
                           else "NVIDIA A100-SXM4-80GB")
        assert int(line[5]) == sum(mine.values()) >> 20
        assert int(line[6]) == (15360 if gpu > 3 else 81920)
        seen = re.findall(r"\S+:gpukit-load/(\d+)\((\d+)M\)", line[7])
        assert {int(p): int(m) << 20 for p, m in seen} == mine


def test_every_switch(machine):
    one = machine(*BUSY)
    text = run([GPUSTAT, "-a", "-f", "--no-color"], one.env)
    assert len(lines(text)) == 6
    assert "gpukit-load" in text
    assert len(re.findall(r"\d+ +/ +400 W \|", text)) == 4
    assert len(lines(run([GPUSTAT, "--id", "1,4"], one.env))) == 2


def test_the_json(machine):
    one = machine(*BUSY)
    told = json.loads(run([GPUSTAT, "--json"], one.env))
    shown = one.show()["gpus"]
    assert told["driver_version"] == "580.95.05"
    assert len(told["gpus"]) == len(shown) == 6
    for gpu, mine in zip(told["gpus"], shown):
        assert gpu["uuid"] == mine["uuid"]
        assert gpu["memory.used"] == mine["memory_used"] >> 20
        assert gpu["memory.total"] == mine["memory_total"] >> 20
        assert len(gpu["processes"]) == mine["processes"]
    assert {p["username"] for gpu in told["gpus"]
            for p in gpu["processes"]} != {None}


def test_the_colours_of_a_terminal(machine):
    one = machine("--gpus", "t4")
    assert "\x1b[" in run([GPUSTAT, "--color"], one.env)


def test_sixty_four_gpus(machine):
    one = machine("--gpus", "t4:32,h100:32", "--load", "train:all,mem=1GiB")
    held = loads(one.process.pid)
    told = json.loads(run([GPUSTAT, "--json"], one.env))["gpus"]
    assert {gpu["index"]: {p["pid"]: p["gpu_memory_usage"] << 20
                           for p in gpu["processes"]}
            for gpu in told} == held


def test_no_gpus(machine):
    one = machine("--gpus", "none")
    assert json.loads(run([GPUSTAT, "--json"], one.env))["gpus"] == []


def test_a_lost_gpu(machine):
    one = machine("--gpus", "a100-sxm4-80gb:3")
    assert one.ctl("fail", 1, "lost").returncode == 0
    told = json.loads(run([GPUSTAT, "--json"], one.env))["gpus"]
    assert ["lost" in gpu["name"] for gpu in told] == [False, True, False]
    assert one.ctl("clear", 1).returncode == 0
    told = json.loads(run([GPUSTAT, "--json"], one.env))["gpus"]
    assert not any("lost" in gpu["name"] for gpu in told)
