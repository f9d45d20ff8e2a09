# SPDX-License-Identifier: Apache-2.0
"""The output of nvidia-smi as programs read it that cannot run here, by their
rules, compared with `gpukit stat`.

KDE's ksystemstats runs `nvidia-smi --query` once and `nvidia-smi dmon -d 2 -s
pucm` for as long as somebody looks (plugins/gpu/NvidiaSmiProcess.cpp of KDE's
repository). Older versions want twelve columns of dmon; newer ones find them by
the titles in the first line that begins with '#'."""

import pytest

from smi_tools import Smi

MACHINE = ("--frozen", "--gpus", "a100-sxm4-80gb:1,rtx-3090:1", "--load",
           "train:0,mem=5GiB,enc=20,dec=10", "--load", "idle:1,mem=3GiB")


def read_query(lines):
    """What it keeps of each GPU. A block ends with a line that is indented
    less than its rows."""
    gpus, block = [], ""
    for line in lines:
        value = line.partition(":")[2].strip()
        if line.startswith("GPU "):
            gpus.append({"address": line[len("GPU 0000"):].lower(),
                         "memory": 0})
        if not line.startswith(" " * 8):
            block = line.strip()
        elif line.startswith("        Total") and block in (
                "FB Memory Usage", "BAR1 Memory Usage"):
            gpus[-1]["memory"] += int(value.split()[0])
        elif block == "Max Clocks" and line.startswith("        Graphics"):
            gpus[-1]["core"] = int(value.split()[0])
        elif block == "Max Clocks" and line.startswith("        Memory"):
            gpus[-1]["memory clock"] = int(value.split()[0])
        elif line.startswith("        GPU Shutdown Temp"):
            gpus[-1]["shutdown"] = int(value.split()[0])
        elif block == "Power Readings" and line.startswith(
                "        Power Limit"):
            gpus[-1]["power"] = int(float(value.split()[0]))
        if line.startswith("    Product Name"):
            gpus[-1]["name"] = value
    return gpus


def read_dmon(lines):
    """Each row by the titles; a row has as many columns as there are titles."""
    titles = next(line.split()[1:] for line in lines if line.startswith("#"))
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert {len(row) for row in rows} == {len(titles)}
    return titles, [dict(zip(titles, row)) for row in rows]


@pytest.mark.parametrize("driver", [470, 535, 550, 580, 595, 610])
def test_ksystemstats(machine, gpukit, driver):
    one = machine(*MACHINE, "--driver", driver)
    smi = Smi(one, str(driver))
    wanted = gpukit.json("stat", "--json", env=smi.env)["devices"]
    status, told = smi("--query")
    assert status == 0
    for gpu, mine in zip(read_query(told.splitlines()), wanted, strict=True):
        # It adds BAR1 to the memory. Drivers since 535 call the block of power
        # "GPU Power Readings", where it finds no limit.
        assert gpu == {
            "name": mine["name"], "address": mine["bus_id"][4:].lower(),
            "memory": -(-mine["memory_total_bytes"] >> 20)
            + (mine["bar1_total_bytes"] >> 20),
            "core": mine["graphics_clock_max_hertz"] // 1000000,
            "memory clock": mine["memory_clock_max_hertz"] // 1000000,
            "shutdown": mine["temperature_shutdown_celsius"],
            **({"power": int(mine["power_limit_watts"])} if driver < 535
               else {})}

    status, told = smi("dmon", "-d", "2", "-s", "pucm", "-c", "1")
    assert status == 0
    titles, rows = read_dmon(told.splitlines())
    if driver < 535:
        assert titles == ["gpu", "pwr", "gtemp", "mtemp", "sm", "mem", "enc",
                          "dec", "mclk", "pclk", "fb", "bar1"]
    for row, mine in zip(rows, wanted, strict=True):
        assert {name: int(row[name]) for name in (
            "gpu", "pwr", "gtemp", "sm", "enc", "dec", "fb", "bar1", "mclk",
            "pclk")} == {
            "gpu": mine["index"], "pwr": int(mine["power_watts"]),
            "gtemp": mine["temperature_celsius"],
            "sm": mine["gpu_utilization_percent"],
            "enc": mine["encoder_utilization_percent"],
            "dec": mine["decoder_utilization_percent"],
            "fb": mine["memory_used_bytes"] >> 20,
            "bar1": mine["bar1_used_bytes"] >> 20,
            "mclk": mine["memory_clock_hertz"] // 1000000,
            "pclk": mine["graphics_clock_hertz"] // 1000000}
