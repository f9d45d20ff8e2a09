# SPDX-License-Identifier: Apache-2.0
"""`gpukit top` shows a screen and reads keys before the GPUs have answered."""

import time

from test_top_screen import GPU, leave, rows, top  # noqa: F401

READING = "reading..."


def gpus(text):
    return [int(match[1]) for match in GPU.finditer(text)]


def seconds_to_use(terminal):
    """Seconds until the others are shown and keys work; GPU 0 does not answer.
    """
    began = time.monotonic()
    terminal.wait_for(lambda text: gpus(text) == [1, 2, 3])
    terminal.wait_for(lambda text: len(rows(text)) == 4)
    terminal.send(b"h")
    terminal.wait_for("Ctrl-C")
    terminal.send(b"qop")
    text = terminal.wait_for("PID▲")
    took = time.monotonic() - began
    assert READING in text or took > 1  # then its timeout is over
    return took


def test_a_gpu_that_hangs_from_the_start(top):  # noqa: F811
    """The others appear long before the driver's timeout of a second, and keys
    work too. A busy host is slower, but not always."""
    done = top.machine.ctl("fail", "0", "nvmlDeviceGetUtilizationRates=hang")
    assert done.returncode == 0, done.stderr
    for _ in range(10):
        terminal = top("--interval", "20", wait=None)
        took = seconds_to_use(terminal)
        leave(terminal)
        if took < 0.8:
            return
    raise AssertionError(f"the screen waits for GPU 0: {took} s")


def test_a_hang_is_told_in_time(top):  # noqa: F811
    top.machine.ctl("fail", "0", "nvmlDeviceGetUtilizationRates=hang")
    terminal = top("--interval", "0.2", wait=None)
    terminal.wait_for(lambda text: "no answer" in text and
                      READING not in text)
    top.machine.ctl("clear", "0", "nvmlDeviceGetUtilizationRates")
    terminal.wait_for(lambda text: gpus(text) == [0, 1, 2, 3])
    leave(terminal)


def test_a_driver_that_takes_its_time(top):  # noqa: F811
    """A value that has not been read is not shown as absent. On a busy host the
    driver's timeout may be over at the first frame, but not always."""
    done = top.machine.ctl("set", "latency.nvmlDeviceGetUtilizationRates=900ms")
    assert done.returncode == 0, done.stderr
    for _ in range(10):
        terminal = top("--interval", "20", wait=None)
        seen = []
        terminal.wait_for(lambda text: seen.append(text)
                          or len(rows(text)) == 5)
        assert not any("No running" in text for text in seen)
        terminal.wait_for(lambda text: gpus(text) == [0, 1, 2, 3])
        leave(terminal)
        if any(text.count(READING) >= 5 for text in seen):
            return
    raise AssertionError("nothing is said to be read")


def test_a_fast_driver_is_never_seen_unread(top):  # noqa: F811
    """A value that arrives within some milliseconds is in the first frame. On a
    busy host it may not be, but not always."""
    calm = tries = 0
    while calm < 3:
        terminal = top("--interval", "20", wait=None)
        seen = []
        terminal.wait_for(lambda text: seen.append(READING in text)
                          or len(rows(text)) == 5)
        calm += not any(seen)
        leave(terminal)
        tries += 1
        assert tries < 30, calm
