# SPDX-License-Identifier: Apache-2.0
"""`nvidia-smi -q -x` is true to the driver's generation, in its elements and in
its values: tests/smi_forms.py compares made-up boards with captures."""

import os
import re
import subprocess

import pytest

from conftest import FAKE_DIR, GPUKIT
from smi_forms import (INDIVIDUAL, TABLES, ask, compare, is_in_range,
                       read_table, read_xml)

NAMES = [os.path.basename(path)[:-len(".csv")] for path in TABLES]

# What we do not tell as the board did, and why. A row that is told at last must
# be taken out.
NOT_TOLD = {
    # NVML has no function for these.
    "gpu_part_number": "no function of NVML",
    "sparse_operation_mode": "no function of NVML",
    "pci/atomic_caps_inbound": "the made-up board has no atomics",
    # Newer minor versions of a branch tell more than the one whose library we
    # have (580.95).
    "ecc_errors/unrepairable_memory": "580.173; our library is that of 580.95",
    "remapped_rows/remapped_row_corr_inactive": "the same",
    "remapped_rows/remapped_row_unc_inactive": "the same",
    "addressing_mode": "NVML tells it since 580",
    # The tests are root; the capture is a user's.
    "power_smoothing": "root may read it",
    # Our reserved memory is whole MiB, so that free memory is 1 MiB less.
    "fb_memory_usage/free": "reserved memory is whole MiB",
    "fb_memory_usage/reserved": "the same",
}


@pytest.fixture(scope="module", params=TABLES, ids=NAMES)
def pair(request):
    """(heads and elements of the capture, those of our board)."""
    heads, wanted = read_table(request.param)
    text = ask(GPUKIT, FAKE_DIR, heads["profile"], heads["driver_version"])
    return heads, wanted, read_xml(text)


def test_the_document_has_the_version_of_the_capture(pair):
    heads, _, (dtd, cuda, _) = pair
    assert (dtd, cuda) == (heads["dtd"], heads["cuda_version"])


def test_the_elements_are_those_of_the_capture(pair):
    _, wanted, (_, _, mine) = pair
    different = compare(wanted, mine)
    assert not different.missing and not different.order
    assert {e for e in different.extra
            if e.split("/")[0] not in NOT_TOLD} == set()


def test_values_are_those_of_the_capture(pair, record_property):
    _, wanted, (_, _, mine) = pair
    different = compare(wanted, mine)
    other = [one for one in different.forms + different.values
             if one[0] not in NOT_TOLD]
    record_property("not told", len(different.forms + different.values))
    print(f"{len(wanted)} elements, {len(different.forms)} other forms, "
          f"{len(different.values)} other values, all but {len(other)} known")
    assert not other


def test_what_is_not_told_is_so_for_a_capture():
    """Each exception is needed."""
    needed = set()
    for path in TABLES:
        heads, wanted = read_table(path)
        different = compare(wanted, read_xml(ask(
            GPUKIT, FAKE_DIR, heads["profile"], heads["driver_version"]))[2])
        needed |= {one[0] for one in different.forms + different.values}
    assert set(NOT_TOLD) == needed & set(NOT_TOLD)


def test_ranges_refuse_what_is_not_in_them():
    for element, of, why in INDIVIDUAL:
        assert why
        assert not is_in_range(element, "nonsense"), element
        if not isinstance(of, str):
            assert not is_in_range(element, str(of[1] * 2 + 1)), element
            assert is_in_range(element, f"{of[0]} W"), element


# Elements that came or went, and a driver on each side. What captures of
# 515.105, 525.125, 535.54, 550.54, 570.124 and 580.105 have is in telegraf's and
# others' tests (docs/SMI.md).
CHANGES = [
    ("clocks_throttle_reasons", "525", "535"),
    ("power_readings", "525", "535"),
    ("gpu_module_id", "550", "570"),
    ("voltage", "570", "580"),
    ("gpu_reset_status", "570", "580"),
]
ADDED = [
    ("product_architecture", "470", "515"),
    ("fb_memory_usage/reserved", "470", "515"),
    ("board_part_number", "515", "525"),
    ("deferred_clocks", "515", "525"),
    ("fabric", "515", "525"),
    ("gpu_power_readings", "525", "535"),
    ("module_power_readings", "525", "535"),
    ("clocks_event_reasons", "525", "535"),
    ("utilization/jpeg_util", "525", "535"),
    ("gpu_memory_power_readings", "535", "550"),
    ("fabric/cliqueId", "535", "550"),
    ("pci/pci_base_class", "535", "550"),
    ("platformInfo", "550", "570"),
    ("power_smoothing", "550", "570"),
    ("capabilities", "550", "570"),
    ("display_attached", "570", "580"),
    ("clocks_event_reasons_counters", "570", "580"),
    ("edpp_multiplier", "580", "590"),
    ("fabric/health/partition_assigned", "590", "595"),
]


