# SPDX-License-Identifier: Apache-2.0
"""Processes and the host work without psutil; test_without_psutil.py compares
the values with psutil's."""

import os
import subprocess
import sys

import pytest

from python_package import PACKAGE, check_built, run

check_built()
sys.path.insert(0, PACKAGE)

from gpukit import _procfs  # noqa: E402


@pytest.fixture(name="child")
def child_process():
    child = subprocess.Popen(["sleep", "1000"], env={"SEEN": "a=b"})
    yield child
    child.kill()
    child.wait()


def test_a_process_can_be_stopped_continued_and_ended(child):
    ours = _procfs.Process(child.pid)
    ours.suspend()
    os.waitpid(child.pid, os.WUNTRACED)
    assert ours.status() == "stopped"
    ours.resume()
    ours.terminate()
    assert ours.wait(30) == -15 and not ours.is_running()
    child.returncode = -15
    with pytest.raises(_procfs.NoSuchProcess):
        ours.kill()


def test_children_are_found_at_every_depth(child):
    found = _procfs.Process().children(recursive=True)
    assert child.pid in [each.pid for each in found]


def test_the_package_works_without_psutil():
    out = run("""
import sys
sys.modules["psutil"] = None
import gpukit
me = gpukit.HostProcess()
print(gpukit.host.Process.__module__, me is gpukit.HostProcess(),
      me.parent().pid > 0, me.command().startswith("/"),
      len(me.as_snapshot(["name", "status", "command"])))
""")
    assert out.split() == ["gpukit._procfs", "True", "True", "True", "3"]
