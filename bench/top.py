# SPDX-License-Identifier: Apache-2.0
"""The cost of the viewers: `gpukit top` beside nvitop, each in a terminal of
160x70, on the machine of the benchmark."""

import fcntl
import glob
import math
import os
import random
import select
import signal
import statistics
import struct
import subprocess
import termios
import time

DOWN, UP = b"\x1bOB", b"\x1bOA"
QUIET = 0.04   # seconds without output: a frame is whole
PATIENCE = 5.0


class Viewer:
    """A viewer that runs in a pty while the `with` lasts."""

    def __init__(self, argv, env):
        self.master, line = os.openpty()
        fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", 70, 160,
                                                          0, 0))
        self.process = subprocess.Popen(
            argv, stdin=line, stdout=line, stderr=line, start_new_session=True,
            env={**env, "TERM": "screen-256color", "LC_ALL": "C.UTF-8",
                 "XDG_CONFIG_HOME": "/nonexistent"},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        # Popen() is back when the program is there: what Python's fork costs
        # is not the viewer's.
        self.began = time.monotonic()
        os.close(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self.master)

    def read(self, seconds):
        if not select.select([self.master], [], [], max(0, seconds))[0]:
            return b""
        return os.read(self.master, 1 << 16)

    def drain(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(end - time.monotonic())

    def first_frame(self):
        """Milliseconds until the table of processes was drawn, and no more
        came."""
        seen, last = b"", 0.0
        while True:
            data = self.read(QUIET if b"COMMAND" in seen else PATIENCE)
            if data:
                seen, last = seen + data, time.monotonic()
            elif b"COMMAND" in seen:
                return 1e3 * (last - self.began)
            else:
                raise RuntimeError("a viewer shows no processes")

    def cpu(self):
        """Nanoseconds on a CPU so far, of all threads."""
        total = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with open(path, encoding="ascii") as f:
                total += int(f.read().split()[0])
        return total

    def load(self, keys_a_second, seconds):
        """Percent of a CPU while so many keys are typed."""
        began, before = time.monotonic(), self.cpu()
        if not keys_a_second:
            self.drain(seconds)
        for i in range(keys_a_second * seconds):
            os.write(self.master, DOWN if i // 8 % 2 else UP)
            self.drain(began + (i + 1) / keys_a_second - time.monotonic())
        return (self.cpu() - before) / 1e7 / (time.monotonic() - began)

    def answers(self, count):
        """Milliseconds from a key to what it draws."""
        times, chance = [], random.Random(1)
        for i in range(count):
            self.drain(chance.uniform(0.05, 0.09))
            while self.read(QUIET):
                pass  # a frame was being drawn
            began = time.monotonic()
            os.write(self.master, DOWN if i // 8 % 2 else UP)
            if not self.read(PATIENCE):
                raise RuntimeError("a key draws nothing")
            times.append(1e3 * (time.monotonic() - began))
        return times


def private(pid):
    """MiB that are a process's alone."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return sum(int(line.split()[1]) for line in f
                   if line.startswith("Private_")) / 1024


def only_opens(program, env):
    """MiB private to a program that opens NVML and does nothing."""
    with subprocess.Popen([program], env=env, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        used = private(process.pid)
        process.stdin.close()
    return used


def p99(values):
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


def measure(argv, env, seconds, starts, keys):
    """{quantity: value} of one viewer."""
    frames = []
    for _ in range(starts):
        with Viewer(argv, env) as viewer:
            frames.append(viewer.first_frame())
    with Viewer(argv, env) as viewer:
        viewer.first_frame()
        viewer.drain(2)
        result = {"first frame": statistics.median(frames)}
        for rate in (0, 2, 20) if seconds else ():
            result[f"CPU, {rate} keys/s"] = viewer.load(rate, seconds)
        result["memory"] = private(viewer.process.pid)
        result["key to screen, p99"] = p99(viewer.answers(keys))
    return result


# (quantity, latency): most
MOST = {("CPU, 0 keys/s", "none"): 0.2, ("CPU, 2 keys/s", "none"): 0.5,
        ("CPU, 20 keys/s", "none"): 4.0, ("memory", "none"): 5.0,
        ("first frame", "none"): 10.0, ("first frame", "real"): 150.0,
        ("key to screen, p99", "none"): 2.0,
        ("key to screen, p99", "real"): 20.0}


def unit(quantity):
    return ("%" if quantity.startswith("CPU") else
            "MiB" if quantity == "memory" else "ms")


def look_rows(table, env, ours, opener, look, seconds=10):
    """Adds the rows of another look, without latency."""
    mine = measure([*ours, "--look", look], env, seconds, 10, 200)
    mine["memory"] -= only_opens(opener, env)
    for quantity, value in mine.items():
        name = ("private memory above NVML's" if quantity == "memory"
                else quantity)
        table.add(f"top --look {look}: {name}, latency none", value,
                  unit(quantity), most=MOST.get((quantity, "none")))


def rows(table, latency, env, programs, seconds=10):
    """Adds the rows of a latency; `programs`: ours, the peer's, and the one
    that only opens NVML. CPU and memory say little more with latency."""
    ours, theirs, opener = programs
    took = seconds if latency == "none" else 0
    mine = measure(ours, env, took, 10, 200)
    peer = measure(theirs, env, took, 5, 40)
    base = only_opens(opener, env)
    for quantity, value in mine.items():
        name = quantity
        if quantity == "memory":
            value -= base
            peer[quantity] -= base
            name = "private memory above NVML's"
        table.add(f"top / nvitop: {name}, latency {latency}", value,
                  unit(quantity), peer[quantity],
                  most=MOST.get((quantity, latency)))
    return {"top": mine, "nvitop": peer, "only NVML": base}
