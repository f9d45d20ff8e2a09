# SPDX-License-Identifier: Apache-2.0
"""Impossible numbers, from a GPU, from tapes and from CSV files."""

import json
import os
import re
import subprocess

import pytest

from conftest import BUILD, clean_env

HEADER = "timestamp,gpu_index,gpu_utilization_percent,power_watts\n"
HOSTILE_TAPE = os.path.join(BUILD, "tests", "hostile-tape")


@pytest.fixture
def lying(machine):
    """A machine whose first GPU reports an impossible energy."""
    made = machine("--gpus", "h100-80gb-hbm3:1,a100:1", "--frozen")
    made.ctl("set", "0", f"energy={91 * 10**17}", "temperature=77")
    return made


def test_stat_says_what_was_told(gpukit, lying):
    first, second = gpukit.json("stat", "--json", "--why",
                                env=lying.env)["devices"]
    assert first["energy_joules"] is None
    assert first["why"]["energy_joules"] == f"nonsense: {91 * 10**14}"
    assert first["temperature_celsius"] == 77
    assert second["energy_joules"] is not None


@pytest.mark.parametrize("args", [
    ("stat", "--json", "--detail"), ("stat", "--csv=devices"), ("stat",),
    ("stat", "-1"), ("smi", "-q"), ("smi",), ("top", "--once"),
    ("smi", "--query-gpu=power.draw,memory.used", "--format=csv")], ids=" ".join)
def test_no_verb_prints_it(gpukit, lying, args):
    done = gpukit(*args, env=lying.env)
    assert done.returncode == 0, done.stderr
    assert "91000000" not in done.stdout


def test_a_recording_keeps_what_was_told(gpukit, lying, tmp_path):
    tape = str(tmp_path / "told.tape")
    done = gpukit("record", "--snapshots", "-o", tape, "--count", "2",
                  "--interval", "0.05", env=lying.env)
    assert done.returncode == 0, done.stderr
    done = gpukit("plot", "--summary", "--json", tape)
    assert "2 values left out: energy_joules: nonsense: 9100000000000000" in \
        done.stderr
    gpus = json.loads(done.stdout)["recordings"][0]["gpus"]
    assert gpus[0]["temperature_celsius"]["max"] == 77


@pytest.mark.parametrize("value", [
    "2000000000", "-1", "100.5", "9" * 39, "9223372036854775808"])
def test_plot_leaves_out_of_csv_what_cannot_be(gpukit, tmp_path, value):
    path = tmp_path / "gpu.csv"
    path.write_text(HEADER + "".join(
        f"2026-11-21T09:30:0{i},0,{value if i == 2 else 40},{100 + i}\n"
        for i in range(5)))
    done = gpukit("plot", "--summary", "--json", str(path))
    gpu, = json.loads(done.stdout)["recordings"][0]["gpus"]
    assert gpu["busy_percent"] == {"mean": 40, "max": 40}
    assert gpu["power_watts"]["max"] == 104
    assert re.search(r"1 value left out: line 4: gpu_utilization_percent: "
                     r"nonsense: ", done.stderr)


def test_plot_leaves_out_of_json_lines_what_cannot_be(gpukit, tmp_path):
    path = tmp_path / "gpu.jsonl"
    path.write_text("".join(json.dumps({
        "timestamp": f"2026-11-21T09:30:0{i}", "gpu_index": 0,
        "power_watts": 2**70 if i == 1 else 250}) + "\n" for i in range(4)))
    done = gpukit("plot", "--summary", "--json", str(path))
    gpu, = json.loads(done.stdout)["recordings"][0]["gpus"]
    assert gpu["power_watts"] == {"mean": 250, "max": 250}
    assert "1 value left out: " in done.stderr


@pytest.fixture
def good_tape(machine, gpukit, tmp_path):
    made = machine("--gpus", "h100-80gb-hbm3:2,h100-mig:1", "--load",
                   "train:0,mem=3GiB")
    path = tmp_path / "good.tape"
    done = gpukit("record", "--snapshots", "-o", str(path), "--count", "10",
                  "--interval", "0.05", env=made.env)
    assert done.returncode == 0, done.stderr
    return path


def test_no_reader_believes_a_tape(gpukit, tmp_path, good_tape):
    bad = str(tmp_path / "bad.tape")
    for seed in range(8):
        subprocess.run([HOSTILE_TAPE, str(good_tape), bad, str(seed), "60"],
                       check=True, env=clean_env(), timeout=60)
        for args in (("top", "--replay", bad, "--once"),
                     ("plot", "--summary", bad), ("plot", "--term", bad),
                     ("plot", "--summary", "--json", bad),
                     ("fake", "--replay", bad, "--", "true")):
            done = gpukit(*args, env={"LC_ALL": "C.UTF-8"})
            assert done.returncode in (0, 1), (seed, args, done.stderr)
            assert "\x1b]0;x" not in done.stdout
