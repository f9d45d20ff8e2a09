# SPDX-License-Identifier: Apache-2.0
"""On GPUs that use their host's memory (GB10, Jetson), NVML does not support
memory figures: they are the host's, marked unified. A GPU that fails otherwise
keeps its own reason."""

import csv
import io
import re

import pytest

from exporter import Exporter
from python_package import run

OLD, NEW = "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2"


def meminfo():
    with open("/proc/meminfo", encoding="ascii") as file:
        return {line.split(":")[0]: int(line.split()[1]) << 10
                for line in file}


def failing(machine, **errors):
    """A machine with two GPUs whose calls fail: old=, new=."""
    one = machine("--gpus", "t4:2", "--load", "train:0,mem=3GiB")
    for name, error in errors.items():
        function = OLD if name == "old" else NEW
        done = one.ctl("fail", "all", f"{function}=NVML_ERROR_{error}")
        assert done.returncode == 0, done.stderr
    return one


@pytest.fixture(name="unified")
def a_unified_machine(machine):
    return failing(machine, old="NOT_SUPPORTED", new="NOT_SUPPORTED").env


def devices(gpukit, env):
    return gpukit.json("stat", "--json", env=env)["devices"]


def test_json_has_the_figures_of_the_host(gpukit, unified):
    told = gpukit.json("stat", "--json", "--why", env=unified)
    for device in told["devices"]:
        assert device["memory_unified"] == 1
        assert device["memory_total_bytes"] == meminfo()["MemTotal"]
        assert device["memory_used_bytes"] + device["memory_free_bytes"] == (
            device["memory_total_bytes"])
        assert abs(device["memory_free_bytes"]
                   - meminfo()["MemAvailable"]) < 4 << 30
        assert device["memory_reserved_bytes"] is None
    (process,) = told["devices"][0]["processes"]
    assert process["gpu_memory_bytes"] == 3 << 30


@pytest.mark.parametrize("errors,unified", [
    ({"old": "NOT_SUPPORTED"}, 0),
    ({"new": "NOT_SUPPORTED"}, 0),
    ({"old": "NOT_SUPPORTED", "new": "FUNCTION_NOT_FOUND"}, 1),
    ({"old": "NO_PERMISSION", "new": "NO_PERMISSION"}, None),
    ({"old": "UNKNOWN", "new": "NOT_SUPPORTED"}, None),
    ({"old": "NOT_SUPPORTED", "new": "UNKNOWN"}, None),
    ({"old": "GPU_IS_LOST", "new": "GPU_IS_LOST"}, None),
], ids=str)
def test_only_what_is_not_supported_is_the_hosts(gpukit, machine, errors,
                                                 unified):
    env = failing(machine, **errors).env
    for device in devices(gpukit, env):
        assert device.get("memory_unified") == (unified or None)
        total = {0: 15360 << 20, 1: meminfo()["MemTotal"], None: None}[unified]
        assert device["memory_total_bytes"] == total


def test_texts_are_marked(gpukit, unified):
    mib = round(meminfo()["MemTotal"] / (1 << 20))
    out = gpukit.ok("stat", env=unified)
    assert len(re.findall(rf"\d+ / {mib} MB unified", out)) == 2
    for words in (["stat", "--boxed"], ["top", "-1"]):
        out = gpukit.ok(*words, env=unified)
        assert out.count("Tesla T4 unified") == 2
        assert "N/A / N/A" not in out


def test_a_gpu_is_chosen(gpukit, unified):
    assert gpukit.ok("select", "-n", "1", env=unified).strip() in ("0", "1")
    free = meminfo()["MemAvailable"] >> 21
    out = gpukit.ok("select", "--min-free-memory", f"{free}MiB", env=unified)
    assert sorted(out.strip().split(",")) == ["0", "1"]


def test_smi_says_what_nvidia_smi_says_there(gpukit, unified):
    out = gpukit.ok("smi", env=unified)
    assert out.count("| Not Supported          |") == 2
    out = gpukit.ok("smi", "--query-gpu=memory.total,memory.used,memory.free",
                    "--format=csv,noheader", env=unified)
    assert out == "[N/A], [N/A], [N/A]\n" * 2
    out = gpukit.ok("smi", "-q", "-d", "MEMORY", env=unified)
    section = out.split("FB Memory Usage")[1].split("BAR1")[0]
    assert [line.split(":")[1].strip() for line in section.splitlines()
            if ":" in line] == ["N/A"] * 4
    apps = gpukit.ok("smi", "--query-compute-apps=used_memory",
                     "--format=csv,noheader", env=unified)
    assert apps == "3072 MiB\n"


def test_recordings_have_them(gpukit, unified, tmp_path):
    total = meminfo()["MemTotal"]
    out = gpukit.ok("record", "--devices", "--count", "1", "-o", "-",
                    env=unified)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["memory_total_bytes"] for row in rows] == [str(total)] * 2
    tape = tmp_path / "tape"
    gpukit.ok("record", "--snapshots", "--count", "2", "-i", "0.2", "-o", tape,
              env=unified)
    out = gpukit.ok("top", "--replay", tape, "--once")
    assert out.count("Tesla T4 unified") == 2


def test_python_has_them(unified):
    code = ("import gpukit\n"
            "from gpukit import Device, select_devices, take_snapshots\n"
            "for d in Device.all():\n"
            "    m = d.memory_info()\n"
            "    print(m.total, m.total - m.free - m.used, m.reserved,\n"
            "          d.memory_total(), int(d.memory_unified()),\n"
            "          d.as_snapshot().memory_total)\n"
            "print(sorted(select_devices(format='index',\n"
            "                            min_free_memory='1MiB')))\n")
    total = meminfo()["MemTotal"]
    assert run(code, **unified).splitlines() == [
        f"{total} 0 N/A {total} 1 {total}"] * 2 + ["[0, 1]"]


def test_metrics_have_them(unified):
    server = Exporter(unified)
    try:
        found = server.await_whole() or server.metrics()
    finally:
        server.stop()
    total = meminfo()["MemTotal"]
    assert [value for _, value in found["gpukit_memory_total_bytes"]] == [
        total] * 2
    assert [value for _, value in found["gpukit_memory_unified"]] == [1] * 2
