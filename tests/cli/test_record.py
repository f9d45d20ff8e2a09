# SPDX-License-Identifier: Apache-2.0
"""`gpukit record` is tested as a user sees it, on fake machines."""

import contextlib
import csv
import datetime
import io
import json
import os
import re
import signal
import stat as permissions
import subprocess
import sys
import threading
import time

import pytest

import can
from conftest import GPUKIT, clean_env, sanitized
from tools import is_full, minds, on_the_beat, wait_until

HEADER = "timestamp,gpu_index,pid,cmd,gpu_mem_mib,sm_util_pct,mem_util_pct"
SECONDS = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"


@pytest.fixture
def record(gpukit, machine, tmp_path):
    """record(ARGS...) in a directory of its own, on a machine of two busy GPUs
    with two processes each."""
    made = machine("--gpus", "a100-sxm4-80gb:2", "--load",
                   "train:0-1,n=2,mem=1GiB,util=90")
    place = tmp_path / "place"
    place.mkdir()

    def run(*args, env=None, **kwargs):
        return gpukit("record", *args, env={**made.env, **(env or {})},
                      cwd=place, **kwargs)

    def start(*args, **kwargs):
        return subprocess.Popen([GPUKIT, "record", *map(str, args)],
                                cwd=place, env=clean_env(**made.env),
                                text=True, stderr=subprocess.PIPE, **kwargs)

    def processes():
        done = gpukit("stat", "--csv=processes", env=made.env)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    wait_until(lambda: len(processes()) == 4)
    run.place, run.machine, run.start, run.processes = (place, made, start,
                                                        processes)
    run.log = place / "gpu_log.csv"
    return run


def ok(done):
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stderr == ""
    return done.stdout


