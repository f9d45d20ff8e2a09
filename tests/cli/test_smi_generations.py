# SPDX-License-Identifier: Apache-2.0
"""`nvidia-smi -q -x` is true to the driver's generation, in its elements and in
its values: tests/smi_forms.py compares made-up boards with captures."""

import os
import re
import subprocess

import pytest

from conftest import FAKE_DIR, GPUKIT
from smi_forms import (INDIVIDUAL, TABLES, AtMost, ask, bounds, compare,
                       is_in_range, read_table, read_xml)

NAMES = [os.path.basename(path)[:-len(".csv")] for path in TABLES]

# What we do not tell as the board did, and why: in all captures that tell it, and
# in one. A row that is told at last must be taken out.
NO_FUNCTION = "NVML has no function for it"
SINCE_580 = "NVML tells it since 580"
NEWER = "a newer minor version tells more than the one whose library we have"
FACTORY = "boards of other makers differ"
USED = "the board was in use"
SETTING = "somebody set it"
PART = {"gpu_part_number": NO_FUNCTION}
HOPPER = {"sparse_operation_mode": NO_FUNCTION}
OUT, IN = "pci/atomic_caps_outbound", "pci/atomic_caps_inbound"
VOLT = {"voltage/graphics_volt": NO_FUNCTION}
OLD = {**PART, **VOLT, "addressing_mode": SINCE_580}
POWERS = ("gpu_power_readings/average_power_draw",
          "gpu_power_readings/instant_power_draw")
NOT_TOLD_BY = {
    "a10-550.90.12": OLD,
    "a100-sxm4-40gb-570.148.08": {**PART, "addressing_mode": SINCE_580},
    "a10g-515.105.01": {**VOLT, "gpu_module_id": "NVML tells it since 535"},
    "b200-580.105.08": {**PART, OUT: NO_FUNCTION, IN: NO_FUNCTION},
    "gb200-580.173.02": {
        **PART, IN: NO_FUNCTION,
        "ecc_errors/unrepairable_memory": NEWER},
    "gb300-580.173.02": {
        **PART, IN: NO_FUNCTION,
        "ecc_errors/unrepairable_memory": NEWER,
        "mig_mode/current_mig": "its MIG profiles are not known",
        "mig_mode/pending_mig": "its MIG profiles are not known"},
    "gh200-480gb-550.127.05": {
        **OLD, **HOPPER,
        "ecc_errors/aggregate/dram_uncorrectable": "it had an error",
        "remapped_rows/remapped_row_unc": "it had an error",
        "remapped_rows/row_remapper_histogram/row_remapper_histogram_max":
            "it had an error",
        "remapped_rows/row_remapper_histogram/row_remapper_histogram_high":
            "it had an error",
        "gpu_power_readings/current_power_limit": SETTING},
    "h100-80gb-hbm3-545.23.08": {
        **OLD, OUT: NO_FUNCTION, "c2c_mode": "NVML tells it since 550"},
    "h100-80gb-hbm3-565.57.01": {
        **OLD, **HOPPER, OUT: NO_FUNCTION, IN: NO_FUNCTION},
    "h100-80gb-hbm3-580.105.08": {
        **PART, **HOPPER,
        "fb_memory_usage/reserved": "whole MiB, so that free memory is right"},
    "h200-550.90.12": {**OLD, **HOPPER},
    "l40s-550.127.05": OLD,
    "l40s-595.91.07": {
        **PART, **dict.fromkeys(POWERS, "kept at P0 by its host")},
    "rtx-3060-570.124.04": {
        **PART, "addressing_mode": SINCE_580, "fb_memory_usage/used": USED},
    "rtx-3080-595.58.03": {
        **PART, **dict.fromkeys(POWERS, USED), **dict.fromkeys((
            "pci/tx_util", "pci/rx_util", "performance_state",
            "fb_memory_usage/used", "bar1_memory_usage/used",
            "utilization/gpu_util", "utilization/memory_util"), USED)},
    "rtx-3090-525.147.05": {
        **VOLT, "gpu_module_id": "NVML tells it since 535",
        "bar1_memory_usage/total": "its host can resize it",
        "power_readings/power_limit": SETTING,
        "power_readings/enforced_power_limit": SETTING,
        "power_readings/max_power_limit": FACTORY},
    "rtx-3090-560.35.03": {
        **OLD, "pci/pci_sub_system_id": FACTORY, "fan_speed": FACTORY,
        "temperature/gpu_target_temperature": FACTORY,
        "gpu_power_readings/max_power_limit": FACTORY},
    "rtx-3090-590.44.01": {**PART, "display_active": "it had a desktop"},
    "rtx-4000-sff-ada-595.84": {
        **PART, "display_active": "it had a desktop", **dict.fromkeys((
            "fb_memory_usage/used", "bar1_memory_usage/used",
            "utilization/memory_util"), USED)},
    "rtx-4090-535.86.05": {
        **OLD, **dict.fromkeys((
            "pci/pci_sub_system_id", "gpu_power_readings/min_power_limit",
            "gpu_power_readings/max_power_limit", "max_clocks/graphics_clock",
            "max_clocks/sm_clock"), FACTORY)},
    "rtx-5090-570.124.06": {
        **PART, "addressing_mode": SINCE_580,
        "serial": "0, where other GeForce boards have none"},
    "rtx-a5000-590.44.01": {**PART, "fb_memory_usage/used": USED},
    "rtx-pro-6000-max-q-590.44.01": {
        **PART, IN: NO_FUNCTION, "fb_memory_usage/used": USED,
        "bar1_memory_usage/used": USED,
        **dict.fromkeys(POWERS, "4 W; others tell 15")},
    "t4-595.91.07": {
        **PART, "gpu_power_readings/instant_power_draw":
            "kept at P0 by its host"},
    "v100-sxm2-16gb-550.127.05": PART,
}


