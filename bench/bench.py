# SPDX-License-Identifier: Apache-2.0
"""The cost of gpukit, beside its peers on the same machine in the same run.

    ./run bench            or   build/venv/bin/python bench/bench.py

One made-up machine (8 GPUs, 32 processes) per latency; on it the programs
take turns, one run each a round, and the median of the rounds counts. A
figure that misses what is wanted is printed as a miss. Exit status 1 when
something could not be run, else 0.

GPUKIT_BUILD names the build tree (default build/ in the source tree).
"""

import argparse
import json
import math
import os
import platform
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time

import blas
import cuda
import export
import limit
import nccl
import limit_share
import plot
import python
import record
import start
import top
import torch_cost
import web

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get("GPUKIT_BUILD",
                                       os.path.join(ROOT, "build")))
GPUKIT = os.path.join(BUILD, "bin", "gpukit")
FAKE_DIR = os.path.join(BUILD, "lib", "gpukit", "fake")
BIN = os.path.dirname(sys.executable)
MEASURE = os.path.join(BUILD, "bench", "bench-measure")
NVML = os.path.join(BUILD, "bench", "bench-nvml-getter")
CUDA = [os.path.join(BUILD, "bench", "bench-cuda-" + name)
        for name in ("cost", "share")]
FFT = os.path.join(BUILD, "bench", "bench-cuda-fft")
BLAS = os.path.join(BUILD, "bench", "bench-blas-cost")
NCCL = os.path.join(BUILD, "bench", "bench-nccl-cost")
VIEWERS = ([GPUKIT, "top", "--interval", "1"],
           [os.path.join(BIN, "nvitop"), "-m", "--interval", "1"],
           os.path.join(BUILD, "bench", "bench-nvml-open"))
MACHINE = ["--gpus", "a100-sxm4-80gb:8", "--load", "train:0-7,n=4,mem=2GiB"]
PROGRAMS = {
    "true": ["true"],  # what starting and ending any program costs
    "stat": [GPUKIT, "stat"],
    "stat --boxed": [GPUKIT, "stat", "--boxed"],
    "stat --json": [GPUKIT, "stat", "--json"],
    "nvitop -1": [os.path.join(BIN, "nvitop"), "-1"],
    "gpustat": [os.path.join(BIN, "gpustat")],
}
# ours, peer
PAIRS = [("stat", "nvitop -1"), ("stat", "gpustat"),
         ("stat --boxed", "nvitop -1"), ("stat --json", "gpustat")]
# The limits of `gpukit stat`: (quantity, latency, most); and how many
# times less than a peer its wall time may be.
MOST = {("wall", "none"): 3.0, ("cpu", "none"): 3.0, ("rss", "none"): 6.0,
        ("rss", "real"): 6.0}
TIMES = {("stat", "nvitop -1"): 60, ("stat", "gpustat"): 300}
UNITS = {"wall": "ms", "cpu": "ms", "rss": "MiB"}
NAMES = {"wall": "wall time", "cpu": "CPU time", "rss": "peak memory"}
PERIOD = 0.1
GETTER_NS = 150
LIST_NS = (2000, 3000)  # a process list: once, and for each process
OPEN_NS = 1_000_000