def one_line(done, code, *parts):
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stderr.startswith("gpukit record: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr


def rows(path):
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return list(csv.DictReader(io.StringIO(text)))


def test_default_rows(record):
    before = datetime.datetime.now().replace(microsecond=0)
    assert ok(record("--count", 2, "--interval", 1)) == ""
    text = record.log.read_text()
    assert text.split("\n")[0] == HEADER and "\r" not in text
    got = rows(record.log)
    assert len(got) == 8
    for row, process in zip(got[:4], record.processes()):
        assert row["gpu_index"] == process["index"]
        assert row["pid"] == process["pid"]
        assert row["cmd"] == process["command"]
        assert row["gpu_mem_mib"] == "1024"
        assert 0 < int(row["sm_util_pct"]) <= 100
        assert 0 <= int(row["mem_util_pct"]) <= 100
        assert re.fullmatch(SECONDS, row["timestamp"])
        taken = datetime.datetime.fromisoformat(row["timestamp"])
        assert before <= taken <= datetime.datetime.now()


def test_a_time_zone_is_that_of_the_user(record):
    for zone, hours in (("UTC", 0), ("XST-5", 5)):
        ok(record("--count", 1, env={"TZ": zone}))
        taken = datetime.datetime.fromisoformat(rows(record.log)[0]
                                                ["timestamp"])
        there = (datetime.datetime.now(datetime.timezone.utc)
                 + datetime.timedelta(hours=hours)).replace(tzinfo=None)
        assert abs(taken - there) < datetime.timedelta(minutes=5)


@pytest.mark.parametrize("interval, pattern", [
    ("0.05", SECONDS + r"\.\d{3}"), ("999ms", SECONDS + r"\.\d{3}"),
    ("1", SECONDS)])
def test_milliseconds_below_a_second(record, interval, pattern):
    ok(record("--count", 2, "--interval", interval))
    for row in rows(record.log):
        assert re.fullmatch(pattern, row["timestamp"])


def test_pids(record):
    pids = [p["pid"] for p in record.processes()]
    for args in (["--pid", pids[0], pids[3]], ["--pid", f"{pids[0]},{pids[3]}"],
                 ["--pid", pids[0], "--pid", pids[3]]):
        ok(record(*args, "--count", 1))
        assert [row["pid"] for row in rows(record.log)] == [pids[0], pids[3]]
    ok(record("--pid", os.getpid(), "--count", 1))
    assert rows(record.log) == []


@pytest.fixture
def gone():
    """The pid of a process that has ended, which no other process has yet."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@pytest.mark.parametrize("args", [
    ["--pid"], ["--system"], ["--pid", "1"], ["--until-exit", "--pid"]])
def test_a_pid_of_nobody_is_told_at_once(record, gone, args):
    one_line(record("--count", 1, *args, gone), 1, f"no process {gone}")
    assert os.listdir(record.place) == []


@pytest.mark.parametrize("regex, matches", [
    (r"gpu=1\b", 2), (r"^gpukit-load train (?=.*seed=[13]$)", 2),
    (r"seed=(?!2)\d+", 3), (r"nothing like this", 0)])
def test_match_is_pcre2_over_the_full_command(record, regex, matches):
    ok(record("--match", regex, "--count", 1))
    assert len(rows(record.log)) == matches


def test_an_invalid_regex_is_taken_literally(record):
    done = record("--match", "train (gpu", "--count", 1)
    one_line(done, 0, "train (gpu", "regular expression")
    assert rows(record.log) == []
    done = record("--match", "util=90 [per", "--count", 1)
    one_line(done, 0, "plain text")


def test_no_drift_at_ten_milliseconds(record):
    """A busy host misses some samples, but is not always that busy."""
    for _ in range(10):
        ok(record("--interval", "10ms", "--count", 300, "--cmd", "none"))
        times = sorted({row["timestamp"] for row in rows(record.log)})
        assert len(times) > 200
        moments = [datetime.datetime.fromisoformat(t).timestamp()
                   for t in times]
        lasted = moments[-1] - moments[0]
        if lasted < 0.01 * 300 * 1.5 and on_the_beat(moments, 0.01) > 0.25:
            break
    assert lasted < 0.01 * 300 * 1.5
    assert on_the_beat(moments, 0.01) > 0.25


def test_output(record, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    ok(record("--output=~/sub.csv", "--count", 1, env={"HOME": str(home)}))
    assert len(rows(home / "sub.csv")) == 4
    text = ok(record("--output", "-", "--count", 1))
    assert text.startswith(HEADER) and text.count("\n") == 5
    assert not record.log.exists()
    one_line(record("--output", tmp_path, "--count", 1), 1, str(tmp_path))
    one_line(record("--output", tmp_path / "none/x.csv", "--count", 1), 1,
             "none/x.csv", "No such file")


def test_append_and_replace(record):
    ok(record("--count", 1))
    ok(record("--count", 1, "--append"))
    text = record.log.read_text()
    assert text.count("timestamp") == 1 and len(rows(record.log)) == 8
    one_line(record("--count", 1, "--append", "--devices"), 1,
             "another header", "gpu_log.csv")
    assert record.log.read_text() == text
    record.log.write_text(text + "torn,0")  # as an editor leaves it
    ok(record("--count", 1, "--append"))
    assert record.log.read_text().split("\n")[9] == "torn,0"
    ok(record("--count", 1))
    assert len(rows(record.log)) == 4
    fresh = record.place / "fresh.csv"
    ok(record("--count", 1, "--append", "-o", fresh))
    assert fresh.read_text().startswith(HEADER)


def test_a_failed_start_leaves_the_old_file(record):
    record.log.write_text("precious\n")
    for args in (["--nvml", "/nonexistent.so"], ["--interval", "no"]):
        assert record("--count", 1, *args).returncode in (1, 2)
        assert record.log.read_text() == "precious\n"
    assert os.listdir(record.place) == ["gpu_log.csv"]


def test_a_link_stays_one(record):
    target = record.place / "target.csv"
    target.write_text("old\n")
    record.log.symlink_to(target)
    ok(record("--count", 1))
    assert record.log.is_symlink() and len(rows(target)) == 4


@can.needed("other-users")
@pytest.mark.parametrize("args", [[], ["--append"], ["--snapshots"]])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_that_others_planted_is_refused(record, tmp_path, args, there):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    victim = tmp_path / "victim"
    if there:
        victim.write_text("precious\n")
    link = shared / "log"
    link.symlink_to(victim)
    os.lchown(link, 65534, 65534)
    one_line(record("--count", 1, "-o", link, *args), 1, "'log' is a link",
             "user 65534", str(link))
    assert link.is_symlink() and os.listdir(shared) == ["log"]
    assert (victim.read_text() if there else not victim.exists())


@can.needed("other-users")
@pytest.mark.parametrize("args", [[], ["--append"], ["--snapshots"]])
def test_a_link_in_a_directory_of_others_is_refused(record, tmp_path, args):
    theirs, victim = tmp_path / "theirs", tmp_path / "victim"
    theirs.mkdir()
    victim.write_text("precious\n")
    link = theirs / "log"
    link.symlink_to(victim)
    os.lchown(link, 12345, 12345)
    os.chown(theirs, 12345, 12345)
    one_line(record("--count", 1, "-o", link, *args), 1, str(link),
             "'log' is a link of user 12345 in a directory of user 12345",
             "is not followed", "give the path that it leads to")
    assert link.is_symlink() and os.listdir(theirs) == ["log"]
    assert victim.read_text() == "precious\n"
    ok(record("--count", 1, "-o", theirs / "new.csv"))


def test_no_nvml(gpukit, tmp_path):
    done = gpukit("record", "--count", 1, cwd=tmp_path)
    one_line(done, 1, "driver")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_cleanly(record, number):
    process = record.start("--interval", "0.05")
    wait_until(lambda: record.log.exists() and len(rows(record.log)) > 4)
    process.send_signal(number)
    assert process.wait(timeout=30) == 0
    assert process.stderr.read() == ""
    assert len(rows(record.log)) % 4 == 0


def test_signals_end_a_long_wait_at_once(record):
    process = record.start()
    wait_until(lambda: record.log.exists() and len(rows(record.log)) == 4)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=25) == 0


def test_a_closed_pipe_ends_it(record):
    process = record.start("-i", "0.01", "-o", "-", stdout=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=30) == 0
    assert process.stderr.read() == ""


def test_who_does_not_read_is_not_waited_for(record):
    """Neither opening a FIFO nor emptying a full pipe is waited for."""
    fifo = record.place / "fifo"
    os.mkfifo(fifo)
    process = record.start("-i", "0.01", "-o", fifo)
    time.sleep(0.3)
    assert process.poll() is None
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    wait_until(lambda: is_full(reader))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0
    text = os.read(reader, 1 << 20).decode()
    os.close(reader)
    assert process.stderr.read() == ""
    assert text.startswith(HEADER + "\n") and text.count("\n") > 100
    process = record.start("-o", fifo)
    wait_until(lambda: minds(process.pid, signal.SIGINT))
    time.sleep(0.3)  # by now it waits for a reader
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0
    assert process.stderr.read() == ""


def test_devices(record):
    ok(record("--devices", "--count", 1))
    got = rows(record.log)
    done = subprocess.run([GPUKIT, "stat", "--csv"], text=True, check=True,
                          capture_output=True,
                          env=clean_env(**record.machine.env))
    stat = list(csv.DictReader(io.StringIO(done.stdout)))
    metrics = list(stat[0])[9:]
    assert list(got[0])[:5] == ["timestamp", "gpu_index", "name", "uuid",
                                "health"]
    assert len(metrics) > 40 and set(metrics) < set(got[0])
    for row, device in zip(got, stat):
        for key in ("name", "uuid", "health", "memory_used_bytes",
                    "power_limit_watts", "ecc_mode"):
            assert row[key] == device[key]
    assert [row["gpu_index"] for row in got] == ["0", "1"]


def test_jsonl(record):
    ok(record("--format", "jsonl", "--count", 2, "-i", "0.1"))
    lines = (record.place / "gpu_log.jsonl").read_text().splitlines()
    assert len(lines) == 8
    for line in lines:
        row = json.loads(line)
        assert list(row) == HEADER.split(",")
        assert row["gpu_mem_mib"] == 1024 and isinstance(row["pid"], int)
    ok(record("--format", "jsonl", "--devices", "--count", 1))
    row = json.loads((record.place / "gpu_log.jsonl").read_text()
                     .splitlines()[0])
    assert row["fan_speed_percent"] is None  # a passive board
    assert isinstance(row["power_watts"], float)


def test_cmd(record):
    for cmd, first in (("name", "gpukit-load"), ("none", "")):
        ok(record("--cmd", cmd, "--count", 1))
        assert {row["cmd"] for row in rows(record.log)} == {first}
    assert record("--cmd", "some").returncode == 2


def mode_of(path):
    return permissions.S_IMODE(path.stat().st_mode)


def test_mode(record):
    ok(record("--count", 1, umask=0))
    assert mode_of(record.log) == 0o600
    ok(record("--count", 1, "--mode", "0644", umask=0o077))
    assert mode_of(record.log) == 0o644
    ok(record("--count", 1, "--append"))
    assert mode_of(record.log) == 0o644
    ok(record("--count", 1, "--append", "--mode", "640"))
    assert mode_of(record.log) == 0o640
    ok(record("--count", 1))
    assert mode_of(record.log) == 0o600
    for wrong in ("9", "7777", "rw", ""):
        assert record("--mode", wrong).returncode == 2


def numbered(place):
    """The files of a rotation, the oldest first."""
    old = sorted((p for p in place.iterdir() if p.name != "gpu_log.csv"),
                 key=lambda p: int(p.name.split(".")[1]))
    return old + [place / "gpu_log.csv"]


def test_rotation_by_size(record):
    ok(record("-i", "0.01", "--count", 40, "--rotate", "4096"))
    files = numbered(record.place)
    assert len(files) > 3
    assert files[0].name == "gpu_log.1.csv"
    times = []
    for path in files:
        assert path.stat().st_size <= 4096 and mode_of(path) == 0o600
        assert len(rows(path)) % 4 == 0 and rows(path)
        times += [row["timestamp"] for row in rows(path)]
    assert len(times) == 160 and times == sorted(times)
    ok(record("-i", "0.01", "--count", 40, "--rotate", "4K", "--append"))
    assert len(numbered(record.place)) > len(files)


def test_rotation_fills_no_gap(record):
    """The number of a deleted file is not used again."""
    for name in ("gpu_log.7.csv", "gpu_log.x.csv", "gpu_log.99.csv.gz"):
        (record.place / name).touch()
    ok(record("-i", "0.01", "--count", 10, "--rotate", "1K"))
    names = {p.name for p in record.place.iterdir()}
    assert "gpu_log.8.csv" in names and "gpu_log.1.csv" not in names
    assert "gpu_log.100.csv" not in names


def test_rotation_by_time(record):
    ok(record("-i", "0.1", "--count", 16, "--rotate", "500ms"))
    files = numbered(record.place)
    times = [datetime.datetime.fromisoformat(row["timestamp"])
             for path in files for row in rows(path)]
    assert len(times) == 64
    lasted = (times[-1] - times[0]).total_seconds()
    assert 3 <= len(files) <= lasted / 0.5 + 1.5
    for wrong in ("0", "x", "-1", "10q"):
        assert record("--rotate", wrong).returncode == 2


@pytest.mark.parametrize("args", [
    ["--interval", "0.001"], ["--interval", "x"], ["--pid", "x"],
    ["--pid", "0"], ["--system", "1", "--devices"], ["--devices", "--snapshots"],
    ["--match", "x", "--devices"], ["--until-exit"], ["--children"],
    ["--format", "xml"], ["word"], ["--pid", "1", "--", "true"],
    ["--snapshots", "--format", "jsonl"], ["--output", ""]])
def test_usage(record, args):
    done = record(*args)
    assert done.returncode == 2 and done.stdout == "" and done.stderr
    assert os.listdir(record.place) == []


BUSY = """
import os, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
end = time.monotonic() + 0.7
while time.monotonic() < end:
    pass
print("up", flush=True)
time.sleep(1000)
"""


@pytest.fixture
def busy():
    process = subprocess.Popen([sys.executable, "-c", BUSY], text=True,
                               stdout=subprocess.PIPE)
    assert process.stdout.readline() == "up\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def host_mib(*names):
    with open("/proc/meminfo", encoding="ascii") as f:
        found = dict(re.findall(r"^(\w+): +(\d+) kB", f.read(), re.M))
    return [int(found[name]) // 1024 for name in names]


def host_used_mib():
    total, available = host_mib("MemTotal", "MemAvailable")
    return total - available


def pcpu(pid):
    return float(subprocess.run(["ps", "-o", "pcpu=", "-p", str(pid)],
                                text=True, capture_output=True,
                                check=True).stdout)


@contextlib.contextmanager
def host_used_meanwhile():
    """A list of the host's used memory, extended all the time."""
    seen, end = [host_used_mib()], threading.Event()

    def look():
        while not end.wait(0.002):
            seen.append(host_used_mib())

    looker = threading.Thread(target=look)
    looker.start()
    try:
        yield seen
    finally:
        end.set()
        looker.join()
        seen.append(host_used_mib())


def test_system(record, busy):
    before = pcpu(busy.pid)
    with host_used_meanwhile() as used:
        ok(record("--system", busy.pid, "--count", 1))
    after = pcpu(busy.pid)
    assert record.log.read_text().split("\n")[0] == (
        "timestamp,used_mib,sys_used_mib,cpu_cores,cpu_pct")
    row, = rows(record.log)
    # Memory that others take meanwhile is within the range, or is only
    # momentary.
    assert min(used) - 500 < int(row["sys_used_mib"]) < max(used) + 500
    assert row["used_mib"] == ""
    assert row["cpu_cores"] == str(min(os.sched_getaffinity(0)))
    # The share is of its whole life, which continues without work.
    assert after - 1 <= float(row["cpu_pct"]) <= before + 1


def test_system_of_several(record, busy):
    pid = record.processes()[0]["pid"]
    ok(record("--system", busy.pid, pid, "--count", 2, "-i", "0.1"))
    got = rows(record.log)
    assert list(got[0]) == ["timestamp", "used_mib", "sys_used_mib",
                            "cpu_cores", "cpu_pct", "pid"]
    assert [row["pid"] for row in got] == [str(busy.pid), pid] * 2
    assert [row["used_mib"] for row in got] == ["", "1024"] * 2


THREADS = """
import os, threading, time
cpus = sorted(os.sched_getaffinity(0))[:2]
there = threading.Barrier(len(cpus) + 1)
def stay(cpu):
    os.sched_setaffinity(0, {cpu})
    there.wait()
    time.sleep(1000)
for cpu in cpus:
    threading.Thread(target=stay, args=(cpu,), daemon=True).start()
os.sched_setaffinity(0, {cpus[0]})
there.wait()
print("/".join(map(str, cpus)), flush=True)
time.sleep(1000)
"""


def test_cpu_cores_are_those_of_all_threads(record):
    with subprocess.Popen([sys.executable, "-c", THREADS], text=True,
                          stdout=subprocess.PIPE) as process:
        cores = process.stdout.readline().strip()
        ok(record("--system", process.pid, "--count", 1))
        process.kill()
    assert [row["cpu_cores"] for row in rows(record.log)] == [cores]


def test_both_a_pid_and_a_match_choose(record):
    pids = [p["pid"] for p in record.processes()]
    ok(record("--pid", pids[0], "--match", "gpu=1", "--count", 1))
    assert [row["pid"] for row in rows(record.log)] == [pids[0], *pids[2:]]


# In another pid namespace NVML would not list the processes, either.
WITHOUT_PROC = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec",
                'mount -t tmpfs none /proc; exec "$@"', "sh"]


