# SPDX-License-Identifier: Apache-2.0
"""nvitop runs unmodified: once, in full screen, and as a Python library."""

import os
import re
import sys
import time

import pytest

import can
from conftest import FAKE_DIR, GPUKIT, clean_env
from peers import CHECKED, NVITOP, loads, run
from screen import Terminal

BUSY = ["--gpus", "a100-sxm4-80gb:8", "--load", "train:0-3,mem=60GiB",
        "--load", "infer:4-5,n=2,mem=24GiB", "--load", "idle:6,mem=4GiB"]
MAIN = "(Press h for help or q to quit)"
SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SIZE = r"([\d.]+)([KMG]?i?B)"
KEYS = {"up": b"\x1bOA", "down": b"\x1bOB", "right": b"\x1bOC",
        "left": b"\x1bOD", "enter": b"\r", "escape": b"\x1b"}
SECONDS = 30


def size(number, unit):
    return int(float(number) * SIZES[unit])


def processes(text):
    """{gpu: {pid: bytes}} from the process table."""
    found = {}
    for gpu, pid, *held in re.findall(
            rf"│ +(\d+) +(\d+) C +\S+ +{SIZE} ", text):
        found.setdefault(int(gpu), {})[int(pid)] = size(*held)
    return found


def used(text):
    """Bytes in use on each GPU, from the device table in either layout."""
    return [size(*pair) for pair in
            re.findall(rf"│ +{SIZE} / [\d.]+[MG]iB │", text)]


def sums(held):
    """The same from a process table, for the eight GPUs of BUSY."""
    return [sum(held.get(gpu, {}).values()) for gpu in range(8)]


def press(terminal, key, words, patience=10):
    """Presses a key until its answer is on the screen. nvitop drops keys that
    come while it handles another one."""
    for _ in range(6):
        terminal.send(KEYS.get(key, key.encode()))
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if words in terminal.text:
                return
            assert terminal.process.poll() is None, terminal.text
            terminal.draw(0.1)
    raise AssertionError(f"{key} does not bring {words}:\n{terminal.text}")


def tour(terminal):
    """Visits every screen, and returns to the first."""
    press(terminal, "down", "to send signals")
    for key in ("down", "up", "right", "left"):
        terminal.send(KEYS[key])
        terminal.draw_for(0.2)
    press(terminal, "t", "NLWP")
    terminal.send(KEYS["down"])
    terminal.draw_for(0.2)
    press(terminal, "q", MAIN)
    press(terminal, "e", "Environment of process")
    press(terminal, "q", MAIN)
    press(terminal, "h", "show process environment")
    press(terminal, "escape", MAIN)
    press(terminal, "down", "to send signals")
    press(terminal, "enter", "MAX GPU-MEM")
    press(terminal, "escape", MAIN)
    press(terminal, "escape", MAIN)


def leave(terminal):
    """Presses q until nvitop ends; its status and the terminal must be good."""
    for _ in range(6):
        terminal.send(b"q")
        if terminal.ends(4):
            break
    assert terminal.status == 0, (terminal.status, terminal.text)
    terminal.left_intact()


def thirty_seconds(terminal, held):
    """Does what a user does, checks the screen, then ends."""
    end = time.monotonic() + SECONDS
    terminal.wait_for(lambda text: processes(text) == held)
    tours = 0
    while time.monotonic() < end:
        tour(terminal)
        tours += 1
    assert tours >= 1
    text = terminal.wait_for(lambda text: processes(text) == held)
    assert used(text) == sums(held), text
    leave(terminal)
    # nvitop ends with a report on the restored screen.
    assert processes(terminal.text) == held, terminal.text
    assert terminal.text.count("A100-SXM4-80GB") == 8
    assert "Fatal" not in terminal.text


@pytest.fixture
def terminal():
    """terminal(ARGV, ENV) starts a program, which ends with the test."""
    started = []

    def start(argv, env=None, **how):
        started.append(Terminal(argv, clean_env(**CHECKED, **(env or {})),
                                **how))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.mark.slow
