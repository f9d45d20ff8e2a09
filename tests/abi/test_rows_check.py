# SPDX-License-Identifier: Apache-2.0
"""A machine file is refused by programs whose tables have other rows: the check
in the file depends on every row whose number is in the file."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

SRC = os.path.join(ROOT, "src")
ROWS = os.path.join(SRC, "machine", "store", "rows.c")
PRINTS = ('#include "machine/store/rows.h"\n#include <stdio.h>\n'
          'int main(void) { printf("%u", gkf_rows_check()); }\n')

# A table, and a text that begins a row in its middle.
TABLES = {
    "abi/nvml/nvml.def": "NVML(nvmlDeviceGetName,",
    "abi/cuda/cuda.def": "CUDA(cuDeviceGetName,",
    "machine/file/values.def": "VALUE(MEM_UTIL,",
    "machine/file/fault.def": "FAULT(HANG,",
}


@pytest.fixture(name="check_with")
def check_with_fixture(tmp_path):
    def check(table="", old="", new=""):
        if table:
            copy = tmp_path / "changed" / table
            shutil.copytree(os.path.dirname(os.path.join(SRC, table)),
                            copy.parent, dirs_exist_ok=True)
            text = copy.read_text(encoding="utf-8")
            assert text.count("\n" + old) == 1
            copy.write_text(text.replace("\n" + old, "\n" + new),
                            encoding="utf-8")
        program = tmp_path / "prints"
        subprocess.run(
            ["gcc", "-std=gnu17", f"-I{tmp_path}/changed", f"-I{SRC}",
             f"-I{ROOT}/include", "-include", ROWS, "-xc", "-", "-o", program],
            input=PRINTS, text=True, check=True)
        return int(subprocess.run([program], capture_output=True, text=True,
                                  check=True).stdout)
    return check


@pytest.mark.parametrize("table", TABLES)
def test_another_row_is_another_check(check_with, table):
    row = TABLES[table]
    macro, name = re.fullmatch(r"(\w+)\((\w+),", row).groups()
    with open(os.path.join(SRC, table), encoding="utf-8") as file:
        whole = re.search(rf"^{re.escape(row)}(?:[^\n]|\n(?!{macro}\())*\n",
                          file.read(), re.M)[0]
    checks = [check_with(),
              check_with(table, whole, ""),
              check_with(table, whole, whole.replace(name, name + "New")),
              check_with(table, whole,
                         whole.replace(name, name + "New") + whole)]
    assert len(set(checks)) == len(checks), checks
