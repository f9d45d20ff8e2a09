# SPDX-License-Identifier: Apache-2.0
"""The figures of `gpukit plot --summary` are compared with those of plain
Python."""

import csv
import json
import random
import re
from datetime import datetime, timedelta

import pytest

REASONS = {0x4: "power_cap", 0x80: "power_brake", 0x8: "hardware_slowdown",
           0x20: "software_thermal", 0x40: "hardware_thermal"}
BEGIN = datetime(2026, 11, 21, 9)


def devices(path, gpus, moments, rng, counter=False):
    """Writes a recording of GPUs at uneven moments, in seconds."""
    with open(path, "w", encoding="ascii", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["timestamp", "gpu_index", "name", "health",
                      "gpu_utilization_percent", "memory_used_bytes",
                      "power_watts", "temperature_celsius",
                      "clocks_event_reasons"]
                     + ["energy_joules"] * counter)
        joules = 1000.0
        for at in moments:
            for gpu in range(gpus):
                joules += rng.randrange(500)
                now = BEGIN + timedelta(seconds=at)
                out.writerow([now.isoformat(timespec="milliseconds"), gpu,
                              "NVIDIA H100 PCIe", "ok",
                              rng.choice([0, 3, rng.randrange(101)]),
                              rng.randrange(80) << 30,
                              f"{rng.random() * 700:.3f}",
                              rng.randrange(30, 90),
                              rng.choice([0, 1, 4, 0x44, 0x88, 0x20])]
                             + [f"{joules:.3f}"] * counter)


def read(path):
    with open(path, encoding="ascii", newline="") as f:
        return list(csv.DictReader(f))


def weights(rows):
    """The weight of each moment: the time since the one before it."""
    times = sorted({row["timestamp"] for row in rows})
    at = [datetime.fromisoformat(t) for t in times]
    steps = [0.0] + [(b - a).total_seconds() for a, b in zip(at, at[1:])]
    return dict(zip(times, steps))


def expected(rows, weight):
    """Mean and peak of each column of rows of one GPU or process."""
    def figure(column, scale=1.0):
        pairs = [(float(r[column]) * scale, weight[r["timestamp"]])
                 for r in rows if r.get(column, "") != ""]
        total = sum(w for _, w in pairs)
        return {"mean": sum(v * w for v, w in pairs) / total,
                "max": max(v for v, _ in pairs)}
    return figure


@pytest.mark.parametrize("counter", [False, True])
def test_gpus(gpukit, tmp_path, counter):
    rng = random.Random(17)
    path = tmp_path / "d.csv"
    at, moments = 0.0, []
    for _ in range(200):
        moments.append(at)
        at += rng.choice([1, 1, 1.25, 0.75])
    devices(path, 3, moments, rng, counter)
    found = json.loads(gpukit.ok("plot", path, "--summary", "--json"))
    assert found["schema"] == "gpukit-plot-summary-1"
    assert found["from"] == "2026-11-21T09:00:00"
    assert found["to"] == (BEGIN + timedelta(seconds=moments[-1])).isoformat(
        timespec="seconds")
    recording, = found["recordings"]
    assert recording["file"] == str(path) and not recording["processes"]
    everything = read(path)
    weight = weights(everything)
    assert found["seconds"] == pytest.approx(sum(weight.values()))
    for gpu in recording["gpus"]:
        rows = [r for r in everything if r["gpu_index"] == gpu["gpu"]]
        figure = expected(rows, weight)
        near = {"abs": 0.001}
        assert gpu["name"] == "NVIDIA H100 PCIe" and not gpu["lost"]
        assert gpu["busy_percent"] == pytest.approx(
            figure("gpu_utilization_percent"), **near)
        assert gpu["memory_mib"] == pytest.approx(
            figure("memory_used_bytes", 2 ** -20), **near)
        assert gpu["power_watts"] == pytest.approx(figure("power_watts"),
                                                   **near)
        assert gpu["temperature_celsius"] == pytest.approx(
            figure("temperature_celsius"), **near)
        of = {name: sum(weight[r["timestamp"]] for r in rows
                        if int(r["clocks_event_reasons"]) & bit)
              for bit, name in REASONS.items()}
        assert gpu["throttled_by"] == pytest.approx(
            {f"{name}_seconds": of[name] for name in of}, **near)
        assert gpu["throttled_seconds"] == pytest.approx(
            sum(weight[r["timestamp"]] for r in rows
                if int(r["clocks_event_reasons"]) & 0xec), **near)
        assert gpu["idle_allocated_seconds"] == pytest.approx(
            sum(weight[r["timestamp"]] for r in rows
                if int(r["gpu_utilization_percent"]) < 5
                and int(r["memory_used_bytes"]) >= 1 << 30), **near)
        joules = sum(float(r["power_watts"]) * weight[r["timestamp"]]
                     for r in rows)
        if counter:
            joules = (float(rows[-1]["energy_joules"])
                      - float(rows[0]["energy_joules"]))
        assert gpu["energy_wh"] == pytest.approx(joules / 3600, **near)


