# SPDX-License-Identifier: Apache-2.0
"""The functions that are refused are those whose rows say so, each for a reason
of src/fronts/common/refused.def."""

import os
import re
import subprocess

import pytest

from abi_tables import (cuda_rows, cuda_symbols, cudart_rows,
                        cudart_symbols, nvml_rows)
from conftest import FAKE_DIR, ROOT
from generations import directory


def reasons():
    with open(os.path.join(ROOT, "src", "fronts", "common", "refused.def"),
              encoding="utf-8") as f:
        text = f.read()
    found = re.findall(r'^REASON\((\w+), "(.+)"\)$', text, re.M)
    assert len(found) == text.count("\nREASON(")
    assert [id for id, _ in found] == sorted({id for id, _ in found})
    return [id for id, _ in found]


def weak(library):
    """The functions that a library refuses."""
    told = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    return set(re.findall(r" W (\w+)", told))


def test_what_nvml_refuses_is_what_its_table_says():
    told = {row.symbol for row in nvml_rows() if row.refused != "DONE"}
    assert len(told) > 50
    assert weak(os.path.join(directory("610"), "libnvidia-ml.so.1")) == told


def test_what_the_driver_refuses_is_what_its_table_says():
    told = {symbol.symbol for symbol in cuda_symbols()
            if symbol.row.refused != "DONE"}
    assert len(told) > 50
    assert weak(os.path.join(directory("610"), "libcuda.so.1")) == told


@pytest.mark.parametrize("major", [12, 13])
def test_what_the_runtime_refuses_is_what_its_table_says(major):
    told = {symbol for symbol, row in cudart_symbols(major).items()
            if row.refused != "DONE"}
    assert len(told) > 50
    assert weak(os.path.join(FAKE_DIR, f"libcudart.so.{major}")) == told


def test_each_reason_is_that_of_a_refused_function():
    told = {row.refused for row in [*nvml_rows(), *cuda_rows(),
                                    *cudart_rows()]} - {"DONE"}
    assert told == {f"REFUSED({reason})" for reason in reasons()}


@pytest.mark.parametrize("program, result, line", [
    ("c = ctypes.CDLL('libcuda.so.1'); c.cuInit(0); "
     "print(c.cuCheckpointProcessLock(1, None))", "801",
     "cuCheckpointProcessLock: refused, processes are not checkpointed"),
    ("n = ctypes.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2(); "
     "print(n.nvmlGetVgpuVersion(None, None))", "3",
     "nvmlGetVgpuVersion: refused, there are no virtual GPUs"),
])
def test_the_reason_is_told(machine, program, result, line):
    m = machine("--gpus", "t4")
    told = subprocess.run(
        ["python3", "-c", "import ctypes; " + program],
        capture_output=True, text=True, check=True,
        env={**os.environ, **m.env, "GPUKIT_LOG": "warn"})
    assert told.stdout == result + "\n"
    assert re.findall(f"{line}$", told.stderr, re.M) == [line]
