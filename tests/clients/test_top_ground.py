# SPDX-License-Identifier: Apache-2.0
"""The viewer on light and dark terminals asks for the background, does not wait
for the answer, and does not take it for keys."""

import fcntl
import re
import select
import termios
import time

import pytest

from conftest import GPUKIT, clean_env
from screen import Terminal

ASKS = b"\x1b]11;?"
# The colour of the name in the header: in the dark palette, in the light one.
DARK, LIGHT = b"38;5;80m", b"38;5;23m"


@pytest.fixture
def top(machine, tmp_path):
    """top(OPTION..., environment) starts it in an xterm."""
    made = machine("--gpus", "h100:2", "--load", "train:1")
    open_ones = []

    def start(*options, **more):
        env = {"TERM": "xterm-256color", "COLORFGBG": None, "TMUX": None,
               "STY": None, **more}
        open_ones.append(Terminal(
            [GPUKIT, "top", *options],
            clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env), 100, 30,
            **env))
        return open_ones[-1]

    yield start
    for one in open_ones:
        one.close()


def await_bytes(terminal, what, seconds=30):
    end = time.monotonic() + seconds
    while what not in terminal.raw:
        assert time.monotonic() < end, bytes(terminal.raw)
        terminal.draw(0.05)


def leave(terminal):
    """Ends the viewer, and checks that no answer is left to be read."""
    terminal.send(b"q")
    assert terminal.ends(20) and terminal.status == 0
    termios.tcflush(terminal.line, termios.TCOFLUSH)
    mode = termios.tcgetattr(terminal.line)
    mode[3] &= ~termios.ICANON
    termios.tcsetattr(terminal.line, termios.TCSANOW, mode)
    assert not select.select([terminal.line], [], [], 0)[0]


@pytest.mark.parametrize("end", [b"\a", b"\x1b\\"])
@pytest.mark.parametrize("answer, colour, other", [
    (b"rgb:ffff/ffff/ffff", LIGHT, DARK), (b"rgb:fd/f6/e3", LIGHT, DARK),
    (b"rgb:0000/0000/0000", DARK, LIGHT)])
def test_the_terminal_is_believed(top, answer, colour, other, end):
    terminal = top(COLORFGBG="15;0" if colour is LIGHT else "0;15")
    await_bytes(terminal, ASKS)
    terminal.send(b"\x1b]11;" + answer + end)
    terminal.wait_for("gpukit-load")
    assert colour in terminal.raw
    if not terminal.raw.count(other):
        leave(terminal)  # a busy host may have been late: it was redrawn


@pytest.mark.parametrize("options, more, colour", [
    ((), {}, DARK), ((), {"COLORFGBG": "0;15"}, LIGHT),
    ((), {"COLORFGBG": "0;default;15"}, LIGHT),
    ((), {"COLORFGBG": "15;0"}, DARK),
    ((), {"TMUX": "/tmp/x,1,0", "COLORFGBG": "0;15"}, LIGHT),
    ((), {"TERM": "screen-256color"}, DARK),
    ((), {"TERM": "tmux-256color", "COLORFGBG": "0;7"}, LIGHT),
    (("--theme", "light"), {}, LIGHT), (("--light",), {}, LIGHT),
    (("--theme", "dark"), {"COLORFGBG": "0;15"}, DARK),
    ((), {"GPUKIT_MONITOR_THEME": "light"}, LIGHT),
    ((), {"GPUKIT_MONITOR_THEME": "dark", "COLORFGBG": "0;15"}, DARK)])
def test_who_does_not_answer(top, options, more, colour):
    terminal = top(*options, **more)
    terminal.wait_for("gpukit-load")
    assert colour in terminal.raw
    assert (LIGHT if colour is DARK else DARK) not in terminal.raw
    asked = not options and not any("THEME" in name for name in more) and \
        "TMUX" not in more and more.get("TERM", "xterm")[0] == "x"
    assert (ASKS in terminal.raw) == asked
    leave(terminal)


def test_the_first_frame_waits_for_no_answer(top):
    """It appears before anybody would lose patience."""
    terminal = top()
    await_bytes(terminal, ASKS)
    asked = time.monotonic()
    terminal.wait_for("gpukit", 30)
    assert DARK in terminal.raw
    # 50 ms, plus what a host takes that is busy with other tests.
    assert time.monotonic() - asked < 5


def test_a_late_answer_in_pieces_is_no_keys(top):
    """q would end the viewer; d, t, g and u would open screens."""
    terminal = top()
    terminal.wait_for("gpukit-load")
    before = terminal.text.split("\n")[-1]
    assert re.search("h help +d GPU", before)
    for piece in (b"\x1b]", b"11;rg", b"b:ffff/", b"ffff/ff", b"ff", b"\x1b",
                  b"\\"):
        terminal.send(piece)
        terminal.draw_for(0.1)
    await_bytes(terminal, LIGHT)
    terminal.settle()
    assert terminal.text.split("\n")[-1] == before
    terminal.send(b"h")  # keys work again
    terminal.wait_for("1–")
    terminal.send(b"\x1b")
    terminal.wait_for("gpukit-load")
    leave(terminal)


def test_who_leaves_at_once_leaves_no_answer(top):
    terminal = top()
    await_bytes(terminal, ASKS)
    terminal.send(b"q")
    terminal.draw_for(0.1)
    terminal.send(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
    assert terminal.ends(20)
    assert not any(fcntl.ioctl(terminal.line, termios.FIONREAD, bytes(4)))


def test_a_pipe_is_asked_nothing(machine, gpukit):
    made = machine("--gpus", "h100:1")
    done = gpukit("top", env={**made.env, "TERM": "xterm-256color"})
    assert done.returncode == 0 and "\x1b" not in done.stdout
