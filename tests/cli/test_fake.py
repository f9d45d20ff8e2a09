# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake` is tested here: the launcher and its load processes."""

import os
import pty
import re
import signal
import subprocess
import sys

import pytest

from conftest import GPUKIT, clean_env
from tools import one_line, alive, children, loads_of, wait_until

# ---- the command ----

@pytest.mark.parametrize("command, status", [
    (["true"], 0),
    (["sh", "-c", "exit 7"], 7),
    (["sh", "-c", "exit 255"], 255),
    (["sh", "-c", "kill -9 $$"], 137),
    (["sh", "-c", "kill -TERM $$"], 143),
])
def test_exit_status_is_the_commands(gpukit, command, status):
    done = gpukit("fake", "--", *command)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def test_a_command_that_cannot_be_run(gpukit):
    one_line(gpukit("fake", "--", "gpukit-no-such"), 127,
             "gpukit-no-such: command not found")
    one_line(gpukit("fake", "--", "/etc/passwd"), 126, "/etc/passwd: ")


def test_the_command_sees_the_machine(gpukit):
    out = gpukit.ok("fake", "--gpus", "h100:2,t4", "--", sys.executable, "-c",
                    "import ctypes\n"
                    "n = ctypes.CDLL('libnvidia-ml.so.1')\n"
                    "assert n.nvmlInit_v2() == 0\n"
                    "c = ctypes.c_uint()\n"
                    "assert n.nvmlDeviceGetCount_v2(ctypes.byref(c)) == 0\n"
                    "print(c.value)\n")
    assert out == "3\n"


def test_arguments_after_the_dashes_are_the_commands(gpukit):
    out = gpukit.ok("fake", "--", "echo", "--gpus", "none", "--", "-x")
    assert out == "--gpus none -- -x\n"
    assert gpukit.ok("fake", "printf", "%s", "--gpus") == "--gpus"


def test_the_machine_goes_with_the_command(gpukit, tmp_path):
    path = tmp_path / "machine"
    assert gpukit.ok("fake", "--name", path, "--", "ls", path) == f"{path}\n"
    assert not path.exists()
    assert gpukit("fake", "--name", path, "--load", "train:0,mem=1TiB", "--",
                  "true").returncode == 1
    assert not path.exists()


def test_a_relative_path_holds_where_the_command_goes(gpukit, tmp_path):
    out = gpukit.ok("fake", "--name", "./sub.machine", "--", "sh", "-c",
                    "cd / && $0 fake ctl show 0 | head -1", GPUKIT,
                    cwd=tmp_path)
    assert out.startswith(f"machine {tmp_path}/./sub.machine, ")


def test_seed_makes_the_uuids(gpukit):
    def uuid(*options):
        text = gpukit.ok("fake", *options, "--", GPUKIT, "fake", "ctl", "show")
        return re.findall("GPU-[0-9a-f-]{36}", text)

    assert len(set(uuid())) == 8
    assert uuid("--seed", 1) == uuid("--seed", 1) != uuid("--seed", 2)


# ---- signals ----

