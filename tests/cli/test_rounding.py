# SPDX-License-Identifier: Apache-2.0
"""A value is the same figure in every verb: halves are rounded up, except that
`smi` truncates as nvidia-smi does."""

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
