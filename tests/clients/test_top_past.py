# SPDX-License-Identifier: Apache-2.0
"""The whole screen goes back in time, not only its graphs."""

import re
import time

import pytest

from conftest import GPUKIT, clean_env
from screen import Terminal

JUMP = 30  # seconds of a step back


def pass_time(terminal, end):
    while time.monotonic() < end:
        terminal.draw(max(0, end - time.monotonic()))


@pytest.mark.slow
@pytest.mark.parametrize("look", ["lanes", "nvitop"])
def test_everything_goes_back(machine, tmp_path, look):
    made = machine("--gpus", "h100:2", "--load", "train:0,mem=20GiB")
    made.ctl("set", "all", "temperature=55", "utilization=41")
    terminal = Terminal([GPUKIT, "top", "--look", look],
                        clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env),
                        120, 60)
    try:
        terminal.wait_for(lambda text: len(re.findall("41 ?%", text)) >= 2)
        pass_time(terminal, time.monotonic() + 3)  # earlier frames
        began = time.monotonic()
        made.ctl("set", "all", "temperature=77", "utilization=93")
        made.ctl("fail", "1", "lost")
        terminal.wait_for(lambda text: re.search("93 ?%", text) and
                          re.search("lost", text, re.IGNORECASE))
        pass_time(terminal, began + JUMP - 1)
        terminal.send(b"(")
        terminal.wait_for(lambda text: "0:30 ago" in text and
                          len(re.findall("41 ?%", text)) >= 2)
        assert re.search("55 ?°?C", terminal.text)
        # A current alert is marked as such.
        then = re.sub("now: (! )?GPU 1: lost", "", terminal.text)
        assert then != terminal.text
        assert not re.search("77 ?°?C|lost", then, re.IGNORECASE)
        # It stays there while time passes; past processes get no signals.
        terminal.send(b"\x1bOB" + b"T")
        terminal.wait_for("Processes of the past cannot be signalled")
        terminal.send(b"0")
        terminal.wait_for(lambda text: re.search("93 ?%", text) and
                          "ago" not in text)
        assert re.search("lost", terminal.text, re.IGNORECASE)
    finally:
        terminal.close()
