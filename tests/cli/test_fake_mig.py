# SPDX-License-Identifier: Apache-2.0
"""GPUs are split by `gpukit fake --mig`, by profiles and by `ctl mig`."""

import json

import pytest

from tools import one_line

A100 = ("--gpus", "a100-sxm4-80gb")


def parts(one, gpu=0):
    """(GPU instance, profile, MIG index) of each instance."""
    done = one.ctl("mig", gpu, "ls", "--json")
    assert done.returncode == 0, done.stderr
    return [(part["gpu_instance"], part.get("compute_profile"),
             part.get("index"))
            for part in json.loads(done.stdout)["instances"]]


def fake(gpukit, *args):
    return gpukit("fake", *args, "--", "true")


def test_a_layout_with_places_and_compute_instances(machine):
    one = machine(*A100, "--mig", "0=3g.40gb@0(2c+1c)+1g.20gb@6+1g.10gb+me")
    assert parts(one) == [(1, "2c.3g.40gb", 0), (1, "1c.3g.40gb", 1),
                          (6, "1g.20gb", 2), (11, "1g.10gb+me", 3)]


def test_many_gpus_at_once(machine):
    one = machine("--gpus", "a100-sxm4-80gb:3,t4", "--mig", "0+2=7g.80gb",
                  "--mig", "1=on")
    assert parts(one, 0) == parts(one, 2) == [(0, "7g.80gb", 0)]
    assert parts(one, 1) == []
    assert one.ctl("mig", 1).stdout.startswith("GPU 1: MIG on\n")


def test_a_profile_carries_a_layout(machine, tmp_path):
    profile = tmp_path / "mine.yaml"
    profile.write_text("inherits: h100-80gb-hbm3\nsource: mine\nmig: 1\n"
                       "mig_layout: 4g.40gb+2g.20gb\n", encoding="utf-8")
    one = machine("--gpus", f"{profile}:2")
    assert parts(one, 0) == parts(one, 1) == [
        (1, "4g.40gb", 0), (5, "2g.20gb", 1)]


def test_the_profile_that_is_split(machine):
    one = machine("--gpus", "h100-mig")
    assert parts(one) == [(2, "3g.40gb", 0), (3, "2g.20gb", 1),
                          (9, "1g.10gb", 2), (10, "1g.10gb", 3)]


@pytest.mark.parametrize("layout, code, words", [
    ("0=5g.40gb", 2, ["'5g.40gb'", "1g.10gb+me", "7g.80gb"]),
    ("0=3g.40gb+4g.40gb+1g.10gb", 1, ["no room", "1g.10gb"]),
    ("0=1g.10gb+me+1g.10gb+me", 1, ["no room"]),
    ("0=2g.20gb@1", 2, ["'2g.20gb@1'"]),
    ("0=3g.40gb(1c+9c)", 2, ["3g.40gb"]),
    ("0=", 2, ["GPUS=LAYOUT"]),
    ("3g.40gb", 2, ["GPUS=LAYOUT"]),
    ("7=1g.10gb", 2, ["no GPU 7"]),
])
def test_what_cannot_be_is_told(gpukit, layout, code, words):
    one_line(fake(gpukit, *A100, "--mig", layout), code, *words)


def test_a_gpu_that_cannot_be_split(gpukit, machine):
    one_line(fake(gpukit, "--gpus", "t4", "--mig", "0=1g.10gb"), 1,
             "GPU 0 (Tesla T4) cannot be split")
    one = machine("--gpus", "t4")
    one_line(one.ctl("mig", 0, "on"), 1, "cannot be split")


def test_instances_come_and_go(machine):
    one = machine(*A100)
    assert parts(one) == []
    for step in (("on",), ("create", "4g.40gb"),
                 ("create", "1g.10gb", "at", 5),
                 ("create", "2g.20gb+1g.10gb")):
        done = one.ctl("mig", 0, *step)
        if step[-1] == "2g.20gb+1g.10gb":
            one_line(done, 1, "no room")
        else:
            assert done.returncode == 0, done.stderr
    assert parts(one) == [(1, "4g.40gb", 0), (12, "1g.10gb", 1)]
    assert one.ctl("mig", 0, "destroy", "1/0").returncode == 0
    assert parts(one) == [(1, None, None), (12, "1g.10gb", 1)]
    assert one.ctl("mig", 0, "destroy", 1).returncode == 0
    one_line(one.ctl("mig", 0, "off"), 1, "in use")
    assert one.ctl("mig", 0, "destroy", 12).returncode == 0
    assert one.ctl("mig", 0, "off").returncode == 0
    assert one.ctl("mig", 0).stdout.startswith("GPU 0: MIG off\n")


def test_what_is_in_use_stays(machine):
    one = machine(*A100, "--mig", "0=3g.40gb", "--load", "idle:0:0")
    one_line(one.ctl("mig", 0, "destroy", 2), 1, "in use")
    assert parts(one) == [(2, "3g.40gb", 0)]


@pytest.mark.parametrize("args, words", [
    (("destroy", "x"), ["GI/CI"]), (("destroy", 99), ["GI/CI"]),
    (("create",), ["usage"]), (("split",), ["usage"]),
    (("create", "1g.10gb", "on", 3), ["usage"]),
])
def test_wrong_usage(machine, args, words):
    one = machine(*A100)
    one_line(one.ctl("mig", 0, *args), 2, *words)


def test_no_such_instance(machine):
    one = machine(*A100, "--mig", "0=on")
    one_line(one.ctl("mig", 0, "destroy", 3), 1, "no instance 3")


@pytest.mark.parametrize("load, words", [
    ("train:0:5", ["no such MIG device"]),
    ("train:0:9", ["'0:9' is not a MIG device"]),
    ("train:0:x", ["'0:x' is not a MIG device"]),
    ("idle:0:1,mem=12GiB", ["9.5 GiB free"]),
])
def test_a_load_that_has_no_place(gpukit, load, words):
    done = fake(gpukit, *A100, "--mig", "0=3g.40gb+1g.10gb", "--load", load)
    assert done.returncode in (1, 2)
    one_line(done, done.returncode, *words)


def test_a_load_on_a_split_gpu_comes_into_the_first_part(machine):
    one = machine(*A100, "--mig", "0=2g.20gb+1g.10gb", "--load", "train:0",
                  "--load", "infer:0:1")
    told = json.loads(one.ctl("mig", 0, "--json").stdout)["instances"]
    assert [part["processes"] for part in told] == [1, 1]
    assert told[0]["memory_used"] > told[0]["memory_total"] // 2
