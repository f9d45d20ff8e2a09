# SPDX-License-Identifier: Apache-2.0
"""libnccl.so.2: its names, those of NVIDIA's library if present, what it needs,
what it refuses, and who gets it."""

import glob
import os
import re
import subprocess

import pytest

from conftest import FAKE_DIR, ROOT

OURS = os.path.join(FAKE_DIR, "libnccl.so.2")
WHEELS = os.environ.get("GPUKIT_TORCH_LIBRARIES", "")


def exports(path, kinds="TW"):
    told = subprocess.run(["nm", "-D", "--defined-only", path], check=True,
                          capture_output=True, text=True).stdout
    words = (line.split() for line in told.splitlines())
    return {w[2] for w in words if w[1] in kinds
            and re.match("p?nccl", w[2])}


def listed():
    """{name: (since, test or refused)}"""
    with open(os.path.join(ROOT, "tests", "abi", "nccl.txt"),
              encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    assert rows == sorted(rows)
    return {name: (int(since), test) for name, since, test in rows}


def test_it_exports_every_name_twice():
    names = set(listed())
    assert exports(OURS) == names | {"p" + name for name in names}


def test_what_it_refuses_is_weak():
    refused = {name for name, (_, test) in listed().items()
               if test == "refused"}
    assert exports(OURS, "W") == refused | {"p" + name for name in refused}


def test_a_test_calls_each_that_works():
    for name, (_, test) in listed().items():
        if test != "refused":
            with open(os.path.join(ROOT, test), encoding="utf-8") as file:
                assert f"N({name})" in file.read(), name


def test_nothing_up_to_2_28_is_refused_but_the_device_interface():
    assert {name for name, (since, test) in listed().items()
            if test == "refused" and since <= 228} == {
                "ncclDevCommCreate", "ncclDevCommDestroy"}


def test_it_has_what_the_original_has():
    """Only versions that are no newer: a newer one has additional names."""
    originals = [path for place in (WHEELS, "/usr/lib/x86_64-linux-gnu")
                 if place for path in
                 glob.glob(os.path.join(place, "**", "libnccl.so.2*"),
                           recursive=True)]
    looked = False
    for original in originals:
        theirs = exports(original)
        if "pncclCommRevoke" in theirs:
            continue
        looked = True
        assert theirs <= exports(OURS), original
    if not looked:
        pytest.skip("no NCCL of NVIDIA's here")


def test_it_needs_libc_alone():
    told = subprocess.run(["readelf", "-d", OURS], check=True,
                          capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", told)
    if any("san.so" in one for one in needed):
        pytest.skip("a sanitizer is linked in")
    assert "[libnccl.so.2]" in told
    assert all(re.match(r"libc\.|ld-linux", one) for one in needed), needed


def test_every_driver_generation_has_it():
    for generation in glob.glob(os.path.join(FAKE_DIR, "[0-9]*")):
        link = os.path.join(generation, "libnccl.so.2")
        assert os.path.realpath(link) == os.path.realpath(OURS)


@pytest.mark.parametrize("path", [
    "/nowhere/nvidia/nccl/lib/libnccl.so.2", "libnccl.so.2", "libnccl.so"])
def test_who_asks_by_any_path_gets_ours(gpukit, tmp_path, path):
    out = gpukit.ok("fake", "--name", tmp_path / "m", "--", "env")
    if "LD_AUDIT=" not in out:
        pytest.skip("this build sets no LD_AUDIT")
    script = ("import ctypes\n"
              f"n = ctypes.CDLL({path!r})\n"
              "v = ctypes.c_int()\n"
              "print(n.ncclGetVersion(ctypes.byref(v)), v.value)\n")
    assert gpukit.ok("fake", "--name", tmp_path / "n", "--", "python3", "-c",
                     script).split() == ["0", "22809"]


REFUSED = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
assert driver.cuInit(0) == 0
n = ctypes.CDLL("libnccl.so.2")
assert n.ncclDevCommCreate(None, None, None) == 5
n.ncclGetLastError.restype = ctypes.c_char_p
print(n.ncclGetLastError(None).decode())
"""


def test_what_it_refuses_says_so_and_is_counted(gpukit):
    done = gpukit("fake", "--", "python3", "-c", REFUSED)
    assert done.stdout == "ncclDevCommCreate is not done by gpukit\n"
    assert "refused: ncclDevCommCreate of libnccl, 1 time" in done.stderr
