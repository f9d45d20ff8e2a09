# SPDX-License-Identifier: Apache-2.0
"""The peers and gpukit see split GPUs."""

import json
import re
import sys

import can
from conftest import GPUKIT
from peers import GPUSTAT, NVITOP, run
from test_nvitop import MAIN, leave, size
from test_pynvml import NEWER, REFUSALS, WALK as WALK_ALL
# pylint: disable-next=unused-import
from test_nvitop import terminal  # noqa: F401

SPLIT = ["--gpus", "h100-80gb-hbm3:2",
         "--mig", "0=3g.40gb+2g.20gb+1g.10gb+1g.10gb",
         "--load", "train:0:0,mem=9GiB", "--load", "idle:0:2,mem=3GiB",
         "--load", "idle:1,mem=5GiB"]
# As in the capture of such a GPU: GPU instance, MiB, SMs, engines.
PARTS = [("3g.40gb", 2, 40448, 60, 3), ("2g.20gb", 3, 20096, 32, 2),
         ("1g.10gb", 9, 9984, 16, 1), ("1g.10gb", 10, 9984, 16, 1)]
H100 = "NVIDIA H100 80GB HBM3"

WALK = """
import json, pynvml as n
n.nvmlInit()
def names(d):
    return {p.pid: [p.usedGpuMemory, p.gpuInstanceId, p.computeInstanceId]
            for p in n.nvmlDeviceGetComputeRunningProcesses(d)}
told = []
for i in range(n.nvmlDeviceGetCount()):
    d = n.nvmlDeviceGetHandleByIndex(i)
    parts = []
    for k in range(n.nvmlDeviceGetMaxMigDeviceCount(d)):
        try:
            m = n.nvmlDeviceGetMigDeviceHandleByIndex(d, k)
        except n.NVMLError_NotFound:
            continue
        assert n.nvmlDeviceIsMigDeviceHandle(m)
        parent = n.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(m)
        assert n.nvmlDeviceGetUUID(parent) == n.nvmlDeviceGetUUID(d)
        uuid = n.nvmlDeviceGetUUID(m)
        assert n.nvmlDeviceGetIndex(n.nvmlDeviceGetHandleByUUID(uuid)) == k
        a = n.nvmlDeviceGetAttributes(m)
        memory = n.nvmlDeviceGetMemoryInfo(m)
        assert memory.used + memory.free == memory.total
        assert memory.total == a.memorySizeMB << 20
        parts.append({
            "name": n.nvmlDeviceGetName(m), "index": k, "uuid": uuid,
            "gi": n.nvmlDeviceGetGpuInstanceId(m),
            "ci": n.nvmlDeviceGetComputeInstanceId(m),
            "sms": a.multiprocessorCount, "mib": a.memorySizeMB,
            "engines": a.sharedDecoderCount, "used": memory.used,
            "bar1": n.nvmlDeviceGetBAR1MemoryInfo(m).bar1Total >> 20,
            "processes": names(m)})
    told.append({"mode": n.nvmlDeviceGetMigMode(d), "parts": parts,
                 "processes": names(d)})
print(json.dumps(told))
"""


def walk(one):
    return json.loads(run([sys.executable, "-c", WALK], one.env))


def stat(one, *args):
    return run([GPUKIT, "stat", *args], one.env)


def test_nvidia_ml_py_walks_the_parts(machine):
    first, second = walk(machine(*SPLIT))
    assert first["mode"] == [1, 1] and second["mode"] == [0, 0]
    assert second["parts"] == []
    assert [(part["name"].removeprefix(f"{H100} MIG "), part["gi"],
             part["mib"], part["sms"], part["engines"])
            for part in first["parts"]] == PARTS
    assert [part["bar1"] for part in first["parts"]] == [
        24739, 12369, 6184, 6184]
    assert len({part["uuid"] for part in first["parts"]}) == 4
    held = [part["processes"] for part in first["parts"]]
    assert [list(told.values()) for told in held] == [
        [[9 << 30, 2, 0]], [], [[3 << 30, 9, 0]], []]
    assert first["processes"] == held[0] | held[2]
    none = (1 << 32) - 1
    assert [told[1:] for told in second["processes"].values()] == [
        [none, none]]


def nvitop_parts(text):
    """(part, GI, CI, bytes used, bytes in all) from the rows of MIG devices."""
    return [(part, int(gi), int(ci), size(*used), size(*total))
            for part, gi, ci, *rest in re.findall(
                r"│ +0:\d +(\S+) @ GI/CI: ?(\d+)/(\d+) │ +"
                r"([\d.]+)([KMG]?i?B) / +([\d.]+)([KMG]?i?B) ", text)
            for used, total in [(rest[:2], rest[2:])]]


def nvitop_processes(text):
    return {place: size(*held) for place, *held in re.findall(
        r"│ +(0:\d|1) +\d+ C +\S+ +([\d.]+)([KMG]?i?B) ", text)}


def nvitop_shows(text):
    parts = nvitop_parts(text)
    return [part[:2] for part in parts] == [part[:2] for part in PARTS] and \
        nvitop_processes(text) == {"0:0": 9 << 30, "0:2": 3 << 30,
                                   "1": 5 << 30}


def test_nvitop_once(machine):
    text = run([NVITOP, "--once"], machine(*SPLIT).env)
    assert nvitop_shows(text), text
    (*_, used, total), *_ = nvitop_parts(text)
    assert total == 40448 << 20 and abs(used - (9 << 30)) < 64 << 20
    assert re.search(r"│ +Enabled +0 │", text), text


