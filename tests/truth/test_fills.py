"""Every field of every struct that is filled follows the machine, or is named
constant with a reason."""

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


def test_the_rules_are_of_what_there_is():
    """Of functions and fields of the ABI."""
    functions = structs.parameters()
    for name in (*structs.READ, *structs.LEFT, *structs.OLDER):
        assert name in functions
    for kind, fields in structs.ASKED.items():
        assert set(fields) <= set(structs.readers(kind)), kind
    for name, fields in structs.LEFT.items():
        kinds = [kind for _, kind in structs.filled_by(name)]
        assert set(fields) <= set(structs.readers(*kinds)), name
