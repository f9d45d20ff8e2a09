# SPDX-License-Identifier: Apache-2.0
"""When a launcher is killed, what its command started ends too."""

import os
import signal
import subprocess
import sys

import pytest

from conftest import GPUKIT, clean_env
from tools import alive, children, wait_until

# Runs an endless kernel and says so.
ENDLESS = r'''
import ctypes
TEXT = b"""
.version 7.0
.target sm_50
.address_size 64
.visible .entry endless()
{
again:
	bra again;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")
at = ctypes.c_void_p()
assert not cuda.cuInit(0)
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(at), 0)
assert not cuda.cuCtxSetCurrent(at)
assert not cuda.cuModuleLoadData(ctypes.byref(at), TEXT)
assert not cuda.cuModuleGetFunction(ctypes.byref(at), at, b"endless")
assert not cuda.cuLaunchKernel(at, 1, 1, 1, 1, 1, 1, 0, None, None, None)
'''

# What a command may leave behind: a child, a daemon with a session of its own
# whose parent is gone, one that ignores SIGTERM, one that is stopped. Each
# writes its pid.
FAMILY = r'''
import os, signal, sys, time
def tell():
    os.write(1, b"%d\n" % os.getpid())
def stay():
    while True:
        time.sleep(9)
if not os.fork():
    tell(); stay()
if not os.fork():
    os.setsid()
    if not os.fork():
        os.chdir("/")
        tell(); stay()
    os._exit(0)
if not os.fork():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tell(); stay()
if not os.fork():
    tell()
    os.kill(os.getpid(), signal.SIGSTOP)
    stay()
tell(); stay()
'''


class Launcher:
    """A launcher in a session of its own, and the pids that its command wrote.
    """

    def __init__(self, tmp_path, code, count):
        self.path = str(tmp_path / "machine")
        self.process = subprocess.Popen(
            [GPUKIT, "fake", "--name", self.path, "--", sys.executable, "-c",
             code], stdout=subprocess.PIPE, text=True, env=clean_env(),
            start_new_session=True)
        self.pids = [int(self.process.stdout.readline())
                     for _ in range(count)]

    def watch(self):
        def name(pid):
            with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                return f.read().strip()
        found = []
        wait_until(lambda: found.extend(
            pid for pid in children(self.process.pid)
            if name(pid) == "gpukit-watch") or found)
        return found[0]

    def is_gone(self):
        return not any(alive(pid) for pid in self.pids)

    def end(self):
        for pid in self.pids + [self.process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def launch(tmp_path):
    made = []

    def make(code, count):
        made.append(Launcher(tmp_path, code, count))
        return made[-1]
    yield make
    for one in made:
        one.end()


def test_a_program_with_an_endless_kernel(launch):
    one = launch(ENDLESS + "import os, time\nprint(os.getpid(), flush=True)\n"
                 "cuda.cuCtxSynchronize()\n", 1)
    os.kill(one.process.pid, signal.SIGKILL)
    wait_until(one.is_gone)


def test_all_that_descends_from_the_command(launch):
    one = launch(FAMILY, 5)
    os.kill(one.process.pid, signal.SIGKILL)
    wait_until(one.is_gone)


def test_what_a_launcher_within_has_started(tmp_path, launch):
    """The mark of the inner launcher does not hide that of the outer one."""
    within = str(tmp_path / "within")
    one = launch("import subprocess, sys\n"
                 f"subprocess.run([{GPUKIT!r}, 'fake', '--name', {within!r},"
                 f" '--', sys.executable, '-c', {FAMILY!r}])\n", 5)
    os.kill(one.process.pid, signal.SIGKILL)
    wait_until(one.is_gone)


def test_a_signal_to_the_whole_group_leaves_nobody(launch):
    one = launch(FAMILY, 5)
    one.watch()  # when it has its name, it has a session of its own
    wait_until(lambda: os.getsid(one.watch()) == one.watch())
    os.killpg(one.process.pid, signal.SIGKILL)
    wait_until(one.is_gone)


def test_without_the_watch_the_command_still_ends(launch):
    one = launch("import os, time\nprint(os.getpid(), flush=True)\n"
                 "time.sleep(99)\n", 1)
    watch = one.watch()
    os.kill(watch, signal.SIGKILL)
    os.kill(one.process.pid, signal.SIGKILL)
    wait_until(one.is_gone)


def test_strangers_on_the_machine_live(launch):
    one = launch("import os, time\nprint(os.getpid(), flush=True)\n"
                 "time.sleep(99)\n", 1)
    with subprocess.Popen(
            [sys.executable, "-c", "import time\nprint('up', flush=True)\n"
             "time.sleep(99)"], stdout=subprocess.PIPE,
            env=clean_env(GPUKIT_MACHINE=one.path)) as stranger:
        stranger.stdout.readline()
        watch = one.watch()
        os.kill(one.process.pid, signal.SIGKILL)
        wait_until(lambda: one.is_gone() and not alive(watch))
        assert stranger.poll() is None
        stranger.kill()


def test_a_launcher_that_ends_leaves_daemons(launch):
    one = launch("import os, time\nif not os.fork():\n    os.setsid()\n"
                 "    print(os.getpid(), flush=True)\n    time.sleep(99)\n"
                 "    os._exit(0)\nos.wait3(os.WNOHANG)\n", 1)
    assert one.process.wait() == 0
    assert not os.path.exists(one.path)
    assert alive(one.pids[0])


def test_a_reader_of_its_output_sees_the_end(tmp_path):
    """When all have ended, nobody keeps the pipe open."""
    with subprocess.Popen(
            [GPUKIT, "fake", "--name", str(tmp_path / "m"), "--", "sh", "-c",
             "echo up; exec sleep 99"], stdout=subprocess.PIPE, text=True,
            env=clean_env()) as one:
        assert one.stdout.readline() == "up\n"
        one.kill()
        assert one.stdout.read() == ""
