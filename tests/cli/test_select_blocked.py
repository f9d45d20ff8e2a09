# SPDX-License-Identifier: Apache-2.0
"""Another user has put something in the way of reservations of `gpukit select`:
without --reserve it continues, with it an error says what to do."""

import contextlib
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

import pytest

import can
from conftest import BUILD, GPUKIT, clean_env

FOUR = ["--gpus", "a100-sxm4-80gb:4"]
OTHER, NOBODY = 12345, 65534
F_OFD_SETLK = 37
BOUND = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--"]
SECTION = 0  # the byte that is locked while a device is chosen

pytestmark = can.needed("other-users")


@pytest.fixture
def place():
    """A directory like /run/lock: owned by root, world-writable, sticky."""
    path = tempfile.mkdtemp(prefix="gpukit-test-", dir="/tmp")
    os.chmod(path, 0o1777)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def select(machine, place):
    """select(WORD...) -> status, stdout, our lines on stderr; it runs without
    root's capabilities, although its user id is 0."""
    made = machine(*FOUR)
    path = os.path.join(place, "locks")

    def start(*words, argv=BOUND, **how):
        return subprocess.Popen(
            [*argv, GPUKIT, "select", *map(str, words)], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_env(**made.env, GPUKIT_RESERVATIONS=path), **how)

    def call(*words):
        started = start(*words)
        out, err = started.communicate(timeout=30)
        return started.returncode, out, [
            line for line in err.splitlines()
            if not line.startswith("CUDA_VISIBLE_DEVICES=")]

    call.start, call.path, call.machine = start, path, made.path
    return call


def warned_once(told, *parts):
    """All devices are printed, with a line that says what is in the way."""
    status, out, lines = told
    assert (status, out) == (0, "3,2,1,0\n"), told
    assert len(lines) == 1 and lines[0].startswith("gpukit select: "), told
    for part in (*parts, "going on"):
        assert part in lines[0], told


def refused(told, *parts):
    status, out, lines = told
    assert (status, out) == (1, ""), told
    assert len(lines) == 1, told
    assert lines[0].startswith("gpukit select: nothing is reserved: "), told
    for part in parts:
        assert part in lines[0], told


# ---- what is there ----

def fifo(path):
    os.mkfifo(path, 0o666)


def directory(path):
    os.mkdir(path)


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)


def private(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def dangling(path):
    os.symlink(path + "-nowhere", path)


def planted(path):
    with open(path + "-victim", "w", encoding="ascii") as victim:
        victim.write("precious")
    os.chmod(path + "-victim", 0o600)
    os.symlink(path + "-victim", path)


@pytest.mark.parametrize("make, name, cure", [
    (fifo, "a FIFO", "rm -r"), (directory, "a directory", "rm -r"),
    (a_socket, "a socket", "rm -r"), (dangling, "a link", "rm -r"),
    (planted, "a link", "rm -r"), (private, "mode 0600", "chmod 666")])
def test_what_another_user_put_there(select, make, name, cure):
    make(select.path)
    os.lchown(select.path, OTHER, OTHER)
    warned_once(select(), select.path, name, f"uid {OTHER}", cure)
    warned_once(select("--wait", "1"), name)
    ran = select.path + "-ran"
    for more in ([], ["--wait"], ["--wait", "0.1"]):
        refused(select("--reserve", *more, "--", "touch", ran), select.path,
                name, f"uid {OTHER}", cure)
    assert not os.path.exists(ran)
    assert os.lstat(select.path).st_uid == OTHER
    assert not os.path.exists(select.path + "-nowhere")
    if make is planted:
        with open(select.path + "-victim", encoding="ascii") as victim:
            assert victim.read() == "precious"
        assert os.stat(select.path + "-victim").st_mode & 0o777 == 0o600


def test_root_reserves_nothing_that_others_do_not_see(select):
    """Root could open the file, but other users could not."""
    private(select.path)
    os.chown(select.path, OTHER, OTHER)
    started = select.start("--reserve", "--", "true", argv=[])
    assert started.communicate(timeout=30)[0] == ""
    assert started.returncode == 1
    os.chown(select.path, 0, 0)  # a user's own file may be private
    assert select("--reserve", "-n", "1", "--", "true") == (0, "", [])


def test_a_container_shares_the_directory_of_the_host(select, place):
    """In the container the directory's owner is not a known user."""
    os.chown(place, OTHER, OTHER)
    alone = ["unshare", "--user", "--map-root-user"]
    can.need("user-namespaces")
    refused(select("--reserve", "--", "true"), "chown root")
    started = select.start("--reserve", "-n", "1", "--", "true", argv=alone)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out, err) == (0, "", "")


def test_a_fifo_that_somebody_writes_to_is_no_more_than_that(select):
    fifo(select.path)
    os.lchown(select.path, NOBODY, NOBODY)
    held = os.open(select.path, os.O_RDWR)
    warned_once(select(), "a FIFO", f"(uid {NOBODY})")
    refused(select("--reserve", "--", "true"), "a FIFO", f"(uid {NOBODY})")
    os.close(held)


def test_what_no_user_spoilt_is_not_told(select):
    assert select() == (0, "3,2,1,0\n", [])
    assert select("--reserve", "-n", "1", "--", "true") == (0, "", [])
    os.chown(select.path, OTHER, OTHER)  # the first user made it
    assert select() == (0, "3,2,1,0\n", [])
    assert select("--reserve", "-n", "1", "--", "true") == (0, "", [])
    os.chmod(select.path, 0o644)  # it can be read
    assert select() == (0, "3,2,1,0\n", [])
    refused(select("--reserve", "--", "true"), "mode 0644", "chmod 666")


