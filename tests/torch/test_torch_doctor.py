# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake doctor --python` says of an installed PyTorch what the program
itself finds."""

import json
import subprocess

from conftest import GPUKIT
from torch_program import python, run, torch_env


def ask(env):
    done = subprocess.run([GPUKIT, "fake", "doctor", "--json", "--python",
                           python()], env=env, text=True, capture_output=True,
                          check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)[0]


def test_it_knows_version_library_and_refusals():
    version, library, rows = run("""
import json
from _gpukit_torch import table
print(torch.__version__, torch._gpukit_library, json.dumps(
    [row for row in table.rows() if row["fate"] == "refused"]))
""").stdout.split(" ", 2)
    found = ask(torch_env())
    assert (found["pytorch"], found["built"]) == (version, library)
    assert found["refused"] == json.loads(rows)


def test_before_the_first_program_nothing_is_built(tmp_path):
    found = ask(torch_env(XDG_CACHE_HOME=str(tmp_path)))
    assert found["runs"] and found["built"] is None
    assert not list(tmp_path.iterdir())
