# SPDX-License-Identifier: Apache-2.0
"""docs/COVERAGE.md is what tools/coverage-page.py makes of the tables."""

import os
import runpy

import pytest

from conftest import BUILD, ROOT

SCRIPT = os.path.join(ROOT, "tools", "coverage-page.py")


@pytest.fixture(name="script")
def script_fixture(monkeypatch):
    monkeypatch.setenv("GPUKIT_BUILD", BUILD)
    return runpy.run_path(SCRIPT)


def read_page():
    with open(os.path.join(ROOT, "docs", "COVERAGE.md"), encoding="utf-8") as f:
        return f.read()


def test_the_page_is_that_of_the_tables(script):
    assert read_page() == script["page"]()


def test_another_row_is_another_page(script):
    class Row:
        symbol, refused = "cuNothing", "REFUSED(SPARSE)"

    told = list(script["refused"]([Row]))
    assert told == ["*No array here is sparse*:\n`cuNothing`"]
