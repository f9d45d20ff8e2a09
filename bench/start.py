# SPDX-License-Identifier: Apache-2.0
"""The cost of a start: `gpukit stat` beside `true`, on 8 GPUs with a process
each. The made-up driver's part of it is told apart by --timings."""

import json
import os
import statistics
import subprocess
import tempfile

MACHINE = ["--gpus", "a100-sxm4-80gb:8", "--load", "train:0-7,mem=2GiB"]
TIMES, MEMORY = 2.2, 3.8  # times as long as `true`, MiB


def driver_ms(gpukit, env, path):
    """How long loading NVML and its calls took in one run."""
    subprocess.run([gpukit, "stat", f"--timings={path}"], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as f:
        whole = json.load(f)["otherData"]
    return whole["load_ms"] + whole["nvml_ms"]


def rows(table, gpukit, measure, env, rounds):
    """measure(argv) is {"wall": ms, "cpu": ms, "rss": MiB} of one run."""
    least, stat, driver = [], [], []
    with tempfile.TemporaryDirectory(prefix="gpukit-bench-") as directory:
        path = os.path.join(directory, "timings.json")
        for _ in range(rounds):
            least.append(measure(["true"])["wall"])
            stat.append(measure([gpukit, "stat"]))
            driver.append(driver_ms(gpukit, env, path))
    true = statistics.median(least)
    wall = statistics.median(run["wall"] for run in stat)
    table.add("stat / true: wall time, 8 GPUs, 8 processes", wall, "ms", true,
              most=TIMES * true)
    table.add("... without the made-up driver's part",
              wall - statistics.median(driver), "ms", true,
              most=TIMES * true)
    table.add("... peak memory",
              statistics.median(run["rss"] for run in stat), "MiB",
              most=MEMORY)
