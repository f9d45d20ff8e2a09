# SPDX-License-Identifier: Apache-2.0
"""libcuda.so.1 of each driver generation exports the names of CUDA 13.3 except
those that came after the generation's CUDA."""

import glob
import os
import subprocess

import pytest

from conftest import FAKE_DIR, ROOT
from cuda_facts import rows
from generations import GENERATIONS, directory, text_of

each = pytest.mark.parametrize("generation", GENERATIONS,
                               ids=[g.name for g in GENERATIONS])


def exported(library):
    told = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    return {line.split()[-1] for line in told.splitlines()}


def names_of_cuda():
    return [line for line in
            text_of("tests", "data", "cuda-13.0-symbols.txt").splitlines()
            if not line.startswith("#")]


def test_the_table_has_the_names_of_the_toolkits_stub():
    names = names_of_cuda()
    assert len(names) == 637
    assert [row[0] for row in rows() if row[2] <= 13000] == names


def test_the_list_is_that_of_the_stub():
    stubs = [path for pattern in ("build/cuda/**/stubs/libcuda.so",)
             for path in glob.glob(os.path.join(ROOT, pattern),
                                   recursive=True)]
    stubs += glob.glob("/usr/local/cuda-13.0/**/stubs/libcuda.so",
                       recursive=True)
    if not stubs:
        pytest.skip("no stub library of CUDA 13.0: PyPI's toolkit has none")
    assert sorted(exported(stubs[0])) == names_of_cuda()


@each
def test_exports(generation):
    library = os.path.join(directory(generation.name), "libcuda.so.1")
    there = exported(library)
    assert there == {symbol for symbol, _, since, _ in rows()
                     if since <= generation.cuda}


def test_the_default_is_580():
    top = os.path.join(FAKE_DIR, "libcuda.so.1")
    assert os.path.samefile(top, os.path.join(directory("580"),
                                              "libcuda.so.1"))


@each
def test_a_linker_finds_it(generation):
    there = directory(generation.name)
    assert os.path.samefile(os.path.join(there, "libcuda.so"),
                            os.path.join(there, "libcuda.so.1"))
