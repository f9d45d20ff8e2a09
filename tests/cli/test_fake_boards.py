# SPDX-License-Identifier: Apache-2.0
"""Every board makes a machine, and tells what captures of it tell.

tests/data/boards.csv has values that public captures and tables print, with
their source; not one of them is read from a profile."""
import csv
import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from conftest import GPUKIT, ROOT, clean_env

BOARDS = sorted(name[:-5] for name in os.listdir(os.path.join(
    ROOT, "profiles")) if name.endswith(".yaml") and name != "h100-mig.yaml")
with open(os.path.join(ROOT, "tests", "data", "boards.csv"),
          encoding="utf-8") as table:
    FACTS = list(csv.DictReader(table))
THRESHOLDS = {"temperature.max": 3, "temperature.slowdown": 1,
              "temperature.shutdown": 0}  # nvmlTemperatureThresholds_t
FIELDS = sorted({fact["field"] for fact in FACTS} - {"bar1"} - set(THRESHOLDS))
# Those whose MIG profiles are known; others answer N/A.
SPLIT = {"a100-pcie-40gb", "a100-pcie-80gb", "a100-sxm4-40gb",
         "a100-sxm4-80gb", "b200", "gb200", "gh200-480gb", "h100-80gb-hbm3",
         "h100-nvl", "h200", "h800"}
# Those that tell the power of their memory.
MEMORY_POWER = {"b200", "gb200", "gb300", "gh200-480gb", "h100-80gb-hbm3",
                "h200"}
HALVES = BOARDS[::2], BOARDS[1::2]  # a machine has at most 64 GPUs
EVERYWHERE = ("name", "compute_cap", "temperature.gpu", "utilization.gpu",
              "power.draw", "clocks.sm", "pstate", "uuid")

# Runs on each GPU: memory there and back, and a kernel that adds 1.
PROGRAM = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *args):
    assert getattr(cuda, name)(*args) == 0, name
PTX = b'''.version 6.0
.target sm_60
.address_size 64
.visible .entry add(.param .u64 at) {
    .reg .u64 %a<4>; .reg .u32 %r<3>;
    ld.param.u64 %a0, [at];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a2, %a0, %a1;
    ld.global.u32 %r1, [%a2];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%a2], %r1;
    ret;
}'''
call("cuInit", 0)
count = ctypes.c_int()
call("cuDeviceGetCount", ctypes.byref(count))
for i in range(count.value):
    context, module, kernel = (ctypes.c_void_p() for _ in range(3))
    at, numbers = ctypes.c_uint64(), (ctypes.c_uint32 * 64)(*range(64))
    call("cuCtxCreate_v2", ctypes.byref(context), 0, i)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"add")
    call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(256))
    call("cuMemcpyHtoD_v2", at, numbers, ctypes.c_size_t(256))
    args = (ctypes.c_void_p * 1)(ctypes.addressof(at))
    call("cuLaunchKernel", kernel, 1, 1, 1, 64, 1, 1, 0, None, args, None)
    call("cuMemcpyDtoH_v2", numbers, at, ctypes.c_size_t(256))
    call("cuCtxDestroy_v2", context)
    print(sum(numbers))
"""


# Prints the thresholds of each GPU on a line.
ASK_THRESHOLDS = f"""
import ctypes
nvml = ctypes.CDLL("libnvidia-ml.so.1")
assert nvml.nvmlInit_v2() == 0
count, gpu, degrees = ctypes.c_uint(), ctypes.c_void_p(), ctypes.c_uint()
nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
for i in range(count.value):
    nvml.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(gpu))
    print(*("N/A" if nvml.nvmlDeviceGetTemperatureThreshold(
        gpu, kind, ctypes.byref(degrees)) == 3 else degrees.value
            for kind in {tuple(THRESHOLDS.values())}))
"""


def run(one, *words):
    return subprocess.run(words, env=clean_env(**one.env), check=True, text=True,
                          capture_output=True).stdout


def query(one, fields):
    told = run(one, GPUKIT, "smi", f"--query-gpu={','.join(fields)}",
               "--format=csv,noheader")
    return [dict(zip(fields, line.split(", "), strict=True))
            for line in told.splitlines()]


def bar1_of_all(one):
    told = run(one, GPUKIT, "smi", "-q", "-d", "MEMORY")
    return re.findall(r"BAR1 Memory Usage\n\s+Total\s+: (\S+)", told)


@pytest.mark.parametrize("boards", HALVES, ids=["even", "odd"])
def test_boards_tell_what_captures_tell(machine, boards):
    one = machine("--frozen", "--gpus", ",".join(boards))
    told = dict(zip(boards, query(one, FIELDS), strict=True))
    for board, total in zip(boards, bar1_of_all(one), strict=True):
        told[board]["bar1"] = total
    for board, line in zip(boards, run(one, sys.executable, "-c",
                                       ASK_THRESHOLDS).splitlines(),
                           strict=True):
        told[board] |= zip(THRESHOLDS, line.split())
    wanted = [fact for fact in FACTS if fact["board"] in told]
    assert len(wanted) > 200
    assert [(f["board"], f["field"], told[f["board"]][f["field"]], f["value"])
            for f in wanted
            if told[f["board"]][f["field"]] != f["value"]] == []


# NVML's documentation says "Volta or newer" of the counter of energy; users have
# met Not Supported on a P100 (codecarbon's issue 667) and on other Pascals
# (nvml-wrapper's pull request 54). 83 is its field.
ASK_ENERGY = """
import ctypes
nvml = ctypes.CDLL("libnvidia-ml.so.1")
nvml.nvmlInit_v2()
for i in range(64):
    gpu, energy = ctypes.c_void_p(), ctypes.c_ulonglong()
    if nvml.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(gpu)):
        break
    field = (ctypes.c_uint * 10)(83)
    nvml.nvmlDeviceGetFieldValues(gpu, 1, field)
    print(nvml.nvmlDeviceGetTotalEnergyConsumption(gpu, ctypes.byref(energy)),
          field[7])
