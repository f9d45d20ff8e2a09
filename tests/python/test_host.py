"""Processes and the host without psutil, beside psutil and the kernel."""

import os
import subprocess
import sys

import pytest

from python_package import PACKAGE, check_built, run

check_built()
sys.path.insert(0, PACKAGE)

from gpukit import _procfs  # noqa: E402

psutil = pytest.importorskip("psutil")


@pytest.fixture(name="child")
def child_process():
    child = subprocess.Popen(["sleep", "1000"], env={"SEEN": "a=b"})
    yield child
    child.kill()
    child.wait()


@pytest.mark.parametrize("name", [
    "name", "ppid", "cmdline", "cwd", "exe", "environ", "uids", "username",
    "create_time", "num_threads", "nice", "memory_info", "is_running"])
def test_a_process_is_psutils(child, name):
    while _procfs.Process(child.pid).name() != "sleep":
        pass
    ours = getattr(_procfs.Process(child.pid), name)()
    theirs = getattr(psutil.Process(child.pid), name)()
    if isinstance(theirs, tuple):
        ours, theirs = tuple(ours), tuple(theirs)[:len(ours)]
    assert ours == theirs


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


def test_the_host_is_psutils():
    assert _procfs.virtual_memory().total == psutil.virtual_memory().total
    assert _procfs.swap_memory().total == psutil.swap_memory().total
    assert _procfs.cpu_count() == psutil.cpu_count()
    assert _procfs.cpu_count(False) == psutil.cpu_count(False)
    assert _procfs.boot_time() == psutil.boot_time()


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
