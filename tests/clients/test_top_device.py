# SPDX-License-Identifier: Apache-2.0
"""The screen of a GPU in `gpukit top`, in a terminal: what only it asks the
driver for, and what it shows of a failing GPU."""

import json
import re

import pytest

import can
from conftest import GPUKIT, clean_env
from screen import Terminal

RIGHT, END = b"\x1bOC", b"\x1b[4~"
ASKED = ("nvmlDeviceGetNvLinkErrorCounter", "nvmlDeviceGetPcieThroughput",
         "nvmlDeviceGetInforomImageVersion", "nvmlDeviceGetBoardPartNumber")


@pytest.fixture
def top(gpukit, machine, tmp_path):
    """top(machine options, columns, rows) shows the main screen."""
    started = []

    def start(*options, columns=120, rows=60, config=""):
        made = machine(*options)
        (tmp_path / "gpukit").mkdir(exist_ok=True)
        (tmp_path / "gpukit" / "top.yaml").write_text(config)
        started.append(Terminal(
            [GPUKIT, "top", "--look", "nvitop"],
            clean_env(XDG_CONFIG_HOME=str(tmp_path),
                                       **made.env), columns, rows))
        started[-1].wait_for("GPU")
        started[-1].machine = made
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


def calls(machine):
    """How often each function of NVML was called."""
    told = json.loads(machine.ctl("coverage", "--json").stdout)
    return {row["function"]: row["calls"] for row in told}


def fact(text, title):
    """The text behind a title."""
    found = re.search(rf"(?:^|  | )({re.escape(title)}) +(\S+(?: \S+)*)", text,
                      re.M)
    return found and found[2]


def test_details_are_asked_for_only_while_it_is_open(top):
    terminal = top("--gpus", "h100:2")
    terminal.draw_for(3)
    before = calls(terminal.machine)
    assert not [name for name in ASKED if before.get(name)]
    terminal.send(b"d")
    terminal.wait_for("Board part         692-")
    terminal.wait_for("18/18 up")
    terminal.send(b"d")
    terminal.wait_for("Processes:")
    terminal.draw_for(1.5)
    left = calls(terminal.machine)
    assert all(left.get(name) for name in ASKED)
    terminal.draw_for(3)
    after = calls(terminal.machine)
    assert {n: after[n] for n in ASKED} == {n: left[n] for n in ASKED}
    terminal.send(b"q")
    assert terminal.ends(30)


def test_numbers_are_those_of_stat(top, gpukit):
    """The machine's clock is stopped, so that both see the same."""
    terminal = top("--gpus", "h100:2", "--load", "train:1,mem=30GiB,util=80",
                   "--frozen", columns=120, rows=70)
    report = gpukit.json("stat", "--json", env=terminal.machine.env)
    device = report["devices"][1]
    terminal.send(b"d" + RIGHT)
    text = terminal.wait_for("GPU 1  NVIDIA H100")
    text = terminal.wait_for("18/18 up")
    assert fact(text, "Serial") == device["serial"]
    assert fact(text, "Bus") == device["bus_id"]
    wanted = {
        "Slowdown": f"{device['temperature_slowdown_celsius']}C",
        "Shutdown": f"{device['temperature_shutdown_celsius']}C",
        "Utilisation": f"{device['gpu_utilization_percent']}%",
        "Power limit": f"{device['power_limit_watts']:.0f}W",
        "SM clock": f"{device['sm_clock_hertz'] / 1e6:.0f}MHz of "
                    f"{device['sm_clock_max_hertz'] / 1e6:.0f}MHz",
        "PCIe width": f"x{device['pcie_link_width']} of "
                      f"x{device['pcie_link_width_max']}",
        "ECC uncorrected":
            str(device["ecc_errors_uncorrected_volatile_total"]),
    }
    assert {title: fact(text, title) for title in wanted} == wanted
    heat = re.search(r"Temperature.*?\bGPU +(\d+)C", text, re.DOTALL)
    assert int(heat[1]) == device["temperature_celsius"]


def test_every_link_and_the_way_to_every_gpu(top):
    terminal = top("--gpus", "h100:8", "--topology", "hgx", columns=80,
                   rows=24)
    terminal.machine.ctl("set", "0", "nvlink.3.state=down")
    terminal.machine.ctl("set", "0", "nvlink.5.replay=7")
    terminal.send(b"d")
    terminal.wait_for("Performance state")
    terminal.send(END)
    text = terminal.wait_for(" 17 4.0  switch")
    assert "17/18 up" in text
    links = re.findall(r"(?:^|  ) ?(\d+) (4\.0|down) +(\S+)", text, re.M)
    assert sorted(int(link[0]) for link in links) == list(range(18))
    assert [link[0] for link in links if link[1] == "down"] == ["3"]
    assert re.search(r" 5 4\.0 .* 7 ", text)
    for other in range(1, 8):
        assert re.search(rf"GPU {other} NV1[78]", text), text


def test_a_gpu_fails_while_it_is_looked_at(top):
    """Its Xid is shown and its last values stay; the others continue."""
    terminal = top("--gpus", "a100:2", config="alerts: {xid: true}\n")
    terminal.send(b"d")
    terminal.wait_for("none since start")
    terminal.wait_for("Architecture       Ampere")
    terminal.machine.ctl("fail", "0", "xid=79")
    terminal.wait_for("GPU is lost: values are 0:0")
    text = terminal.wait_for("GPU has fallen off the bus (1 in all)")
    assert fact(text, "Architecture") == "Ampere"
    # The loss may be seen one frame earlier.
    assert "GPU 0: Xid 79: GPU has fallen off the bus" in text
    terminal.send(RIGHT)
    text = terminal.wait_for("GPU 1  NVIDIA A100")
    assert "GPU is lost" not in text
    terminal.machine.ctl("clear", "0", "lost")
    terminal.send(RIGHT)
    terminal.wait_for("GPU 0  NVIDIA A100")


def test_a_gpu_hangs_while_it_is_looked_at(top):
    terminal = top("--gpus", "a100:2")
    terminal.send(b"d")
    terminal.wait_for("Architecture       Ampere")
    terminal.machine.ctl("fail", "0", "hang")
    text = terminal.wait_for(re.compile(
        r"no answer for [\d.]+ s: values are out of date").search)
    assert fact(text, "Architecture") == "Ampere"
    terminal.send(RIGHT)
    terminal.wait_for("GPU 1  NVIDIA A100")
    terminal.wait_for("PCIe TX            3")


def test_mig_devices_come_and_go(top):
    """The driver reveals their places to root only."""
    can.need("rights-of-root")
    terminal = top("--gpus", "a100:1", "--mig", "0=3g.40gb+1g.10gb")
    terminal.send(b"d")
    terminal.wait_for("▏3g.40gb")
    text = terminal.wait_for("MIG 1")
    assert "▏1g.10gb" in text and "▏free" in text
    terminal.machine.ctl("mig", "0", "create", "2g.20gb")
    terminal.wait_for("▏2g.20gb", 60)
