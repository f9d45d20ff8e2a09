# SPDX-License-Identifier: Apache-2.0
"""With libvgpu.so preloaded, cuGetProcAddress answers exactly as the driver
does for every name, version and flag; only the address of a hooked function is
the hook's."""

import os
import re

import pytest

import abi_tables
from conftest import GPUKIT, ROOT, clean_env, sanitized
from generations import GENERATIONS
from test_limit_lookup import SOURCES, VGPU, run

pytestmark = pytest.mark.skipif(
    sanitized(), reason="the program is none of a sanitizer's")

HOOKS = [name for name in abi_tables.hooks() if name.startswith("cu")]


@pytest.fixture(scope="module")
def asker(tmp_path_factory):
    program = tmp_path_factory.mktemp("proc_address") / "proc_addresses"
    run("cc", "-O1", "-Wall", "-Werror", f"-I{ROOT}/src",
        os.path.join(SOURCES, "proc_addresses.c"), "-o", program, "-ldl")
    return program


def answers(asker, driver, preloaded):
    """(standard output, number of hooked functions)"""
    out = run(GPUKIT, "fake", "--gpus", "a100", "--driver", driver, "--", "env",
              *([f"LD_PRELOAD={VGPU}"] if preloaded else []), asker,
              env=clean_env())
    hooks = int(re.search(r"^(\d+) hooks$", out, re.M)[1])
    return re.sub(r"^\d+ hooks\n", "", out, flags=re.M), hooks


@pytest.mark.parametrize("driver", [g.name for g in GENERATIONS])
def test_every_answer_is_the_drivers(asker, driver):
    without, none = answers(asker, driver, False)
    with_it, hooks = answers(asker, driver, True)
    assert with_it == without
    assert none == 0
    assert 0 < hooks <= len(HOOKS)


def test_the_newest_driver_has_every_hook(asker):
    assert answers(asker, GENERATIONS[-1].name, True)[1] == len(HOOKS)


def test_a_function_is_hooked_at_another_address_than_the_exported(tmp_path):
    program = tmp_path / "where"
    run("cc", "-Wall", "-Werror", os.path.join(SOURCES, "where.c"), "-o",
        program, "-ldl")
    run("cc", "-Wall", "-Werror", "-shared", "-fPIC", "-Wl,-Bsymbolic",
        "-Wl,-soname,libcuda.so.1", os.path.join(SOURCES, "other_driver.c"),
        "-o", tmp_path / "libcuda.so.1")
    out = run(program, "cuMemAlloc", "cuMemFree", "cuNothing", "cuInit",
              env=clean_env(LD_LIBRARY_PATH=str(tmp_path), LD_PRELOAD=VGPU))
    assert out == ("cuMemAlloc libvgpu.so\ncuMemFree libvgpu.so\n"
                   "cuNothing libc.so.6\ncuInit nowhere\n")
