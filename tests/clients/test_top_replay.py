# SPDX-License-Identifier: Apache-2.0
"""`gpukit top --replay` plays a recording in a terminal, with pause, seek and
speed."""

import os
import re
import subprocess
import time

import pytest

from conftest import GPUKIT, clean_env
from screen import Terminal

FIRST, LAST = 20, 79  # degrees of GPU 0, one a snapshot
PLACE = re.compile(r"REPLAY x([\d.]+) (\d+) %")


@pytest.fixture(scope="module")
def tape(tmp_path_factory):
    """A recording of some seconds in which GPU 0 becomes a degree warmer with
    each of its 60 snapshots."""
    place = tmp_path_factory.mktemp("tape")
    path = place / "x.tape"
    script = (f'for t in $(seq {FIRST} {LAST}); do "$G" fake ctl set 0 '
              f'temperature=$t >/dev/null; "$G" record --snapshots --append '
              f'--count 1 -o {path}; done')
    subprocess.run([GPUKIT, "fake", "--gpus", "a100:2", "--load",
                    "train:0,mem=1GiB", "--", "sh", "-ec", script],
                   check=True, env=clean_env(G=GPUKIT), timeout=120)
    return path


@pytest.fixture
def replay(tape, tmp_path):
    started = []

    def start(*options):
        started.append(Terminal(
            [GPUKIT, "top", "--look", "nvitop", "--replay", str(tape), *options],
            clean_env(XDG_CONFIG_HOME=str(tmp_path)), 120, 60))
        started[-1].wait_for("REPLAY")
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


def temperature(text):
    found = re.search(r"^│ +0  .*A100.*\n│.*?(\d+)C ", text, re.M)
    return int(found[1]) if found else None


def place(text):
    """(speed, percent)"""
    found = PLACE.search(text)
    return float(found[1]), int(found[2])


def steady(terminal):
    """The temperature, once nothing moves any more."""
    terminal.draw_for(0.5)
    before = temperature(terminal.text)
    terminal.draw_for(0.5)
    assert temperature(terminal.text) == before
    return before


def leave(terminal):
    terminal.send(b"q")
    assert terminal.ends(30) and terminal.status == 0
    terminal.left_intact()


def test_it_plays_to_the_end_without_a_driver(replay, tape):
    terminal = replay("--speed", "0.5")
    seen = set()
    terminal.wait_for(lambda text: seen.add(temperature(text)) or
                      "100 %" in text, 60 + 2 * times(tape)[-1])
    assert steady(terminal) == LAST
    assert len(seen) > 10 and seen - {None} <= set(range(FIRST, LAST + 1))
    assert "gpukit-load" in terminal.text
    leave(terminal)


def test_pause_seek_and_speed(replay):
    terminal = replay("--speed", "0.1")
    terminal.send(b"p")
    terminal.wait_for("PAUSED")
    begin = steady(terminal)
    assert begin < LAST
    terminal.send(b")")  # further than the end of the recording
    terminal.wait_for(lambda text: temperature(text) == LAST)
    terminal.send(b"(")
    terminal.wait_for(lambda text: temperature(text) == FIRST)
    assert steady(terminal) == FIRST
    terminal.send(b"\x1b[19~")  # F8
    terminal.wait_for(lambda text: place(text)[0] == 0.2)
    terminal.send(b"\x1b[18~" * 2)  # F7
    terminal.wait_for(lambda text: place(text)[0] == 0.05)
    terminal.send(b"0")
    terminal.wait_for(lambda text: temperature(text) == LAST)
    terminal.send(b"(p")
    terminal.wait_for(lambda text: "PAUSED" not in text and
                      (temperature(text) or LAST) < LAST)
    leave(terminal)


def times(tape):
    """Seconds from the first to each snapshot, from the heads of blocks."""
    data, at, found = tape.read_bytes(), 16, []
    while at < len(data):
        assert data[at:at + 4] == b"GKTB"
        found.append(int.from_bytes(data[at + 16:at + 24], "little") / 1e9)
        at += 32 + int.from_bytes(data[at + 8:at + 12], "little")
    assert len(found) == LAST - FIRST + 1
    return [time - found[0] for time in found]


def test_its_speed_is_that_of_the_recording(replay, tape):
    """At half speed the second half is shown as late as the first. A busy host
    draws much of it later, but not all."""
    terminal = replay("--speed", "0.5")
    recorded, seen = times(tape), {}

    def look(text):
        seen.setdefault(temperature(text), time.monotonic())
        return "100 %" in text

    terminal.wait_for(look, 60 + 2 * recorded[-1])
    seen.pop(None, 0)
    late = [[seen[t] - 2 * recorded[t - FIRST] for t in half if t in seen]
            for half in (range(FIRST, (FIRST + LAST) // 2),
                         range((FIRST + LAST) // 2, LAST + 1))]
    first, second = (sorted(half)[len(half) // 4] for half in late)
    assert abs(second - first) < 0.05 + 0.2 * recorded[-1], late
    leave(terminal)


def test_nothing_is_done_to_processes(replay):
    terminal = replay()
    terminal.wait_for("gpukit-load")
    terminal.send(b"p\x1bOB")
    terminal.send(b"t")
    terminal.wait_for("cannot be read")
    terminal.send(b"e")
    terminal.wait_for("cannot be read")
    terminal.send(b"T")
    terminal.draw_for(0.3)
    assert "SIGTERM" not in terminal.text
    leave(terminal)


def test_without_a_terminal_it_is_a_report(gpukit, tape):
    done = gpukit("top", "--replay", tape, env={"LC_ALL": "C.UTF-8"})
    assert done.returncode == 0 and done.stderr == ""
    assert temperature(done.stdout) == LAST


def test_what_is_no_recording_is_told(gpukit, tmp_path, tape):
    other = tmp_path / "x.csv"
    other.write_text("timestamp,gpu_index\n" * 20)
    for path, what in ((other, "not a recording"),
                       ("/nonexistent", "not found"),
                       (os.devnull, "not a recording")):
        done = gpukit("top", "--replay", path)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.count("\n") == 1 and what in done.stderr
    torn = tmp_path / "torn.tape"
    torn.write_bytes(tape.read_bytes()[:-100])
    done = gpukit("top", "--replay", torn)
    assert done.returncode == 0 and "damaged" in done.stderr
    assert temperature(done.stdout) == LAST - 1
    assert gpukit("top", "--replay", tape, "--speed", "0").returncode == 2
