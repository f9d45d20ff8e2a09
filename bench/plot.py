# SPDX-License-Identifier: Apache-2.0
"""The cost of `gpukit plot` for a recording of ten million rows."""

import os
import subprocess
import tempfile
import threading
import time

ROWS, SECONDS, MIB = 10_000_000, 10, 300
HEADER = b"timestamp,gpu_index,pid,cmd,gpu_mem_mib,sm_util_pct,mem_util_pct\n"


def write(stream, rows):
    """A recording of 32 processes on 8 GPUs, every second."""
    begin = 1_795_000_000
    body = [f",{p // 4},{1000 + p},python train.py --rank {p},{2000 + p},"
            f"{p},5\n" for p in range(32)]
    stream.write(HEADER)
    for second in range(rows // 32):
        now = time.strftime("%Y-%m-%dT%H:%M:%S",
                            time.gmtime(begin + second))
        stream.write("".join(now + row for row in body).encode())
    stream.close()


def measure(argv, rows):
    """(seconds, MiB) of a program that reads a recording from its input;
    seconds are those on a CPU: it mostly waits for the writer."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE) as process:
        writer = threading.Thread(target=write, args=(process.stdin, rows))
        writer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        writer.join()
    if status:
        raise RuntimeError("gpukit plot failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def rows(table, gpukit):
    with tempfile.TemporaryDirectory(prefix="gpukit-bench-") as directory:
        seconds, memory = measure(
            [gpukit, "plot", "-", "--per-pid", "-o",
             os.path.join(directory, "picture.png")], ROWS)
    table.add("plot: 10 million rows, CPU time", seconds, "s", most=SECONDS)
    table.add("plot: 10 million rows, peak memory", memory, "MiB", most=MIB)
