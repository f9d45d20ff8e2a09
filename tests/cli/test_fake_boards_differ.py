# SPDX-License-Identifier: Apache-2.0
"""Boards of a machine differ and drift, unless they are twins; loads do not
pause together."""

import json
import os
import subprocess
import time

import pytest

from conftest import GPUKIT, clean_env


def readings(tmp_path, times, *options):
    """Samples of stat --json: [[GPU's values] at each moment]."""
    script = (f'for i in $(seq {times}); do "{GPUKIT}" stat --json; '
              f'sleep 0.25; done')
    done = subprocess.run(
        [GPUKIT, "fake", "--name", os.fspath(tmp_path / "m"), "--gpus",
         "h100-80gb-hbm3:8", *options, "--", "sh", "-c", script],
        text=True, capture_output=True, check=True, timeout=60,
        env=clean_env())
    decoder, text, found = json.JSONDecoder(), done.stdout, []
    while text.strip():
        one, end = decoder.raw_decode(text := text.lstrip())
        found.append([(d["power_watts"], d["temperature_celsius"],
                       d["uuid"]) for d in one["devices"]])
        text = text[end:]
    return found


def test_boards_differ_and_drift(tmp_path):
    seen = readings(tmp_path, 6)
    assert len({power for power, _, _ in seen[0]}) == 8
    assert len({temperature for _, temperature, _ in seen[0]}) > 1
    for gpu in range(8):
        powers = [moment[gpu][0] for moment in seen]
        assert len(set(powers)) > 1
        assert max(powers) - min(powers) < 0.02 * powers[0]


def test_boards_differ_without_the_launcher(private_shm):
    """The default machine is made by the first program that looks."""
    done = private_shm("LD_LIBRARY_PATH=$D $G stat --json")
    assert done.returncode == 0, done.stderr
    powers = {d["power_watts"] for d in json.loads(done.stdout)["devices"]}
    assert len(powers) == 8


def test_twins_are_alike_and_stand_still(tmp_path):
    seen = readings(tmp_path, 3, "--twins")
    assert len({reading[:2] for moment in seen for reading in moment}) == 1
    assert len({uuid for _, _, uuid in seen[0]}) == 8


def test_a_seed_makes_the_same_machine(tmp_path):
    one, two, other = (
        readings(tmp_path, 1, "--frozen", "--seed", seed)[0]
        for seed in ("7", "7", "8"))
    assert one == two != other


@pytest.mark.parametrize("options", [(), ("--seed", "3")], ids=str)
def test_loads_have_seeds_of_their_own(tmp_path, options):
    name = os.fspath(tmp_path / "m")
    with subprocess.Popen(
            [GPUKIT, "fake", "--name", name, "--gpus", "t4:2", *options,
             "--load", "train:0", "--", "cat"], stdin=subprocess.PIPE,
            env=clean_env()) as launcher:
        def seeds():
            done = subprocess.run(
                [GPUKIT, "stat", "--json"], text=True, capture_output=True,
                check=False, env=clean_env(
                    GPUKIT_MACHINE=name, LD_LIBRARY_PATH=os.path.join(
                        os.path.dirname(GPUKIT), "..", "lib", "gpukit",
                        "fake")))
            devices = json.loads(done.stdout or '{"devices": []}')["devices"]
            return [p["command"].split("seed=")[1] for d in devices
                    for p in d["processes"]]

        while len(seeds()) < 1:
            time.sleep(0.05)
        with subprocess.Popen([GPUKIT, "fake", "load", "--name", name,
                               "train:1"], env=clean_env()) as load:
            while len(seeds()) < 2:
                time.sleep(0.05)
            first, second = seeds()
            load.terminate()
        launcher.stdin.close()
    assert first != second
    assert (first == "1") == (options == ())
