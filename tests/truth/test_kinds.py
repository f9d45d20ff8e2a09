# SPDX-License-Identifier: Apache-2.0
"""The kinds of rows themselves: what is not true does not pass."""

import os
import shutil

import pytest

from conftest import needed

needed("pynvml", __file__)

# pylint: disable=wrong-import-position
import truth  # noqa: E402
from nvml_client import FRONT, UINT, Nvml, Refused  # noqa: E402
from truth import (Another, Changes, Constant, Ctl, Does, LoadEnds, Sets,  # noqa: E402
                   Waits, of_device)

TEMPERATURE = "nvmlDeviceGetTemperature"
DEGREES = of_device(0, UINT)
HOT = Ctl("set", 0, "temperature=95")
T4 = {"machine": ("--gpus", "t4")}


def anything(_):
    return True


def persistence(c):
    return c.call("nvmlDeviceGetPersistenceMode", c.device, UINT)


def switch_off(c):
    """Does what a setter of NVML does."""
    if os.geteuid():
        raise Refused("NO_PERMISSION")
    switch_off_by_anybody(c)


def switch_off_by_anybody(c):
    done = c.machine.ctl("set", 0, "persistence=0")
    assert done.returncode == 0, done.stderr
    c.raw("nvmlInit_v2")


def do_nothing(c):
    if os.geteuid():
        raise Refused("NO_PERMISSION")
    c.raw("nvmlInit_v2")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(truth, "PATIENCE_S", 0.3)
    one = truth.Run(Nvml(), str(tmp_path))
    yield one
    one.stop()


@pytest.mark.parametrize("row", [
    Changes(TEMPERATURE, DEGREES, HOT, before=31, after=95),
    Changes(TEMPERATURE, DEGREES, [Another(), HOT], before=31, after=95),
    Sets("nvmlInit_v2", switch_off, persistence, before=1, after=0),
    Sets("nvmlInit_v2", lambda c: c.machine and c.raw("nvmlInit_v2"),
         lambda c: c.machine.ctl("coverage").stdout.count("nvmlInit_v2"),
         before=0, after=1, root=False),
    Constant("nvmlDeviceGetMaxPcieLinkWidth", of_device(UINT), "pcie_width",
             only=["t4"], also={"pcie_width": 8}),
])
def test_what_is_true_passes(run, row):
    row.run(run)


@pytest.mark.parametrize("words, row", [
    ("before", Changes(TEMPERATURE, DEGREES, HOT, before=30, after=95)),
    ("after", Changes(TEMPERATURE, DEGREES, HOT, before=31, after=94)),
    ("nothing changed", Changes(TEMPERATURE, DEGREES, Waits(),
                                before=anything, after=anything)),
    ("nothing changed", Changes(TEMPERATURE, DEGREES, LoadEnds(), before=31,
                                after=31)),
    ("never called", Changes("nvmlDeviceGetTemperatureV", lambda c: c.call(
        TEMPERATURE, c.device, 0, UINT), HOT, before=31, after=95)),
    # a predicate never accepts a refusal
    ("before", Changes("nvmlDeviceGetFanSpeed", of_device(UINT), HOT,
                       before=anything, after=anything, **T4)),
    ("every function", Changes(
        TEMPERATURE, DEGREES, Ctl("fail", 0, "lost"), before=31,
        after=Refused("GPU_IS_LOST"))),
    ("AssertionError", Changes(
        "nvmlDeviceGetFanSpeed", of_device(UINT),
        Does(lambda c: c.lib.nvmlShutdown()), before=Refused("NOT_SUPPORTED"),
        after=Refused("UNINITIALIZED"), **T4)),
    # setters
    ("AssertionError", Sets("nvmlInit_v2", switch_off_by_anybody, persistence,
                            before=1, after=0)),
    ("after", Sets("nvmlInit_v2", do_nothing, persistence, before=1,
                   after=0)),
    ("NO_PERMISSION", Sets("nvmlInit_v2", switch_off, persistence, before=1,
                           after=0, root=False)),
    # constants
    ("the same on every", Constant(
        "nvmlDeviceGetMaxPcieLinkWidth", of_device(UINT), "pcie_width",
        only=["t4", "l4"])),
    ("t4: 256 != 40", Constant(
        "nvmlDeviceGetMemoryBusWidth", of_device(UINT), "sm_count",
        only=["t4", "l4"])),
    ("AssertionError", Constant(
        "nvmlDeviceGetFanSpeed", of_device(UINT), only=["t4", "l4"],
        expect=lambda _: Refused("NOT_SUPPORTED"))),
])
def test_what_is_not_true_fails(run, words, row):
    with pytest.raises(AssertionError) as error:
        row.run(run)
    assert words in repr(error)


def test_a_row_may_ask_another_front(run, tmp_path):
    """nvidia-ml-py uses that front too."""
    (tmp_path / "old").mkdir()
    old = str(tmp_path / "old" / "libnvidia-ml.so.1")
    shutil.copy(FRONT, old)

    def library(c):
        c.nvml.nvmlDeviceGetTemperature(c.device, 0)
        assert c.nvml.nvmlLib is c.lib
        return c.lib._name  # pylint: disable=protected-access

    Changes(TEMPERATURE, library, Another(front=old), before=FRONT,
            after=old).run(run)


def test_profiles_are_read():
    profile = truth.profile("t4")
    assert (profile["name"], profile["sm_count"], profile["fans"],
            profile["vbios"], profile["pci_device_id"], profile["mig"]) == \
        ("Tesla T4", 40, 0, "90.04.96.00.02", 0x1eb810de, "none")