class Machine:
    """A made-up machine while the `with` lasts."""

    def __init__(self, latency, spec=MACHINE):
        self.latency = latency
        self.spec = spec

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(
            prefix="gpukit-bench-",
            dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        path = os.path.join(self.directory.name, "machine")
        self.launcher = subprocess.Popen(
            [GPUKIT, "fake", "--name", path, *self.spec, "--latency",
             self.latency, "--", "sh", "-c", "echo up; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.launcher.stdout.readline() != "up\n":
            raise RuntimeError("the made-up machine does not start")
        self.env = {**os.environ, "GPUKIT_MACHINE": path,
                    "LD_LIBRARY_PATH": FAKE_DIR, "LC_ALL": "C.UTF-8"}
        return self

    def __exit__(self, *_):
        self.launcher.stdin.close()
        self.launcher.wait()
        self.directory.cleanup()


def measure(argv, env):
    """{"wall": ms, "cpu": ms, "rss": MiB} of one run."""
    done = subprocess.run([MEASURE, *argv], env=env, text=True, check=True,
                          capture_output=True)
    wall, cpu, rss, status = map(int, done.stdout.split())
    if status:
        raise RuntimeError(f"{argv} ended with {status}: {done.stderr}")
    return {"wall": wall / 1e6, "cpu": cpu / 1e6, "rss": rss / 1024}


def take_turns(env, rounds):
    """{program: {quantity: [values]}}, after one round that warms up."""
    values = {name: {unit: [] for unit in UNITS} for name in PROGRAMS}
    for turn in range(rounds + 1):
        for name, argv in PROGRAMS.items():
            cost = measure(argv, env)
            for quantity, value in cost.items() if turn else ():
                values[name][quantity].append(value)
    return values


def off_grid(times):
    """(mean period, p99 of the distance from the grid), milliseconds. The
    grid is absolute: its lines do not move with the frames."""
    phase = statistics.median(t - i * PERIOD for i, t in enumerate(times))
    off = sorted(abs(t - i * PERIOD - phase) for i, t in enumerate(times))
    return (1e3 * (times[-1] - times[0]) / (len(times) - 1),
            1e3 * off[math.ceil(0.99 * len(off)) - 1])


def stat_frames(env, count):
    """When frames were taken, and when they reached the reader."""
    taken, seen = [], []
    with subprocess.Popen([GPUKIT, "stat", "--json-lines", "-i", str(PERIOD),
                           "--count", str(count)], env=env,
                          stdout=subprocess.PIPE) as stat:
        for line in stat.stdout:
            seen.append(time.monotonic())
            taken.append(json.loads(line)["monotonic_seconds"])
    if stat.returncode or len(taken) != count:
        raise RuntimeError(f"stat gave {len(taken)} of {count} frames")
    return taken, seen


def gpustat_frames(env, count):
    """When the frames of `gpustat -i 0.1` reached a terminal. Its input is
    none: it would wait for a terminal's answers."""
    master, line = os.openpty()
    seen, text = [], b""
    with subprocess.Popen([*PROGRAMS["gpustat"], "-i", str(PERIOD)],
                          stdin=subprocess.DEVNULL, stdout=line,
                          env={**env, "TERM": "screen-256color"}) as program:
        os.close(line)
        while len(seen) < count:
            if not select.select([master], [], [], 60)[0]:
                program.kill()
                raise RuntimeError("gpustat -i shows no frames")
            text += os.read(master, 65536)
            if b"\x1b[J" in text:  # the end of a frame
                seen.append(time.monotonic())
                text = b""
        program.terminate()
    os.close(master)
    return seen


def nvml():
    """{line: nanoseconds} of the microbenchmark of the NVML front."""
    done = subprocess.run([NVML], text=True, check=True, capture_output=True)
    return {name.strip(): float(ns) for name, ns in
            re.findall(r"^(.+?) +([\d.]+) ns$", done.stdout, re.M)}


class Table:
    """The rows: figure, ours, peer, ratio, wanted, verdict."""

    HEAD = ("figure", "ours", "peer", "ratio", "wanted", "")

    def __init__(self):
        self.rows = []

    def add(self, figure, ours, unit, peer=None, *, most=None, least=None,
            times=None, near=None, ratio=True):
        """`most`, `least`: ours may not be more, less; `times`: peer / ours
        may not be less; `near`: (value, distance); `ratio`: whether it says
        anything."""
        ratio = peer / ours if ratio and peer is not None else None
        wanted = [f"<= {most:,g} {unit}"] if most is not None else []
        wanted += [f">= {least:,g} {unit}"] if least is not None else []
        wanted += [f">= {times}x"] if times is not None else []
        wanted += [f"{near[0]:g} +- {near[1]:g} {unit}"] if near else []
        well = ((most is None or ours <= most)
                and (least is None or ours >= least)
                and (times is None or ratio >= times)
                and (near is None or abs(ours - near[0]) <= near[1]))
        self.rows.append({
            "figure": figure, "ours": ours, "peer": peer, "unit": unit,
            "ratio": ratio, "wanted": ", ".join(wanted),
            "verdict": ("ok" if well else "miss") if wanted else ""})

    @staticmethod
    def number(value, unit=""):
        if value is None:
            return ""
        digits = max(0, 3 - max(1, math.ceil(math.log10(abs(value) or 1))))
        return f"{value:.{digits}f} {unit}".strip()

    def text(self):
        cells = [self.HEAD, *((
            row["figure"], self.number(row["ours"], row["unit"]),
            self.number(row["peer"], row["unit"]),
            f"{row['ratio']:.1f}x" if row["ratio"] is not None else "",
            row["wanted"], row["verdict"]) for row in self.rows)]
        wide = [max(len(cell) for cell in column) for column in zip(*cells)]
        lines = ["| " + " | ".join(
            cell.ljust(w) if i in (0, 4, 5) else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, wide))) + " |"
            for row in cells]
        lines.insert(1, "|" + "|".join(
            "-" * (w + 1) + ("-" if i in (0, 4, 5) else ":")
            for i, w in enumerate(wide)) + "|")
        return "\n".join(lines)


def costs(table, latency, values):
    middle = {name: {quantity: statistics.median(runs)
                     for quantity, runs in quantities.items()}
              for name, quantities in values.items()}
    for ours, peer in PAIRS:
        for quantity, unit in UNITS.items():
            wanted = ours == "stat"
            table.add(
                f"{ours} / {peer}: {NAMES[quantity]}, latency {latency}",
                middle[ours][quantity], unit, middle[peer][quantity],
                most=MOST.get((quantity, latency)) if wanted else None,
                times=TIMES.get((ours, peer))
                if quantity == "wall" and latency == "none" else None)


def periods(table, latency, taken, seen, peer):
    """A frame is taken by us, then read by whoever reads our output; of the
    peer only the latter is seen."""
    within = 1.0 if latency == "real" else None
    theirs = off_grid(peer)
    for what, times in (("taken", taken), ("as read", seen)):
        mean, p99 = off_grid(times)
        figure = f"-i 0.1 {what} / gpustat -i 0.1"
        table.add(f"{figure}: mean period, latency {latency}", mean, "ms",
                  theirs[0], near=within and (1e3 * PERIOD, within),
                  ratio=False)
        table.add(f"{figure}: p99 off the 100 ms grid, latency {latency}",
                  p99, "ms", theirs[1], most=within, ratio=False)


def functions(table, lines):
    for name, ns in lines.items():
        most = GETTER_NS
        if name.startswith("process list of "):
            processes = int(name.rsplit(" ", 1)[1])
            most = LIST_NS[0] + LIST_NS[1] * processes
            name = f"process list, {processes} processes"
        elif "Init" in name:
            most = OPEN_NS
            name = f"{name} (opens the machine)"
        table.add(name, ns, "ns", most=most)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=10,
                        help="rounds, at least 10 (%(default)s)")
    parser.add_argument("--frames", type=int, default=100,
                        help="frames of a period (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="the numbers too")
    options = parser.parse_args()
    if options.runs < 10:
        parser.error("--runs: a median of fewer than 10 says little")
    table, raw = Table(), {}
    host = (f"{os.cpu_count()} CPUs ({processor()}), Linux "
            f"{platform.release()}, Python {platform.python_version()}")
    for latency in ("none", "real"):
        with Machine(latency) as machine:
            values = take_turns(machine.env, options.runs)
            taken, seen = stat_frames(machine.env, options.frames)
            peer = gpustat_frames(machine.env, options.frames // 10)
            viewers = top.rows(table, latency, machine.env, VIEWERS)
            if latency == "none":
                top.look_rows(table, machine.env, VIEWERS[0], VIEWERS[2],
                              "nvitop")
            recorded = record.rows(table, latency, GPUKIT, machine.env)
            exported = export.rows(table, latency, GPUKIT, machine.env)
            shown = web.rows(table, latency, GPUKIT, machine.env)
            python.rows(table, latency, BUILD, machine.env)
        raw[latency] = {"runs": values, "frames_taken": taken,
                        "frames_read": seen, "gpustat_frames": peer,
                        "viewers": viewers, "recorded": recorded,
                        "exported": exported, "web": shown}
        costs(table, latency, values)
        periods(table, latency, taken, seen, peer)
    with Machine("none", start.MACHINE) as machine:
        start.rows(table, GPUKIT, lambda argv: measure(argv, machine.env),
                   machine.env, 10 * options.runs)
    functions(table, nvml())
    plot.rows(table, GPUKIT)
    cuda.rows(table, GPUKIT, CUDA)
    cuda.fft(table, GPUKIT, FFT)
    blas.rows(table, GPUKIT, BLAS)
    nccl.rows(table, GPUKIT, NCCL)
    torch_cost.rows(table, ROOT, GPUKIT)
    limit.rows(table, BUILD)
    limit_share.rows(table, BUILD)
    least = statistics.median(raw["none"]["runs"]["true"]["wall"])
    print(f"{host}; 8 GPUs, 32 processes; medians of {options.runs} runs, "
          f"{options.frames} frames; `true` takes {least:.2f} ms\n")
    print(table.text())
    missed = sum(row["verdict"] == "miss" for row in table.rows)
    print(f"\n{missed} of {sum(bool(r['wanted']) for r in table.rows)} "
          "wanted figures missed")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump({"host": host, "rows": table.rows, "raw": raw}, f,
                      indent=1)


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError, subprocess.SubprocessError) as problem:
        sys.exit(f"bench: {problem}")