@pytest.fixture
def outsider(record):
    """record(ARGS...) where /proc shows none of the GPUs' processes."""
    can.need("mounts-of-its-own")
    if sanitized():
        pytest.skip("LeakSanitizer reads /proc")

    def run(*args):
        return subprocess.run(
            [*WITHOUT_PROC, GPUKIT, "record", *map(str, args)], text=True,
            capture_output=True, check=False, timeout=60, cwd=record.place,
            env=clean_env(**record.machine.env))

    return run


def test_a_pid_that_the_gpu_alone_knows(record, outsider):
    pid = record.processes()[0]["pid"]
    ok(outsider("--pid", pid, "--count", 2, "-i", "0.05"))
    assert [row["pid"] for row in rows(record.log)] == [pid, pid]
    assert {row["gpu_mem_mib"] for row in rows(record.log)} == {"1024"}
    ok(outsider("--system", pid, "--count", 1))
    row, = rows(record.log)
    assert (row["used_mib"], row["cpu_pct"], row["cpu_cores"]) == (
        "1024", "", "")
    one_line(outsider("--pid", 4194305, "--count", 1), 1,
             "no process 4194305 exists here or on a GPU")


def test_until_exit_of_a_pid_that_the_gpu_alone_knows(record, outsider):
    pid = record.processes()[0]["pid"]
    ended = []

    def end_it():
        wait_until(lambda: record.log.exists()
                   and record.log.read_text().count(pid) > 2)
        os.kill(int(pid), signal.SIGKILL)
        # A process of its own namespace reaps it.
        wait_until(lambda: pid not in {p["pid"] for p in record.processes()})
        ended.append(pid)

    killer = threading.Thread(target=end_it)
    killer.start()
    ok(outsider("--pid", pid, "--until-exit", "-i", "0.05"))
    killer.join()
    assert ended == [pid]
    assert {row["pid"] for row in rows(record.log)} == {pid}
