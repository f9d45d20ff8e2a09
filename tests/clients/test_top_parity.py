# SPDX-License-Identifier: Apache-2.0
"""On the main screen everything is where users of nvitop expect it."""

import os
import re

import pytest

from conftest import GPUKIT, clean_env
from screen import Terminal

DOWN = b"\x1bOB"
HINT = "(Press ^C(INT)/T(TERM)/K(KILL) to send signals)"


@pytest.fixture
def top(gpukit, machine, tmp_path):
    """top(machine options, viewer options, columns, rows) starts a viewer."""
    started = []

    def start(options, *viewer, columns=79, rows=40):
        made = machine("--frozen", *options)
        terminal = Terminal(
            [GPUKIT, "top", "--look", "nvitop", *viewer],
            clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env), columns,
            rows)
        started.append(terminal)
        terminal.wait_for("Processes:")
        return terminal

    yield start
    for terminal in started:
        terminal.close()


TWO = ("--gpus", "a100:2", "--load", "infer:all,n=2,mem=2GiB,util=30")


def line_with(text, part):
    return next(line for line in text.splitlines() if part in line)


def test_the_hint_fits_at_79_columns(top):
    terminal = top(TWO)
    terminal.wait_for("gpukit-load i")
    assert HINT not in terminal.text
    terminal.send(DOWN)
    terminal.wait_for(HINT)
    line = line_with(terminal.text, HINT)
    assert len(line.rstrip()) == 79
    if not os.getuid():
        assert line.startswith(" !CAUTION: SUPERUSER LOGGED-IN. (")


def test_refresh_forgets_tags(top):
    terminal = top(TWO)
    terminal.wait_for("gpukit-load i")
    terminal.send(DOWN + b"  ")
    terminal.wait_for("2 tagged")
    terminal.send(b"r")
    terminal.wait_for(lambda text: "tagged" not in text and HINT not in text)


def test_mig_devices_have_one_bar(top):
    """The bar is as wide as two bars of GPUs, without rules between them."""
    terminal = top(("--gpus", "a100-sxm4-80gb:2", "--mig",
                    "0=3g.40gb+2g.20gb"), "-m",
                   "full", columns=160, rows=60)
    bars = re.compile(r"BAR1: +\S+ / +\d+% │ MEM: .* \d+\.\d% │")
    text = terminal.wait_for(lambda text: all(
        bars.search(line_with(text, part)) for part in ("3g.40gb", "2g.20gb")))
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if "3g.40gb" in line)
    assert "2g.20gb" in lines[first + 1]
    for line in lines[first:first + 2]:
        assert line.count("│") == 5
        assert len(line.rstrip()) == 160
    assert lines[first - 1].count("┴") == 1
    assert lines[first + 2].count("┬") == 1
    assert lines[first - 1].index("┴") == lines[first + 2].index("┬")


def test_double_lines_are_ascii(top):
    terminal = top(TWO, "--ascii")
    assert terminal.text.isascii()
    assert "+" + 77 * "=" + "+" in terminal.text
    assert re.search(r"^\|=+\+=+\+=+\|$", terminal.text, re.M)


def test_zero_is_drawn(top):
    """Used swap is never unknown; a host without load has a CPU graph."""
    terminal = top(TWO, "-m", "full", columns=160, rows=60)
    terminal.wait_for(lambda text: re.search("[⢀⣀⣠-⣿] *│",
                                             line_with(text, " SWP: ")))


def test_the_tree_has_the_hint_too(top):
    terminal = top(TWO, columns=120)
    terminal.wait_for("gpukit-load i")
    terminal.send(DOWN + b"t")
    terminal.wait_for(lambda text: HINT in text.splitlines()[0])
    terminal.resize(80, 24)
    terminal.wait_for(lambda text: re.search(r"\(.*\^C.* T.* K.*\)",
                                             text.splitlines()[0]))
