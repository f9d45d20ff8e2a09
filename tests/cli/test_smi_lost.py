# SPDX-License-Identifier: Apache-2.0
"""GPUs that are lost or need a reset, as `gpukit smi` shows them on each
generation of drivers. The forms are captured: see docs/SMI.md."""

import subprocess

import pytest

from conftest import GPUKIT
from smi_tools import Smi

LOST = "GPU is lost.  Reboot the system to recover this GPU"
CSV = ["--query-gpu=index,pci.bus_id", "--format=csv,noheader"]
ROWS = {0: "0, 00000000:07:00.0\n", 2: "2, 00000000:17:00.0\n"}

# The driver, the line of GPU 1, the exit status where nothing else is shown.
FORMS = [
    ("470", "GPU 0000:0F:00.0", 15), ("535", "GPU0000:0F:00.0", 15),
    ("550", "GPU0000:0F:00.0", 15), ("570", "GPU1: 0000:0F:00.0", None),
    ("580", "GPU1: 0000:0F:00.0", None), ("610", "GPU1: 0000:0F:00.0", None)]


def start(machine, driver="580", fault="lost"):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:3", "--driver", driver),
              driver)
    if fault:
        assert smi.one.ctl("fail", "1", fault).returncode == 0
    return smi


@pytest.mark.parametrize("driver, where, stops", FORMS)
def test_forms_of_each_generation(machine, driver, where, stops):
    smi = start(machine, driver)
    line = f"Unable to determine the device handle for {where}: {LOST}\n"
    small = ("Unable to determine the device handle for gpu 0000:0F:00.0: "
             f"{LOST}\n")
    status, out = smi("-L")
    assert status == 0
    assert [row.split(" (")[0] + "\n" for row in out.splitlines()] == [
        "GPU 0: NVIDIA A100-SXM4-80GB\n", small.split(" (")[0],
        "GPU 2: NVIDIA A100-SXM4-80GB\n"]
    assert smi(*CSV, "-i", "0,2") == (0, ROWS[0] + ROWS[2])
    if stops:
        for args in ([], CSV, ["-q"], ["-q", "-x"], ["-pl", "200"],
                     ["-pl", "200", "-i", "0,1"],
                     [*CSV, "-i", "1"], ["dmon", "-c", "1"]):
            assert smi(*args) == (stops, line), args
        return
    assert smi(*CSV) == (0, line + ROWS[0] + ROWS[2])
    for name in ("1", "0000:0F:00.0", "00000000:0f:00.0"):
        assert smi(*CSV, "-i", name) == (6, line + "No devices were found\n")
    status, out = smi()
    assert status == 0 and out.startswith(line)
    rows = [row for row in out.splitlines() if "A100-SXM4-80GB" in row]
    assert [row[:6] for row in rows] == ["|   0 ", "|   2 "]
    status, out = smi("-q", "-x")
    assert status == 0 and out.startswith(line + "<?xml")
    assert out.count("<gpu id=") == 2
    assert "<attached_gpus>3</attached_gpus>" in out
    status, out = smi("-q", "-d", "COMPUTE")
    mode = "    Compute Mode".ljust(55 if driver == "610" else 42)
    assert status == 0 and out.endswith(
        f"GPU 00000000:07:00.0\n{mode}: Default\n\n{line}"
        f"GPU 00000000:17:00.0\n{mode}: Default\n\n")
    only = "Power limit for GPU 00000000:07:00.0 was set to {} W from {} W.\n"
    for at, ids in enumerate(["0,1", "1,0", "0000:0F:00.0,00000000:07:00.0"]):
        assert smi("-pl", str(300 + at), "-i", ids) == (
            0, line + only.format(f"{300 + at}.00", "400.00" if at == 0 else
                                  f"{299 + at}.00") + "All done.\n")
    assert smi("-pl", "400", "-i", "0")[0] == 0
    assert smi("-pl", "300", "-i", "1") == (6, line + "No devices were found\n")
    assert smi("-pl", "300", "-i", "0,1,7") == (6, "No devices were found\n")
    assert smi("-pl", "200") == (
        0, line + "".join(
            f"Power limit for GPU {gpu} was set to 200.00 W from 400.00 W.\n"
            for gpu in ("00000000:07:00.0", "00000000:17:00.0")) +
        "All done.\n")


@pytest.mark.parametrize("fault, bus_id, why", [
    ("unknown", "0000:0F:00.0", "Unknown Error"),
    ("no-permission", "0000:0F:00.0", "Insufficient Permissions"),
    ("fallen", "N/A", LOST)])
def test_other_reasons(machine, fault, bus_id, why):
    smi = start(machine, fault=fault)
    assert smi(*CSV) == (
        0, f"Unable to determine the device handle for GPU1: {bus_id}: {why}\n"
        + ROWS[0] + ROWS[2])


def test_what_asks_no_gpu_goes_on(machine):
    smi = start(machine, "550")
    assert smi("conf-compute", "-f") == (0, "CC status: OFF\n")
    assert smi("power-profiles", "-l")[0] == 3
    assert smi("power-profiles", "-l", "-i", "1")[0] == 15


