# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a GPU is on the viewer's screens in both looks, for those
who look while it breaks and for those who start later."""

import json
import re
import subprocess
import time

import pytest

from conftest import GPUKIT, clean_env
from screen import Terminal

# What ctl breaks, the words of the state, and the word of the other look.
WRONG = [("row-remap-pending", "reset due: memory row", "reset due"),
         ("nvlink=3", "must be reset", "reset due"),
         ("inforom", "infoROM is corrupted", "bad ROM"),
         ("pcie=1x4", "PCIe lanes 4 of 16", "PCIe slow"),
         ("unknown", "in error", "error")]


@pytest.fixture
def top(machine, tmp_path):
    """top(OPTION...) starts a viewer of top.made."""
    open_ones = []

    def start(*options, columns=120, rows=40):
        open_ones.append(Terminal(
            [GPUKIT, "top", "--interval", "0.2", *options],
            clean_env(XDG_CONFIG_HOME=str(tmp_path), **start.made.env),
            columns, rows))
        return open_ones[-1]

    start.made = machine("--gpus", "h100:4", "--load", "train:0-3")
    yield start
    for one in open_ones:
        one.close()


def header(text):
    """The line of GPU 0."""
    return next(line for line in text.split("\n")
                if re.match(r"  0 ", line))


def await_state(made, words):
    """Waits for the state: the clocks react after a moment."""
    end = time.monotonic() + 60
    while True:
        told = subprocess.run([GPUKIT, "stat", "--json"], text=True,
                              capture_output=True, check=True,
                              env=clean_env(**made.env))
        if words in json.loads(told.stdout)["devices"][0]["state_words"]:
            return
        assert time.monotonic() < end, told.stdout


@pytest.mark.parametrize("fault, words, brief", WRONG)
def test_who_looks_and_who_begins_to(top, fault, words, brief):
    before = top()
    before.wait_for(lambda text: "busy" in header(text))
    assert top.made.ctl("fail", 0, fault).returncode == 0
    other = top("--look", "nvitop")
    for viewer in before, top():
        viewer.wait_for(lambda text: words in header(text), 60)
        assert "● busy" not in header(viewer.text)
    other.wait_for(lambda text: re.search(rf" {brief}(?: \d+s)? ", text))
    if fault in ("row-remap-pending", "nvlink=3", "inforom"):
        before.wait_for(f"GPU 0: {words}")  # in the line of alerts
        other.wait_for(f"GPU 0: {words}")
    assert top.made.ctl("clear", 0).returncode == 0
    # An Xid is shown for some minutes more.
    before.wait_for(lambda text: words not in header(text))


def test_errors_are_counted_as_errors(top):
    for fault, gpu in (("no-permission", 0), ("unknown", 1),
                       ("reset-required", 2), ("lost", 3)):
        assert top.made.ctl("fail", gpu, fault).returncode == 0
    for viewer in top(columns=160), top():
        viewer.wait_for("0 of 4 GPUs, 1 lost, 3 in error")


def test_what_began_before_lasted_at_least(top):
    assert top.made.ctl("fail", 0, "power-brake").returncode == 0
    await_state(top.made, "power brake")
    late = top(columns=160)
    late.wait_for(lambda text: "power brake for at least" in header(text))
    early = top(columns=160)
    early.wait_for(lambda text: "power brake" in header(text))
    assert top.made.ctl("clear", 0).returncode == 0
    late.wait_for(lambda text: "power brake" not in header(text))
    assert top.made.ctl("fail", 0, "power-brake").returncode == 0
    late.wait_for(lambda text: "power brake for" in header(text))
    assert "at least" not in header(late.text)
