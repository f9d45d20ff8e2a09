# SPDX-License-Identifier: Apache-2.0
"""The cost of a sample of `gpukit record`, beside a logger that asks three
commands for the same each time."""

import os
import statistics
import subprocess
import tempfile

SAMPLES = 100
SPAWNS = 10
PERIOD = "0.02"
# Such loggers run these; `nvidia-smi` is gpukit's own here.
QUERIES = (
    ["--query-compute-apps=pid,gpu_uuid,used_memory", "--format=csv,noheader"],
    ["pmon", "-c", "1", "-s", "um"],
    ["--query-gpu=index,uuid", "--format=csv,noheader"],
)
MOST_MS = 0.5
KINDS = {"record": [], "record --devices": ["--devices"],
         "record --snapshots": ["--snapshots"]}


def cpu_of(argv, env):
    """Milliseconds on a CPU of a process, from its start to its end."""
    process = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{argv} ended with {process.returncode}")
    return 1e3 * (usage.ru_utime + usage.ru_stime)


def sample(gpukit, options, env):
    """CPU time of one sample: start and end, which are once, left out."""
    with tempfile.TemporaryDirectory() as place:
        def run(count):
            return cpu_of([gpukit, "record", "-i", PERIOD, "--count",
                           str(count), "-o", os.path.join(place, "log"),
                           *options], env)

        return statistics.median((run(SAMPLES + 1) - run(1)) / SAMPLES
                                 for _ in range(3))


def spawns(gpukit, env):
    return statistics.median(
        sum(cpu_of([gpukit, "smi", *query], env) for query in QUERIES)
        for _ in range(SPAWNS))


def rows(table, latency, gpukit, env):
    """Adds the figures to the table; returns them. With latency a made-up
    driver spends time of its own in our process: that is not what is wanted
    to be little."""
    peer = spawns(gpukit, env)
    values = {"three spawns": peer}
    for name, options in KINDS.items():
        if options and latency != "none":
            continue
        values[name] = sample(gpukit, options, env)
        plain = not options
        table.add(f"{name} / three queries of smi: CPU time of a sample, "
                  f"latency {latency}", values[name], "ms",
                  peer if plain else None,
                  most=MOST_MS if plain and latency == "none" else None)
    return values
