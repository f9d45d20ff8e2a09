# SPDX-License-Identifier: Apache-2.0
"""cuBLAS as a library exports the names of its tables, with the originals'
versions, and needs only libc; unimplemented functions refuse and are logged.
tests/fronts/cublas tests its results."""

import ctypes
import glob
import json
import os
import re
import subprocess
import sys

import pytest

from conftest import FAKE_DIR, ROOT, clean_env

LIBRARIES = [("cublas", 12), ("cublas", 13)]
RIGHT = {"cublas": ("GetCudartVersion", "GetStatusName", "GetStatusString")}
NOT_SUPPORTED = 15


def path_of(name, major):
    return os.path.join(FAKE_DIR, f"lib{name}.so.{major}")


def rows(name, major):
    with open(os.path.join(ROOT, "src", "abi", "libraries",
                           f"{name.lower()}.def"),
              encoding="utf-8") as file:
        found = re.findall(r"^CUBLAS\((\w+), (\d+)\)$", file.read(), re.M)
    assert found == sorted(found)
    return {symbol for symbol, since in found if int(since) <= major}


def exports(library, kinds="TW"):
    """{symbol: version}; kind W: functions that refuse."""
    told = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    words = (line.split() for line in told.splitlines())
    return dict(w[2].split("@@") for w in words if w[1] in kinds)


def refused(name, major):
    return sorted(exports(path_of(name, major), "W"))


@pytest.mark.parametrize("name,major", LIBRARIES)
def test_it_exports_its_table_under_the_version_of_the_original(name, major):
    expected = rows(name, major) | {name + right for right in RIGHT[name]}
    assert exports(path_of(name, major)) == dict.fromkeys(
        expected, f"lib{name}.so.{major}")


@pytest.mark.parametrize("name", ["cublas"])
def test_it_exports_no_name_that_the_original_lacks(name):
    found = glob.glob(f"/usr/local/cuda*/lib64/lib{name}.so.13")
    if not found:
        pytest.skip("no cuBLAS of NVIDIA's here")
    assert set(exports(path_of(name, 13))) <= set(exports(found[0]))


@pytest.mark.parametrize("name,major", LIBRARIES)
def test_it_needs_libc_alone(name, major):
    told = subprocess.run(["readelf", "-d", path_of(name, major)], check=True,
                          capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", told)
    if any("san.so" in one for one in needed):
        pytest.skip("a sanitizer is linked in")
    assert all(re.match(r"libc\.|ld-linux", one) for one in needed), needed


CALL_ALL = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
for symbol in sys.argv[2:]:
    assert getattr(library, symbol)(None, 1, None) == 15, symbol
"""


@pytest.mark.parametrize("name,major", LIBRARIES)
def test_what_is_not_written_refuses_and_is_logged(machine, name, major):
    symbols = refused(name, major)
    done = subprocess.run(
        [sys.executable, "-c", CALL_ALL, path_of(name, major), *symbols],
        env=clean_env(GPUKIT_LOG="warn", **machine().env), capture_output=True, text=True,
        timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    logged = re.findall(r"warn: (\w+): refused", done.stderr)
    assert logged == symbols


@pytest.mark.parametrize("name,major", LIBRARIES)
def test_what_it_refuses_is_counted(machine, name, major):
    one, symbol = machine(), refused(name, major)[0]
    subprocess.run(
        [sys.executable, "-c", CALL_ALL, path_of(name, major), symbol, symbol],
        env=clean_env(**one.env), check=True, timeout=60)
    told = json.loads(one.ctl("coverage", "--json").stdout)
    (found,) = (row for row in told if row["function"] == symbol)
    assert (found["library"], found["refused"]) == ("libcublas", 2)


@pytest.mark.parametrize("name,major", LIBRARIES)
def test_it_knows_the_names_of_statuses(name, major):
    library = ctypes.CDLL(path_of(name, major))

    def text(function, status):
        call = getattr(library, name + function)
        call.restype = ctypes.c_char_p
        return call(status)

    assert text("GetStatusName", 0) == b"CUBLAS_STATUS_SUCCESS"
    assert text("GetStatusName", NOT_SUPPORTED) == b"CUBLAS_STATUS_NOT_SUPPORTED"
    assert b"not supported" in text("GetStatusString", NOT_SUPPORTED)
    for unknown in (-1, 2, 4, 17):
        assert text("GetStatusName", unknown) == b"unrecognized status"
