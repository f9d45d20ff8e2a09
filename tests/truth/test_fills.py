# SPDX-License-Identifier: Apache-2.0
"""Every field of every filled struct follows the machine, or is declared
constant with a reason."""

import ctypes
import itertools

import pytest

from conftest import needed

needed("pynvml", __file__)

# pylint: disable=wrong-import-position
import follows  # noqa: E402
import structs  # noqa: E402
import truth  # noqa: E402
from nvml_client import Nvml  # noqa: E402

FILLS = follows.all_fills()


@pytest.fixture(scope="session")
def client():
    return Nvml()


@pytest.mark.parametrize("fills", FILLS, ids=[one.function for one in FILLS])
def test_each_field_follows(fills, client, tmp_path):
    number = itertools.count()

    def new_run():
        directory = tmp_path / str(next(number))
        directory.mkdir()
        return truth.Run(client, str(directory))

    fills.run(new_run)


def test_every_struct_that_is_filled_has_its_row():
    wanted = [name for name in sorted(truth.answered())
              if structs.fields_of(name)]
    assert [one.function for one in FILLS] == wanted


@pytest.mark.parametrize("fills", FILLS, ids=[one.function for one in FILLS])
def test_every_field_has_a_proof(fills):
    assert not fills.wrong()


# Functions accept these in the structs that they read; all else is 0.
TAKEN = {"nvmlPciInfo_t": {"bus": 15},
         "nvmlNvLinkPowerThres_t": {"lowPwrThreshold": 50},
         "nvmlPowerValue_v2_t": {"powerValueMw": 500000},
         "nvmlSystemRegisterEventRequest_v1_t": {"eventTypes": 1}}


def passed(client, kind):
    """An argument of that type."""
    struct, star, _ = kind.removeprefix("const ").partition(" *")
    struct = structs.named(struct)
    if star and struct in structs.header().aggregates:
        return structs.Record(struct, TAKEN.get(struct)).room
    if kind == "nvmlDevice_t":
        return client.device
    return ctypes.byref(ctypes.c_ulonglong()) if star else 0


def test_what_is_only_read_stays_as_it_was(client, tmp_path):
    """Structs of READ stay unchanged, whether they are accepted or refused."""
    run, codes = truth.Run(client, str(tmp_path)), {}
    client.gpu = 0
    try:
        run.start("--gpus", "b200:2", "--driver", "610",
                  front=truth.front_of("610"))
        run.machine.ctl("set", "permission=all")
        for name in structs.READ:
            args = [passed(client, kind)
                    for _, kind in structs.parameters()[name]]
            rooms = [arg for arg in args if isinstance(arg, ctypes.Array)]
            was = [bytes(room) for room in rooms]
            codes[name] = client.raw(name, *args)
            assert rooms and [bytes(room) for room in rooms] == was, name
    finally:
        run.stop()
    assert list(codes.values()).count(0) > len(codes) / 2, codes


def test_the_rules_are_of_what_there_is():
    """The rules name functions and fields of the ABI."""
    functions = structs.parameters()
    for name in (*structs.READ, *structs.LEFT, *structs.OLDER):
        assert name in functions
    for kind, fields in structs.ASKED.items():
        assert set(fields) <= set(structs.readers(kind)), kind
    for name, fields in structs.LEFT.items():
        kinds = [kind for _, kind in structs.filled_by(name)]
        assert set(fields) <= set(structs.readers(*kinds)), name
