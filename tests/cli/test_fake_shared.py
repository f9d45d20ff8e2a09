# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake --shared`: programs of other users see the machine, as it is
now, and change it only if they may."""

import contextlib
import json
import os
import re
import stat
import subprocess
import time
import urllib.error
import urllib.request

import pytest

import can
from conftest import clean_env
from stranger import NOBODY, become, run_as
from tools import one_line

OWNER, DAEMON = 12345, NOBODY


@pytest.fixture(autouse=True)
def as_root(gpukit):
    del gpukit
    can.need("other-users")


class Shared:
    """A shared machine of a user, until stop(), and what was said of it."""

    def __init__(self, build, user, *options):
        self.gpukit = os.path.join(build, "bin", "gpukit")
        self.user = user
        self.process = subprocess.Popen(
            [self.gpukit, "fake", *options, "--", "sh", "-c",
             "echo up; exec cat"], text=True, cwd="/", umask=0o077,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, preexec_fn=become(user),
            env=clean_env(HOME="/tmp"))
        assert self.process.stdout.readline() == "up\n"
        said = self.process.stderr.readline()
        match = re.search(r"GPUKIT_MACHINE=(\S+) LD_LIBRARY_PATH=(\S+)", said)
        assert match, said
        self.path = match[1]
        self.env = {"GPUKIT_MACHINE": match[1], "LD_LIBRARY_PATH": match[2]}

    def start(self, user, *words, **env):
        return subprocess.Popen(
            [self.gpukit, *map(str, words)], text=True, cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, preexec_fn=become(user),
            env=clean_env(HOME="/tmp", **self.env, **env))

    def run(self, user, *words, **env):
        with self.start(user, *words, **env) as process:
            out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(words, process.returncode, out,
                                           err)

    def stop(self):
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0


@pytest.fixture
def shared(open_build):
    started = []

    def start(user, *options):
        started.append(Shared(open_build, user, *options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def energies(one, user):
    """The energies of all GPUs, as a new program of the user sees them."""
    done = one.run(user, "stat", "--json")
    assert done.returncode == 0, done.stderr
    return [d["energy_joules"] for d in json.loads(done.stdout)["devices"]]


def frames(process):
    """The temperatures of GPU 0 in a daemon's snapshots."""
    for line in process.stdout:
        yield json.loads(line)["devices"][0]["temperature_celsius"]


@pytest.mark.parametrize("owner", [0, OWNER])
@pytest.mark.parametrize("mode, bits", [("", 0o644), ("=read", 0o644),
                                        ("=write", 0o666)])
def test_a_daemon_of_another_user_follows_the_machine(shared, owner, mode,
                                                      bits):
    one = shared(owner, "--shared" + mode, "--gpus", "h100:2")
    assert stat.S_IMODE(os.stat(one.path).st_mode) == bits
    assert stat.S_IMODE(os.stat(os.path.dirname(one.path)).st_mode) == 0o755
    daemon = one.start(DAEMON, "stat", "--json-lines", "--watch=0.2")
    try:
        told = frames(daemon)
        next(told)
        for degrees in (61, 72, 83):
            done = one.run(owner, "fake", "ctl", "set", 0,
                           f"temperature={degrees}")
            assert done.returncode == 0, done.stderr
            end = time.monotonic() + 20
            while next(told) != degrees:
                assert time.monotonic() < end, degrees
    finally:
        daemon.terminate()
        daemon.communicate(timeout=20)


def test_a_daemon_of_another_user_hears_of_xids(shared):
    one = shared(OWNER, "--shared", "--gpus", "h100:2", "--load",
                 "train:1,mem=4GiB")
    daemon = one.start(DAEMON, "export", "--port", "0", "--processes",
                       "-i", "0.2")
    try:
        url = re.search(r"http://\S+", daemon.stderr.readline())[0]

        def until(part):
            end, text = time.monotonic() + 30, ""
            while part not in text:
                assert time.monotonic() < end, text
                time.sleep(0.1)
                with contextlib.suppress(urllib.error.HTTPError), \
                        urllib.request.urlopen(url, timeout=20) as answer:
                    text = answer.read().decode()
            return text

        until("gpukit_process_gpu_memory_bytes{")
        until("gpukit_xid_last{")
        done = one.run(OWNER, "fake", "ctl", "fail", 0, "xid=31")
        assert done.returncode == 0, done.stderr
        assert 'xid="31"} 1' in until("gpukit_xid_errors_by_number_total{")
    finally:
        daemon.terminate()
        daemon.communicate(timeout=20)


