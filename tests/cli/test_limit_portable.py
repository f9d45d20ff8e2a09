# SPDX-License-Identifier: Apache-2.0
"""libvgpu.so for old C libraries, as `./run portable` builds it, needs no
symbol newer than glibc 2.17 and no other library, and programs find their own
names beside it."""

import os
import re

import pytest

from conftest import BUILD, sanitized
from test_limit_lookup import FAKE, build, run, with_and_without

PORTABLE = os.path.join(BUILD, "portable")

pytestmark = [
    pytest.mark.skipif(sanitized(),
                       reason="the program is none of a sanitizer's"),
    pytest.mark.skipif(not os.path.isdir(PORTABLE),
                       reason="./run portable was not run"),
]


def library(machine):
    return os.path.join(PORTABLE, machine, "lib", "gpukit", "libvgpu.so")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_it_wants_no_newer_c_library_than_2_17(machine):
    symbols = run("readelf", "--wide", "--dyn-syms", library(machine))
    wanted = re.findall(r"@GLIBC_([\d.]+)", symbols)
    assert wanted
    assert max([int(n) for n in v.split(".")] for v in wanted) <= [2, 17]
    assert "GLIBC_PRIVATE" not in symbols


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_it_needs_the_c_library_alone(machine):
    dynamic = run("readelf", "--wide", "--dynamic", library(machine))
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    assert needed[0] == "libc.so.6"
    assert all(name.startswith("ld-linux") for name in needed[1:])


def test_programs_find_their_own_names_beside_it(tmp_path):
    program = build(tmp_path, "cc", "-O2")
    without, with_it = with_and_without(program, library=library("x86_64"))
    assert with_it == without
    without, with_it = with_and_without(
        program, "libcuda.so.1", "libnvidia-ml.so.1", before=FAKE,
        library=library("x86_64"))
    assert with_it == without