COUNT_SIGNALS = """
import signal, sys, time
got = []
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(s, lambda n, f: got.append(n))
print("up", flush=True)
end = time.monotonic() + 20
while not got and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.3)
print(*got, flush=True)
sys.exit(3)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_is_passed_on(gpukit, name):
    number = getattr(signal, name)
    with subprocess.Popen([GPUKIT, "fake", "--", sys.executable, "-c",
                           COUNT_SIGNALS], stdout=subprocess.PIPE,
                          text=True, env=clean_env()) as launcher:
        assert launcher.stdout.readline() == "up\n"
        launcher.send_signal(number)
        assert launcher.stdout.readline() == f"{int(number)}\n"
        assert launcher.wait(timeout=30) == 3


def test_a_command_that_dies_of_the_signal(gpukit):
    with subprocess.Popen([GPUKIT, "fake", "--", "sh", "-c",
                           "echo up; exec sleep 100"],
                          stdout=subprocess.PIPE, text=True,
                          env=clean_env()) as launcher:
        assert launcher.stdout.readline() == "up\n"
        launcher.terminate()
        assert launcher.wait(timeout=30) == 143


def on_a_terminal(*args):
    """Runs `gpukit fake ...` on a terminal and types ^C after its line "up"."""
    pid, tty = pty.fork()
    if not pid:
        os.execve(GPUKIT, [GPUKIT, "fake", *args], clean_env())
    text = b""
    typed = False
    try:
        while True:
            text += os.read(tty, 4096)
            if b"up\r\n" in text and not typed:
                typed = True
                os.write(tty, b"\x03")
    except OSError:
        pass  # EOF of a terminal
    status = os.waitpid(pid, 0)[1]
    os.close(tty)
    return os.waitstatus_to_exitcode(status), text.decode()


def test_the_terminal_interrupts_the_command_and_no_load(gpukit):
    code = COUNT_SIGNALS.replace(
        "sys.exit(3)", "import os, subprocess; print(subprocess.run("
        f"['{GPUKIT}', 'fake', 'ctl', 'show', '0'], text=True,"
        "capture_output=True).stdout.splitlines()[2], flush=True)")
    status, text = on_a_terminal("--load", "idle:0,n=2", "--",
                                 sys.executable, "-c", code)
    assert status == 0
    assert text.replace("^C", "").split()[:2] == ["up", "2"], text
    assert "2 processes" in text


def test_what_the_terminal_sent_is_not_passed_on(gpukit):
    """A command that has left the terminal's process group gets no ^C."""
    code = ("import os\nos.setpgid(0, 0)\n" +
            COUNT_SIGNALS.replace("+ 20", "+ 0.5"))
    status, text = on_a_terminal("--", sys.executable, "-c", code)
    assert status == 3
    assert text.replace("^C", "").split() == ["up"], text


def test_an_interrupt_before_the_command(gpukit, tmp_path):
    machine, ran = tmp_path / "machine", tmp_path / "ran"
    with subprocess.Popen([GPUKIT, "fake", "--gpus", "h100:16", "--name",
                           machine, "--load", "idle:all,n=60,mem=1MiB", "--",
                           "touch", ran], env=clean_env()) as launcher:
        wait_until(machine.exists)
        launcher.send_signal(signal.SIGINT)
        assert launcher.wait(timeout=60) == 128 + signal.SIGINT
    assert not machine.exists() and not ran.exists()


# ---- wrong options ----

@pytest.mark.parametrize("options, code, parts", [
    (["--gpus", "t5"], 2, ["no profile 't5'", "h100-80gb-hbm3", "t4"]),
    (["--gpus", ""], 2, ["no profile ''"]),
    (["--gpus", "t4:0"], 2, ["'t4:0'", "1 to 64"]),
    (["--gpus", "t4:x"], 2, ["'t4:x'", "1 to 64"]),
    (["--gpus", "t4:65"], 2, ["at most 64"]),
    (["--gpus", "t4:64,h100"], 2, ["at most 64"]),
    (["--gpus", "t4:99999999999"], 2, ["at most 64"]),
    (["--gpus", "/no/such.yaml"], 2, ["/no/such.yaml: No such file"]),
    (["--name", ".."], 2, ["--name: '..'"]),
    (["--name", ""], 2, ["--name: ''"]),
    (["--name", "/no/such/dir/m"], 1, ["cannot create", "/no/such/dir/m"]),
    (["--load", "dance:0"], 2, ["'dance'", "train, infer, idle"]),
    (["--load", "train:8"], 2, ["no GPU 8", "has 8"]),
    (["--load", "train:2-1"], 2, ["'2-1' is not a GPU"]),
    (["--load", "train:x"], 2, ["'x' is not a GPU", "all"]),
    (["--load", "train:0-"], 2, ["'0-' is not a GPU"]),
    (["--load", "train:"], 2, ["'' is not a GPU"]),
    (["--load", "train:0,speed=1"], 2, ["'speed'", "mem, util, period"]),
    (["--load", "train:0,util"], 2, ["util=", "0 to 100"]),
    (["--load", "train:0,util=101"], 2, ["util=101", "0 to 100"]),
    (["--load", "train:0,mem=lots"], 2, ["mem=lots", "60GiB"]),
    (["--load", "train:0,period=0s"], 2, ["period=0s", "1ms"]),
    (["--load", "train:0,n=0"], 2, ["n=0", "1 to 64"]),
    (["--load", "idle:0,util=5"], 2, ["'util'", "mem, n"]),
    (["--load", "train:0,mem=90GiB"], 1,
     ["GPU 0", "79.4 GiB free", "90.0 GiB", "lower mem="]),
    (["--load", "train:0+1,mem=30GiB", "--load", "infer:1,n=2,mem=30GiB"], 1,
     ["GPU 1", "90.0 GiB"]),
    (["--gpus", "h100:64", "--load", "idle:all,n=64,mem=1MiB", "--load",
      "idle:all,n=64,mem=1MiB", "--load", "idle:0,mem=1MiB"], 1,
     ["8193 processes", "room for 8192"]),
])
def test_wrong_options_are_told_in_one_line(gpukit, options, code, parts):
    one_line(gpukit("fake", *options, "--", "echo", "ran"), code, *parts)


