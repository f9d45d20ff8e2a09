# SPDX-License-Identifier: Apache-2.0
"""PyTorch's part is built on the user's machine without our headers: what it
assumes about our driver must be true."""

import os
import re

from conftest import ROOT


def found(path, pattern):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return re.search(pattern, file.read())[1]


DRIVER = "python/gpukit/fake/torch/src/driver.cpp"
TABLE = "src/fronts/common/export_table.h"


def test_it_asks_for_the_table_that_the_driver_has():
    assert found(DRIVER, r'get\(&found, "([^"]+)"') == \
        found(TABLE, r'#define GPUKIT_TABLE_UUID "([^"]+)"')


def test_it_has_the_number_that_the_driver_knows():
    names = found(TABLE, r"enum gpukit_library \{([^}]+)\}")
    assert int(found(DRIVER, r"LIBRARY_TORCH = (\d+)")) == \
        re.findall(r"\w+", names).index("GPUKIT_TORCH")
