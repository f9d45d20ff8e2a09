# SPDX-License-Identifier: Apache-2.0
"""Fixtures that the Python tests share: the built command and machines to try
it on.

GPUKIT_BUILD names the build tree; default: build/ in the source tree.
GPUKIT_COLLECTED names a file for the ids of all collected tests, which
tools/tests-ran.py compares with those that ran. GPUKIT_PRELOAD is preloaded
into every program that may use ours: a sanitizer's library, which must come
first where a program without it loads one of our libraries with it. pytest
itself runs with it in LD_PRELOAD, and does not pass it on to compilers and
other tools.
"""

import ctypes
import glob
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

import can

# Fixtures that tests of several folders use.
pytest_plugins = ["hami_region", "limit_shells", "limit_tools", "stranger"]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get("GPUKIT_BUILD",
                                       os.path.join(ROOT, "build")))
GPUKIT = os.path.join(BUILD, "bin", "gpukit")
FAKE_DIR = os.path.join(BUILD, "lib", "gpukit", "fake")
PRELOAD = os.environ.get("GPUKIT_PRELOAD")


def core_function(name):
    """A function of the machine's core, int name(...), from the rows of
    tests/machine/by_name.c."""
    library = ctypes.CDLL(os.path.join(BUILD, "tests", "libtest-machine.so"))
    library.test_function.restype = ctypes.c_void_p
    at = library.test_function(name.encode())
    assert at, f"{name} is not in tests/machine/by_name.c"
    return ctypes.CFUNCTYPE(ctypes.c_int)(at)


def sanitized():
    """Whether the build has a sanitizer: memory figures differ, and no auditor
    (LD_AUDIT) leads programs to our libraries."""
    with open(GPUKIT, "rb") as f:
        return b"__asan_init" in f.read()


def clean_env(**more):
    """The environment of a user who has set nothing of ours, whose machines and
    groups can only be in /dev/shm. Without the size of a terminal, which some
    versions of pytest export to their workers."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("GPUKIT_", "LD_"))
           and k not in ("XDG_RUNTIME_DIR", "COLUMNS", "LINES")}
    if PRELOAD:
        env["LD_PRELOAD"] = PRELOAD
    env.update(more)
    return env


def preload(library):
    """The value of LD_PRELOAD with a library of the test's own."""
    return f"{PRELOAD}:{library}" if PRELOAD else str(library)


def remove_what_the_dead_left(pattern="/dev/shm/gpukit-test-*-*"):
    """Removes the machines of C tests that were killed: gpukit-test-PID-NAME.
    """
    for path in glob.glob(pattern):
        pid = os.path.basename(path).split("-")[2]
        if not os.path.exists(f"/proc/{pid}"):
            shutil.rmtree(path, ignore_errors=True)


def end_children_by_signals():
    """nohup(1) ignores SIGHUP, and a background job of a shell SIGINT and
    SIGQUIT; everything started here would inherit that. Handlers are not
    inherited: with them children have the default."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_configure(config):
    end_children_by_signals()
    config.addinivalue_line("markers", "slow: takes half a minute")
    if not hasattr(config, "workerinput"):  # of the session, not of each
        remove_what_the_dead_left()


def pytest_collection():
    """xdist's workers have been started by now; they need it as well."""
    if PRELOAD:
        os.environ.pop("LD_PRELOAD", None)


def pytest_collection_modifyitems(items):
    """Slow tests come first, so that the workers end together."""
    items.sort(key=lambda item: not item.get_closest_marker("slow"))


def pytest_collection_finish(session):
    """Writes the collected ids once: all of xdist's workers have the same
    tests, so the first one writes."""
    path = os.environ.get("GPUKIT_COLLECTED")
    worker = getattr(session.config, "workerinput", {}).get("workerid", "gw0")
    if path and worker == "gw0" and session.items:
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(item.nodeid + "\n" for item in session.items)


def needed(module, who):
    """A module from PyPI. Without it the file or test that needs it is skipped
    and says so; in CI that is a failure."""
    if os.environ.get("CI"):
        return importlib.import_module(module)
    return pytest.importorskip(
        module, reason=f"{who} needs {module}, of tests/requirements.txt")


class Command:
    """Runs `gpukit ...` and reads its output."""

    path = GPUKIT

    def __call__(self, *args, env=None, **kwargs):
        kwargs.setdefault("timeout", 120)
        return subprocess.run([GPUKIT, *map(str, args)], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              env=clean_env(**(env or {})), check=False,
                              **kwargs)

    def ok(self, *args, **kwargs):
        done = self(*args, **kwargs)
        assert done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout

    def json(self, *args, **kwargs):
        return json.loads(self.ok(*args, **kwargs))


class Machine:
    """A fake machine that runs until stop(); its command is `cat`."""

    def __init__(self, path, *options):
        self.path = str(path)
        self.process = subprocess.Popen(
            [GPUKIT, "fake", "--twins", "--name", self.path,
             *map(str, options), "--", "sh", "-c", "echo up; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=clean_env())
        assert self.process.stdout.readline() == "up\n"

    @property
    def env(self):
        """The variables with which a program sees this machine without the
        launcher."""
        return {"GPUKIT_MACHINE": self.path, "LD_LIBRARY_PATH": FAKE_DIR}

    def ctl(self, *args):
        return subprocess.run(
            [GPUKIT, "fake", "ctl", "--name", self.path, *map(str, args)],
            text=True, capture_output=True, env=clean_env(), check=False,
            timeout=60)

    def show(self, gpu="all"):
        done = self.ctl("show", gpu, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def python(self, code):
        """The output of a Python program on this machine; it uses NVML through
        ctypes."""
        done = subprocess.run([sys.executable, "-c", NVML + code], text=True,
                              capture_output=True, env=clean_env(**self.env),
                              check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def kill(self):
        """Kills the launcher; its command sees the end of its input."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


NVML = """
import ctypes, time
nvml = ctypes.CDLL("libnvidia-ml.so.1")
assert nvml.nvmlInit_v2() == 0
def count():
    n = ctypes.c_uint()
    assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(n)) == 0
    return n.value
def device(i):
    d = ctypes.c_void_p()
    r = nvml.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(d))
    return d if r == 0 else r
def name(i):
    text = ctypes.create_string_buffer(96)
    assert nvml.nvmlDeviceGetName(device(i), text, 96) == 0
    return text.value.decode()
def temperature(i):
    t = ctypes.c_uint()
    r = nvml.nvmlDeviceGetTemperature(device(i), 0, ctypes.byref(t))
    return t.value if r == 0 else -r
"""


@pytest.fixture(scope="session")
def gpukit():
    assert os.access(GPUKIT, os.X_OK), f"{GPUKIT} is missing: ./run build"
    return Command()


@pytest.fixture
def machine(gpukit, tmp_path):
    """machine(OPTION...) starts a machine; all are stopped at the end."""
    started = []

    def start(*options, name=None):
        path = tmp_path / (name or f"machine{len(started)}")
        started.append(Machine(path, *options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture(scope="session")
def private_shm():
    """private_shm(SCRIPT, size) runs a shell script with a /dev/shm of its own,
    as root of a user namespace."""

    def run(script, size="64m"):
        return subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec",
             f"mount -t tmpfs -o size={size} none /dev/shm\n{script}"],
            text=True, capture_output=True, env=clean_env(G=GPUKIT, D=FAKE_DIR),
            check=False, timeout=120)

    can.need("mounts-of-its-own")
    return run