@pytest.mark.parametrize("options", [
    [], ["--latency", "slow", "--", "true"], ["--seed", "x", "--", "true"],
    ["--no-such", "--", "true"]])
def test_usage_errors_end_with_2(gpukit, options):
    done = gpukit("fake", *options)
    assert done.returncode == 2
    assert done.stderr.startswith("gpukit fake: ")
    assert "--help" in done.stderr


def test_help_tells_the_options(gpukit):
    text = gpukit.ok("fake", "--help")
    for word in ("--gpus", "--load", "--latency", "--name", "ctl", "load"):
        assert word in text


def test_a_wrong_profile_is_told(gpukit, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("inherits: t4\nmemory_mb: 1\n")
    one_line(gpukit("fake", "--gpus", f"{path}:2", "--", "true"), 2,
             f"{path}:2: unknown key 'memory_mb'; did you mean 'memory_mib'?")


def test_a_profile_of_the_user(gpukit, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text('inherits: t4\nmemory_mib: 8192\nmark: "Fake "\n')
    shown = gpukit.json("fake", "--gpus", f"{path}:2,h200", "--", GPUKIT,
                        "fake", "ctl", "show", "--json")
    assert [gpu["profile"] for gpu in shown["gpus"]] == ["mine", "mine",
                                                         "h200"]
    assert shown["gpus"][0]["memory_total"] == 8192 << 20
    assert shown["gpus"][0]["name"] == "Fake Tesla T4"


def test_profiles_of_another_directory(gpukit, tmp_path):
    (tmp_path / "zz.yaml").write_text("fans: x\n")
    done = gpukit("fake", "--gpus", "t4", "--", "true",
                  env={"GPUKIT_PROFILES": str(tmp_path)})
    one_line(done, 2, f"no profile 't4' in {tmp_path}; there are zz")


@pytest.mark.parametrize("gpus, count", [("none", 0), ("t4:64", 64),
                                         ("t4:32,h100:32", 64)])
def test_how_many_gpus_there_can_be(machine, gpus, count):
    one = machine("--gpus", gpus)
    assert one.python("print(count())") == str(count)
    assert len(one.show()["gpus"]) == count


# ---- load ----

def test_load_is_real_processes(machine):
    one = machine("--load", "train:0-1,n=2,mem=20GiB,util=80", "--load",
                  "infer:3,enc=40", "--load", "idle:all")
    loads = list(loads_of(one.process.pid).values())
    assert len(loads) == 2 * 2 + 1 + 8
    assert ["gpukit-load", "train", "gpu=1", "mem=20GiB", "util=80",
            "period=30s", "membw=55", "gpus=2", "seed=3"] in loads
    gpus = one.show()["gpus"]
    assert [gpu["processes"] for gpu in gpus] == [3, 3, 1, 2, 1, 1, 1, 1]
    assert gpus[0]["memory_used"] == (40 << 30) + (427 << 20)
    assert gpus[2]["memory_used"] == 427 << 20
    pid = children(one.process.pid)[0]
    with open(f"/proc/{pid}/comm", encoding="ascii") as f:
        assert f.read() == "gpukit-load\n"


@pytest.mark.parametrize("mem, size", [
    ("100000001", 100000001), ("513KiB", 513 << 10), ("3GiB", 3 << 30)])
def test_load_holds_what_was_said(machine, mem, size):
    assert machine("--load", f"idle:0,mem={mem}").show(
        0)["gpus"][0]["memory_used"] == size


def test_load_keeps_a_gpu_busy(machine):
    one = machine("--load", "train:0,util=100,membw=50")
    wait_until(lambda: one.show(0)["gpus"][0]["values"]["utilization"]["value"]
               >= 15)
    other = one.show(1)["gpus"][0]["values"]
    assert other["utilization"]["value"] == 0


def test_load_ends_with_the_command(machine):
    one = machine("--load", "train:all")
    # Eight loads, the command and the watch process, the last one to begin.
    wait_until(lambda: len(children(one.process.pid)) == 10)
    pids = children(one.process.pid)
    one.stop()
    assert not any(alive(pid) for pid in pids)


def test_load_ends_with_a_killed_launcher(machine):
    one = machine("--load", "train:all,n=4,mem=1GiB")
    pids = list(loads_of(one.process.pid))
    assert len(pids) == 32
    one.kill()
    wait_until(lambda: not any(alive(pid) for pid in pids))


def test_load_on_a_running_machine(machine):
    one = machine()
    with subprocess.Popen([GPUKIT, "fake", "load", "--name", one.path,
                           "train:2,mem=8GiB", "idle:2,mem=1GiB"],
                          env=clean_env()) as load:
        # A process appears before its memory does.
        wait_until(lambda: one.show(2)["gpus"][0]["memory_used"] == 9 << 30)
        assert one.show(2)["gpus"][0]["processes"] == 2
        load.send_signal(signal.SIGINT)
        assert load.wait(timeout=30) == 0
    assert one.show(2)["gpus"][0]["processes"] == 0


def test_a_load_that_was_ended_is_no_zombie(machine):
    one = machine("--load", "idle:0,n=2")
    pid = next(iter(loads_of(one.process.pid)))
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"))
    assert one.show(0)["gpus"][0]["processes"] == 1


def test_load_ends_with_the_last_of_its_processes(machine):
    one = machine()
    with subprocess.Popen([GPUKIT, "fake", "load", "--name", one.path,
                           "idle:2,n=2"], env=clean_env()) as load:
        wait_until(lambda: one.show(2)["gpus"][0]["processes"] == 2)
        first, last = children(load.pid)
        os.kill(first, signal.SIGTERM)
        wait_until(lambda: children(load.pid) == [last])
        assert load.poll() is None
        os.kill(last, signal.SIGKILL)
        assert load.wait(timeout=30) == 0
    # A killed process has not detached from the machine itself.
    wait_until(lambda: one.show(2)["gpus"][0]["processes"] == 0)


def test_load_outlives_a_hangup_that_is_ignored(machine):
    one = machine()
    with subprocess.Popen(["nohup", GPUKIT, "fake", "load", "--name", one.path,
                           "idle:2"], env=clean_env(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as load:
        wait_until(lambda: one.show(2)["gpus"][0]["processes"] == 1)
        load.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            load.wait(timeout=0.3)
        load.terminate()
        assert load.wait(timeout=30) == 0


def test_load_that_does_not_fit_starts_nothing(gpukit, machine):
    one = machine("--load", "idle:1,mem=70GiB")
    done = gpukit("fake", "load", "--name", one.path, "train:0-1,mem=20GiB")
    one_line(done, 1, "GPU 1", "9.4 GiB free", "20.0 GiB")
    assert one.show(0)["gpus"][0]["processes"] == 0
