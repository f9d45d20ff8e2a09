# SPDX-License-Identifier: Apache-2.0
"""Every verb reports a GPU's trouble in the same words for as long as it lasts,
also to those who begin to look later."""

import os
import re

import pytest

from conftest import FAKE_DIR
from exporter import BUILT, export
from tools import wait_until
from web import web

assert export and web  # the fixtures

# What ctl breaks; the state; its words; its words where there is little room.
WRONG = [
    ("row-remap-pending", "fault", "reset due: memory row", "reset due"),
    ("row-remap-failure", "fault", "memory row not replaced", "bad memory"),
    ("nvlink=3", "fault", "must be reset", "reset due"),
    ("engine", "fault", "must be reset", "reset due"),
    ("ecc-uncorrectable=2", "fault", "reset due: memory row", "reset due"),
    ("inforom", "fault", "infoROM is corrupted", "bad ROM"),
    ("pcie=1x4", "degraded", "PCIe lanes 4 of 16", "PCIe slow"),
    ("pcie=1x16", "degraded", "PCIe generation 1 of 5", "PCIe slow"),
]
ERRORS = ["reset-required", "no-permission", "unknown", "timeout=5ms"]


def state(gpukit, m, gpu=0):
    device = gpukit.json("stat", "--json", env=m.env)["devices"][gpu]
    return device["state"], device["state_words"]


@pytest.mark.parametrize("fault, name, words, brief", WRONG)
def test_every_report_says_so(gpukit, machine, fault, name, words, brief):
    m = machine("--gpus", "h100:2", "--load", "train:0-1")
    assert state(gpukit, m)[0] == "busy"
    assert m.ctl("fail", 0, fault).returncode == 0
    assert state(gpukit, m) == (name, words)
    assert state(gpukit, m, 1)[0] == "busy"
    text = gpukit.ok("stat", env=m.env).splitlines()
    assert f"(({words}))" in text[1] and "((" not in text[2]
    for report in ("stat", "--boxed"), ("top", "-1"):
        boxed = gpukit.ok(*report, env=m.env)
        assert re.search(f" {brief} │", boxed) and "Default" in boxed
    m.ctl("clear", 0)
    assert state(gpukit, m)[0] == "busy"


def test_fans_that_stand_still(gpukit, machine):
    m = machine("--gpus", "rtx-4090", "--load", "train:0")
    assert m.ctl("fail", 0, "fan-failure").returncode == 0
    wait_until(lambda: state(gpukit, m) == ("fault", "fans stand still"))


def test_a_fan_that_rests(gpukit, machine):
    m = machine("--gpus", "rtx-4090")
    assert m.ctl("fail", 0, "fan-failure").returncode == 0
    assert state(gpukit, m)[0] == "idle"


@pytest.mark.parametrize("fault", ERRORS)
def test_an_error_is_not_a_loss(gpukit, machine, fault):
    m = machine("--gpus", "h100:1")
    assert m.ctl("fail", 0, fault).returncode == 0
    assert state(gpukit, m)[0] == "error"


def test_a_board_and_a_driver_without_such_metrics(gpukit, machine):
    """No state is made from what is not reported: a driver without the recovery
    action, a board without ECC, links that rest with their GPU."""
    m = machine("--gpus", "rtx-4090,t4,gtx-1080-ti", "--driver", "535",
                "--load", "train:0")
    env = {**m.env, "LD_LIBRARY_PATH": os.path.join(FAKE_DIR, "535")}
    for device in gpukit.json("stat", "--json", env=env)["devices"]:
        assert device["state"] in ("busy", "idle")
        assert device["recovery_action"] is None


@BUILT
def test_export(export):
    e = export(["--gpus", "h100:2", "--load", "train:0-1"])
    e.until(lambda m: m.of("gpukit_device_state", gpu="0", state="busy") == 1)
    export.made.ctl("fail", 0, "row-remap-failure")
    e.until(lambda m: m.of("gpukit_device_state", gpu="0", state="fault") == 1
            and m.of("gpukit_device_state", gpu="1", state="busy") == 1)
    export.made.ctl("fail", 0, "unknown")
    e.until(lambda m: m.of("gpukit_device_state", gpu="0", state="error") == 1)


@BUILT
def test_the_page(web):
    page = web(["--gpus", "h100:1", "--load", "train:0"], "-i", "0.1")
    with page.stream() as stream:
        stream.until("frame", lambda e: e.data["devices"][0]["state"] == "busy")
        web.made.ctl("fail", 0, "engine")
        gpu = stream.until("frame", lambda e: e.data["devices"][0]["state"]
                           == "fault").data["devices"][0]
        assert gpu["words"].startswith("must be reset")
        assert gpu["why"] == "the driver asks for a reset"
    with page.stream() as stream:  # somebody who looks only now
        alert = stream.until("alert", lambda e: e.data["alerts"]).data
        assert [(a["state"], a["level"]) for a in alert["alerts"]] == \
            [("fault", "fail")]
        assert "since_before" not in alert["alerts"][0]


@BUILT
def test_the_page_of_one_that_was_so_before(machine, web):
    page = web(["--gpus", "h100:1"], "-i", "0.1")
    page.stop()
    web.made.ctl("fail", 0, "engine")
    later = type(page)(web.made.env, "-i", "0.1")
    try:
        with later.stream() as stream:
            alert = stream.until("alert", lambda e: e.data["alerts"]).data
            assert alert["alerts"][0]["since_before"] == 1
    finally:
        later.stop()
