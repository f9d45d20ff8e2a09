# SPDX-License-Identifier: Apache-2.0
"""The speed of an all-reduce beside that of memcpy."""

import subprocess


def rows(table, gpukit, program):
    told = subprocess.run(
        [gpukit, "fake", "--gpus", "h100:4", "--", program],
        check=True, capture_output=True, text=True).stdout
    found = {name: float(value) for name, value in
             (line.split() for line in told.splitlines())}
    table.add("NCCL: memcpy of 64 MiB, one thread", found["memcpy_gbs"],
              "GB/s")
    table.add("NCCL: all-reduce of 64 MiB, 4 ranks", found["allreduce_gbs"],
              "GB/s")
    table.add("NCCL: all-reduce of 64 MiB, part of memcpy's speed",
              100 * found["allreduce_gbs"] / found["memcpy_gbs"], "%",
              least=30)
