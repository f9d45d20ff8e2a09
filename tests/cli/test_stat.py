# SPDX-License-Identifier: Apache-2.0
"""`gpukit stat` is tested as a user sees it, on fake machines."""

import csv
import ctypes
import io
import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time

import pytest

from conftest import BUILD, FAKE_DIR, GPUKIT, ROOT, clean_env, needed
from tools import is_full, on_the_beat, wait_until

A100 = "NVIDIA A100-SXM4-80GB"


@pytest.fixture
def stat(gpukit, machine):
    """stat(ARGS...) on a machine with two busy GPUs and two idle ones."""
    made = machine("--gpus", "a100-sxm4-80gb:4", "--load",
                   "train:0-1,mem=1GiB,util=90")

    def run(*args, env=None, **kwargs):
        return gpukit("stat", *args, env={**made.env, **(env or {})},
                      **kwargs)

    # The machine is already up while the loads start.
    deadline = time.monotonic() + 60
    while run("--csv=processes").stdout.count(f",{1 << 30},") < 2:
        assert time.monotonic() < deadline, run("--json").stdout
        time.sleep(0.02)
    run.machine = made
    run.env = clean_env(**made.env)
    run.command = [GPUKIT, "stat"]
    return run


def ok(done):
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stderr == ""
    return done.stdout


def gpu_lines(text):
    return [line for line in text.splitlines() if line.startswith("[")]


def test_default_text(stat):
    text = ok(stat())
    header, *_ = text.splitlines()
    assert os.uname().nodename in header and "CUDA" in header
    lines = gpu_lines(text)
    assert len(lines) == 4
    for i, line in enumerate(lines):
        assert re.fullmatch(
            rf"\[{i}\] {A100} \|\s+\d+°C,\s+\d+ % \|\s+\d+ / 81920 MB \|"
            r"( \S+\(\d+M\))*", line), line
    assert re.search(r"\S+\(1024M\)$", lines[0])
    assert lines[3].endswith("MB |")
    assert len({line.index("MB |") for line in lines}) == 1
    assert "\033" not in text


@pytest.mark.parametrize("option, pattern", [
    ("-c", r"MB \| \S+\(1024M\)"),
    ("-p", r"MB \| \S+/\d+\(1024M\)"),
    ("-u", r"MB \| [^|:/]+\(1024M\)"),
    ("-cup", r"MB \| [^|:/]+:\S+/\d+\(1024M\)"),
    ("-F", r"°C,\s+(\d+|\?\?) %,\s+\d+ % \|"),
    ("-e", r"\(E:\s+\d+ %  D:\s+\d+ %\)"),
    ("--show-codec=enc", r"\(E:\s+\d+ %\)"),
    ("-P", r",\s+\d+ / 400 W \|"),
    ("--show-power=draw", r",\s+\d+ W \|"),
    ("--show-power=limit", r",\s+\d+ / 400 W \|"),
    ("-a", r"°C,.*%,.*\(E: .* W \|.*:\S+/\d+\("),
    ("--no-processes", r"MB$"),
    ("--gpuname-width=8", r"^\[0\] …\S+ \|"),
    ("--gpuname-width=0", r"^\[0\] +\d+°C"),
])
def test_switches_of_gpustat(stat, option, pattern):
    first = gpu_lines(ok(stat(option)))[0]
    assert re.search(pattern, first), first


@pytest.mark.parametrize("args", [["-e", "dec"], ["-P", "draw"]])
def test_the_argument_may_follow_a_blank(stat, args):
    joined = [f"{args[0]}{args[1]}"]
    cut = re.compile(r" *\d+")  # numbers change, the columns do not
    assert (cut.sub("0", ok(stat("--no-header", "--no-processes", *args))) ==
            cut.sub("0", ok(stat("--no-header", "--no-processes", *joined))))


def test_full_commands(stat):
    lines = ok(stat("-f")).splitlines()
    branch = next(line for line in lines if "└─" in line)
    assert re.match(r" └─ +\d+ \( *(--|\d+)%, +\S+B\): \S", branch)


def test_no_header(stat):
    assert ok(stat("--no-header")).startswith("[0]")


def test_id(stat):
    lines = gpu_lines(ok(stat("--id", "2,0")))
    assert [line[:3] for line in lines] == ["[0]", "[2]"]
    devices = json.loads(ok(stat("--id", "1", "--json")))["devices"]
    assert [d["index"] for d in devices] == [1]
    assert devices[0]["processes"]
    done = stat("--id", "9")
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "no GPU 9" in done.stderr