def test_processes(gpukit, tmp_path):
    rng = random.Random(4)
    path = tmp_path / "p.csv"
    lines = ["timestamp,gpu_index,pid,cmd,gpu_mem_mib,sm_util_pct\n"]
    for second in range(120):
        now = (BEGIN + timedelta(seconds=second)).isoformat()
        for pid in range(40, 44):
            if pid == 42 and second > 50:
                continue
            lines.append(f"{now},{pid % 2},{pid},job {pid},"
                         f"{rng.randrange(1, 9000)},{rng.randrange(9)}\n")
    path.write_text("".join(lines), encoding="ascii")
    recording, = json.loads(gpukit.ok("plot", path, "--summary", "--json")
                            )["recordings"]
    everything = read(path)
    weight = weights(everything)
    assert [p["pid"] for p in recording["processes"]] == [40, 42, 41, 43]
    for process in recording["processes"]:
        rows = [r for r in everything if r["pid"] == str(process["pid"])]
        figure = expected(rows, weight)
        assert process["command"] == f"job {process['pid']}"
        assert process["gpu"] == str(process["pid"] % 2)
        assert process["busy_percent"] == pytest.approx(
            figure("sm_util_pct"), abs=0.001)
        assert process["memory_mib"] == pytest.approx(figure("gpu_mem_mib"),
                                                      abs=0.001)
        assert process["seconds"] == sum(weight[r["timestamp"]] for r in rows)
        assert process["idle_allocated_seconds"] == sum(
            weight[r["timestamp"]] for r in rows if int(r["sm_util_pct"]) < 5)
        assert process["energy_wh_estimated"] is None
    for gpu in recording["gpus"]:
        peak = max(sum(int(r["gpu_mem_mib"]) for r in everything
                       if r["gpu_index"] == gpu["gpu"]
                       and r["timestamp"] == now) for now in weight)
        assert gpu["memory_mib"]["max"] == peak
        assert gpu["power_watts"] is None and gpu["throttled_by"] is None


def test_a_tape_beside_its_gpus(gpukit, machine, tmp_path):
    made = machine("--gpus", "h100:2", "--load", "train:0,mem=9GiB")
    tape = tmp_path / "tape"
    gpukit.ok("record", "--snapshots", "-i", "0.05", "--count", "20", "-o",
              tape, env=made.env)
    found = json.loads(gpukit.ok("plot", tape, "--summary", "--json"))
    recording, = found["recordings"]
    busy, idle = recording["gpus"]
    process, = recording["processes"]
    assert recording["host"] and busy["name"] == "NVIDIA H100 80GB HBM3"
    assert process["memory_mib"]["max"] == 9 * 1024
    assert process["energy_wh_estimated"] == pytest.approx(
        busy["power_watts"]["mean"] * busy["seconds"] / 3600, rel=0.2,
        abs=0.001)
    assert idle["busy_percent"]["max"] == 0
    assert idle["idle_allocated_seconds"] == 0
    # The GPU's own figure, without its processes' added again.
    now = gpukit.json("stat", "--json", env=made.env)["devices"][0]
    assert busy["memory_mib"]["max"] == now["memory_used_bytes"] / (1 << 20)


def test_as_text(gpukit, tmp_path):
    path = tmp_path / "d.csv"
    devices(path, 2, range(100), random.Random(2))
    wanted = json.loads(gpukit.ok("plot", path, "--summary", "--json")
                        )["recordings"][0]["gpus"]
    lines = gpukit.ok("plot", path, "--summary").splitlines()
    assert lines[0].startswith("2 × H100 PCIe · 09:00:00 to 09:01:39")
    for gpu in wanted:
        line = next(line for line in lines
                    if re.match(rf"{gpu['gpu']}\s+1:39 ", line))
        words = line.split()
        assert words[2:4] == [f"{gpu['busy_percent'][k]:.0f}"
                              for k in ("mean", "max")]
        assert words[4:6] == [f"{gpu['memory_mib'][k] / 1024:.1f}"
                              for k in ("mean", "max")]
        assert words[10] == f"{gpu['energy_wh']:.1f}"
        assert "power cap" in line and "heat (chip)" in line


def test_figures_that_are_not_known(gpukit, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("timestamp,gpu_index,power_watts\n"
                    "2026-11-21T09:00:00,0,\n2026-11-21T09:00:01,0,70\n")
    gpu, = json.loads(gpukit.ok("plot", path, "--summary", "--json")
                      )["recordings"][0]["gpus"]
    assert gpu["busy_percent"] is None
    assert gpu["idle_allocated_seconds"] is None
    assert gpu["power_watts"] == {"mean": 70, "max": 70}


@pytest.mark.parametrize("health", ["lost", "error", "stale"])
def test_the_time_of_one_that_does_not_answer(gpukit, tmp_path, health):
    """GPU 1 is recorded to the end, but answers only for half of that time."""
    path = tmp_path / "lost.csv"
    devices(path, 2, range(100), random.Random(3))
    rows = read(path)
    for row in rows:
        if row["gpu_index"] == "1" and \
                datetime.fromisoformat(row["timestamp"]) > \
                BEGIN + timedelta(seconds=50):
            row["health"] = health
            for column in list(row)[4:]:
                row[column] = ""
    with open(path, "w", encoding="ascii", newline="") as f:
        out = csv.DictWriter(f, rows[0], lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    found = gpukit.json("plot", "--summary", "--json", path)
    first, second = found["recordings"][0]["gpus"]
    assert found["seconds"] == first["seconds"] == pytest.approx(99)
    assert second["seconds"] == pytest.approx(50)
    assert second["lost"] == (health == "lost")