@pytest.mark.parametrize("owner", [0, OWNER])
def test_who_may_only_read_changes_nothing(shared, owner):
    one = shared(owner, "--shared", "--gpus", "h100:2")
    done = one.run(DAEMON, "fake", "ctl", "set", 0, "temperature=90",
                   GPUKIT_TRUST=str(owner))
    assert done.returncode == 1 and "can only be shown" in done.stderr
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run(["sh", "-c", f": >>{one.path}"], check=True,
                       preexec_fn=become(DAEMON), capture_output=True)
    shown = one.run(owner, "fake", "ctl", "show", 0).stdout
    assert "90" not in re.findall(r"temperature\D+(\d+)", shown)


def test_who_may_write_must_trust_the_owner(shared):
    """Root's machines are trusted, those of other users only on request."""
    one = shared(0, "--shared=write", "--gpus", "h100:2")
    done = one.run(DAEMON, "fake", "ctl", "set", 0, "temperature=77")
    assert done.returncode == 0, done.stderr
    two = shared(OWNER, "--shared=write", "--gpus", "h100:2")
    change = ("fake", "ctl", "set", 0, "temperature=78")
    done = two.run(DAEMON, *change)
    assert "can only be shown" in one_line(done, 1, "belongs to user 12345")
    assert two.run(DAEMON, *change, GPUKIT_TRUST="12346").returncode == 1
    done = two.run(DAEMON, *change, GPUKIT_TRUST="12345")
    assert done.returncode == 0, done.stderr
    for each, degrees in (one, 77), (two, 78):
        told = json.loads(each.run(each.user, "stat", "--json").stdout)
        assert told["devices"][0]["temperature_celsius"] == degrees


def test_machines_are_private_without_it(open_build):
    one = Shared(open_build, 0, "--shared", "--gpus", "h100")
    try:
        assert one.run(DAEMON, "stat").returncode == 0
        # A private machine beside it is not.
        with subprocess.Popen(
                [one.gpukit, "fake", "-q", "--gpus", "h100", "--", "sh", "-c",
                 "echo $GPUKIT_MACHINE; exec cat"], text=True, cwd="/",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                env=clean_env(HOME="/tmp")) as other:
            one.env["GPUKIT_MACHINE"] = other.stdout.readline().strip()
            assert one.run(DAEMON, "stat").returncode == 1
            other.stdin.close()
    finally:
        one.stop()


def test_a_directory_of_somebody_else_is_refused(open_build):
    directory = "/dev/shm/gpukit-shared-54321"
    os.mkdir(directory, 0o755)
    try:
        done = run_as(54321, os.path.join(open_build, "bin", "gpukit"), "fake",
                      "--shared", "--", "true")
        one_line(done, 1, f"{directory} belongs to somebody else")
    finally:
        os.rmdir(directory)


def test_counters_are_the_owners_and_never_fall(shared):
    """Hours pass in which nobody looks: the launcher computes them."""
    one = shared(OWNER, "--shared", "--gpus", "h100:8", "--speed", "1000",
                 "--load", "infer")
    time.sleep(6)
    before, daemons = energies(one, DAEMON), []
    for _ in range(3):
        owners = energies(one, OWNER)
        # The owner's programs see this moment, the others a little later.
        time.sleep(0.5)
        daemons.append(energies(one, DAEMON))
        for early, middle, late in zip(before, owners, daemons[-1]):
            assert 0 < early <= middle <= late
        before = daemons[-1]


def test_a_launcher_that_is_killed_leaves_counters_that_do_not_fall(
        open_build):
    one = Shared(open_build, 0, "--shared", "--gpus", "h100:2", "--load",
                 "train")
    daemon = one.start(DAEMON, "stat", "--json-lines", "--watch=0.1")
    seen = []
    try:
        for line in daemon.stdout:
            seen.append([d["energy_joules"]
                         for d in json.loads(line)["devices"]])
            if len(seen) == 10:
                one.process.kill()
                one.process.communicate(timeout=20)
            if len(seen) == 50:
                break
    finally:
        daemon.terminate()
        daemon.communicate(timeout=20)
        os.remove(one.path)
    assert len(seen) == 50
    for before, after in zip(seen, seen[1:]):
        assert all(a <= b for a, b in zip(before, after)), (before, after)
    assert seen[-1][0] > seen[20][0]  # time goes on without the launcher