"""


@pytest.mark.parametrize("boards", HALVES, ids=["even", "odd"])
def test_boards_before_volta_count_no_energy(machine, boards):
    one = machine("--frozen", "--gpus", ",".join(boards))
    caps = [float(row["compute_cap"]) for row in query(one, ["compute_cap"])]
    assert run(one, sys.executable, "-c", ASK_ENERGY).splitlines() == [
        "3 3" if cap < 7 else "0 0" for cap in caps]
    told = json.loads(run(one, GPUKIT, "stat", "--json"))["devices"]
    assert [gpu["energy_joules"] is None for gpu in told] == [
        cap < 7 for cap in caps]


@pytest.mark.parametrize("boards", HALVES, ids=["even", "odd"])
def test_what_only_some_boards_tell(machine, boards):
    one = machine("--frozen", "--gpus", ",".join(boards))
    modes = query(one, ["mig.mode.current"])
    assert {board: row["mig.mode.current"]
            for board, row in zip(boards, modes, strict=True)} == {
        board: "Disabled" if board in SPLIT else "[N/A]" for board in boards}
    told = run(one, GPUKIT, "smi", "-q", "-d", "POWER")
    watts = re.findall(r"GPU Memory Power Readings.*\n\s+Average Power Draw"
                       r"\s+: (\S+)", told)
    assert {board for board, power in zip(boards, watts, strict=True)
            if power != "N/A"} == MEMORY_POWER & set(boards)


# Boards for servers of which no capture tells it, nor of their architecture.
NO_DISPLAY = {"gb10", "p100-pcie-16gb", "p40", "rtx-pro-6000-server"}


def test_a_display_is_told_as_by_captures_of_the_same_architecture(machine,
                                                                   gpukit):
    """Boards for servers tell one though they have no connector."""
    captured, servers = set(), {}
    sources = {model["model"]: model["sources"] for model in json.loads(
        gpukit.ok("fake", "models", "--json"))}
    for boards in HALVES:
        one = machine("--frozen", "--gpus", ",".join(boards))
        told = run(one, GPUKIT, "smi", "-q")
        rows = query(one, ["display_attached", "display_active"])
        for board, row, brand, architecture in zip(
                boards, rows, re.findall(r"Product Brand\s+: (.+)", told),
                re.findall(r"Product Architecture\s+: (.+)", told),
                strict=True):
            assert row["display_active"] == "Disabled"
            if brand not in ("NVIDIA", "Tesla"):
                assert row["display_attached"] == "No"
                continue
            servers[board] = (architecture, row["display_attached"])
            if sources[board]["display_attached"] == "capture":
                captured.add(servers[board])
    assert len({architecture for architecture, _ in captured}) == 6
    assert {board for board, told in servers.items()
            if told not in captured} == NO_DISPLAY


def test_memory_of_the_host_is_not_told(machine):
    """As a DGX Spark does: tables and query rows of drivers 580."""
    one = machine("--frozen", "--gpus", "gb10")
    wanted = {"memory.total": "[N/A]", "memory.used": "[N/A]",
              "clocks.mem": "[N/A]", "clocks.max.mem": "[N/A]",
              "power.limit": "[N/A]", "power.max_limit": "[N/A]",
              "utilization.memory": "0 %", "power.draw": "4.00 W",
              "clocks.max.sm": "3003 MHz", "pcie.link.gen.max": "1",
              "pcie.link.width.current": "1", "fan.speed": "[N/A]",
              "temperature.memory": "N/A", "ecc.mode.current": "[N/A]"}
    assert query(one, list(wanted)) == [wanted]
    assert "|   4W /   N/A | Not Supported " in re.sub(
        r"P8 +", "|   ", run(one, GPUKIT, "smi"))
    device, = json.loads(run(one, GPUKIT, "stat", "--json"))["devices"]
    assert device["memory_unified"] == 1
    assert run(one, sys.executable, "-c", """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
size, integrated = ctypes.c_size_t(), ctypes.c_int()
assert cuda.cuDeviceTotalMem_v2(ctypes.byref(size), 0) == 0
assert cuda.cuDeviceGetAttribute(ctypes.byref(integrated), 18, 0) == 0
print(size.value >> 20, integrated.value)
""").split() == ["122566", "1"]


def test_each_fact_has_a_board_and_a_source():
    assert {fact["board"] for fact in FACTS} <= set(BOARDS)
    assert all(fact["source"] for fact in FACTS)
    keys = [(fact["board"], fact["field"]) for fact in FACTS]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("boards", HALVES, ids=["even", "odd"])
def test_each_board_runs(machine, boards):
    one = machine("--gpus", ",".join(boards))
    for board, row in zip(boards, query(one, EVERYWHERE), strict=True):
        assert not [key for key, value in row.items()
                    if value.startswith("[")], (board, row)
    gpus = ElementTree.fromstring(run(one, GPUKIT, "smi", "-q", "-x"))
    listed = json.loads(run(one, GPUKIT, "stat", "--json"))["devices"]
    assert [gpu.findtext("product_name") for gpu in gpus.iter("gpu")] == \
        [device["name"] for device in listed]
    assert len(listed) == len(boards)
    sums = run(one, sys.executable, "-c", PROGRAM).split()
    assert sums == [str(64 * 65 // 2)] * len(boards)
