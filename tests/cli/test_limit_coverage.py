# SPDX-License-Identifier: Apache-2.0
"""Every function that the tables of functions mark in the column `limit` is
hooked."""

import glob
import os
import re
import subprocess

import pytest

from abi_tables import cuda_rows, cuda_symbols, hooks
from conftest import BUILD
from cuda_programs import TOOLKIT
from test_limit_lookup import VGPU

STUBS = [os.path.join(home, "lib", "stubs", "libcuda.so")
         for home in (TOOLKIT, "/usr/local/cuda", "/usr/local/cuda-13.0")]


def test_every_symbol_of_the_toolkits_stub_has_a_class():
    stubs = [stub for stub in STUBS if os.path.exists(stub)]
    if not stubs:
        pytest.skip("no stub library of a toolkit here")
    known = {symbol.symbol for symbol in cuda_symbols()}
    for stub in stubs:
        exported = subprocess.run(
            ["nm", "-D", "--defined-only", stub], capture_output=True,
            text=True, check=True).stdout
        names = re.findall(r" T (cu\w+)", exported)
        assert len(names) > 500
        assert not [n for n in names if n not in known]


def test_what_is_something_to_the_limiter_is_exported_by_it():
    told = subprocess.run(["nm", "-D", "--defined-only", VGPU], check=True,
                          capture_output=True, text=True).stdout
    names = re.findall(r" T ((?:cu|nvml)\w+)@GPUKIT$", told, re.M)
    assert len(names) == len(set(names))
    assert sorted(names) == sorted(hooks())


def test_every_hook_that_is_written_is_in_the_table():
    """The linker drops a hook whose row says that it is none."""
    objects = glob.glob(os.path.join(
        BUILD, "src", "limit", "preload", "CMakeFiles", "limit-preload.dir",
        "**", "*.o"), recursive=True)
    if not objects:
        pytest.skip("no objects: this is not a tree that was built here")
    told = subprocess.run(["nm", "--defined-only", *objects], check=True,
                          capture_output=True, text=True).stdout
    names = re.findall(r" T ((?:cu|nvml)[A-Z]\w+)$", told, re.M)
    assert sorted(names) == sorted(hooks())


def test_versions_of_a_function_are_one_thing_to_the_limiter():
    words = {}
    for row in cuda_rows():
        words.setdefault(row.base, set()).add(row.limit)
    assert [base for base, told in words.items() if len(told) > 1] == []
