# SPDX-License-Identifier: Apache-2.0
"""Which machine `gpukit fake` uses, orphaned machines, and invalid files."""

import concurrent.futures
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import pytest

from conftest import GPUKIT, Machine, clean_env, preload
from stranger import NOBODY, become
from tools import one_line

MAGIC = 0x314D54494B555047

# ---- which machine ----

def test_ctl_finds_the_only_machine(private_shm):
    done = private_shm("""
        $G fake ctl show 2>&1 && exit 9
        $G fake ctl ls
        $G fake --name only -- sh -c 'unset GPUKIT_MACHINE
            $G fake ctl show 0 | head -1
            $G fake ctl ls
            $G fake --name other -- sh -c "unset GPUKIT_MACHINE
                \\$G fake ctl show 2>&1; \\$G fake ctl show 0 --name only" |
                sed -n 1,2p'
        ls /dev/shm/gpukit-*""")
    lines = done.stdout.splitlines()
    assert lines[0] == ("gpukit fake: no made-up machine exists; `gpukit "
                        "fake -- CMD` creates one"), done
    assert lines[1] == "no machines"
    assert lines[2].startswith("machine /dev/shm/gpukit-0/only, driver ")
    assert lines[4].split()[:3] == ["only", "8", "0"]
    assert lines[4].endswith("running")
    assert lines[5].startswith("gpukit fake: which machine: only, "
                               "other? Use --name")
    assert lines[6].startswith("machine /dev/shm/gpukit-0/only, ")
    assert len(lines) == 7


def test_ctl_never_makes_a_machine(private_shm):
    done = private_shm("$G fake ctl show --name default; ls /dev/shm")
    assert done.stdout == ""
    assert "no machine at /dev/shm/gpukit-0/default" in done.stderr


def test_a_name_that_is_taken(gpukit, machine):
    one = machine()
    done = gpukit("fake", "--name", one.path, "--", "true")
    one_line(done, 1, f"machine {one.path} exists already", "--name")
    assert one.show()["gpus"]


def test_many_launchers_at_once(gpukit):
    def launch(i):
        return gpukit("fake", "--gpus", f"t4:{i + 1}", "--load",
                      "train:all,mem=1GiB", "--", GPUKIT, "fake", "ctl",
                      "show", "--json")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, done in enumerate(pool.map(launch, range(8))):
            assert done.returncode == 0, done.stderr
            assert done.stdout.count('"uuid"') == i + 1
            assert done.stdout.count('"processes": 1') == i + 1


# ---- orphans ----

def test_the_next_launcher_removes_an_orphan(private_shm):
    done = private_shm("""
        $G fake --name x -- sh -c 'kill -9 $PPID' || :
        $G fake ctl ls | tail -1
        $G fake --name y -- ls /dev/shm/gpukit-0""")
    lines = done.stdout.splitlines()
    assert lines[0].split()[0] == "x" and lines[0].endswith("orphan"), done
    assert lines[1:] == ["y"]


def test_an_orphan_that_is_in_use_stays(private_shm):
    done = private_shm("""
        $G fake --name x -- sh -c 'unset GPUKIT_LAUNCHER
            (setsid $G fake load --name x idle:0 & echo $! > /dev/shm/pid)
            until $G fake ctl show 0 | grep -q "1 process"; do :; done
            kill -9 $PPID' || :
        $G fake ctl ls | tail -1
        $G fake -- ls /dev/shm/gpukit-0
        kill -INT $(cat /dev/shm/pid)
        while kill -0 $(cat /dev/shm/pid) 2>/dev/null; do :; done
        echo --
        $G fake --name y -- ls /dev/shm/gpukit-0""")
    before, after = done.stdout.split("--\n")
    lines = before.splitlines()
    assert lines[0].split()[:3] == ["x", "8", "1"], done
    assert lines[0].endswith("launcher dead")
    assert "x" in lines[1:]
    assert after == "y\n"


