# SPDX-License-Identifier: Apache-2.0
"""The list of fields itself: what does not follow, or is left out, fails."""

import itertools

import pytest

from conftest import needed

needed("pynvml", __file__)

# pylint: disable=wrong-import-position
import truth  # noqa: E402
from follows import Constant, Fills, Move  # noqa: E402
from nvml_client import Nvml  # noqa: E402
from structs import filled, listed  # noqa: E402
from truth import Ctl, Waits  # noqa: E402

BUSY = Ctl("set", 0, "utilization=77")
BOTH = Ctl("set", 0, "utilization=77", "memory-utilization=33")
WHY = Constant("a reason")


def rates(*moves, **constant):
    return Fills("nvmlDeviceGetUtilizationRates", filled(), *moves,
                 constant=constant)


def run(fills, tmp_path):
    number = itertools.count()

    def new_run():
        directory = tmp_path / str(next(number))
        directory.mkdir()
        return truth.Run(Nvml(), str(directory))

    fills.run(new_run)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(truth, "PATIENCE_S", 0.3)


@pytest.mark.parametrize("fills", [
    rates(Move("busy", BOTH, {"gpu": (0, 77), "memory": (0, 33)})),
    rates(Move("busy", BOTH, differ="gpu memory")),
    rates(Move("busy", BUSY, differ="gpu"), memory=WHY),
])
def test_what_follows_passes(fills, tmp_path):
    assert not fills.wrong()
    run(fills, tmp_path)


@pytest.mark.parametrize("words, fills", [
    ("busy, before: ['gpu is 0'", rates(Move("busy", BUSY, {"gpu": (1, 77)}))),
    ("busy, after: ['gpu is 77'", rates(Move("busy", BUSY, {"gpu": (0, 76)}))),
    ("memory is 0", rates(Move("busy", BUSY, differ="gpu memory"))),
    ("memory is no constant: {", rates(Move("busy", BOTH, differ="gpu"),
                                       memory=WHY)),
    ("gpu is no constant: {", rates(Move("a", BUSY), Move("b", Waits()),
                                    gpu=WHY)),
    ("NOT_FOUND", Fills("nvmlDeviceGetComputeRunningProcesses_v3", listed(),
                        Move("time", Waits(), differ="pid"))),
    # a longer list alone is not a different value
    ("clkApiDomain is (1, 4)", Fills(
        "nvmlDeviceGetClkMonStatus", filled(),
        Move("one more", Ctl("set", 0, "clock-monitor-faults=5"),
             differ="clkMonList[].clkApiDomain"),
        given=[Ctl("set", "permission=all"),
               Ctl("set", 0, "clock-monitor-faults=1")])),
])
def test_what_does_not_follow_fails(words, fills, tmp_path):
    with pytest.raises(AssertionError) as error:
        run(fills, tmp_path)
    assert words in repr(error.value)


@pytest.mark.parametrize("words, fills", [
    ("memory: neither", rates(Move("busy", BUSY, differ="gpu"))),
    ("load: no such field", rates(Move("busy", BUSY, differ="gpu load"),
                                  memory=WHY)),
    ("gpu: Constant, and follows", rates(Move("busy", BUSY, differ="gpu"),
                                         memory=WHY, gpu=WHY)),
    ("no move", rates(gpu=WHY, memory=WHY)),
])
def test_what_is_left_out_is_named(words, fills):
    assert any(words in one for one in fills.wrong()), fills.wrong()
