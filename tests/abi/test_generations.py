# SPDX-License-Identifier: Apache-2.0
"""The driver generations: our tables are compared with the built libraries, and
with NVIDIA's Python bindings of each generation."""

import glob
import os
import re

import pytest

from abi_tables import nvml_rows
from conftest import FAKE_DIR, ROOT
from generations import (BY_NAME, FUNCTIONS, GENERATIONS, STRUCTS,
                         binding_text, bound, directory, exported, text_of)

NEWEST = GENERATIONS[-1]
each = pytest.mark.parametrize("generation", GENERATIONS,
                               ids=[g.name for g in GENERATIONS])

# Names bound by the newest bindings and exported by a driver whose own bindings
# lacked them.
NOT_BOUND_YET = {
    "515": {"nvmlDeviceGetComputeRunningProcesses_v2",
            "nvmlDeviceGetGraphicsRunningProcesses_v2",
            "nvmlDeviceGetMPSComputeRunningProcesses_v2"},
    "525": {"nvmlDeviceGetComputeRunningProcesses_v2",
            "nvmlDeviceGetGraphicsRunningProcesses_v2",
            "nvmlDeviceGetMPSComputeRunningProcesses_v2"},
    "535.86": {"nvmlDeviceGetComputeRunningProcesses_v2",
               "nvmlDeviceGetGraphicsRunningProcesses_v2",
               "nvmlDeviceGetMPSComputeRunningProcesses_v2"},
    "535": {"nvmlDeviceGetComputeRunningProcesses_v2",
            "nvmlDeviceGetGraphicsRunningProcesses_v2",
            "nvmlDeviceGetMPSComputeRunningProcesses_v2"},
    "570": {"nvmlDeviceGetDriverModel_v2"},
    "580": {"nvmlDeviceGetDriverModel_v2"},
    "590": {"nvmlDeviceGetDriverModel_v2"},
}

# Functions that only one generation had, so that they have no row.
OF_ONE = {
    "525": {"nvmlDeviceCcuGetStreamState", "nvmlDeviceCcuSetStreamState"},
}


def rows():
    return {row.symbol for row in nvml_rows()}


def test_generations_are_in_order():
    levels = [g.level for g in GENERATIONS]
    assert levels == sorted(set(levels))
    for g in GENERATIONS:
        major, minor = g.driver.split(".")[:2]
        assert g.level == int(major) * 1000 + int(minor)
        assert g.name.split(".")[0] == major
    assert set(BY_NAME) == {os.path.basename(path) for path in
                            glob.glob(os.path.join(FAKE_DIR, "[0-9]*"))}


def test_what_came_later_came_with_a_generation_that_is_here():
    assert all(GENERATIONS[0].level < at <= NEWEST.level
               for at in FUNCTIONS.values())


def test_every_version_of_a_struct_has_a_row():
    text = "".join(text_of(path) for path in
                   glob.glob(os.path.join(ROOT, "src", "abi", "nvml",
                                          "nvml*.h")))
    macros = re.findall(r"#define (nvml\w+)\s+\\?\s*NVML_STRUCT_VERSION", text)
    assert len(macros) == 65
    assert set(macros) == set(STRUCTS)


@each
def test_exports(generation):
    there = exported(generation.name)
    wanted = {name for name in rows()
              if FUNCTIONS.get(name, 0) <= generation.level}
    wanted |= OF_ONE.get(generation.name, set())
    assert there == wanted | {"nvmlErrorString"}


@each
def test_the_page_counts_the_exports(generation):
    """For 470, 535 and 550, the page has the counts of NVIDIA's libraries."""
    row = re.search(rf"^\| {re.escape(generation.name)} \| (.*) \|$",
                    text_of("docs", "DRIVERS.md"), re.M)[1].split(" | ")
    assert row[0] == generation.driver
    assert int(row[2]) == len(exported(generation.name))


@each
def test_exports_are_what_the_binding_of_the_time_binds(generation):
    there = exported(generation.name)
    old, new = bound(generation.binding), bound(NEWEST.binding)
    assert len(old) > 200
    assert old - there == set()
    assert there & new - old == NOT_BOUND_YET.get(generation.name, set())


@each
def test_fields_are_those_of_the_binding_of_the_time(generation):
    told = re.findall(r"^NVML_FI_MAX\s*=\s*(\d+)",
                      binding_text(generation.binding), re.M)
    assert list(map(int, told)) == [generation.field_max]


def struct_versions(binding):
    return set(STRUCTS) & set(re.findall(r"^(nvml\w+_v\d+)\s*=",
                                         binding_text(binding), re.M))


@each
def test_struct_versions_are_those_of_the_binding_of_the_time(generation):
    old = struct_versions(generation.binding)
    new = struct_versions(NEWEST.binding)
    known = {name for name, at in STRUCTS.items() if at <= generation.level}
    assert len(new) > 50
    assert not old - known
    assert not known & new - old


def test_the_default_is_580():
    top = os.path.join(FAKE_DIR, "libnvidia-ml.so.1")
    assert os.path.samefile(
        top, os.path.join(directory("580"), "libnvidia-ml.so.1"))