def test_a_machine_of_a_foreign_pid_namespace_stays(private_shm):
    done = private_shm("""
        unshare --pid --fork --mount-proc sh -c '
            $G fake --name x -- sh -c "kill -9 \\$PPID"; :'
        $G fake ctl ls | tail -1
        $G fake --name y -- ls /dev/shm/gpukit-0""")
    lines = done.stdout.splitlines()
    assert lines[0].endswith("launcher in another pid namespace"), done
    assert lines[1:] == ["x", "y"]


def test_equal_pids_in_two_namespaces_do_not_collide(private_shm):
    """The first one runs until both are done: a later one might reuse the
    number of a namespace that has ended."""
    done = private_shm("""
        mkfifo /dev/shm/done /dev/shm/end
        exec 3<>/dev/shm/end 4<>/dev/shm/done
        for i in 1 2; do
            unshare --pid --fork --mount-proc sh -c '
                $G fake -- sh -c "kill -9 \\$PPID"
                echo >&4
                read x <&3' &
            read x <&4
        done
        ls /dev/shm/gpukit-0
        printf '\\n\\n' >&3
        wait""")
    first, second = done.stdout.split()
    assert second == first + "-1", done


@pytest.mark.parametrize("setting", [
    "LD_LIBRARY_PATH=$lib",
    "LD_PRELOAD=" + preload("$lib/libnvidia-ml.so.1")])
def test_the_default_machine_needs_no_launcher(private_shm, setting):
    done = private_shm(f"""
        lib=$(dirname $(dirname $G))/lib/gpukit/fake
        {setting} {sys.executable} -c "
import ctypes
n = ctypes.CDLL('libnvidia-ml.so.1')
assert n.nvmlInit_v2() == 0
c = ctypes.c_uint()
assert n.nvmlDeviceGetCount_v2(ctypes.byref(c)) == 0
print(c.value)"
        $G fake --name y -- ls /dev/shm/gpukit-0
        $G fake ctl show --json --name default | grep -c uuid""")
    assert done.stdout.splitlines() == ["8", "default", "y", "8"], done


# ---- invalid machine files ----

def test_a_full_shm(private_shm):
    done = private_shm("$G fake -- true; ls /dev/shm/gpukit-0", size="64k")
    assert done.returncode == 1
    assert "no space left for a machine" in done.stderr
    assert done.stderr.count("\n") == 1
    done = private_shm("$G fake --name /dev/shm/m -- true || :; "
                       "ls -A /dev/shm", size="64k")
    assert done.stdout == ""


def header(version, size):
    return struct.pack("<QII", MAGIC, version, size) + bytes(4096)


@pytest.mark.parametrize("content, part", [
    (b"", "is not a machine file"),
    (b"garbage" * 1000, "is not a machine file"),
    (header(99, 4096), "another version"),
    (header(1, 12345), "another version"),
])
@pytest.mark.parametrize("verb", ["ctl", "load"])
def test_a_file_that_is_no_machine(gpukit, tmp_path, verb, content, part):
    path = tmp_path / "m"
    path.write_bytes(content)
    done = gpukit("fake", verb, "--name", path,
                  "show" if verb == "ctl" else "idle:0")
    one_line(done, 1, str(path), part)
    assert path.read_bytes() == content


