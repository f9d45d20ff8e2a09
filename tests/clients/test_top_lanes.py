# SPDX-License-Identifier: Apache-2.0
"""Lanes in a terminal: what its screens have in common."""

import re

import pytest

from conftest import GPUKIT, clean_env
from screen import Terminal

DOWN, END, ENTER = b"\x1bOB", b"\x1b[4~", b"\r"


@pytest.fixture
def top(machine, tmp_path, monkeypatch):
    for i in range(20):  # more variables than a screen has lines
        monkeypatch.setenv(f"MORE_{i}", "one")
    made = machine("--gpus", "h100:2", "--load", "train:1")
    terminal = Terminal([GPUKIT, "top"],
                        clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env),
                        80, 16)
    terminal.wait_for("gpukit-load")
    yield terminal
    terminal.close()


@pytest.mark.parametrize("keys, screen", [
    (DOWN, None), (b"t\x06gpukit-load\r", "COMM"),
    (DOWN + ENTER, "HOST-MEM"), (DOWN + b"e", "Environment of")])
def test_d_opens_the_gpu_of_the_process(top, keys, screen):
    top.send(keys)
    if screen:
        top.wait_for(screen)
    top.settle()
    top.send(b"d")
    top.wait_for(lambda text: re.match(" +1 H100", text) and "Now" in text)


def test_d_on_a_process_without_gpu(top):
    top.send(b"t")
    top.wait_for("COMMAND")
    top.settle()
    top.send(b"\x1b[1~d")
    top.wait_for("is on no GPU")


@pytest.mark.parametrize("keys, whole", [
    (b"h", r"1–16 of \d+ ▼"), (b"\x1bOQ", r"1–13 of \d+ ▼"),
    (DOWN + b"e", r"1–14 of \d+ ▼"), (b"d", r"1–14 of \d+ ▼")])
def test_what_scrolls_says_how_far(top, keys, whole):
    top.send(keys)
    text = top.wait_for(lambda text: re.search(whole, text))
    bar = [line[-1] for line in text.split("\n")[1:-1]]
    assert bar[0] == "┃" and bar[-1] == "│"
    top.send(END)
    # Details of a GPU may still arrive: this is the end at that time.
    text = top.wait_for(lambda text: re.search(r"–(\d+) of \1 ▲", text))
    bar = [line[-1] for line in text.split("\n")[1:-1]]
    assert bar[-1] == "┃" and bar[0] == "│"


def test_the_console_of_linux_has_no_braille(machine, tmp_path):
    made = machine("--gpus", "h100", "--load", "train:0")
    terminal = Terminal([GPUKIT, "top"],
                        clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env),
                        120, 40, TERM="linux")
    try:
        text = terminal.wait_for(lambda text: "##" in text and "% busy" in text)
        assert not re.search("[\u2800-\u28ff]", text)
        terminal.send(b"g")  # and yet it can be reached
        terminal.wait_for(lambda text: re.search("[\u2800-\u28ff]", text))
    finally:
        terminal.close()


def test_timings_come_after_leaving(machine, tmp_path):
    """The viewer's timings: what it asked the driver, and how often it drew."""
    made = machine("--gpus", "h100:1", "--load", "train:0")
    terminal = Terminal(
        [GPUKIT, "top", "--interval", "0.1", "--timings"],
        clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env), 120, 60)
    try:
        terminal.wait_for("gpukit-load")
        terminal.send(b"q")
        assert terminal.ends(20) and terminal.status == 0
        for name in ("draw the screen", "take a frame",
                     "nvmlDeviceGetPowerUsage"):
            assert name.encode() in terminal.raw.split(b"\x1b[?1049l")[-1]
    finally:
        terminal.close()


@pytest.mark.parametrize("options, more, config", [
    (("--gpu-util-thresh", "5", "10"), {}, ""),
    ((), {"GPUKIT_GPU_UTILIZATION_THRESHOLDS": "5,10"}, ""),
    ((), {"NVITOP_GPU_UTILIZATION_THRESHOLDS": "5,10"}, ""),
    ((), {}, "gpu-util-thresh: [5, 10]\n"),
    (("--mem-util-thresh", "1", "2"), {}, ""),
    ((), {"GPUKIT_MEMORY_UTILIZATION_THRESHOLDS": "1,2"}, ""),
    ((), {}, "mem-util-thresh: [1, 2]\n"), ((), {}, "")])
def test_thresholds_that_are_set_colour_numbers(machine, tmp_path, options,
                                                more, config):
    made = machine("--gpus", "h100:1", "--load", "train:0")
    (tmp_path / "gpukit").mkdir()
    (tmp_path / "gpukit" / "top.yaml").write_text(config)
    (tmp_path / "gpukit" / "top.yaml").chmod(0o600)
    terminal = Terminal(
        [GPUKIT, "top", *options],
        clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env), 80, 12, **more)
    try:
        terminal.wait_for("gpukit-load")
        red = b"38;5;203m" in terminal.raw
        assert red == bool(options or more or config)
    finally:
        terminal.close()
