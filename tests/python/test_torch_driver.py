"""PyTorch's part is built on the user's machine, without our headers: what it
knows of our driver has to be what the driver is."""

import os
import re

from conftest import ROOT


def quoted(path, pattern):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return re.search(pattern + r'.*"([^"]+)"', file.read())[1]


def test_it_asks_for_the_table_that_the_driver_has():
    assert quoted("python/gpukit/fake/torch/src/driver.cpp", r"get\(&found") \
        == quoted("src/fronts/common/export_table.h", "TABLE_UUID")