# ---- where it is ----

@pytest.mark.parametrize("uid, mode", [(0, 0o777), (OTHER, 0o1777),
                                       (OTHER, 0o755)])
def test_a_directory_where_others_replace_the_file(select, place, uid, mode):
    assert select("--reserve", "-n", "1", "--", "true") == (0, "", [])
    os.chown(place, uid, uid)
    os.chmod(place, mode)
    whose = f"uid {uid}"
    warned_once(select(), place, f"mode {mode:04o}", whose, "chown root")
    refused(select("--reserve", "--", "true"), place, whose, "chown root")


# ---- who locks it ----

@contextlib.contextmanager
def another(uid, path, lock):
    """A process of another user that has locked the file; its pid."""
    ready, told = os.pipe()
    end, hold = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(hold)
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            lock(os.open(path, os.O_RDWR))
            os.write(told, b"x")
            os.read(end, 1)
        finally:
            os._exit(0)
    os.close(told)
    os.close(end)
    assert os.read(ready, 1) == b"x", "it has not locked the file"
    os.close(ready)

    def leave():
        nonlocal hold
        if hold >= 0:
            os.close(hold)
            os.waitpid(pid, 0)
            hold = -1

    leave.pid = pid
    yield leave
    leave()


def all_of_it(fd):
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def all_but_the_section(fd):
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 0, 1)


def open_file_lock(fd, start, length):
    fcntl.fcntl(fd, F_OFD_SETLK, struct.pack(
        "hhxxxxqqixxxx", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0))


def all_of_it_unnamed(fd):
    open_file_lock(fd, 0, 0)


def the_section(fd):
    open_file_lock(fd, SECTION, 1)


def byte_of(machine, uuid):
    """The byte of a device, as docs/SELECT.md defines it."""
    value = 0xcbf29ce484222325
    for byte in f"{machine}\n{uuid}".encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return (value >> 2) + 1


@pytest.fixture
def shared(select):
    """select, after the file was made."""
    assert select("--reserve", "-n", "1", "--", "true") == (0, "", [])
    return select


@pytest.mark.parametrize("lock", [all_of_it, all_but_the_section])
def test_a_lock_over_everything_is_no_reservation(shared, lock):
    with another(NOBODY, shared.path, lock) as it:
        whose = (shared.path, f"process {it.pid} ", f"(uid {NOBODY})",
                 f"kill {it.pid}")
        warned_once(shared(), *whose)
        warned_once(shared("--wait", "1"), *whose)
        refused(shared("--reserve", "--wait", "0.2", "--", "true"), *whose)
    assert shared("--reserve", "-n", "1", "--", "true") == (0, "", [])


def test_a_lock_whose_holder_the_kernel_does_not_tell(shared):
    with another(OTHER, shared.path, all_of_it_unnamed):
        cure = f"fuser -v {shared.path}"
        warned_once(shared(), shared.path, cure)
        refused(shared("--reserve", "--wait", "0.2", "--", "true"), cure)


def test_a_locked_section_stops_only_those_who_reserve(shared):
    with another(OTHER, shared.path, the_section):
        assert shared() == (0, "3,2,1,0\n", [])
        refused(shared("--reserve", "--wait", "0.2", "--", "true"),
                shared.path, "fuser -v")


def test_waiting_for_a_lock_ends_when_waiting_does(shared):
    """It does not wait for a few seconds of its own. A busy host may be slow
    once."""
    def took():
        begun = time.monotonic()
        refused(shared("--reserve", "--wait", "0.1", "--", "true"))
        return time.monotonic() - begun

    with another(OTHER, shared.path, the_section):
        assert any(took() < 4 for _ in range(5))


def test_who_waits_longer_is_told_and_gets_it(shared):
    with another(OTHER, shared.path, the_section) as it:
        waiter = shared.start("--reserve", "--wait", "300", "-n", "1", "--",
                              "echo", "done")
        line = waiter.stderr.readline()
        assert "fuser -v" in line and "going on to wait" in line, line
        it()
        assert waiter.communicate(timeout=60) == ("done\n", "")
        assert waiter.returncode == 0


def test_a_reservation_of_another_user_is_no_obstacle(shared):
    """A byte that is locked for writing through an open file is a reservation:
    its device is skipped without a warning."""
    told = json.loads(shared("--json")[1])

    def reserve(fd):
        open_file_lock(fd, byte_of(shared.machine, told["devices"][0]["uuid"]),
                       1)

    with another(OTHER, shared.path, reserve):
        assert shared() == (0, "2,1,0\n", [])
        status, _, lines = shared("--reserve", "-n", "4", "--", "true")
        assert status == 4 and "1 reserved" in lines[0]
    assert shared() == (0, "3,2,1,0\n", [])


# ---- the cure ----

def test_the_administrators_line_is_installed(tmp_path):
    done = subprocess.run(
        ["cmake", "--install", BUILD, "--prefix", str(tmp_path)], text=True,
        capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    installed = tmp_path / "lib" / "tmpfiles.d" / "gpukit.conf"
    lines = [line.split() for line in installed.read_text().splitlines()
             if not line.startswith("#")]
    assert lines == [["f", "/run/lock/gpukit-reservations", "0666", "root",
                      "root", "-"]]
