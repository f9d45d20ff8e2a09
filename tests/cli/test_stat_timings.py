# SPDX-License-Identifier: Apache-2.0
"""`--timings` says where the time of a command went."""

import json

import pytest


@pytest.fixture
def stat(gpukit, machine):
    """stat(ARGS...) on a machine of four GPUs."""
    made = machine("--gpus", "a100-sxm4-80gb:4")

    def run(*args):
        return gpukit("stat", *args, env=made.env)

    run.machine = made
    return run


def ok(done):
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stderr == ""


def timing_rows(text):
    head, *rows, last = text.splitlines()
    assert head.split()[0] == "calls" and last.startswith("start-up ")
    return [row.split(maxsplit=5) for row in rows]


def test_timings_point_at_the_slow_call(stat):
    assert stat.machine.ctl(
        "set", "latency.nvmlDeviceGetFanSpeed=500ms").returncode == 0
    done = stat("-F", "--timings")
    assert done.returncode == 0
    rows = timing_rows(done.stderr)
    assert "nvmlDeviceGetFanSpeed" in rows[0][5], done.stderr
    assert float(rows[0][4]) >= 500
    selfs = [float(row[1]) for row in rows if not row[5].startswith("wait")]
    assert selfs == sorted(selfs, reverse=True)
    done = stat("-F", "--timings", "--timings-sort", "cumulative")
    totals = [float(row[2]) for row in timing_rows(done.stderr)
              if not row[5].startswith("wait")]
    assert totals == sorted(totals, reverse=True)
    assert {"open", "load the driver library", "format",
            "write"} <= {row[5] for row in rows}


def test_timings_tell_the_drivers_part_apart(stat, tmp_path):
    path = tmp_path / "trace.json"
    assert stat.machine.ctl(
        "set", "latency.nvmlDeviceGetFanSpeed=500ms").returncode == 0
    ok(stat("-F", f"--timings={path}"))
    trace = json.loads(path.read_text())
    whole = trace["otherData"]
    calls = [event["dur"] / 1e3 for event in trace["traceEvents"]
             if event["name"].startswith("nvml")]
    assert whole["nvml_calls"] == len(calls)
    assert whole["nvml_ms"] == pytest.approx(sum(calls), abs=0.1)
    assert 500 <= whole["nvml_ms"] and 500 <= whole["total_ms"]
    assert 0 < whole["init_ms"] < whole["nvml_ms"]
    assert 0 < whole["load_ms"] < whole["total_ms"]
    assert 0 < whole["startup_cpu_ms"]


def test_timings_as_a_trace(stat, tmp_path):
    path = tmp_path / "trace.json"
    ok(stat(f"--timings={path}"))
    events = json.loads(path.read_text())["traceEvents"]
    assert {"ph", "ts", "dur", "pid", "tid", "name"} <= set(events[0])
    assert any(event["name"].startswith("nvml") for event in events)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    ok(stat(f"--timings={link}"))
    assert link.is_symlink() and json.loads(link.read_text())
    done = stat("--timings=/nonexistent/trace.json")
    assert done.returncode == 1 and "/nonexistent/trace.json" in done.stderr
