# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake --shared`: programs of other users see the machine, as it is
now, and change it only if they may."""

import contextlib
import ctypes
import glob
import json
import os
import re
import shutil
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
# Users who have nothing but what a test gives them, whatever runs beside it.
LONELY, OUTSIDER = (first + os.getpid() % 9999 for first in (20000, 30000))
# No machine is named by the environment.
UNNAMED = {"GPUKIT_MACHINE": None}


@pytest.fixture(autouse=True)
def as_root(gpukit):
    del gpukit
    can.need("other-users")


@pytest.fixture(scope="module", autouse=True)
def nothing_stays():
    """Removes the directories of the users that exist only here."""
    yield
    for user in LONELY, OUTSIDER:
        for directory in glob.glob(f"/dev/shm/gpukit*-{user}"):
            shutil.rmtree(directory)


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
        assert f"`gpukit fake join {self.path}`" in said
        self.env = {"GPUKIT_MACHINE": match[1], "LD_LIBRARY_PATH": match[2]}

    def start(self, user, *words, **env):
        return subprocess.Popen(
            [self.gpukit, *map(str, words)], text=True, cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, preexec_fn=become(user),
            env={key: value for key, value in
                 clean_env(HOME="/tmp", **{**self.env, **env}).items()
                 if value is not None})

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


def machines(one, user):
    """What `ctl ls` tells the user: the owner of each machine, and its state.
    """
    done = one.run(user, "fake", "ctl", "ls", "--json", **UNNAMED)
    assert done.returncode == 0, done.stderr
    table = one.run(user, "fake", "ctl", "ls", **UNNAMED).stdout
    told = json.loads(done.stdout)
    for each in told:
        assert each["name"] in table and each["owner"] in table
    return {each["name"]: (each["owner"], each["gpus"], each["state"])
            for each in told}


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
    done = one.run(DAEMON, "fake", "load", "train:0,mem=1GiB")
    assert "can only be shown" in one_line(done, 1, one.path)
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
        with contextlib.suppress(FileNotFoundError):
            os.remove(one.path)
    assert len(seen) == 50
    for before, after in zip(seen, seen[1:]):
        assert all(a <= b for a, b in zip(before, after)), (before, after)
    assert seen[-1][0] > seen[20][0]  # time goes on without the launcher


def test_machines_that_others_share_are_listed_with_their_owners(shared):
    one = shared(OWNER, "--shared", "--name", "lab", "--gpus", "h100:2")
    two = shared(0, "--shared=write", "--gpus", "t4:3")
    with subprocess.Popen(
            [one.gpukit, "fake", "-q", "--gpus", "h100", "--", "cat"],
            stdin=subprocess.PIPE, env=clean_env(HOME="/tmp")) as private:
        assert one.path == f"/dev/shm/gpukit-shared-{OWNER}/lab"
        for user in OWNER, DAEMON, 0:
            told = machines(one, user)
            assert told[one.path] == (f"user {OWNER}", 2, "running")
            assert told[two.path] == ("root", 3, "running")
            assert ("root", 1, "running") not in told.values() or not user
        os.chmod(one.path, 0o600)
        assert one.path not in machines(one, DAEMON)
        assert one.path in machines(one, OWNER)
        private.stdin.close()


def test_a_machine_is_found_by_its_name(shared):
    name = f"lab{os.getpid()}"
    one = shared(LONELY, "--shared", "--name", name, "--gpus", "h100:2")

    def show(user, *words):
        return one.run(user, "fake", "ctl", "show", "0", *words, **UNNAMED)

    for user in LONELY, OUTSIDER:
        done = show(user, "--name", name)
        assert done.stdout.startswith(f"machine {one.path}, "), done
    # The only one of its owner needs no name; others must want it.
    assert show(LONELY).stdout.startswith(f"machine {one.path}, ")
    one_line(show(OUTSIDER), 1, "no made-up machine of yours exists",
             "lists those of others")
    one_line(show(OUTSIDER, "--name", "none"), 1, "no machine at ", "none")
    # Of two, the own one is meant; a third user must say which.
    two = shared(0, "--shared", "--name", name, "--gpus", "t4")
    assert show(0, "--name", name).stdout.startswith(f"machine {two.path}, ")
    one_line(show(OUTSIDER, "--name", name), 1,
             f"which machine: {two.path}, {one.path}? Name it by its path")


def test_the_next_launcher_removes_a_shared_orphan(open_build):
    one = Shared(open_build, LONELY, "--shared")
    one.process.kill()
    one.process.communicate(timeout=20)
    end = time.monotonic() + 20
    while machines(one, LONELY)[one.path][2] != "orphan":
        assert time.monotonic() < end
    assert one.run(0, "fake", "--", "true").returncode == 0
    assert os.path.exists(one.path)  # it is not root's
    assert one.run(LONELY, "fake", "--", "true").returncode == 0
    assert not os.path.exists(one.path)


def test_own_machines_are_found_without_those_of_others(shared):
    """Others may share many machines, each of which takes time to read."""
    one = shared(OWNER, "--shared", "--gpus", "t4")
    libc = ctypes.CDLL(None)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    in_open = 0x20
    assert libc.inotify_add_watch(watch, one.path.encode(), in_open) > 0
    done = run_as(LONELY, one.gpukit, "fake", "--", "sh", "-ec",
                  "unset GPUKIT_MACHINE; $0 fake ctl show 0", one.gpukit)
    assert (done.returncode, done.stderr) == (0, "")
    with pytest.raises(BlockingIOError):
        os.read(watch, 4096)
    run_as(LONELY, one.gpukit, "fake", "ctl", "ls")
    assert os.read(watch, 4096)
    os.close(watch)


def test_what_strangers_put_among_their_machines_harms_nobody(shared):
    one = shared(0, "--shared", "--gpus", "t4")
    directory = f"/dev/shm/gpukit-shared-{OUTSIDER}"
    os.mkdir(directory, 0o755)
    try:
        os.mkfifo(os.path.join(directory, "fifo"))
        os.symlink(one.path, os.path.join(directory, "link"))
        for i in range(500):
            shutil.copy(__file__, os.path.join(directory, f"m{i}"))
        began = time.monotonic()
        told = machines(one, DAEMON)
        assert one.path in told
        assert not any(name.startswith(directory) for name in told)
        assert time.monotonic() < began + 20
    finally:
        shutil.rmtree(directory)


def test_a_place_that_others_cannot_enter_is_refused(open_build, open_dir):
    place = os.path.join(open_dir, "mine", "deep")
    os.makedirs(place)
    os.chown(place, OWNER, OWNER)
    os.chown(os.path.dirname(place), OWNER, OWNER)
    gpukit = os.path.join(open_build, "bin", "gpukit")

    def launch(user, mode):
        os.chmod(os.path.dirname(place), mode)
        return run_as(user, gpukit, "fake", "--shared", "--gpus", "t4",
                      "--name", os.path.join(place, "m"), "--", "true")

    one_line(launch(OWNER, 0o700), 1,
             f"nobody else may enter {open_dir}/mine (mode 0700)", "--name")
    for user, mode, who in ((OWNER, 0o710, "user 12345 and its group"),
                            (0, 0o700, "user 12345")):
        done = launch(user, mode)
        assert done.returncode == 0, done.stderr
        assert (f"only {who} may enter {open_dir}/mine (mode {mode:04o}), "
                "nobody else") in done.stderr.splitlines()[0]
    done = launch(OWNER, 0o711)
    assert done.returncode == 0
    assert "may enter" not in done.stderr
