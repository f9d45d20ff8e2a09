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
]


def run(build, options, processes, load):
    """How long the GPU was busy, and what the processes printed."""
    gpukit = os.path.join(build, "bin", "gpukit")
    program = os.path.join(build, "bench", "bench-limit-load")
    many = f'for i in $(seq {processes}); do "$@" & done; wait'
    limit = [gpukit, "limit", *options, "--"] if options else []
    with tempfile.TemporaryDirectory() as place:
        report = os.path.join(place, "report.json")
        done = subprocess.run(
            [gpukit, "fake", "--gpus", "h100:1", f"--report={report}", "--",
             *limit, "sh", "-c", many, "sh", program, str(SECONDS), *load],
            check=True, capture_output=True, text=True)
        with open(report, encoding="utf-8") as file:
            busy = json.load(file)["devices"][0]["busy_seconds"]
        return busy, done.stdout


def share(build, percent, processes, load):
    busy, told = run(build, ["--compute", str(percent)], processes, load)
    seconds = max(map(float, re.findall(r"seconds (\S+)", told)))
    return 100 * busy / seconds


def p99_us(build, options):
    """Of launches, one each millisecond, that take less than the share."""
    told = run(build, options, 1, ("rest", "20"))[1]
    return float(re.search(r"p99 (\S+) us", told).group(1))


def rows(table, build):
    for title, processes, load in LOADS:
        for percent in PERCENTS:
            off = share(build, percent, processes, load) - percent
            table.add(f"limit: {title}, {percent} %: off by", abs(off),
                      "points", most=MOST_POINTS)
    native, limited = p99_us(build, []), p99_us(build, ["--compute", "30"])
    table.add("limit: p99 of a short launch within its share: more than"
              " native", limited - native, "us", most=20)