def test_paths_to_a_lost_gpu(machine):
    smi = start(machine)
    line = ("Unable to determine the device handle for GPU1: 0000:0F:00.0: "
            f"{LOST}\n")
    assert smi("topo", "-p", "-i", "0,1") == (6, line)
    assert smi("topo", "-n", "5", "-i", "1") == (
        6, line + "No devices were found\n")
    for args in (["-p", "-i", "0,1,2"], ["-n", "5", "-i", "0,1"]):
        assert smi("topo", *args)[0] == 2


def test_an_unknown_error_ends_older_tools_with_255(machine):
    smi = start(machine, "535", "unknown")
    assert smi(*CSV) == (
        255, "Unable to determine the device handle for GPU0000:0F:00.0: "
             "Unknown Error\n")


def test_all_gpus_are_lost(machine):
    smi = start(machine, fault=None)
    assert smi.one.ctl("fail", "all", "lost").returncode == 0
    status, out = smi(*CSV)
    assert status == 6
    assert out.splitlines() == [
        f"Unable to determine the device handle for GPU{i}: 0000:{bus}:00.0: "
        + LOST for i, bus in enumerate(["07", "0F", "17"])] + [
            "No devices were found"]
    assert smi("-pm", "0") == (6, out)
    old = start(machine, "535")
    assert old.one.ctl("fail", "all", "lost").returncode == 0
    assert old(*CSV) == (
        15, "Unable to determine the device handle for GPU0000:07:00.0: "
            f"{LOST}\n")


def test_a_gpu_is_lost_while_it_is_watched(machine):
    """Its handle lives on: it stays in its place, and says who it is."""
    smi = start(machine, fault=None)
    watch = subprocess.Popen(
        [GPUKIT, "smi", "--query-gpu=index,pci.bus_id,temperature.gpu", "-lms",
         "100", "--format=csv,noheader", "-i", "1"],
        text=True, stdout=subprocess.PIPE, env=smi.env)
    try:
        assert watch.stdout.readline().split(", ")[2].strip().isdigit()
        assert smi.one.ctl("fail", "1", "lost").returncode == 0
        line = watch.stdout.readline()
        while line.split(", ")[2].strip().isdigit():
            line = watch.stdout.readline()
        assert line == "1, 00000000:0F:00.0, [GPU is lost]\n"
    finally:
        watch.kill()
        watch.wait()
        watch.stdout.close()


def test_a_gpu_that_must_be_reset(machine):
    smi = start(machine, fault="reset-required")
    status, out = smi("--query-gpu=index,name,pci.bus_id,temperature.gpu,"
                      "pstate", "--format=csv,noheader", "-i", "1")
    assert (status, out) == (
        0, "1, NVIDIA A100-SXM4-80GB, 00000000:0F:00.0, [GPU requires reset], "
           "[GPU requires reset]\n")
    table = smi()[1].splitlines()
    at = next(i for i, row in enumerate(table) if row.startswith("|   1 "))
    assert [row[35:] for row in table[at:at + 1]] == [
        "   ERR!|   00000000:0F:00.0 N/A |                  N/A |"]
    assert table[at + 1] == (
        "|ERR!  ERR!    ERR!          N/A  /  N/A  |       ERR! /      ERR! |"
        "     N/A         ERR! |")
    assert table[at + 2].endswith("                 ERR! |")
    assert "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-" in smi("-L")[1]
    assert "\nGPU 00000000:0F:00.0\n" in smi("-q", "-d", "COMPUTE")[1]
    assert smi("topo", "-m") == (255, "Failed to run topology matrix\n")


def test_a_gpu_that_comes_back(machine):
    smi = start(machine)
    assert smi(*CSV)[1].startswith("Unable to determine")
    assert smi.one.ctl("clear", "1").returncode == 0
    assert len(smi(*CSV)[1].splitlines()) == 3


def test_the_search_for_an_address_does_not_wait_for_a_gpu_that_hangs(machine):
    """GPU 0 has a lower address than the lost one, so it is asked first."""
    smi = start(machine)
    assert smi.one.ctl("fail", "0", "hang").returncode == 0
    try:
        line = ("Unable to determine the device handle for GPU1: N/A: "
                f"{LOST}\n")
        for args, out in (
                (["-pl", "300", "-i", "1,2"],
                 "Power limit for GPU 00000000:17:00.0 was set to 300.00 W "
                 "from 400.00 W.\nAll done.\n"),
                ([*CSV, "-i", "1,2"], ROWS[2])):
            assert smi(*args) == (0, line + out)
        for gpu, state in (("0", "clear"), ("2", "fail")):
            assert smi.one.ctl(state, gpu, "hang").returncode == 0
        line = line.replace("N/A", "0000:0F:00.0")
        assert smi("-L")[1].splitlines()[1].endswith(f"gpu 0000:0F:00.0: {LOST}")
        assert smi("-pl", "310", "-i", "0,1") == (
            0, line + "Power limit for GPU 00000000:07:00.0 was set to 310.00 W "
            "from 400.00 W.\nAll done.\n")
    finally:
        smi.one.ctl("clear", "all", "hang")