def test_a_machine_that_is_cut_short(gpukit, machine):
    one = machine()
    size = os.path.getsize(one.path)
    with open(one.path, "rb") as f:
        head = f.read(size // 2)
    cut = one.path + ".cut"
    with open(cut, "wb") as f:
        f.write(head)
    one_line(gpukit("fake", "ctl", "show", "--name", cut), 1,
             "is not a machine file")


def test_ls_tells_what_is_no_machine(private_shm):
    done = private_shm("mkdir -m 700 /dev/shm/gpukit-0; "
                       "echo x > /dev/shm/gpukit-0/junk; $G fake ctl ls; "
                       "$G fake --name y -- ls /dev/shm/gpukit-0")
    assert "junk" in done.stdout and "damaged data" in done.stdout
    assert done.stdout.splitlines()[-2:] == ["junk", "y"]


def test_an_unreadable_machine(machine):
    """Runs as another user, since root may read everything."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        path = os.path.join(directory, "m")
        with open(path, "wb") as f:
            f.write(header(1, 1))
        os.chmod(path, 0)
        # In a place that the other user can reach, wherever the build tree is.
        command = shutil.copy(GPUKIT, directory)

        done = subprocess.run([command, "fake", "ctl", "show", "--name", path],
                              text=True, capture_output=True, check=False,
                              env=clean_env(), timeout=60,
                              preexec_fn=None if os.getuid() else
                              become(NOBODY))
        one_line(done, 1, path, "you may not read and write it (mode 0000)")


@pytest.fixture
def stranger(open_build, open_dir):
    """stranger(PATH, WORD...) runs gpukit as another user, on the machine at
    PATH; stranger.directory is a place that everybody may enter."""
    command = os.path.join(open_build, "bin", "gpukit")
    library = os.path.join(open_build, "lib", "gpukit", "fake")

    def run(path, *args, home="/tmp"):
        env = clean_env(GPUKIT_MACHINE=path, LD_LIBRARY_PATH=library, HOME=home)
        env.pop("XDG_CONFIG_HOME", None)
        return subprocess.run([command, *args], text=True, capture_output=True,
                              check=False, env=env, cwd="/",
                              preexec_fn=become(NOBODY), timeout=60)

    run.directory = open_dir
    return run


def test_the_machine_of_another_user(stranger):
    path = os.path.join(stranger.directory, "m")
    one = Machine(path, "--gpus", "h100:2")
    try:
        told = (f"machine {path} belongs to root and you may not read "
                "and write it (mode 0600); `chmod a+rw` as root allows it "
                "for everybody, or set GPUKIT_MACHINE to a machine of yours\n")
        done = stranger(path, "fake", "ctl", "show")
        assert one_line(done, 1) == "gpukit fake: " + told
        done = stranger(path, "stat")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == ("gpukit stat: the NVIDIA driver refuses: "
                               "Insufficient Permissions (4); " +
                               told.rstrip("\n") + "; see `gpukit doctor`\n")
        os.chmod(path, 0o666)
        assert stranger(path, "stat").stdout.count("H100") == 2
        assert stranger(path, "fake", "ctl", "show").returncode == 0
        closed = os.path.join(stranger.directory, "home")
        os.mkdir(closed, 0o700)
        done = stranger(path, "top", "--once", home=closed)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("H100") >= 2
    finally:
        one.stop()


def test_a_machine_behind_a_closed_door(stranger):
    closed = os.path.join(stranger.directory, "closed")
    os.mkdir(closed, 0o700)
    path = os.path.join(closed, "m")
    one = Machine(path)
    try:
        told = f"machine {path}: you cannot enter its directory; set GPUKIT_"
        one_line(stranger(path, "fake", "ctl", "show"), 1, told, "--name PATH")
        done = stranger(path, "stat")
        assert done.returncode == 1
        assert told in done.stderr
    finally:
        one.stop()


def test_a_driver_that_refuses_is_no_missing_machine(gpukit, machine):
    one = machine()
    assert one.ctl("fail", "driver-mismatch").returncode == 0
    done = gpukit("stat", env=one.env)
    assert done.returncode == 1
    assert "(18); reboot, or reload the kernel module" in done.stderr


def test_names_that_are_no_text(private_shm):
    done = private_shm(r"""
        d=$(printf '/dev/shm/a\033b\377')
        $G fake --name "$d" -- $G fake ctl show --json 0
        $G fake --name "$d" -- $G fake ctl show 0 | head -1
        mkdir -m 700 /dev/shm/gpukit-0
        echo x > "/dev/shm/gpukit-0/$(printf 'a\033b\377')"
        $G fake ctl ls
        $G fake ctl ls --json""")
    assert "\x1b" not in done.stdout
    assert done.stdout.count("a?b\ufffd") == 4, done