@pytest.fixture(scope="module")
def asked():
    """elements(driver) of an A100, asked once."""
    known = {}

    def elements_of(driver):
        if driver not in known:
            known[driver] = {e for e, _ in read_xml(ask(
                GPUKIT, FAKE_DIR, "a100-sxm4-80gb", driver))[2]}
        return known[driver]

    return elements_of


@pytest.mark.parametrize("element, before, after", ADDED)
def test_elements_come(asked, element, before, after):
    assert element not in asked(before) and element in asked(after)


@pytest.mark.parametrize("element, before, after", CHANGES)
def test_elements_go(asked, element, before, after):
    assert element in asked(before) and element not in asked(after)


def smi(driver, *args, board="a100-sxm4-80gb"):
    return subprocess.run(
        [GPUKIT, "fake", "--gpus", board, "--driver", driver, "-q", "--",
         os.path.join(FAKE_DIR, "bin", "nvidia-smi"), *args], text=True,
        capture_output=True, check=False, timeout=60)


# The first lines of published tables, and a GPU's first row.
HEADS = {
    "470": ("| GPU  Name        Persistence-M| Bus-Id        Disp.A | "
            "Volatile Uncorr. ECC |", "|   0  NVIDIA A100-SXM...  Off  | "),
    "535": ("| GPU  Name                 Persistence-M | Bus-Id        Disp.A "
            "| Volatile Uncorr. ECC |",
            "|   0  NVIDIA A100-SXM4-80GB          Off | "),
    "550": ("| GPU  Name                 Persistence-M | Bus-Id          "
            "Disp.A | Volatile Uncorr. ECC |",
            "|   0  NVIDIA A100-SXM4-80GB          Off |   "),
}


@pytest.mark.parametrize("driver", HEADS)
def test_the_table_has_the_titles_of_its_time(driver):
    lines = smi(driver).stdout.splitlines()
    title, row = HEADS[driver]
    assert title in lines
    assert any(re.sub("On ", "Off", line).startswith(row) for line in lines), \
        lines


def test_a_board_before_turing_counts_errors_by_place():
    text = smi("550", "-q", "-d", "ECC", board="v100-sxm2-16gb").stdout
    assert "            Single Bit            \n" in text
    assert "                Texture Shared            : N/A\n" in text
    assert "SRAM" not in text
    assert "SRAM Uncorrectable Parity" in smi("550", "-q").stdout


def test_the_power_of_old_drivers_is_shown():
    text = smi("470", "-q", "-d", "POWER").stdout
    for line in ("    Power Readings\n", "        Power Management",
                 "        Power Draw ", "        Enforced Power Limit"):
        assert line in text
    assert text.count("N/A") == 0 and text.count(" W\n") >= 6


def test_the_total_of_old_drivers_leaves_out_the_reserve():
    """An A16 told 15105 MiB to 470.129.04, of which nothing was used."""
    assert "|      0MiB / 15105MiB |" in smi("470", board="a16").stdout
    assert "|      0MiB / 15356MiB |" in smi("515", board="a16").stdout


def test_no_function_is_missed_in_the_log():
    for board in ("gb10", "a100-sxm4-80gb", "t4"):
        driver = "580" if board == "gb10" else "515"
        assert "Function Not Found" not in smi(driver, "-q", board=board).stdout


def test_unknown_fields_are_refused():
    done = smi("525", "--query-gpu=name,clocks_event_reasons.active",
               "--format=csv")
    assert (done.returncode, done.stdout, done.stderr) == (
        2, 'Field "clocks_event_reasons.active" is not a valid field to query.'
           "\n\n", "")
    done = smi("525", "--query-gpu=clocks_throttle_reasons.gpu_idle",
               "--format=csv")
    assert done.stdout.splitlines()[0] == "clocks_throttle_reasons.gpu_idle"
    assert '"power.draw.average"' not in smi("525", "--help-query-gpu").stdout
    assert '"power.draw.average"' in smi("535", "--help-query-gpu").stdout


MONITORS = {
    "515": ("# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk",
            "# gpu        pid  type    sm   mem   enc   dec   command"),
    "535": ("# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    "
            "ofa   mclk   pclk ",
            "# gpu         pid   type     sm    mem    enc    dec    jpg    "
            "ofa    command "),
}


@pytest.mark.parametrize("driver", MONITORS)
def test_monitors_have_the_columns_of_their_time(driver):
    for name, title in zip(("dmon", "pmon"), MONITORS[driver]):
        lines = smi(driver, name, "-c", "1").stdout.splitlines()
        assert lines[0] == title
        assert all(len(line) == len(lines[0]) for line in lines
                   if name == "dmon")
