# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own table of operators on a fake GPU is compared with the CPU;
without GPUKIT_TORCH_ALL, which `./run torch` sets, only a fixed tenth of it.
Known misses are listed with their reasons in tests/data/torch-misses.txt."""

import collections
import json
import os

import pytest

from conftest import ROOT
from torch_program import run_file

PARTS = 20
TYPES = ("float32", "bfloat16", "int64", "complex64", "bool")
ALL = "GPUKIT_TORCH_ALL" in os.environ
# Another PyTorch has other misses: operators that it has only for the CPU.
PINNED = "GPUKIT_TORCH_PYTHON" not in os.environ
MISSES = os.path.join(ROOT, "tests", "data", "torch-misses.txt")


def known_misses():
    """{(operator, type): reason}"""
    known = {}
    with open(MISSES, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                operator, dtype, reason = line.rstrip("\n").split("\t")
                known[operator, dtype] = reason
    return known


@pytest.mark.parametrize("part", range(PARTS if ALL else PARTS // 10))
def test_operators_answer_as_the_cpus(part):
    printed = run_file(["opinfo.py", str(part), str(PARTS), *TYPES], "h100:1",
                       1800)
    rows = [json.loads(line) for line in printed.splitlines()
            if line.startswith("{")]  # some PyTorch versions print more
    assert len(rows) > 50
    known = known_misses()
    missed = {(row["operator"], row["dtype"]): row["miss"] for row in rows
              if row["miss"] and (PINNED or "Could not run 'aten::"
                                  not in row["miss"])}
    met = {(row["operator"], row["dtype"]) for row in rows}
    assert not {key: miss for key, miss in missed.items() if key not in known}
    if PINNED:
        assert not [key for key in known if key in met and key not in missed]
    compared = collections.Counter()
    for row in rows:
        compared["forward"] += row["forward"]
        compared["backward"] += row["backward"]
    assert compared["forward"] > 200 and compared["backward"] > 50