@pytest.mark.parametrize("args, env, colored", [
    ([], {}, False),
    (["--color"], {}, True),
    (["--force-color"], {"NO_COLOR": "1"}, True),
    ([], {"FORCE_COLOR": "1"}, True),
    ([], {"CLICOLOR_FORCE": "1"}, True),
    ([], {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
    (["--no-color"], {"FORCE_COLOR": "1"}, False),
    (["-1", "--color"], {}, True),
])
def test_colors(stat, args, env, colored):
    assert ("\033[" in ok(stat(*args, env=env))) == colored


@pytest.mark.parametrize("width, bars", [(79, 0), (100, 1), (123, 2)])
def test_boxed(stat, width, bars):
    lines = ok(stat("--boxed", env={"COLUMNS": str(width)})).splitlines()
    assert re.match(r"│ GPUKIT \S+ +Driver Version: \S+ +CUDA Driver Version: "
                    r"[\d.]+ │$", lines[2])
    first = next(line for line in lines if "A100" in line)
    assert first.count("│") == 4 + bars
    assert any(re.match(r"│ +0 +\d+ C +\S+ +1024MiB", line)
               for line in lines)
    assert any(line.startswith("[ CPU: ") for line in lines)


def test_ascii_where_the_locale_is_not_utf8(stat):
    for done in (stat("-1", "--ascii"), stat("-1", env={"LC_ALL": "C"}),
                 stat(env={"LC_ALL": "C"})):
        assert ok(done).isascii()


def test_json_follows_its_schema(stat):
    with open(os.path.join(ROOT, "docs", "stat.schema.json"),
              encoding="utf-8") as file:
        schema = json.load(file)
    validator = needed("jsonschema", "the schema").Draft202012Validator(schema)
    for args in (["--json"], ["--json", "--why", "--pcie"],
                 ["--json", "--detail"], ["--json", "--detail", "--why"],
                 ["--json", "--cpu-window", "0.05"],
                 ["--json", "--no-processes"],
                 ["--json-lines", "--why", "--count", "1"]):
        validator.validate(json.loads(ok(stat(*args))))
    assert {d["processes"] is None for d in json.loads(
        ok(stat("--json", "--no-processes")))["devices"]} == {True}


def test_the_schema_has_every_metric():
    subprocess.run([sys.executable, os.path.join(ROOT, "tools",
                                                 "stat-schema.py"), "--check"],
                   check=True, timeout=60)


class Range(ctypes.Structure):
    _fields_ = [("least", ctypes.c_int64), ("most", ctypes.c_int64)]


class Info(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("help", ctypes.c_char_p),
                ("unit", ctypes.c_int), ("kind", ctypes.c_int),
                ("tier", ctypes.c_int)]


# Factors of enum gk_unit for units that are not printed as they are.
SCALES = {2: 100, 4: 1000, 5: 1000, 8: 10 ** 9}


@pytest.mark.parametrize("part,table,rows,function", [
    ("device", "gk_metrics", "metrics", "gk_metric_range"),
    ("process", "gk_process_metrics", "process_metrics",
     "gk_process_metric_range"),
    ("link", "gk_link_metrics", "links", "gk_link_metric_range"),
])
def test_the_schema_tells_the_ranges_of_the_library(part, table, rows,
                                                    function):
    with open(os.path.join(ROOT, "include", "gpukit", f"{rows}.def"),
              encoding="utf-8") as file:
        count = sum(bool(re.match(r"[A-Z_]+\(", line)) for line in file)
    with open(os.path.join(ROOT, "docs", "stat.schema.json"),
              encoding="utf-8") as file:
        keys = json.load(file)["$defs"][part]["properties"]
    library = ctypes.CDLL(os.path.join(BUILD, "lib", "libgpukit.so"))
    infos = (Info * count).in_dll(library, table)
    range_of = getattr(library, function)
    range_of.restype = ctypes.POINTER(Range)
    for i, info in enumerate(infos):
        key, told = keys[info.name.decode()], range_of(i).contents
        scale = SCALES.get(info.unit, 1)
        assert key["minimum"] * scale == told.least, info.name
        assert key["maximum"] * scale == told.most, info.name
    assert not range_of(count)


def test_details_are_asked_for(stat):
    plain = json.loads(ok(stat("--json")))
    data = json.loads(ok(stat("--json", "--detail", "--why")))
    first = data["devices"][0]
    added = set(first) - set(plain["devices"][0])
    assert {"facts", "links", "power_instant_watts",
            "bar1_free_bytes"} <= added
    assert "topology" not in plain
    assert "detail" not in plain["devices"][0]["age_seconds"]
    assert first["age_seconds"]["detail"] < 5
    assert first["facts"]["architecture"] == "Ampere"
    assert first["facts"]["inforom_power_version"] is None
    assert first["facts"]["why"]["inforom_power_version"] == "not supported"
    assert (first["bar1_free_bytes"] + first["bar1_used_bytes"] ==
            first["bar1_total_bytes"])
    assert len(first["links"]) == 12
    assert {link["end"] for link in first["links"]} == {"switch"}
    assert sum(link["transmit_bytes_total"] for link in first["links"]) <= \
        first["nvlink_transmit_bytes_total"] + len(first["links"]) * 1024
    # There was only one reading: nobody has waited for Xids.
    assert "xid_errors_total" not in first
    assert data["topology"][0]["peers"][0]["path"] == "self"
    assert data["topology"][0]["peers"][1]["nvlinks"] == 12
    assert stat("--detail").returncode == 2


def test_xids_are_counted_in_a_stream(stat):
    with subprocess.Popen([*stat.command, "--json-lines", "--detail", "-i",
                           "0.05"], env=stat.env, stdout=subprocess.PIPE,
                          text=True) as stream:
        end = time.monotonic() + 30
        raised = False
        for line in stream.stdout:
            xids = [device.get("xid_errors_total")
                    for device in json.loads(line)["devices"]]
            if not raised and None not in xids:
                assert xids == [0, 0, 0, 0]
                assert stat.machine.ctl(
                    "fail", "2", "xid=13").returncode == 0
                raised = True
            if xids[2] == 1 or time.monotonic() > end:
                break
        stream.terminate()
    last = json.loads(line)["devices"]
    assert [d["xid_last"] for d in last] == [0, 0, 13, 0]
    assert abs(last[2]["xid_last_unix_seconds"] - time.time()) < 60
    assert last[1]["xid_last_unix_seconds"] is None


def test_json_says_what_the_machine_is(stat):
    data = json.loads(ok(stat("--json", "--why")))
    assert [d["name"] for d in data["devices"]] == [A100] * 4
    first = data["devices"][0]
    assert first["memory_total_bytes"] == 80 << 30
    process = first["processes"][0]
    assert process["gpu_memory_bytes"] == 1 << 30
    assert os.path.exists(f"/proc/{process['pid']}")
    assert process["state"] == "running" and process["args"]
    assert first["fan_speed_percent"] is None
    assert first["why"]["fan_speed_percent"] == "not supported"
    assert process["cpu_percent"] is None and "cpu_percent" in process["why"]
    assert first["pcie_receive_bytes_per_second"] is None
    assert first["age_seconds"]["fast"] < 5


def test_cpu_window_and_pcie(stat):
    data = json.loads(ok(stat("--json", "--pcie", "--cpu-window", "0.1")))
    first = data["devices"][0]
    assert isinstance(first["processes"][0]["cpu_percent"], float)
    assert isinstance(data["host"]["cpu_percent"], float)
    assert isinstance(first["pcie_receive_bytes_per_second"], int)


def test_csv(stat):
    done = subprocess.run([*stat.command, "--csv", "-i", "0.05", "--count",
                           "2"], env=stat.env, capture_output=True,
                          check=True, timeout=60)
    assert done.stdout.count(b"\r\n") == done.stdout.count(b"\n") == 9
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [row["index"] for row in rows] == ["0", "1", "2", "3"] * 2
    assert rows[0]["name"] == A100 and rows[0]["fan_speed_percent"] == ""
    rows = list(csv.DictReader(io.StringIO(ok(stat("--csv=processes")))))
    assert {row["index"] for row in rows} == {"0", "1"}
    assert rows[0]["gpu_memory_bytes"] == str(1 << 30)


def test_a_hundred_frames_a_second_without_drift(stat):
    """A busy host misses some frames, but is not always that busy."""
    for _ in range(10):
        frames = [json.loads(line) for line in ok(
            stat("--json-lines", "-i", "0.01", "--count",
                 "200")).splitlines()]
        assert len(frames) == 200
        times = [frame["monotonic_seconds"] for frame in frames]
        assert times == sorted(times)
        periods = (times[-1] - times[0]) / 0.01
        assert periods >= 199 * 0.99
        if periods <= 199 * 1.5 and on_the_beat(times, 0.01) > 0.25:
            break
    assert periods <= 199 * 1.5
    assert on_the_beat(times, 0.01) > 0.25


def test_a_lost_gpu_does_not_hide_the_others(stat):
    assert stat.machine.ctl("fail", "2", "lost").returncode == 0
    lines = gpu_lines(ok(stat()))
    assert len(lines) == 4
    assert lines[2].startswith("[2] ((GPU is lost))") and "??" in lines[2]
    assert lines[3].startswith(f"[3] {A100}") and "??°C" not in lines[3]
    assert "ERROR: GPU is lost" in ok(stat("-1"))
    devices = json.loads(ok(stat("--json")))["devices"]
    assert [d["health"] for d in devices] == ["ok", "ok", "lost", "ok"]
    assert devices[2]["temperature_celsius"] is None
    assert devices[2]["processes"] is None and devices[3]["processes"] == []
    assert "No running" not in ok(stat("--id", "2"))
    assert "No running" in ok(stat("--id", "2,3"))


def test_a_gpu_that_hangs_is_stale_and_holds_nobody_up(stat):
    assert stat.machine.ctl(
        "set", "latency.nvmlDeviceGetUtilizationRates=60s").returncode == 0
    started = time.monotonic()
    data = json.loads(ok(stat("--json", "--timeout", "0.3")))
    assert time.monotonic() - started < 30
    assert "stale" in {d["health"] for d in data["devices"]}
    assert "((no answer" in ok(stat("--timeout", "0.3"))


def test_nothing_is_said_in_words(gpukit, machine):
    idle = machine("--gpus", "t4:1")
    assert "No running processes found" in gpukit.ok("stat", env=idle.env)
    empty = machine("--gpus", "none")
    assert "No visible devices found" in gpukit.ok("stat", env=empty.env)
    assert "No visible devices found" in gpukit.ok("stat", "-1",
                                                   env=empty.env)


def test_no_driver(gpukit):
    done = gpukit("stat", "--nvml", "/nonexistent/libnvidia-ml.so.1")
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "/nonexistent" in done.stderr
    assert "gpukit fake -- gpukit stat" in done.stderr


@pytest.mark.parametrize("args", [
    ["--json", "-i", "1"], ["--id", "x"], ["--id", "1,,2"], ["-i", "0"], ["--interval=x"],
    ["--count", "0"], ["--csv=x"], ["--show-power=x"], ["--no-such"],
    ["-i", "1e9"], ["--nvml="], ["--id="], ["--interval=-1"],
    ["--gpuname-width", "-1"], ["--gpuname-width", "1001"],
    ["--json", "--csv"], ["--csv", "--json-lines"], ["-1", "--json"],
    ["stray"], ["--why"], ["--timings-sort", "x"], ["--timeout", "never"],
])
def test_wrong_usage(gpukit, args):
    done = gpukit("stat", *args)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("gpukit stat: ")


def test_a_full_disk_is_an_error(stat):
    with open("/dev/full", "w", encoding="utf-8") as full:
        for args in ([], ["--json-lines", "-i", "0.05"]):
            done = subprocess.run([*stat.command, *args], stdout=full,
                                  stderr=subprocess.PIPE, text=True,
                                  env=stat.env, check=False, timeout=60)
            assert done.returncode == 1
            assert len(done.stderr.splitlines()) == 1
            assert "No space left" in done.stderr


def test_a_closed_pipe_ends_it_quietly(stat):
    with subprocess.Popen([*stat.command, "--json-lines", "-i", "0.02"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=stat.env) as process:
        json.loads(process.stdout.readline())
        process.stdout.close()
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(stat, number):
    with subprocess.Popen([*stat.command, "--json-lines", "-i", "30"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=stat.env) as process:
        json.loads(process.stdout.readline())
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == b""


def test_a_signal_ends_it_even_when_nobody_reads(stat):
    with subprocess.Popen([*stat.command, "--json-lines", "-i", "0.002"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=stat.env) as process:
        wait_until(lambda: is_full(process.stdout))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == b""


def test_a_signal_does_not_cut_a_line(stat):
    with subprocess.Popen([*stat.command, "--json-lines", "-i", "0.002"],
                          stdout=subprocess.PIPE, env=stat.env) as process:
        wait_until(lambda: is_full(process.stdout))  # in the middle of a line
        process.send_signal(signal.SIGINT)
        text = process.stdout.read()
        assert process.wait(timeout=20) == 0
    assert len(text) > 4096 and text.endswith(b"}\n")


@pytest.mark.parametrize("options", ["", "-i 0.05 --count 2"])
def test_a_closed_stdout_is_an_error(stat, options):
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" stat {options} >&-', GPUKIT], check=False,
        env=stat.env, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Bad file descriptor" in done.stderr


def test_help_and_version_on_a_full_disk(gpukit):
    with open("/dev/full", "w", encoding="utf-8") as full:
        for option in ("help", "--version"):
            done = subprocess.run([GPUKIT, option], stdout=full, check=False,
                                  stderr=subprocess.PIPE, text=True)
            assert done.returncode == 1
            assert "No space left" in done.stderr


def test_help_with_a_verb_is_that_verbs(gpukit):
    for words in (["stat"], ["limit", "show"], ["smi"]):
        told = gpukit("help", *words)
        assert told.returncode == 0
        assert told.stdout == gpukit(*words, "--help").stdout
        assert len(told.stdout) > 300
    wrong = gpukit("help", "nonsense")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "'nonsense'" in wrong.stderr


class Terminal:
    """A command on a terminal of its own, of 24 by 80."""

    ON, OFF = b"\033[?1049h\033[?25l\033[?7l", b"\033[?7h\033[?25h\033[?1049l"

    def __init__(self, stat, *args, term="xterm"):
        def alone():
            os.setpgrp()  # it may be stopped, whoever runs the tests
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        self.master, slave = pty.openpty()
        self.seen = b""
        self.process = subprocess.Popen(
            [*stat.command, *args], stdin=slave, stdout=slave, stderr=slave,
            env={**stat.env, "TERM": term}, preexec_fn=alone)
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.master)

    def read(self, wanted=None, timeout=20):
        """The text that appears from now on: until `wanted`, or to the end."""
        start, deadline = len(self.seen), time.monotonic() + timeout
        while wanted is None or wanted not in self.seen[start:]:
            assert time.monotonic() < deadline, self.seen[start:]
            if not select.select([self.master], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(self.master, 65536)
            except OSError:  # closed by the last process that had it open
                piece = b""
            if not piece:
                assert wanted is None, self.seen[start:]
                break
            self.seen += piece
        return self.seen[start:]


def test_watching_on_a_terminal_restores_it(stat):
    with Terminal(stat, "-i", "0.05", "--count", "3") as terminal:
        seen = terminal.read()
        assert terminal.process.wait(timeout=30) == 0
    assert seen.startswith(terminal.ON) and seen.endswith(terminal.OFF)
    assert seen.count(b"\033[H") == 3
    assert A100.encode() in seen


@pytest.mark.parametrize("number, status", [
    (signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGHUP, -signal.SIGHUP),
    (signal.SIGQUIT, -signal.SIGQUIT), (signal.SIGABRT, -signal.SIGABRT)])
def test_every_end_gives_the_terminal_back(stat, number, status):
    with Terminal(stat, "-i", "0.05") as terminal:
        terminal.read(A100.encode())
        terminal.process.send_signal(number)
        assert terminal.process.wait(timeout=30) == status
        assert terminal.read().endswith(terminal.OFF)


def test_a_stop_gives_the_terminal_back_for_its_time(stat):
    with Terminal(stat, "-i", "0.05") as terminal:
        terminal.read(A100.encode())
        terminal.process.send_signal(signal.SIGTSTP)
        assert terminal.read(terminal.OFF).endswith(terminal.OFF)
        _, status = os.waitpid(terminal.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.read(terminal.ON)
        terminal.read(A100.encode())
        terminal.process.send_signal(signal.SIGTSTP)  # and once more
        terminal.read(terminal.OFF)
        # If it is continued before it has stopped, it stops for good.
        os.waitpid(terminal.process.pid, os.WUNTRACED)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.process.wait(timeout=30) == 0


def test_messages_come_after_the_screen(stat):
    with Terminal(stat, "-i", "0.05", "--id", "9") as terminal:
        seen = terminal.read()
        assert terminal.process.wait(timeout=30) == 1
    assert b"no GPU 9" in seen.split(terminal.OFF)[-1]


def test_a_dumb_terminal_gets_plain_frames(stat):
    with Terminal(stat, "-i", "0.05", "--count", "2",
                  term="dumb") as terminal:
        seen = terminal.read()
        assert terminal.process.wait(timeout=30) == 0
    assert b"\033" not in seen and seen.count(b"[3]") == 2


def test_a_driver_that_refuses_is_told_with_advice(gpukit, tmp_path):
    garbage = tmp_path / "machine"
    garbage.write_bytes(b"garbage" * 1000)
    done = gpukit("stat", env={"GPUKIT_MACHINE": str(garbage),
                               "LD_LIBRARY_PATH": FAKE_DIR})
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "Driver Not Loaded (9)" in done.stderr
    assert "GPUKIT_MACHINE" in done.stderr
