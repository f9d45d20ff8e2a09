# SPDX-License-Identifier: Apache-2.0
"""The cost of cuBLAS beside that of OpenBLAS, called directly."""

import subprocess

# The lines that are printed: (title, unit, most), as far as it is wanted.
WANTED = {
    "openblas_ms": ("cuBLAS: SGEMM of 1024^3, OpenBLAS directly", "ms", None),
    "sgemm_ms": ("cuBLAS: SGEMM of 1024^3, until it is done", "ms", None),
    "sgemm_over_percent": ("cuBLAS: SGEMM of 1024^3, more than OpenBLAS", "%",
                           5),
}


def rows(table, gpukit, program):
    told = subprocess.run(
        [gpukit, "fake", "--gpus", "a100-sxm4-80gb", "--", program],
        check=True, capture_output=True, text=True).stdout
    found = {name: float(value) for name, value in
             (line.split() for line in told.splitlines())}
    for name, (title, unit, most) in WANTED.items():
        table.add(title, found[name], unit, most=most)
