# SPDX-License-Identifier: Apache-2.0
"""dlsym and dlvsym with libvgpu.so preloaded: programs whose own libraries
define the same names, ordinary ones and the driver's, find what they find
without it, whoever asks and however."""

import os
import re
import subprocess

import pytest

from conftest import BUILD, GPUKIT, ROOT, clean_env, sanitized

SOURCES = os.path.join(ROOT, "tests", "limit", "lookup")
VGPU = os.path.join(BUILD, "lib", "gpukit", "libvgpu.so")

pytestmark = pytest.mark.skipif(
    sanitized(), reason="the program is none of a sanitizer's")

# The libraries: number, what they define, and what they call.
LIBRARIES = {
    "first": (2, "HAS_SAME HAS_PROC_ADDRESS HAS_ALLOC"),
    "second": (3, "HAS_SAME HAS_PROC_ADDRESS HAS_CURL HAS_NVML HAS_DATA "
                  "CALLS_PROC_ADDRESS"),
    "needed": (5, "HAS_SAME HAS_PROC_ADDRESS HAS_ALLOC HAS_DATA"),
    "plugin": (4, "HAS_SAME HAS_ALLOC HAS_NVML CALLS_PROC_ADDRESS "
                  "CALLS_PROC_ADDRESS_V2"),
    "deep": (6, "HAS_SAME HAS_PROC_ADDRESS HAS_NVML"),
    "global": (7, "HAS_SAME HAS_CURL HAS_ALLOC HAS_NVML"),
}
NEEDS = {"plugin": ["needed"], "program": ["first", "second"]}


def run(*args, **kwargs):
    done = subprocess.run([str(a) for a in args], capture_output=True,
                          text=True, check=False, timeout=120, **kwargs)
    assert done.returncode == 0, (args, done.stdout, done.stderr)
    return done.stdout


def make(directory, compiler, level, name, number, defined, *more):
    flags = [f"-DME={number}", *(f"-D{d}" for d in defined.split()),
             *(f"-l{need}" for need in NEEDS.get(name, []))]
    run(compiler, level, "-g", "-Wall", "-Werror", *more,
        "-Wl,--no-as-needed", f"-L{directory}", "-Wl,-rpath,$ORIGIN",
        *flags, "-ldl")


def build(directory, compiler, level):
    """The program and its libraries in one directory."""
    for name, (number, defined) in LIBRARIES.items():
        make(directory, compiler, level, name, number, defined,
             os.path.join(SOURCES, "library.c"), "-shared", "-fPIC",
             f"-DLOOK=look_{name}", f"-Wl,-soname,lib{name}.so",
             "-o", directory / f"lib{name}.so")
    make(directory, compiler, level, "program", 1, "HAS_SAME HAS_CURL CALLS_PROC_ADDRESS",
         os.path.join(SOURCES, "program.c"), "-rdynamic", "-o",
         directory / "program")
    return directory / "program"


@pytest.fixture(scope="module", params=[
    (compiler, level) for compiler in ("gcc", "clang")
    for level in ("-O0", "-O2")], ids="".join)
def program(request, tmp_path_factory):
    compiler, level = request.param
    return build(tmp_path_factory.mktemp("lookup"), compiler, level)


def with_and_without(program, *args, before=(), library=VGPU):
    """What it prints without the library and with it."""
    return [run(*before, "env", *preloaded, program, *args, env=clean_env())
            for preloaded in ([], [f"LD_PRELOAD={library}"])]


def test_a_program_finds_its_own_names_without_a_driver(program):
    without, with_it = with_and_without(program)
    assert with_it == without
    assert "function 4 of libplugin.so" in without
    assert "4 calls cuGetProcAddress_v2 of 4" in without
    assert "undefined symbol: cuNothing" in without


FAKE = (GPUKIT, "fake", "--gpus", "h100", "--")


def test_a_program_finds_its_own_names_beside_a_driver(program):
    without, with_it = with_and_without(
        program, "libcuda.so.1", "libnvidia-ml.so.1", before=FAKE)
    assert with_it == without
    assert "1 default cuGetProcAddress_v2: the driver's" in without


def bindings(program, directory, preloaded, *args):
    """Which object of the program was bound to which for a name, according to
    the linker. A direct call arrives at our entry, which looks the caller up,
    so it appears once more."""
    out = directory / f"bindings-{preloaded}"
    out.mkdir()
    run(*FAKE, "env", "LD_DEBUG=bindings", f"LD_DEBUG_OUTPUT={out}/log",
        *([f"LD_PRELOAD={VGPU}"] if preloaded else []), program, *args,
        env=clean_env())
    found = []
    for log in out.iterdir():
        lines = log.read_text(errors="replace")
        found += re.findall(
            r"binding file (\S+) \[0\] to (\S+) \[0\]: normal symbol `(\w+)'",
            lines)
    return {(os.path.basename(a), os.path.basename(b), name)
            for a, b, name in found if a.startswith(str(program.parent))
            and os.path.basename(b) != "libvgpu.so"
            and name not in ("dlsym", "dlvsym")}


def test_the_linker_binds_every_name_for_the_caller(program, tmp_path):
    args = ("libcuda.so.1", "libnvidia-ml.so.1")
    without = bindings(program, tmp_path, False, *args)
    assert bindings(program, tmp_path, True, *args) == without
    assert ("libplugin.so", "libneeded.so", "cuGetProcAddress") in without


def test_nothing_private_of_the_c_library_is_needed():
    needs = run("readelf", "--wide", "--dyn-syms", VGPU)
    assert "GLIBC_PRIVATE" not in needs
    assert "_dl_sym" not in needs
