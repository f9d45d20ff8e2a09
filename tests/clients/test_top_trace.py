# SPDX-License-Identifier: Apache-2.0
"""The mouse on a trace of lanes shows the time and value that it points to."""

import datetime
import json
import re
import time

import pytest

from conftest import GPUKIT, clean_env
from screen import Terminal

TERMS = ("xterm-256color", "screen-256color", "tmux-256color")


@pytest.fixture
def top(machine, tmp_path):
    """A viewer of one GPU at 41 %, after some seconds of it are known."""
    made = machine("--gpus", "h100")
    made.ctl("set", "0", "utilization=41")
    started = []

    def start(term):
        terminal = Terminal([GPUKIT, "top"],
                            clean_env(XDG_CONFIG_HOME=str(tmp_path),
                                      **made.env), 120, 40, TERM=term)
        started.append(terminal)
        terminal.wait_for("41 % busy")
        terminal.draw_for(3)
        return terminal

    yield start
    for terminal in started:
        terminal.close()


def end_of_trace(terminal):
    """Row and column, counted from 1, of the newest value of the large trace.
    """
    for row, line in enumerate(terminal.screen.display):
        if "41 % busy" in line:
            return row + 1, line.index("41 % busy") - 1
    raise AssertionError(terminal.text)


def mouse(terminal, code, row, column, end=b"M"):
    terminal.send(b"\x1b[<%d;%d;%d" % (code, column, row) + end)


@pytest.mark.parametrize("term", TERMS)
def test_a_drag_tells_time_and_value(top, term):
    terminal = top(term)
    assert b"\x1b[?1002h" in terminal.raw
    row, column = end_of_trace(terminal)
    mouse(terminal, 0, row, column)
    text = terminal.wait_for("· 41 % ")
    told = re.search(r" (\d\d:\d\d:\d\d) · 41 % ", text)[1]
    clock = datetime.datetime.strptime(told, "%H:%M:%S").time()
    now = datetime.datetime.now()
    ago = (now - datetime.datetime.combine(now.date(), clock)).total_seconds()
    assert -1 <= ago <= 5 or ago < -86000, (told, now)
    assert "┊" in text
    # It follows the mouse, also to before all known values.
    mouse(terminal, 32, row + 1, column - 40)
    terminal.wait_for("· — ")
    mouse(terminal, 32, row, column)
    terminal.wait_for("· 41 % ")
    mouse(terminal, 0, row, column, b"m")
    terminal.wait_for(lambda text: "· 41 %" not in text and "┊" not in text)
    assert "% busy" in terminal.text  # the same main screen
    terminal.send(b"q")
    assert terminal.ends(20) and terminal.status == 0
    assert terminal.raw.rindex(b"\x1b[?1002l") > \
        terminal.raw.rindex(b"\x1b[?1002h")
    terminal.left_intact()


def test_a_click_opens_the_gpu(top):
    terminal = top(TERMS[0])
    row, column = end_of_trace(terminal)
    mouse(terminal, 0, row, column)
    mouse(terminal, 0, row, column, b"m")
    terminal.wait_for("Throttled by power")


def told(terminal):
    """The value that the mouse shows."""
    return re.search(r"\d\d:\d\d:\d\d · (—|\d+) ", terminal.text)[1]


def test_the_driver_remembers_what_was_before(machine, tmp_path):
    """The first window is not empty, and its values are at their times."""
    made = machine("--gpus", "h100")
    made.ctl("set", "0", "utilization=13")
    time.sleep(10)
    made.ctl("set", "0", "utilization=41")
    time.sleep(8)  # the seconds that the driver must remember
    terminal = Terminal([GPUKIT, "top"],
                        clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env),
                        120, 40)
    try:
        terminal.wait_for("41 % busy")
        terminal.draw_for(0.5)
        row, column = end_of_trace(terminal)
        seen = {}
        for ago in (4, 14, 60):  # two seconds for each column
            mouse(terminal, 0, row, column - ago // 2)
            terminal.wait_for(" · ")
            terminal.settle()
            seen[ago] = told(terminal)
        assert seen == {4: "41", 14: "13", 60: "—"}, terminal.text
        coverage = json.loads(made.ctl("coverage", "--json").stdout)
        asked = {r["function"]: r["calls"] for r in coverage}
        assert asked["nvmlDeviceGetSamples"] == 7  # each kind once
    finally:
        terminal.close()
