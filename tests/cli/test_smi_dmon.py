# SPDX-License-Identifier: Apache-2.0
"""`gpukit smi dmon`: GPM metrics, and its form as CSV. Where a column's title
and unit are known, and from where, src/format/smi/gpm.def says."""

import os
import re

import pytest

from conftest import ROOT
from smi_tools import Smi

# The titles that are public, and their width in a published output.
TITLES = {1: "gract", 2: "smutil", 3: "smocc", 4: "intutil", 5: "mmaact",
          6: "dfmat", 7: "hmmat", 9: "immat", 10: "dram", 11: "fp64",
          12: "fp32", 13: "fp16"}
# The same metrics, sampled by another program while dmon runs.
SAMPLES = """
class Metric(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("result", ctypes.c_int),
                ("value", ctypes.c_double), ("info", ctypes.c_char_p * 3)]
class Get(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("count", ctypes.c_uint),
                ("one", ctypes.c_void_p), ("two", ctypes.c_void_p),
                ("metrics", Metric * 333)]
def sample():
    s = ctypes.c_void_p()
    assert nvml.nvmlGpmSampleAlloc(ctypes.byref(s)) == 0
    assert nvml.nvmlGpmSampleGet(device(0), s) == 0
    return s
get = Get(version=1, count=len(IDS))
for i, id in enumerate(IDS):
    get.metrics[i].id = id
get.one = sample()
time.sleep(2)
get.two = sample()
assert nvml.nvmlGpmMetricsGet(ctypes.byref(get)) == 0
print(*(get.metrics[i].value if get.metrics[i].result == 0 else "-"
        for i in range(len(IDS))))
"""


def test_metrics_are_those_of_nvml(machine):
    ids = [1, 2, 3, 5, 10, 13, 20, 60, 62, 30, 160]
    smi = Smi(machine("--gpus", "h100-80gb-hbm3:2", "--load", "train:all"))
    told = smi.one.python(f"IDS = {ids}" + SAMPLES).split()
    status, out = smi("dmon", "-s", "p", "-i", "0", "-c", "4",
                      "--gpm-metrics", ",".join(map(str, ids)))
    assert status == 0
    rows = [line.split()[4:] for line in out.splitlines()[2:]]
    assert rows[0] == ["-"] * len(ids)  # there is no earlier sample
    for i, value in enumerate(told):
        cells = [row[i] for row in rows[1:]]
        if value == "-":
            assert cells == ["-"] * 3, ids[i]
        else:
            mean = sum(map(int, cells)) / 3
            assert mean == pytest.approx(float(value), abs=3, rel=0.15), ids[i]


def test_titles(machine):
    smi = Smi(machine("--gpus", "h100-80gb-hbm3"))
    status, out = smi("dmon", "-s", "c", "-c", "1", "--gpm-metrics=" + ",".join(
        map(str, TITLES)))
    assert (status, out.splitlines()[:2]) == (0, [
        "# gpu   mclk   pclk" + "".join(f"{t:>11}" for t in TITLES.values()) +
        " ", "# Idx    MHz    MHz" + "      GPM:%" * len(TITLES) + " "])


def test_every_metric_of_nvml_has_a_column(machine):
    with open(os.path.join(ROOT, "src/abi/nvml/nvml_gpm.h"),
              encoding="utf-8") as file:
        ids = {int(n) for n in re.findall(
            r"NVML_GPM_METRIC_(?!MAX)\w+ = (\d+),", file.read())}
    assert len(ids) > 250
    smi = Smi(machine("--gpus", "h100-80gb-hbm3"))
    status, out = smi("dmon", "-s", "c", "-c", "1", "--gpm-metrics=" + ",".join(
        map(str, sorted(ids))))
    titles = out.splitlines()[0].split()[4:]
    assert status == 0 and len(titles) == len(set(titles)) == len(ids)
    for odd in sorted(set(range(340)) - ids):
        assert smi("dmon", "-c", "1", f"--gpm-metrics={odd}")[0] == 2, odd


def test_a_board_without_gpm(machine):
    """Boards before Hopper have dashes; drivers without the functions, too."""
    for generation in ("580", "470"):
        smi = Smi(machine("--gpus", "a100-sxm4-80gb", "--driver", generation),
                  generation)
        status, out = smi("dmon", "-s", "c", "-c", "2", "--gpm-metrics=1")
        assert status == 0
        assert [row.split()[3] for row in out.splitlines()[2:]] == ["-", "-"]


def test_a_lost_gpu_has_no_metrics_and_comes_back(machine):
    smi = Smi(machine("--gpus", "h100-80gb-hbm3:2"))
    assert smi.one.ctl("fail", "1", "nvmlGpmSampleGet=NVML_ERROR_GPU_IS_LOST"
                       ).returncode == 0
    status, out = smi("dmon", "-s", "c", "-c", "2", "--gpm-metrics=1")
    assert status == 0
    assert [row.split()[3] for row in out.splitlines()[2:]] == [
        "-", "-", "0", "-"]


def test_csv(machine):
    smi = Smi(machine("--gpus", "t4:2"))
    assert smi("dmon", "-s", "c", "-c", "1", "--format", "csv")[1] == (
        "#gpu, mclk, pclk\n#Idx, MHz, MHz\n" + "".join(
            f"{i}, {clocks}\n" for i, clocks in enumerate(
                smi.values("clocks.mem,clocks.sm"))))
    out = smi("dmon", "-s", "c", "-c", "1", "-o", "DT", "-i", "1", "--format",
              "csv,noheader,nounit")[1]
    assert re.fullmatch(r"\d{8}, \d\d:\d\d:\d\d, 1, \d+, \d+\n", out), out
    assert len(smi("dmon", "-c", "1", "--format", "nounit")[1].splitlines()
               ) == 3


@pytest.mark.parametrize("args, status", [
    (["dmon", "--gpm-metrics", "1,"], 2), (["dmon", "--gpm-metrics", ""], 2),
    (["dmon", "--gpm-metrics", "1,,2"], 2),
    (["dmon", "--gpm-metrics", "0x1"], 2),
    (["dmon", "--gpm-metrics", "0" * 40 + "1"], 2),
    (["dmon", "--gpm-metrics"], 255), (["pmon", "--gpm-metrics", "1"], 255),
    (["dmon", "--gpm-metrics", ",".join(["1"] * 400)], 2),
    (["dmon", "--gpm-options", "x"], 2), (["dmon", "--gpm-options", "m"], 3),
    (["dmon", "--format", "xml"], 2), (["dmon", "--format", "csv,"], 2),
    (["pmon", "--format", "csv"], 255)])
def test_wrong_usage(machine, args, status):
    assert Smi(machine("--gpus", "t4"))(*args)[0] == status
