"""`gpukit top` while the GPUs have not answered yet: a screen and live keys."""

import time

from test_top_screen import GPU, leave, rows, top  # noqa: F401

READING = "reading..."


def gpus(text):
    return [int(match[1]) for match in GPU.finditer(text)]


def test_a_gpu_that_hangs_from_the_start(top):  # noqa: F811
    """The others are there long before the driver's time is up, which is a
    second; the keys too."""
    done = top.machine.ctl("fail", "0", "nvmlDeviceGetUtilizationRates=hang")
    assert done.returncode == 0, done.stderr
    began = time.monotonic()
    terminal = top("--interval", "20", wait=None)
    terminal.wait_for(lambda text: gpus(text) == [1, 2, 3])
    terminal.wait_for(lambda text: len(rows(text)) == 4)
    assert READING in terminal.text
    terminal.send(b"h")
    terminal.wait_for("Ctrl-C")
    terminal.send(b"qop")
    terminal.wait_for("PID▲")
    assert time.monotonic() - began < 0.8
    leave(terminal)


def test_a_hang_is_told_in_time(top):  # noqa: F811
    top.machine.ctl("fail", "0", "nvmlDeviceGetUtilizationRates=hang")
    terminal = top("--interval", "0.2", wait=None)
    terminal.wait_for(READING)
    terminal.wait_for(lambda text: "no answer" in text and
                      READING not in text, 5)
    top.machine.ctl("clear", "0", "nvmlDeviceGetUtilizationRates")
    terminal.wait_for(lambda text: gpus(text) == [0, 1, 2, 3], 10)
    leave(terminal)


def test_a_driver_that_takes_its_time(top):  # noqa: F811
    """What has not been read is not said to be none."""
    done = top.machine.ctl("set", "latency.nvmlDeviceGetUtilizationRates=250ms")
    assert done.returncode == 0, done.stderr
    terminal = top("--interval", "20", wait=READING)
    terminal.wait_for(lambda text: text.count(READING) >= 5)
    seen = []
    terminal.wait_for(lambda text: seen.append(text) or len(rows(text)) == 5)
    assert not any("No running" in text for text in seen)
    assert gpus(terminal.text) == [0, 1, 2, 3]
    leave(terminal)


def test_a_fast_driver_is_never_seen_unread(top):  # noqa: F811
    """What is there within some milliseconds is the first thing drawn."""
    calm = 0
    for _ in range(5):
        terminal = top("--interval", "20", wait=None)
        seen = []
        terminal.wait_for(lambda text: seen.append(READING in text)
                          or len(rows(text)) == 5)
        calm += not any(seen)
        leave(terminal)
    assert calm >= 3
