# SPDX-License-Identifier: Apache-2.0
"""Limits work in containers that have CUDA's driver but not NVML: a GPU's
number follows from its place on the bus, as NVML's does."""

import os

import pytest

from conftest import FAKE_DIR
from limit_shells import GIB, hami

# pylint: disable=redefined-outer-name

# GPUs in bus order, and the order of CUDA, which puts the fastest first.
ORDERS = {"t4,h100,t4": [1, 0, 2], "t4,t4,h100": [2, 0, 1]}
LIMITS = {0: GIB, 1: 2 * GIB, 2: 3 * GIB}


@pytest.fixture
def no_nvml(tmp_path):
    """A folder with the driver's libraries except NVML."""
    folder = tmp_path / "driver"
    folder.mkdir()
    for name in os.listdir(FAKE_DIR):
        if ".so" in name and not name.startswith("libnvidia-ml"):
            (folder / name).symlink_to(os.path.join(FAKE_DIR, name))
    return str(folder)


@pytest.mark.parametrize("gpus", ORDERS)
def test_limits_are_those_of_the_places_on_the_bus(machine, shell, tmp_path,
                                                   no_nvml, gpus):
    env = hami(machine("--gpus", gpus), tmp_path / "x.cache")
    for number, limit in LIMITS.items():
        env[f"CUDA_DEVICE_MEMORY_LIMIT_{number}"] = str(limit)
    program = shell({**env, "LD_LIBRARY_PATH": no_nvml})
    with pytest.raises(AssertionError):
        program("nvml_init()")
    program = shell({**env, "LD_LIBRARY_PATH": no_nvml})
    assert program("cu_init()") == 0
    for device, number in enumerate(ORDERS[gpus]):
        assert program(f"use({device})") == 0
        assert program("info()")[1] == LIMITS[number]
