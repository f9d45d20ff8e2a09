# SPDX-License-Identifier: Apache-2.0
"""Every answer of the fake NVML that is declared true is proven."""

import os
from collections import Counter

import pytest

from conftest import needed

needed("pynvml", __file__)

# pylint: disable=wrong-import-position
import follows  # noqa: E402
import truth  # noqa: E402
from nvml_client import Nvml  # noqa: E402

ROWS = truth.all_rows()
ROOT_DIR = os.path.dirname(os.path.abspath(__file__))


def text_of(name):
    with open(os.path.join(ROOT_DIR, name), encoding="utf-8") as file:
        return file.read()


@pytest.fixture(scope="session")
def client():
    return Nvml()


@pytest.mark.parametrize("row", [row for row, _ in ROWS],
                         ids=[row.function for row, _ in ROWS])
def test_true(row, client, tmp_path):
    run = truth.Run(client, str(tmp_path))
    try:
        row.run(run)
    finally:
        run.stop()


def test_rows_are_of_functions_that_are_done():
    done = truth.strong_symbols() | {
        row.function for row, _ in ROWS
        if row.driver and row.function in truth.strong_symbols(
            truth.front_of(row.driver))}
    assert {row.function for row, _ in ROWS} <= done


def test_no_function_has_two_rows():
    twice = Counter(row.function for row, _ in ROWS)
    assert not [name for name, times in twice.items() if times > 1]


def test_what_is_done_has_a_row_or_a_reason():
    """There are no superfluous reasons either."""
    without = truth.strong_symbols() - {row.function for row, _ in ROWS}
    told = truth.refused()
    assert sorted(without) == sorted(told)
    assert all(told.values())


def test_the_list_is_up_to_date():
    assert text_of("LIST.txt") == follows.list_of(ROWS), \
        "run: build/venv/bin/python tests/truth/write_list.py"
