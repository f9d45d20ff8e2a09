# SPDX-License-Identifier: Apache-2.0
"""Tools shared by the tests of `gpukit fake`."""

import bisect
import fcntl
import signal
import struct
import termios
import time


def one_line(done, code, *parts):
    """Checks that it failed with that code and one line that contains the
    parts."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("gpukit fake: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr
    return done.stderr


def alive(pid):
    """Whether it runs and is not a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def cmdline(pid):
    """The command line; empty in the middle of an exec."""
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read().decode().split("\0")[:-1]


def loads_of(launcher):
    """The load processes of a launcher: {pid: its arguments}."""
    found = {pid: cmdline(pid) for pid in children(launcher)}
    return {pid: args for pid, args in found.items()
            if args[:1] == ["gpukit-load"]}


def is_full(pipe):
    """Whether the pipe is full: a writer of small pieces waits."""
    size = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    held = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return held[0] > size - 16384


def minds(pid, number):
    """Whether a process handles a signal: it is caught, or blocked to be read.
    """
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        masks = [int(line.split()[1], 16) for line in f
                 if line.startswith(("SigCgt:", "SigBlk:"))]
    return any(mask >> (signal.Signals(number) - 1) & 1 for mask in masks)


def on_the_beat(times, period):
    """The largest share of these moments that fall into one tenth of their
    period. A busy host delays some by different amounts, while the others fall
    together; drift spreads all of them, so that the share is about a tenth."""
    offsets = sorted(t % period for t in times)
    around = offsets + [offset + period for offset in offsets]
    return max(bisect.bisect_left(around, offset + 0.099 * period) - i
               for i, offset in enumerate(offsets)) / len(offsets)


def wait_until(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "never happened"
        time.sleep(0.01)
