"""The libraries that compute: each name has a test or is refused; they are
versioned as the originals are, and need libc alone."""

import glob
import json
import os
import re
import subprocess
import sys

import pytest

from conftest import FAKE_DIR, ROOT, clean_env

# (room, its majors, what NOT_SUPPORTED is)
LIBRARIES = [("cufft", 11, 16), ("cufft", 12, 16),
             ("curand", 10, 204)]
each = pytest.mark.parametrize("name,major,refusal", LIBRARIES)


def path_of(name, major):
    return os.path.join(FAKE_DIR, f"lib{name}.so.{major}")


def names(name):
    """{symbol: test or refused}"""
    with open(os.path.join(ROOT, "tests", "fronts", name, "names.txt"),
              encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    assert rows == sorted(rows)
    return dict(rows)


def exports(library):
    """{symbol: (strong or weak, version)}"""
    told = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    words = (line.split() for line in told.splitlines())
    return {w[2].split("@@")[0]: (w[1], w[2].split("@@")[-1])
            for w in words if w[1] in "TW"}


def refused(name, major):
    found = exports(path_of(name, major))
    return sorted(symbol for symbol, test in names(name).items()
                  if test == "refused" and symbol in found)


@each
def test_every_name_has_a_test_or_is_refused(name, major, refusal):
    del refusal
    listed = names(name)
    for symbol, (kind, version) in exports(path_of(name, major)).items():
        assert version == f"lib{name}.so.{major}", symbol
        assert (listed[symbol] == "refused") == (kind == "W"), symbol


@pytest.mark.parametrize("name", sorted({row[0] for row in LIBRARIES}))
def test_every_listed_test_is_there_and_calls_the_name(name):
    majors = [row[1] for row in LIBRARIES if row[0] == name]
    exported = set().union(*(exports(path_of(name, m)) for m in majors))
    for symbol, test in names(name).items():
        assert symbol in exported
        if test == "refused":
            continue
        file, sentence = test.split("::")
        with open(os.path.join(ROOT, "tests", "fronts", name, file + ".c"),
                  encoding="utf-8") as source:
            text = source.read()
        assert f"ALONE({sentence})" in text, test
        assert re.search(rf"\b{symbol}\b", text), (symbol, test)


@each
def test_the_names_are_those_of_the_original(name, major, refusal):
    del refusal
    found = glob.glob(f"/usr/local/cuda*/lib64/lib{name}.so.{major}")
    if not found:
        pytest.skip("none of NVIDIA's here")
    ours = exports(path_of(name, major))
    theirs = exports(found[0])
    assert {s: v for s, (_, v) in ours.items()} == {
        s: v for s, (_, v) in theirs.items()}


@each
def test_it_needs_libc_alone(name, major, refusal):
    del refusal
    told = subprocess.run(["readelf", "-d", path_of(name, major)], check=True,
                          capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", told)
    if any("san.so" in one for one in needed):
        pytest.skip("a sanitizer is linked in")
    assert all(re.match(r"libc\.|ld-linux", one) for one in needed), needed


CALL_ALL = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
for symbol in sys.argv[3:]:
    assert getattr(library, symbol)(None, 1, None) == int(sys.argv[2]), symbol
"""


@each
def test_what_is_refused_says_so_and_is_counted(machine, name, major, refusal):
    one = machine()
    symbols = refused(name, major)
    assert symbols
    subprocess.run(
        [sys.executable, "-c", CALL_ALL, path_of(name, major), str(refusal),
         *symbols], env=clean_env(**one.env), check=True, timeout=60)
    told = json.loads(one.ctl("coverage", "--json").stdout)
    counted = {row["function"]: row["refused"] for row in told
               if row["library"] == "lib" + name}
    assert counted == dict.fromkeys(symbols, 1)
