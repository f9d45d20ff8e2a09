# SPDX-License-Identifier: Apache-2.0
"""C tests that were killed leave their machines behind; the next session
removes them."""

import os
import subprocess

from conftest import remove_what_the_dead_left


def test_only_those_of_the_dead_are_removed(tmp_path):
    dead = subprocess.Popen(["true"])
    dead.wait()
    for pid in (dead.pid, os.getpid()):
        made = tmp_path / f"gpukit-test-{pid}-abcdef"
        made.mkdir()
        (made / "machine").write_bytes(b"\0" * 4096)
    remove_what_the_dead_left(str(tmp_path / "gpukit-test-*-*"))
    assert os.listdir(tmp_path) == [f"gpukit-test-{os.getpid()}-abcdef"]
