# SPDX-License-Identifier: Apache-2.0
"""`python -m nvitop` is the command nvitop."""

from gpukit._command import run
from nvitop.cli import main

if __name__ == "__main__":
    run("nvitop", main)
