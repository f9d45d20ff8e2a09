# SPDX-License-Identifier: Apache-2.0
"""Shares of a GPU's time that libvgpu.so keeps on the made-up machine, whose own
figure of how long the GPU was busy is the second source."""

import json
import os
import re
import subprocess
import tempfile

PERCENTS = [10, 30, 50, 80]
MOST_POINTS = 3
SECONDS = 3
# (title, processes, kind and microseconds of bench-limit-load)
LOADS = [
    ("kernels of 1 ms", 1, ("kernel", "1000")),
    ("3 processes", 3, ("kernel", "1000")),
    ("graphs", 1, ("graph", "200")),
    ("cooperative kernels", 1, ("cooperative", "1000")),
    ("kernels of 20 ms", 1, ("kernel", "20000")),
    ("kernels of 5 us", 1, ("kernel", "5")),
    ("alternating kernels of 10 us and 1 ms", 1, ("swing", "1000")),
]
# Ranks, a GPU each, of which each kernel waits for those of all others
RANKS = [2, 3, 4]
RANK_US, RANK_PERCENT, RANK_POINTS = 5000, 40, 5


def run(build, options, gpus, command):
    """How long each GPU was busy, and what the processes printed."""
    gpukit = os.path.join(build, "bin", "gpukit")
    limit = [gpukit, "limit", *options, "--"] if options else []
    with tempfile.TemporaryDirectory() as place:
        report = os.path.join(place, "report.json")
        done = subprocess.run(
            [gpukit, "fake", "--gpus", f"h100:{gpus}", f"--report={report}",
             "--", *limit, *command],
            check=True, capture_output=True, text=True)
        with open(report, encoding="utf-8") as file:
            busy = [one["busy_seconds"] for one in json.load(file)["devices"]]
        return busy, done.stdout


def run_loads(build, options, processes, load):
    program = os.path.join(build, "bench", "bench-limit-load")
    many = f'for i in $(seq {processes}); do "$@" & done; wait'
    return run(build, options, 1,
               ["sh", "-c", many, "sh", program, str(SECONDS), *load])


def seconds_of(told):
    return max(map(float, re.findall(r"seconds (\S+)", told)))


def share(build, percent, processes, load):
    busy, told = run_loads(build, ["--compute", str(percent)], processes, load)
    return 100 * busy[0] / seconds_of(told)


def ranks(build, options, count):
    """Of each GPU, and of what the ranks get on: a part of the time."""
    program = os.path.join(build, "bench", "bench-limit-ranks")
    busy, told = run(build, options, count,
                     [program, str(SECONDS), str(RANK_US), str(count)])
    kernels = int(re.search(r"kernels (\d+)", told).group(1))
    return ([100 * one / seconds_of(told) for one in busy],
            100 * kernels * RANK_US / 1e6 / seconds_of(told))


def rank_rows(table, build):
    for count in RANKS:
        native = ranks(build, [], count)[1]
        busy, got_on = ranks(build, ["--compute", str(RANK_PERCENT)], count)
        title = f"limit: {count} ranks that wait for each other"
        off = max(abs(one - RANK_PERCENT) for one in busy)
        table.add(f"{title}, {RANK_PERCENT} %: off by", off, "points",
                  most=RANK_POINTS)
        off = abs(100 * got_on / native - RANK_PERCENT)
        table.add(f"{title}, {RANK_PERCENT} %: beside native, off by", off,
                  "points", most=RANK_POINTS)


def p99_us(build, options):
    """Of launches, one each millisecond, that take less than the share."""
    told = run_loads(build, options, 1, ("rest", "20"))[1]
    return float(re.search(r"p99 (\S+) us", told).group(1))


def rows(table, build):
    for title, processes, load in LOADS:
        for percent in PERCENTS:
            off = share(build, percent, processes, load) - percent
            table.add(f"limit: {title}, {percent} %: off by", abs(off),
                      "points", most=MOST_POINTS)
    rank_rows(table, build)
    native, limited = p99_us(build, []), p99_us(build, ["--compute", "30"])
    table.add("limit: p99 of a short launch within its share: more than"
              " native", limited - native, "us", most=20)
