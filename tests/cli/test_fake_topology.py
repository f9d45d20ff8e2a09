# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake ctl topology` and --topology are tested here, and what `ctl`
says about links."""

import json


def matrix(machine):
    done = machine.ctl("--json", "topology")
    assert done.returncode == 0, done.stderr
    return [gpu["to"] for gpu in json.loads(done.stdout)]


def test_the_matrix_follows_the_links(machine):
    one = machine("--gpus", "rtx-3090:3")
    assert matrix(one) == [["X", "NV4", "PHB"], ["NV4", "X", "PHB"],
                           ["PHB", "PHB", "X"]]
    assert one.ctl("set", 1, "nvlink.2.state=down").returncode == 0
    assert matrix(one)[0] == ["X", "NV3", "PHB"]
    assert "nvlink.2.state" in one.show(0)["gpus"][0]["nvlinks"]
    assert one.ctl("clear", 1).returncode == 0
    assert matrix(one)[0] == ["X", "NV4", "PHB"]
    assert one.show(0)["gpus"][0]["nvlinks"] == {}


def test_topology_is_chosen(machine):
    assert matrix(machine("--gpus", "h100:2"))[0] == ["X", "NV18"]
    assert matrix(machine("--gpus", "h100:2", "--topology", "pcie"))[0] == [
        "X", "PIX"]
    text = machine("--gpus", "v100:8").ctl("topology").stdout.splitlines()
    assert text[1].split() == ["GPU0", "X", "NV1", "NV1", "NV2", "NV2", "SYS",
                               "SYS", "SYS", "0", "1"]


def test_what_is_no_link_is_told(machine):
    one = machine("--gpus", "h100,t4")
    for gpu, change, said in (
            (1, "nvlink.0.state=up", "has 0 NVLinks"),
            (0, "nvlink.18.state=up", "has 18 NVLinks"),
            (0, "nvlink.3.state=off", "allowed are up, down, sleep"),
            (0, "nvlink.3.colour=1", "must be nvlink.LINK.WHAT"),
            (0, "nvlink.3.replay=-1", "must be a count")):
        done = one.ctl("set", gpu, change)
        assert done.returncode and said in done.stderr, done.stderr
    assert "ctl set: no GPU" in one.ctl("set", "nvlink.3.state=up").stderr
    assert "allowed are off, on" in one.ctl("set", "conf-compute=1").stderr
