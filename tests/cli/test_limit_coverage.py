"""The table of what each function of the driver API is to the limiter
(coverage.def) has every function, and the hooks agree with it."""

import os
import re
import subprocess

import pytest

from conftest import ROOT
from cuda_programs import TOOLKIT

PRELOAD_ROOM = os.path.join(ROOT, "src", "limit", "preload")
STUBS = [os.path.join(home, "lib", "stubs", "libcuda.so")
         for home in (TOOLKIT, "/usr/local/cuda", "/usr/local/cuda-13.0")]
CLASSES = {"ALLOCATES", "FREES", "LAUNCHES", "REPORTS", "MARKS", "NONE"}


def rows(pattern, *path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return re.findall(pattern, file.read(), re.M)


# The symbols by the name that cuGetProcAddress is asked for.
SYMBOLS = rows(r"^CUDA\((\w+), (\w+),", ROOT, "src", "abi", "cuda.def")
COVERS = {base: (kind, why) for base, kind, why in
          rows(r'^COVERS\((\w+), (\w+), "(.*)"\)$', PRELOAD_ROOM,
               "coverage.def")}
HOOKS = set(rows(r"^HOOK\((\w+)\)", PRELOAD_ROOM, "hooks.def"))


def test_every_row_has_a_class_and_no_row_is_of_nothing():
    assert list(COVERS) == list(dict.fromkeys(base for _, base in SYMBOLS))
    assert {kind for kind, _ in COVERS.values()} == CLASSES


def test_every_symbol_of_the_toolkits_stub_has_a_class():
    stubs = [stub for stub in STUBS if os.path.exists(stub)]
    if not stubs:
        pytest.skip("no stub library of a toolkit here")
    base = dict(SYMBOLS)
    for stub in stubs:
        exported = subprocess.run(
            ["nm", "-D", "--defined-only", stub], capture_output=True,
            text=True, check=True).stdout
        names = re.findall(r" T (cu\w+)", exported)
        assert len(names) > 500
        assert not [n for n in names if base.get(n) not in COVERS]


def test_what_counts_is_hooked_in_every_version_or_says_why_not():
    assert not [symbol for symbol, base in SYMBOLS
                if COVERS[base][0] != "NONE" and not COVERS[base][1]
                and symbol not in HOOKS]


def test_no_hook_is_for_nothing():
    base = dict(SYMBOLS)
    assert not [hook for hook in HOOKS if COVERS[base[hook]][0] == "NONE"]
    assert not [hook for hook in HOOKS if COVERS[base[hook]][1]]
