# SPDX-License-Identifier: Apache-2.0
"""Machine files that another user made, or may write."""

import os
import re
import shutil
import subprocess

import pytest

import can
from conftest import FAKE_DIR, GPUKIT, Machine, clean_env
from stranger import NOBODY, run_as
from tools import one_line

THEIRS, OTHER = NOBODY, 12345
VISIBLE = ("import ctypes, sys\n"
           "cuda = ctypes.CDLL('libcuda.so.1')\n"
           "print(cuda.cuInit(0))\n"
           "made = ctypes.c_void_p()\n"
           "print(cuda.cuCtxCreate_v2(ctypes.byref(made), 0, 0))\n")


@pytest.fixture(autouse=True)
def as_root(gpukit):
    del gpukit
    can.need("other-users")


@pytest.fixture
def theirs(open_dir):
    """The path of another user's machine, which everybody may read and write.
    """
    directory = os.path.join(open_dir, "theirs")
    os.mkdir(directory, 0o755)
    os.chown(directory, THEIRS, THEIRS)
    path = os.path.join(directory, "m")
    one = Machine(os.path.join(open_dir, "ours"), "--gpus", "h100:2")
    shutil.copy(one.path, path)
    one.stop()
    os.chown(path, THEIRS, THEIRS)
    os.chmod(path, 0o666)
    return path


def overlaid(script):
    """Runs a script with a /dev/shm of its own in which other users exist too.
    """
    can.need("mounts-of-root")
    return subprocess.run(
        ["unshare", "--mount", "sh", "-ec",
         f"mount -t tmpfs -o size=64m none /dev/shm\n{script}"],
        text=True, capture_output=True, env=clean_env(G=GPUKIT, D=FAKE_DIR),
        stdin=subprocess.DEVNULL, check=False, timeout=120)


def test_a_directory_of_another_user_is_not_believed(theirs):
    done = overlaid(f"""
        mkdir -m 777 /dev/shm/gpukit-0
        cp {theirs} /dev/shm/gpukit-0/default
        chmod 666 /dev/shm/gpukit-0/default
        chown -R {THEIRS} /dev/shm/gpukit-0
        export LD_LIBRARY_PATH=$D
        $G stat 2>&1 || echo "$?"
        GPUKIT_MACHINE=default $G stat 2>&1 || echo "$?"
        $G fake ctl show --name default 2>&1 || echo "$?"
        $G fake -- true 2>&1 || echo "$?"
        $G fake ctl ls""")
    assert done.returncode == 0, done
    told = done.stdout.splitlines()
    assert [line for line in told if line in "01"] == ["1"] * 4, told
    trap = ("machine /dev/shm/gpukit-0/default: /dev/shm/gpukit-0 belongs to "
            "nobody, mode 0777; others can write there, so it is not "
            "trusted; remove it (as nobody or root: `rm -r "
            "/dev/shm/gpukit-0`) or set GPUKIT_MACHINE to the path of a "
            "machine of yours")
    assert "Insufficient Permissions (4)" in told[0]
    assert told[2] == ("gpukit stat: the NVIDIA driver refuses: Insufficient "
                       f"Permissions (4); {trap}; see `gpukit doctor`")
    assert told[4] == f"gpukit fake: {trap}"
    assert re.sub("run-[0-9]*", "default", told[6]) == f"gpukit fake: {trap}"
    assert told[-1].split()[0] == "default"
    assert told[-1].endswith("permission denied")


@pytest.mark.parametrize("change, what", [
    (f"chown {THEIRS} /dev/shm/gpukit-0/default", "nobody, mode 0600"),
    (f"chown {OTHER} /dev/shm/gpukit-0/default", "user 12345, mode 0600"),
    ("chmod 666 /dev/shm/gpukit-0/default", "root, mode 0666"),
    ("chmod 620 /dev/shm/gpukit-0/default", "root, mode 0620"),
    ("chmod 770 /dev/shm/gpukit-0", "/dev/shm/gpukit-0 belongs to root"),
    ("mv /dev/shm/gpukit-0 /dev/shm/x; ln -s x /dev/shm/gpukit-0",
     "/dev/shm/gpukit-0 belongs to root, mode 0777"),
    ("cd /dev/shm/gpukit-0; mv default x; ln -s x default",
     "/dev/shm/gpukit-0/default belongs to root, mode 0777"),
])
def test_what_others_can_write_is_not_believed(theirs, change, what):
    done = overlaid(f"""
        mkdir -m 700 /dev/shm/gpukit-0
        install -m 600 {theirs} /dev/shm/gpukit-0/default
        LD_LIBRARY_PATH=$D $G stat >/dev/null
        {change}
        $G fake ctl show --name default""")
    assert what in one_line(done, 1, "is not trusted")