def test_nvitop_full_screen(machine, terminal):  # noqa: F811
    one = machine(*SPLIT)
    tty = terminal([NVITOP], one.env, rows=60)
    tty.wait_for(MAIN)
    tty.wait_for(nvitop_shows)
    leave(tty)


def test_gpustat_shows_the_gpus(machine):
    text = run([GPUSTAT, "-p", "--no-color"], machine(*SPLIT).env)
    lines = [line for line in text.splitlines() if line.startswith("[")]
    assert len(lines) == 2
    assert "?? %" in lines[0] and "?? %" not in lines[1]
    assert sorted(re.findall(r"\((\d+)M\)", lines[0])) == ["3072", "9216"]


def test_stat_text(machine):
    lines = [line for line in stat(machine(*SPLIT), "-p").splitlines()
             if line.startswith("[")]
    assert [re.match(r"\[(\S+)\]", line)[1] for line in lines] == [
        "0", "0:0", "0:1", "0:2", "0:3", "1"]
    for line, (name, _, mib, *_) in zip(lines[1:5], PARTS):
        assert f"{H100} MIG {name} " in line
        assert f"/ {mib} MB |" in line.replace("  ", " "), line
    assert [re.findall(r"\((\d+)M\)", line) for line in lines] == [
        [], ["9216"], [], ["3072"], [], ["5120"]]


def test_stat_json(machine):
    told = json.loads(stat(machine(*SPLIT), "--json"))
    assert [(gpu["index"], gpu["mig_index"]) for gpu in told["devices"]] == [
        (0, None), (0, 0), (0, 1), (0, 2), (0, 3), (1, None)]
    parts = told["devices"][1:5]
    assert [part["gpu_instance"] for part in parts] == [
        part[1] for part in PARTS]
    assert [part["memory_total_bytes"] >> 20 for part in parts] == [
        part[2] for part in PARTS]
    assert [part["gpu_utilization_percent"] for part in told["devices"][:5]
            ] == [None] * 5


def test_stat_csv_and_boxes(machine):
    one = machine(*SPLIT)
    assert stat(one, "--csv").count("MIG-") == 4
    assert stat(one, "--csv=processes").count("MIG-") == 2
    boxed = stat(one, "--boxed")
    for name, *_ in PARTS:
        assert name in boxed


def names(one):
    return [part["name"].rsplit(" ", 1)[1] for part in walk(one)[0]["parts"]]


def test_a_hole_hides_nothing_from_gpukit(machine):
    one = machine(*SPLIT)
    assert one.ctl("mig", 0, "destroy", 3).returncode == 0
    told = json.loads(stat(one, "--json"))["devices"]
    assert [gpu["mig_index"] for gpu in told] == [None, 0, 2, 3, None]
    assert names(one) == ["3g.40gb", "1g.10gb", "1g.10gb"]
    assert one.ctl("mig", 0, "create", "1g.10gb").returncode == 0
    told = json.loads(stat(one, "--json"))["devices"]
    assert [gpu["mig_index"] for gpu in told] == [None, 0, 1, 2, 3, None]


def test_a_stream_follows_the_parts(machine, terminal):  # noqa: F811
    """MIG devices come and go while a viewer runs."""
    one = machine(*SPLIT)
    tty = terminal([GPUKIT, "stat", "-i", "0.2", "--no-color"], one.env,
                   rows=40)
    tty.wait_for(lambda text: "[0:3]" in text)
    assert one.ctl("mig", 0, "destroy", 10).returncode == 0
    tty.wait_for(lambda text: "[0:3]" not in text and "[0:2]" in text)
    assert one.ctl("mig", 0, "create", "1g.10gb").returncode == 0
    tty.wait_for(lambda text: "[0:3]" in text)


def test_a_program_sees_the_part_it_was_given(machine):
    one = machine(*SPLIT)
    uuid = walk(one)[0]["parts"][1]["uuid"]
    script = """
import nvitop
for d in nvitop.CudaDevice.all():
    print(d.name(), d.memory_total() >> 20)
"""
    told = run([sys.executable, "-c", script],
               {**one.env, "CUDA_VISIBLE_DEVICES": uuid})
    assert told == f"{H100} MIG 2g.20gb 20096\n"


def test_the_loads_are_where_they_belong(machine):
    one = machine(*SPLIT)
    told = json.loads(one.ctl("mig", 0, "--json").stdout)
    assert [part["processes"] for part in told["instances"]] == [1, 0, 1, 0]


def test_every_function_works_or_refuses(machine):
    """nvidia-ml-py's whole binding is called on a split GPU."""
    can.need("rights-of-root")
    one = machine("--gpus", "h100-mig", "--load", "train:0:0-1,mem=2GiB")
    outcomes = json.loads(run([sys.executable, WALK_ALL], one.env))
    wrong = {name: calls for name, calls in outcomes.items()
             if calls[0][0] not in REFUSALS | {"ok"}}
    # There is no room for another instance.
    assert wrong.pop("nvmlDeviceCreateGpuInstance")[0][0] == \
        "NVMLError_InsufficientResources"
    assert sorted(wrong) == sorted(NEWER)
    done = {name for name, calls in outcomes.items() if calls[0][0] == "ok"}
    assert "nvmlDeviceGetUtilizationRates" not in done
    assert {"nvmlDeviceGetMigDeviceHandleByIndex",
            "nvmlDeviceGetGpuInstanceProfileInfo",
            "nvmlDeviceGetGpuInstancePossiblePlacements",
            "nvmlDeviceGetMaxMigDeviceCount"} <= done, sorted(done)
