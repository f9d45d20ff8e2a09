# SPDX-License-Identifier: Apache-2.0
"""The libraries accept read-only inputs, and their outputs must be writable:
the calls of read_only_client.py run on a fake machine."""

import json
import os
import subprocess
import sys

from conftest import GPUKIT, clean_env

CLIENT = os.path.join(os.path.dirname(__file__), "read_only_client.py")
ILLEGAL_ADDRESS = 700


def test_each_output_must_be_for_writing():
    done = subprocess.run(
        [GPUKIT, "fake", "--gpus", "a100", "--", sys.executable, CLIENT],
        env=clean_env(OPENBLAS_NUM_THREADS="1"), capture_output=True,
        text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) > 100
    wrong = {case: result for case, result in found.items()
             if result != (0 if case.endswith(" -1") else ILLEGAL_ADDRESS)}
    assert not wrong
