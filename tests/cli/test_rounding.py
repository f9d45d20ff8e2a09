# SPDX-License-Identifier: Apache-2.0
"""A value is the same figure in every verb: halves are rounded up, except that
the tables of `smi` truncate watts, as those of nvidia-smi do."""

import json
import re

import pytest

VALUES = {274500: "275", 275500: "276", 412499: "412"}  # milliwatts


@pytest.mark.parametrize("milliwatts", VALUES)
def test_watts(gpukit, machine, milliwatts):
    one = machine("--gpus", "h100")
    one.ctl("set", "0", f"power={milliwatts / 1000}W",
            "extra-memory=42240MiB")
    told = json.loads(gpukit.ok("stat", "--json", env=one.env))
    device = told["devices"][0]
    assert device["power_watts"] == milliwatts / 1000
    assert device["memory_used_bytes"] == 42240 << 20
    texts = {" ".join(words): gpukit.ok(*words, env=one.env)
             for words in (["stat", "-P"], ["stat", "--boxed"])}
    watts = {re.search(r"(\d+) ?W? / +700 ?W", text).group(1)
             for text in texts.values()}
    assert watts == {VALUES[milliwatts]}
    assert "41.25GiB" in texts["stat --boxed"]


# Hundredths of a watt are those of printf("%.2f W", milliwatts / 1000.0).
@pytest.mark.parametrize("milliwatts, told", [
    (376639, "376.64"), (376634, "376.63"), (376625, "376.62"),
    (376375, "376.38"), (99999, "100.00"), (21996, "22.00")])
def test_watts_of_smi(gpukit, machine, milliwatts, told):
    one = machine("--frozen", "--gpus", "a100-sxm4-80gb")
    one.ctl("set", "0", f"power={milliwatts}")
    assert told == f"{milliwatts / 1000:.2f}"
    assert gpukit.ok("smi", "--query-gpu=power.draw", "--format=csv,noheader",
                     env=one.env) == f"{told} W\n"
    assert f"<instant_power_draw>{told} W<" in gpukit.ok(
        "smi", "-q", "-x", env=one.env)
    assert re.search(rf"Instantaneous Power Draw +: {told} W\n",
                     gpukit.ok("smi", "-q", "-d", "POWER", env=one.env))
    # The table cuts them off.
    assert re.search(rf" {milliwatts // 1000}W / +400W ",
                     gpukit.ok("smi", env=one.env))
