# SPDX-License-Identifier: Apache-2.0
"""The libraries other than cuBLAS export the names of their tables with the
originals' versions and need only libc; what does not work refuses and is
counted; each function that works is called by a test."""

import glob
import json
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT, clean_env
from libraries import LIBRARIES, REFUSING, Listed

ALL = pytest.mark.parametrize("library", LIBRARIES, ids=repr)
THOSE_THAT_REFUSE = pytest.mark.parametrize("library", REFUSING, ids=repr)
# Undocumented names, whose results are unknown (cusolver.def).
UNDOCUMENTED = re.compile(r"cusolver.*Host$|cublas|pegasus")


def exports(path, kinds="TW"):
    """{symbol: version}"""
    told = subprocess.run(["nm", "-D", "--defined-only", path], check=True,
                          capture_output=True, text=True).stdout
    words = (line.split() for line in told.splitlines())
    return dict(w[2].split("@@") for w in words if w[1] in kinds)


@ALL
def test_it_exports_its_table_under_the_version_of_the_original(library):
    names = library.names()
    assert names == sorted(names) and len(names) > 20
    assert exports(library.path) == dict.fromkeys(names, library.file)


@ALL
def test_what_refuses_is_weak(library):
    """So `nm` and the doctor can tell what does not work."""
    assert sorted(exports(library.path, "W")) == library.refused()


@ALL
def test_it_exports_what_the_original_does(library):
    originals = library.originals()
    if not originals:
        pytest.skip(f"no {library} of NVIDIA's here")
    for original in originals:
        theirs = {name: version for name, version in exports(original).items()
                  if not UNDOCUMENTED.match(name)}
        assert exports(library.path) == theirs


@ALL
def test_it_needs_libc_alone(library):
    told = subprocess.run(["readelf", "-d", library.path], check=True,
                          capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", told)
    if any("san.so" in one for one in needed):
        pytest.skip("a sanitizer is linked in")
    assert all(re.match(r"libc\.|ld-linux", one) for one in needed), needed


@ALL
def test_every_driver_generation_has_it(library):
    directory = os.path.dirname(library.path)
    for generation in glob.glob(os.path.join(directory, "[0-9]*")):
        link = os.path.join(generation, library.file)
        assert os.path.realpath(link) == os.path.realpath(library.path)


CALL_ALL = """
import ctypes, sys
driver = ctypes.CDLL("libcuda.so.1")
assert driver.cuInit(0) == 0
context = ctypes.c_void_p()
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
library = ctypes.CDLL(sys.argv[1])
for symbol in sys.argv[3:]:
    assert getattr(library, symbol)(None, 1, None) == int(sys.argv[2]), symbol
"""


def call_all(library, symbols, **env):
    env.setdefault("LD_LIBRARY_PATH", os.path.dirname(library.path))
    return subprocess.run(
        [sys.executable, "-c", CALL_ALL, library.path, str(library.refuses),
         *symbols], env=clean_env(**env), capture_output=True, text=True,
        timeout=60, check=False)


@THOSE_THAT_REFUSE
def test_what_does_not_work_refuses_and_is_logged(machine, library):
    symbols = library.refused()
    assert symbols
    done = call_all(library, symbols, GPUKIT_LOG="warn", **machine().env)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"warn: (\w+): refused", done.stderr) == symbols


@THOSE_THAT_REFUSE
def test_what_it_refuses_is_counted(machine, library):
    one, symbol = machine(), library.refused()[0]
    assert call_all(library, [symbol, symbol], **one.env).returncode == 0
    told = json.loads(one.ctl("coverage", "--json").stdout)
    (found,) = (row for row in told if row["function"] == symbol)
    assert (found["library"], found["refused"]) == (library.counted, 2)


@ALL
def test_who_asks_by_an_absolute_path_gets_ours(gpukit, library, tmp_path):
    out = gpukit.ok("fake", "--name", tmp_path / "m", "--", "env")
    if "LD_AUDIT=" not in out:
        pytest.skip("this build sets no LD_AUDIT")
    script = ("import ctypes, sys\n"
              "ctypes.CDLL('/nowhere/' + sys.argv[1])\n"
              "maps = open('/proc/self/maps', encoding='utf-8').read()\n"
              "print({l.split()[-1] for l in maps.splitlines()"
              " if l.endswith(sys.argv[1])})\n")
    told = gpukit.ok("fake", "--", sys.executable, "-c", script, library.file)
    assert library.path in told


def called_in_tests(room):
    """Names as the tests of a room call them: SP(name), SO(name); FOUR(t, name)
    stands for S, D, C and Z; tokens of macros are whole words too."""
    text = ""
    for path in glob.glob(os.path.join(ROOT, "tests", "fronts", room, "*.[ch]")):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    found = set(re.findall(r"\b(?:cusparse|cusolver)\w+", text))
    for real, complex_ in re.findall(r"FOUR_NAMED\(\s*t,\s*(\w+),\s*(\w+)",
                                     text):
        found |= {f"cusolverDn{t}{real}" for t in "SD"}
        found |= {f"cusolverDn{t}{complex_}" for t in "CZ"}
    begin = {"cusparse": "cusparse", "cusolver": "cusolverDn"}[room]
    for name in re.findall(r"FOUR\(\s*t(?:ype)?,\s*(\w+)", text):
        found |= {f"{begin}{t}{name}" for t in "SDCZ"}
    for macro, words in (("KEEPS", ("cusparseGetMat{}", "cusparseSetMat{}")),
                         ("COMPRESSED", ("cusparseCreate{}", "cusparse{}Get",
                                         "cusparse{}SetPointers",
                                         "cusparseConst{}Get",
                                         "cusparseCreateConst{}"))):
        for name in re.findall(rf"\b{macro}\((\w+)", text):
            found |= {word.format(name) for word in words}
    return found


def listed():
    """{name: test or reason} from LIBRARIES.txt."""
    path = os.path.join(ROOT, "tests", "abi", "LIBRARIES.txt")
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("  ", 1) for line in file
                    if line.strip() and not line.startswith("#"))


@pytest.mark.parametrize("library", LIBRARIES[:3], ids=repr)
def test_each_function_has_a_test_or_is_listed_as_refused(library):
    rows, refused = listed(), set(library.refused())
    for name in library.names():
        if name in refused:
            assert rows.get(name) == "refused", name
        else:
            test = rows.get(name, "")
            assert re.match(r"tests/fronts/\w+/\w+_test\.c$", test), name
            assert os.path.exists(os.path.join(ROOT, test)), name


@pytest.mark.parametrize("room", ["cusparse", "cusolver"])
def test_the_tests_that_are_named_call_the_function(room):
    called = called_in_tests(room)
    for name, test in listed().items():
        if test.startswith(f"tests/fronts/{room}/"):
            assert name in called, name


@pytest.mark.parametrize(
    "library", [one for one in LIBRARIES if isinstance(one, Listed)], ids=repr)
def test_the_test_of_each_row_is_there_and_calls_the_function(library):
    for symbol, test in library.tests().items():
        if test == "refused":
            continue
        file, sentence = test.split("::")
        path = os.path.join(ROOT, "tests", "fronts", library.room, file + ".c")
        with open(path, encoding="utf-8") as source:
            text = source.read()
        assert f"ALONE({sentence})" in text, test
        assert re.search(rf"\b{symbol}\b", text), (symbol, test)
