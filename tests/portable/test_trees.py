# SPDX-License-Identifier: Apache-2.0
"""The portable build in a bare tree of Debian, $GPUKIT_TREE, as
tools/portable/trees.sh mounts it: gpukit is in /opt/gpukit, a program that was
linked for the same C library in /opt/program. Nothing else is installed
there."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
import urllib.request

import pytest

TREE = os.environ.get("GPUKIT_TREE", "")
LIB = "/opt/gpukit/lib/gpukit"
FAKE = ("gpukit", "fake", "-q", "--gpus", "h100-sxm5-80gb:2", "--load",
        "train:0,mem=30GiB,util=80", "--")

pytestmark = pytest.mark.skipif(not TREE, reason="no tree: ./run nightly "
                                "portable makes some")


def command(*args, term="xterm"):
    return ["chroot", TREE, "env", "-i", f"TERM={term}", "HOME=/root",
            "LANG=C.UTF-8", "PATH=/opt/gpukit/bin:/usr/bin:/bin", *args]


def run(*args, status=0):
    done = subprocess.run(command(*args), capture_output=True, text=True,
                          check=False, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == status, (args, done.stdout, done.stderr)
    return done.stdout + done.stderr


def test_stat():
    gpus = json.loads(run(*FAKE, "gpukit", "stat", "--json"))["devices"]
    assert [gpu["name"] for gpu in gpus] == ["NVIDIA H100 80GB HBM3"] * 2


def test_smi():
    listed = run(*FAKE, "nvidia-smi", "-L").splitlines()
    assert len(listed) == 2 and "H100" in listed[1]
    assert "H100" in run(*FAKE, "gpukit", "smi")


def test_without_a_driver_it_says_so():
    assert "driver" in run("gpukit", "stat", status=1)


def test_a_program_that_knows_nothing_of_gpus_runs():
    """The auditor is loaded into every program."""
    assert run(*FAKE, "/bin/echo", "hello") == "hello\n"


@pytest.mark.parametrize("part", ["kernel", "cuBLAS", "cuFFT", "cuSOLVER"])
def test_a_cuda_program(part):
    assert f"{part} works" in run(*FAKE, "/opt/program", part).splitlines()


@pytest.mark.parametrize("driver", ["535", "610"])
def test_a_cuda_program_on_another_driver(driver):
    out = run("gpukit", "fake", "-q", "--gpus", "a100-sxm4-80gb", "--driver",
              driver, "--", "/opt/program", "64")
    assert out == "allocation works\n"


def test_limit():
    limit = (*FAKE, "gpukit", "limit", "--memory", "1GiB", "--",
             "/opt/program")
    assert "allocation works" in run(*limit, "256")
    assert "allocation fails" in run(*limit, "2048", status=1)


def test_record_and_plot():
    run(*FAKE, "timeout", "--preserve-status", "-s", "INT", "2", "gpukit",
        "record", "-i", "0.2", "-o", "/tmp/log.csv")
    summary = run("gpukit", "plot", "--summary", "/tmp/log.csv")
    assert re.search(r"^0 .* 30\.0 ", summary, re.M), summary


class Served:
    """A verb that serves, and its address."""

    def __init__(self, *args):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(
            command(*FAKE, "gpukit", *args, "--port", "0"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        for line in self.process.stdout:
            found = re.search(r"http://[0-9.]+:\d+", line)
            if found:
                return found[0]
        raise AssertionError("it ended without an address")

    def __exit__(self, *exc):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def test_export():
    with Served("export") as address:
        assert "gpukit_" in get(address + "/metrics")


def test_web():
    with Served("web") as address:
        assert "<html" in get(address + "/").lower()


def has(library):
    return "cannot" not in run("sh", "-c",
                               f"ls /usr/lib/*/{library} 2>&1 || true")


def test_tls_tells_what_is_missing():
    """Where apt needs GnuTLS, a bare tree has it."""
    run("sh", "-c", "echo nothing >/tmp/cert; cp /tmp/cert /tmp/key; "
        "chmod 600 /tmp/key")
    said = run(*FAKE, "gpukit", "export", "--port", "0", "--tls-cert",
               "/tmp/cert", "--tls-key", "/tmp/key", status=1)
    if has("libgnutls.so.30"):
        assert "bad certificate or key" in said
    else:
        assert "TLS needs libgnutls.so.30, which is not installed" in said


def test_peers_tell_what_is_missing():
    """A minimal base has no libcurl, but a tree may have more."""
    if has("libcurl*.so.4"):
        with Served("web", "--peer", "http://127.0.0.1:1") as address:
            assert "<html" in get(address + "/").lower()
        return
    said = run(*FAKE, "gpukit", "web", "--port", "0", "--peer",
               "http://127.0.0.1:1", status=1)
    assert "--peer needs libcurl.so.4, which is not installed" in said


def screen_of(term):
    """What the viewer writes to a terminal of this kind before it is left."""
    child, terminal = pty.fork()
    if child == 0:
        termios.tcsetwinsize(0, (24, 80))
        args = command(*FAKE, "gpukit", "top", term=term)
        os.execvp(args[0], args)
    seen = b""
    end = time.monotonic() + 60
    try:
        while b"H100" not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                seen += os.read(terminal, 65536)
        os.write(terminal, b"q")
        while select.select([terminal], [], [], 30)[0]:
            seen += os.read(terminal, 65536)
    except OSError:  # the terminal's other end is closed
        pass
    status = os.waitpid(child, 0)[1]
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen.decode(errors="replace")


@pytest.mark.parametrize("term", ["xterm", "xterm-kitty", "foot",
                                  "tmux-256color", "xterm-ghostty", "vt100"])
def test_top(term):
    """No terminfo of the tree describes some of these terminals."""
    status, seen = screen_of(term)
    assert status == 0, seen
    assert "H100" in seen


def test_the_c_library_is_the_tree_s():
    """So the tests above say something about it."""
    version = run("ldd", "--version").split("\n", 1)[0]
    assert re.search(r"2\.(31|36|41)$", version)