def test_full_screen_under_the_launcher(terminal):
    """Thirty seconds of keys with busy processes and a checked heap."""
    tty = terminal([GPUKIT, "fake", *BUSY, "--", NVITOP])
    tty.wait_for(MAIN)
    held = loads(tty.process.pid)
    assert len(held) == 7 and len(held[4]) == 2
    thirty_seconds(tty, held)


@pytest.mark.slow
def test_full_screen_without_a_launcher(terminal, private_shm):
    """The default machine, with one preloaded library and no command of ours.
    """
    assert private_shm("true").returncode == 0
    library = os.path.join(FAKE_DIR, "libnvidia-ml.so.1")
    script = f"""
        mount -t tmpfs -o size=64m none /dev/shm
        export LD_LIBRARY_PATH={FAKE_DIR} LD_PRELOAD={library}
        {sys.executable} -c 'import pynvml; pynvml.nvmlInit()'
        unset LD_PRELOAD
        {GPUKIT} fake load --name default train:0-3,mem=60GiB \\
            infer:4-5,n=2,mem=24GiB idle:6,mem=4GiB &
        export LD_PRELOAD={library}
        status=0; {NVITOP} || status=$?
        kill -INT $!; wait $! || :
        exit $status"""
    can.need("mounts-of-its-own")
    tty = terminal(["unshare", "--user", "--map-root-user", "--mount", "sh",
                    "-ec", script])
    whole = [60 << 30] * 4 + [48 << 30] * 2 + [4 << 30, 0]
    held = processes(tty.wait_for(
        lambda text: sums(processes(text)) == whole))
    thirty_seconds(tty, held)


@pytest.mark.slow
def test_once(machine):
    """The report is printed repeatedly for thirty seconds."""
    one = machine(*BUSY)
    held = loads(one.process.pid)
    end = time.monotonic() + SECONDS
    runs = 0
    while time.monotonic() < end or runs < 5:
        text = run([NVITOP, "--once"], one.env)
        assert processes(text) == held, text
        assert used(text) == sums(held), text
        assert text.count("A100-SXM4-80GB") == 8
        runs += 1


def test_sixty_four_gpus(machine, terminal):
    one = machine("--gpus", "t4:32,h100:32", "--load", "train:63,mem=2GiB")
    held = loads(one.process.pid)
    text = run([NVITOP, "--once"], one.env)
    assert processes(text) == held
    assert text.count("Tesla T4") == 32
    assert text.count("H100 80GB HBM3") == 32
    tty = terminal([NVITOP], one.env, rows=200)
    text = tty.wait_for(lambda text: processes(text) == held)
    assert len(used(text)) == 64
    press(tty, "t", "NLWP")
    press(tty, "q", MAIN)
    leave(tty)


def test_no_gpus(machine, terminal):
    one = machine("--gpus", "none")
    assert "No visible devices found" in run([NVITOP, "--once"], one.env)
    tty = terminal([NVITOP], one.env)
    tty.wait_for("No visible devices found")
    leave(tty)


def test_a_gpu_is_lost_under_the_eyes_of_the_user(machine, terminal):
    """The other GPUs continue; the lost one's process is gone."""
    one = machine("--gpus", "a100-sxm4-80gb:2", "--load",
                  "train:0,mem=2GiB", "--load", "train:1,mem=3GiB")
    held = loads(one.process.pid)
    tty = terminal([NVITOP], one.env)
    tty.wait_for(lambda text: processes(text) == held)
    assert one.ctl("fail", 1, "lost").returncode == 0
    tty.wait_for(lambda text: processes(text) == {0: held[0]})
    assert one.ctl("clear", 1).returncode == 0
    tty.wait_for(lambda text: processes(text) == held)
    leave(tty)


def test_a_change_is_seen_on_the_screen(machine, terminal):
    one = machine("--gpus", "a100-sxm4-80gb:1")
    tty = terminal([NVITOP], one.env)
    tty.wait_for(MAIN)
    assert one.ctl("set", 0, "temperature=77", "power=123000",
                   "extra-memory=8GiB").returncode == 0
    tty.wait_for(lambda text: "77C" in text and "123W / 400W" in text
                 and used(text) == [8 << 30])
    leave(tty)
