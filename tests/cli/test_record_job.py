# SPDX-License-Identifier: Apache-2.0
"""`gpukit record` with families of processes is tested here: --children,
--until-exit, and commands that it runs. A launcher within the command starts
load processes, so that they are its children."""

import os
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

from conftest import GPUKIT, clean_env
from test_record import ok, one_line, record, rows  # noqa: F401 (a fixture)
from tools import children, wait_until

FAKE = [GPUKIT, "fake", "--gpus", "a100-sxm4-80gb:2", "--load"]


@pytest.fixture
def family(tmp_path):
    """Runs `gpukit record ARGS...`, where {root} is the pid of a launcher whose
    children are four processes on two GPUs, its command and its watch process;
    other processes use the GPUs as well."""
    path = tmp_path / "machine"

    def run(*args, inside=None):
        launcher = subprocess.Popen(
            FAKE + ["train:0-1,n=2,mem=1GiB", "--name", str(path), "--",
                    "sh", "-c", "echo up; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=clean_env())
        assert launcher.stdout.readline() == "up\n"
        wait_until(lambda: len(children(launcher.pid)) == 6)
        env = clean_env(GPUKIT_MACHINE=str(path), LD_LIBRARY_PATH=os.path.join(
            os.path.dirname(os.path.dirname(GPUKIT)), "lib/gpukit/fake"))
        command = [GPUKIT, "record", *[str(arg).replace("{root}",
                                                        str(launcher.pid))
                                       for arg in args]]
        process = subprocess.Popen(command, cwd=tmp_path, env=env, text=True,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        try:
            if inside:
                inside(process, launcher)
            out, err = process.communicate(timeout=60)
        finally:
            launcher.stdin.close()
            launcher.wait(timeout=60)
            launcher.stdout.close()
        return subprocess.CompletedProcess(command, process.returncode, out,
                                           err)

    run.log = tmp_path / "gpu_log.csv"
    return run


def test_children(family):
    ok(family("--pid", "{root}", "--count", 1))
    assert rows(family.log) == []
    ok(family("--pid", "{root}", "--children", "--count", 1))
    assert len(rows(family.log)) == 4
    ok(family("--match", r"gpukit fake .*--load", "--children", "--count", 1))
    assert len(rows(family.log)) == 4


def test_a_system_row_of_a_family(family):
    ok(family("--system", "{root}", "--count", 1))
    alone, = rows(family.log)
    ok(family("--system", "{root}", "--children", "--count", 1))
    together, = rows(family.log)
    assert alone["used_mib"] == "" and together["used_mib"] == "4096"
    assert float(together["cpu_pct"]) >= float(alone["cpu_pct"])


@pytest.mark.parametrize("args", [
    ["--pid", "{root}", "--children"], ["--system", "{root}"],
    ["--match", "gpukit-load"]])
def test_until_exit(family, args):
    def end(process, launcher):
        wait_until(lambda: family.log.exists() and rows(family.log))
        assert process.poll() is None
        launcher.stdin.close()

    began = time.monotonic()
    ok(family(*args, "--until-exit", "-i", "0.2", inside=end))
    assert rows(family.log) and time.monotonic() - began < 25


def test_until_exit_does_not_wait_for_a_sample(family):
    """The end of the only process ends a recording with an interval of 30 s."""
    def end(process, launcher):
        wait_until(lambda: family.log.exists() and rows(family.log))
        launcher.stdin.close()

    began = time.monotonic()
    ok(family("--system", "{root}", "--until-exit", inside=end))
    assert time.monotonic() - began < 25


def test_until_exit_of_nobody(family):
    done = family("--pid", 2 ** 22 + 1, "--until-exit")
    assert done.returncode == 1 and "no process 4194305" in done.stderr
    assert not family.log.exists()


def test_until_exit_of_one_that_has_ended(family):
    """Its parent has not waited for it yet, so that its pid is not reused."""
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    ok(family("--pid", process.pid, "--until-exit"))
    assert rows(family.log) == []
    process.wait()


# ---- commands ----

# A program whose child is on GPU 1 for two seconds, and then until that is
# recorded.
USER = """
import subprocess, sys, time
load = subprocess.Popen(
    ["gpukit-load", "train", "gpu=1", "mem=3GiB", "util=60", "period=30s"],
    executable=sys.argv[1])
time.sleep(2)
end = time.monotonic() + 60
while open("gpu_log.csv").read().count("\\n") < 2 and time.monotonic() < end:
    time.sleep(0.05)
load.kill()
load.wait()
"""


def test_the_summary(record):  # noqa: F811
    """The machine's other processes are not in it."""
    done = record("--", sys.executable, "-c", USER, GPUKIT)
    assert done.returncode == 0
    text = done.stderr
    took = float(re.search(r": (\d+\.\d) s, exit status 0\n", text)[1])
    assert 2 <= took < 60
    assert "peak GPU memory   3072MiB (GPU 1: 3072MiB)\n" in text
    assert re.search(r"mean utilisation  GPU 1: [\d.]+ % \([\d.]+ % by the "
                     r"command\)\n", text), text
    joules = float(re.search(r"energy +([\d.]+) J", text).group(1))
    # The power of an A100 between idle and its limit.
    assert 2 * 40 < joules < (took + 1) * 400
    got = rows(record.log)
    assert 1 <= len(got) <= took + 1
    assert {(row["gpu_index"], row["gpu_mem_mib"]) for row in got} == {
        ("1", "3072")}


def test_a_command_that_uses_no_gpu(record):  # noqa: F811
    assert "on no GPU" in record("--", "true").stderr


def test_the_exit_status_is_that_of_the_command(record):  # noqa: F811
    for script, status in (("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)):
        done = record("--", "sh", "-c", script)
        assert done.returncode == status, done.stderr
        assert done.stderr.startswith("gpukit record: sh: ")
    done = record("--", "/nonexistent/command")
    assert done.returncode == 127 and "command not found" in done.stderr
    done = record("--", "/")
    assert done.returncode == 126
    done = record("--", "sh", "-c", "echo out; cat")
    assert done.stdout == "out\n"


def test_a_count_is_that_of_samples(record):  # noqa: F811
    """The command continues for some more intervals."""
    done = record("--devices", "-i", "0.25", "--count", 2, "--", "sh", "-c",
                  "for i in $(seq 400); do [ $(wc -l <gpu_log.csv) -ge 5 ] && "
                  "break; sleep 0.05; done; sleep 1")
    assert done.returncode == 0
    assert 1 <= float(re.search(r": (\d+\.\d) s", done.stderr)[1])
    assert len(record.log.read_text().splitlines()) == 1 + 2 * 2


def test_no_command_without_a_machine(gpukit, tmp_path):
    done = gpukit("record", "--", "touch", "ran", cwd=tmp_path)
    one_line(done, 1, "driver")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [
    signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT,
    signal.SIGUSR1, signal.SIGUSR2])
def test_signals_are_passed_on(record, number):  # noqa: F811
    process = record.start("--", sys.executable, "-c", (
        "import signal, sys, time\n"
        f"signal.signal({number.value}, lambda *_: sys.exit(42))\n"
        "print('up', flush=True)\n"
        # One long sleep would miss a signal that comes just before it.
        "while True: time.sleep(0.05)"), stdout=subprocess.PIPE)
    assert process.stdout.readline() == "up\n"
    process.send_signal(number)
    assert process.wait(timeout=30) == 42
    assert "exit status 42" in process.stderr.read()
    process.stdout.close()


def test_the_command_starts_with_the_signals_of_the_caller(record):  # noqa: F811
    mask = "grep -E 'Sig(Blk|Ign)' /proc/self/status"
    plain = subprocess.run(["sh", "-c", mask], text=True, check=True,
                           capture_output=True).stdout
    done = record("--", "sh", "-c", mask)
    blocked = re.search(r"SigBlk:\t(\w+)", done.stdout).group(1)
    assert blocked == re.search(r"SigBlk:\t(\w+)", plain).group(1)


def test_a_full_disk_does_not_end_the_command(record):  # noqa: F811
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))

    done = record("-i", "0.1", "--", sys.executable, "-c",
                  USER + "\nprint('done')", GPUKIT, preexec_fn=limit)
    assert done.returncode == 1 and done.stdout == "done\n"
    assert "File too large" in done.stderr.splitlines()[0]
    assert "peak GPU memory   3072MiB" in done.stderr
    assert rows(record.log)
