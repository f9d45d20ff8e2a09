# SPDX-License-Identifier: Apache-2.0
"""The classic use, without the launcher, runs for ten seconds; ./run soak runs
it for 300."""

import os
import subprocess
import sys

import pytest

from conftest import ROOT, clean_env


@pytest.mark.slow
def test_programs_come_and_go_before_nvitop(private_shm):
    assert private_shm("true").returncode == 0
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "tests", "soak",
                                      "soak_classic.py"), "--seconds", "10"],
        capture_output=True, text=True, check=False, timeout=200,
        env=clean_env(GPUKIT_BUILD=os.environ.get("GPUKIT_BUILD", "")
                      or os.path.join(ROOT, "build")))
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.count("programs ended") == 3