@pytest.fixture(scope="module", params=TABLES, ids=NAMES)
def capture(request):
    """(heads and elements of the capture, those of our board, what we do not
    tell)."""
    heads, wanted = read_table(request.param)
    text = ask(GPUKIT, FAKE_DIR, heads["profile"], heads["driver_version"])
    name = os.path.basename(request.param)[:-len(".csv")]
    return heads, wanted, read_xml(text), NOT_TOLD_BY[name]


def test_the_document_has_the_version_of_the_capture(capture):
    heads, _, (dtd, cuda, _), _ = capture
    assert (dtd, cuda) == (heads["dtd"], heads["cuda_version"])


def test_the_elements_are_those_of_the_capture(capture):
    _, wanted, (_, _, mine), _ = capture
    different = compare(wanted, mine)
    assert not different.missing and not different.order
    assert not different.extra


def test_values_are_those_of_the_capture(capture):
    """And each exception is needed."""
    _, wanted, (_, _, mine), not_told = capture
    different = compare(wanted, mine)
    both = different.forms + different.values
    print(f"{len(wanted)} elements, {len(different.forms)} other forms, "
          f"{len(different.values)} other values, {len(not_told)} known")
    assert [one for one in both if one[0] not in not_told] == []
    assert set(not_told) == {one[0] for one in both}


def test_firmware_has_the_version_of_the_driver(capture):
    heads, wanted, (_, _, mine), _ = capture
    allowed = "N/A", heads["driver_version"]
    assert dict(wanted)["gsp_firmware_version"] in allowed
    assert dict(mine)["gsp_firmware_version"] in allowed


def mib(elements, name):
    return int(dict(elements)[f"fb_memory_usage/{name}"].split()[0])


def test_memory_adds_up(capture):
    """Each part is rounded to MiB, or cut."""
    for elements in capture[1], capture[2][2]:
        parts = [mib(elements, name) for name in ("reserved", "used", "free")]
        assert abs(mib(elements, "total") - sum(parts)) <= 2


def test_ranges_refuse_what_is_not_in_them():
    here = {element: "100 W" for element, _, _ in INDIVIDUAL}
    for element, how, why in INDIVIDUAL:
        assert why
        if isinstance(how, AtMost):
            here[how.element] = "1000 MHz"
        assert not is_in_range(element, "nonsense", here), element
        if not isinstance(how, str):
            lowest, highest = bounds(how, element, here)
            assert is_in_range(element, f"{lowest} W", here), element
            assert not is_in_range(element, str(highest * 2 + 1), here), element


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
    ("fabric/cliqueId", "535", "550"),
    ("pci/pci_base_class", "535", "550"),
    ("platformInfo", "550", "570"),
    ("power_smoothing", "550", "570"),
    ("display_attached", "570", "580"),
    ("clocks_event_reasons_counters", "570", "580"),
    ("edpp_multiplier", "580", "590"),
    ("fabric/health/partition_assigned", "590", "595"),
    # texts of 545.23, 560.35 and 565.57 (docs/SMI.md)
    ("c2c_mode", "535", "545"),
    ("gpu_memory_power_readings", "535", "545"),
    ("sparse_operation_mode", "545", "550"),
    ("ecc_errors/volatile/sram_uncorrectable_parity", "545", "550"),
    ("capabilities", "550", "560"),
    ("gpu_recovery_action", "560", "565"),
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


@pytest.mark.parametrize("board, shown", [
    ("b200", "Insufficient Permissions"), ("gb300", "Insufficient Permissions"),
    ("b300", "Insufficient Permissions"), ("h100-80gb-hbm3", "N/A"),
    ("rtx-5090", "N/A"), ("rtx-pro-6000-max-q", "N/A")])
def test_power_smoothing_is_for_root(board, shown):
    """Captures of B200, GB200 and GB300 are by a user; that of an RTX 5090 and
    that of an RTX PRO 6000 say N/A."""
    told = dict(read_xml(ask(GPUKIT, FAKE_DIR, board, "580"))[2])
    assert told["power_smoothing"] == shown
    told = smi("580", "-q", "-d", "POWER_SMOOTHING", board=board).stdout
    assert ("Ramp-Up Rate" in told) == (shown != "N/A")


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
