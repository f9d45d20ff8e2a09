# SPDX-License-Identifier: Apache-2.0
"""Everything that is built is really hardened: read from the objects and from
the linked files."""

import json
import os
import platform
import re
import shlex
import subprocess

import pytest

from conftest import BUILD

# By machine: readelf's words for the marks of an object, and of a linked file,
# where the C library's start-up files may lack one.
MARKS = {"x86_64": ("x86 feature: IBT, SHSTK", "SHSTK"),
         "aarch64": ("AArch64 feature: BTI, PAC", "")}


def cached(name):
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as f:
        found = re.search(rf"^{name}:\w+=(.*)$", f.read(), re.M)
    return found[1] if found else ""


pytestmark = pytest.mark.skipif(
    cached("GPUKIT_SANITIZE") != "" or cached("CMAKE_BUILD_TYPE") == "Debug",
    reason="not for use")


def commands():
    """{object below src/: its compile command}, as the build lists them."""
    with open(os.path.join(BUILD, "compile_commands.json"),
              encoding="utf-8") as f:
        rows = [shlex.split(row["command"]) for row in json.load(f)]
    found = {words[words.index("-o") + 1]: words for words in rows}
    return {name: words for name, words in found.items()
            if name.startswith("src/")}


def targets(pattern):
    """The files that the build makes by a rule with this name."""
    said = subprocess.run(["ninja", "-C", BUILD, "-t", "targets", "all"],
                          text=True, capture_output=True, check=True).stdout
    return re.findall(rf"^(\S+): (?:{pattern})", said, re.M)


def executables():
    return [name for name in targets(r"C_EXECUTABLE_LINKER__")
            if not name.startswith("tests/")]


def linked():
    return executables() + targets(
        r"C_SHARED_LIBRARY_LINKER__|C_SHARED_MODULE_LINKER__")


def readelf(option, names):
    """{file: readelf's output}."""
    said = subprocess.run(["readelf", option, "-W", *names], cwd=BUILD,
                          text=True, capture_output=True, check=True).stdout
    parts = re.split(r"^File: (.*)\n", said, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def test_the_lists_are_whole():
    """Otherwise the tests below might check nothing."""
    assert len(commands()) > 300
    names = {os.path.basename(name) for name in linked()}
    assert names >= {"gpukit", "libgpukit-fake.so", "libnvidia-ml.so.1",
                     "libcuda.so.1", "libcudart.so.12", "libcudart.so.13",
                     "libcublas.so.13", "libcufft.so.12",
                     "libcurand.so.10",
                     "libgpukit-audit.so"}
    assert len(linked()) > 20


def test_every_object_has_the_marks_of_its_machine():
    wanted = MARKS[platform.machine()][0]
    told = readelf("-n", list(commands()))
    assert len(told) == len(commands())
    assert [name for name, notes in told.items() if wanted not in notes] == []


def test_what_programs_link_themselves_has_them_too():
    wanted = MARKS[platform.machine()][0]
    archives = [name for name in targets("CUSTOM_COMMAND")
                if name.endswith("libcudart_static.a")
                and not os.path.isabs(name)]
    assert len(archives) == 2
    told = readelf("-n", archives)
    assert len(told) == 2
    for name, notes in told.items():
        assert wanted in notes, name


def test_every_object_is_compiled_with_the_flags_that_leave_no_mark():
    for name, words in commands().items():
        assert "-fstack-clash-protection" in words, name
        assert "-fstack-protector-strong" in words, name
        defined = [word for word in words if "FORTIFY" in word]
        assert defined in (["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"],
                           ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]), name
        assert any(word in words for word in ("-O2", "-O3", "-Os")), name


# Every program that preloads it would pay for early binding, with or without a
# GPU; src/limit/preload/CMakeLists.txt has the reasons.
BOUND_LATE = {"lib/gpukit/libvgpu.so"}
# The library that it is measured against is empty, without even a note.
EMPTY = "bench/libempty.so"


def test_linked_files_are_bound_and_closed():
    names = [name for name in linked() if name != EMPTY]
    headers, dynamic = readelf("-l", names), readelf("-d", names)
    notes = readelf("-n", names)
    assert len(headers) == len(dynamic) == len(notes) == len(names)
    for name in names:
        bound = re.search(r"\bBIND_NOW\b|Flags: .*\bNOW\b", dynamic[name])
        closed = "GNU_RELRO" in headers[name]
        assert (bool(bound), closed) == (name not in BOUND_LATE,) * 2, name
        # The R, W or E of the stack and of the loaded segments.
        flags = re.findall(r"^  (GNU_STACK|LOAD) .* ([R ][W ][E ]) 0x",
                           headers[name], re.M)
        assert ("GNU_STACK", "RW ") in flags, name
        assert len(flags) > 2, name
        assert not [1 for _, what in flags if what[1:] == "WE"], name
        assert MARKS[platform.machine()][1] in notes[name], name


def test_executables_lie_anywhere():
    assert executables()
    for name in executables():
        # For a single file readelf does not print the name.
        told = subprocess.run(["readelf", "-d", "-W", name], cwd=BUILD,
                              text=True, capture_output=True, check=True)
        assert re.search(r"Flags: .*\bPIE\b", told.stdout), name


@pytest.mark.parametrize("name", [
    "bin/gpukit", "lib/libgpukit.so", "lib/gpukit/fake/libgpukit-fake.so",
    "lib/gpukit/fake/libcuda.so.1", "lib/gpukit/fake/libnvidia-ml.so.1"])
def test_lengths_and_stacks_are_checked(name):
    said = subprocess.run(
        ["nm", "-D", "--undefined-only", os.path.join(BUILD, name)],
        text=True, capture_output=True, check=True).stdout
    assert "__stack_chk_fail" in said
    assert re.search(r"\b__(?!stack)\w+_chk\b", said), said