def test_a_machine_of_another_user_that_was_named_is_a_copy(theirs):
    env = {"GPUKIT_MACHINE": theirs, "LD_LIBRARY_PATH": FAKE_DIR}
    done = run_as(0, GPUKIT, "stat", **env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("H100") == 2
    assert run_as(0, GPUKIT, "fake", "ctl", "show", **env).returncode == 0
    with open(theirs, "rb") as f:
        before = f.read()
    done = run_as(0, GPUKIT, "fake", "ctl", "set", "0", "temperature=90",
                  **env)
    one_line(done, 1, f"machine {theirs} belongs to nobody and can only "
             "be shown (show, topology, coverage); change it as nobody, "
             "or create one of yours")
    with open(theirs, "rb") as f:
        assert f.read() == before


def test_a_copy_takes_no_program(theirs):
    done = run_as(0, "python3", "-c", VISIBLE, GPUKIT_MACHINE=theirs,
                  LD_LIBRARY_PATH=FAKE_DIR,
                  GPUKIT_LOG="warn:/dev/stderr")
    assert done.stdout == "0\n46\n"  # CUDA_ERROR_DEVICE_UNAVAILABLE
    assert (f"machine {theirs} belongs to another user: showing a "
            "read-only copy of it") in done.stderr


TWICE = ("import ctypes, sys\n"
         "nvml = ctypes.CDLL('libnvidia-ml.so.1')\n"
         "made, degrees = ctypes.c_void_p(), ctypes.c_uint()\n"
         "version = ctypes.c_int()\n"
         "def look():\n"
         "    assert nvml.nvmlDeviceGetHandleByIndex_v2(\n"
         "        0, ctypes.byref(made)) == 0\n"
         "    assert nvml.nvmlDeviceGetTemperature(\n"
         "        made, 0, ctypes.byref(degrees)) == 0\n"
         "    print(degrees.value, flush=True)\n"
         "    sys.stdin.readline()\n"
         "assert nvml.nvmlSystemGetCudaDriverVersion(\n"
         "    ctypes.byref(version)) == 0\n"
         "print(version.value > 0, flush=True)\n"
         "sys.stdin.readline()\n"
         "for held in range(20):\n"
         "    assert nvml.nvmlInit_v2() == 0\n"
         "    look()\n"
         "    assert nvml.nvmlInit_v2() == 0\n"
         "    look()\n"
         "    assert nvml.nvmlShutdown() == 0\n"
         "    assert nvml.nvmlShutdown() == 0\n")


def test_a_copy_lasts_from_init_to_shutdown(theirs):
    """What the owner changes meanwhile is seen after the next nvmlInit that
    starts anew."""
    def heat(degrees):
        os.chown(theirs, 0, 0)
        done = run_as(0, GPUKIT, "fake", "ctl", "set", "0",
                      f"temperature={degrees}", GPUKIT_MACHINE=theirs)
        assert done.returncode == 0, done.stderr
        os.chown(theirs, THEIRS, THEIRS)

    with subprocess.Popen(
            ["python3", "-c", TWICE], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=clean_env(
                GPUKIT_MACHINE=theirs, LD_LIBRARY_PATH=FAKE_DIR)) as client:
        def told(degrees):
            assert client.stdout.readline() == f"{degrees}\n"

        told(True)
        for degrees in range(60, 80):
            for again in (0, 20):  # the second nvmlInit shows the same
                heat(degrees + again)
                client.stdin.write("\n")
                client.stdin.flush()
                told(degrees)
        client.stdin.close()
        assert client.wait(timeout=60) == 0


def test_a_third_user_sees_a_copy_too(open_build, theirs):
    os.chmod(theirs, 0o644)
    done = run_as(OTHER, os.path.join(open_build, "bin", "gpukit"), "stat",
                  GPUKIT_MACHINE=theirs, LD_LIBRARY_PATH=os.path.join(
                      open_build, "lib", "gpukit", "fake"))
    assert done.stdout.count("H100") == 2, done


def test_what_root_opened_to_all_is_shared(open_build, open_dir):
    """Its owner opened it by chmod, and the user chose it by name."""
    one = Machine(os.path.join(open_dir, "m"), "--gpus", "h100:2")
    try:
        os.chmod(one.path, 0o666)
        done = run_as(THEIRS, os.path.join(open_build, "bin", "gpukit"), "fake",
                      "ctl", "set", "1", "temperature=77",
                      GPUKIT_MACHINE=one.path)
        assert done.returncode == 0, done.stderr
        assert one.ctl("show", "1").stdout.count("77")
    finally:
        one.stop()
