# SPDX-License-Identifier: Apache-2.0
"""The built libraries export, need and search nothing by accident."""

import glob
import os
import re
import subprocess

import pytest

import libgpukit
from abi_tables import nvml_rows
from conftest import BUILD, FAKE_DIR

FRONT = os.path.join(FAKE_DIR, "libnvidia-ml.so.1")
FRONTS = sorted(glob.glob(os.path.join(FAKE_DIR, "*", "libnvidia-ml.so.1")))
CUDA = os.path.join(FAKE_DIR, "libcuda.so.1")
CUDAS = sorted(glob.glob(os.path.join(FAKE_DIR, "*", "libcuda.so.1")))
CORE = os.path.join(FAKE_DIR, "libgpukit-fake.so")
AUDIT = os.path.join(FAKE_DIR, "libgpukit-audit.so")
PUBLIC = os.path.join(BUILD, "lib", "libgpukit.so")
LIBC = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
SANITIZERS = re.compile(r"lib(asan|tsan|ubsan|gcc_s|m|dl|rt|pthread)\.so|libstdc")


def run(*args):
    return subprocess.run(args, check=True, capture_output=True,
                          text=True).stdout


def exported(library):
    return {line.split()[-1]
            for line in run("nm", "-D", "--defined-only", library).splitlines()}


def dynamic(library, tag):
    return re.findall(rf"\({tag}\).*\[(.*)\]", run("readelf", "-d", library))


def rows():
    return {row.symbol for row in nvml_rows()}


def test_the_newest_front_exports_every_row_and_nothing_else():
    assert exported(FRONTS[-1]) == rows() | {"nvmlErrorString"}


def test_no_abi_name_lives_in_the_core_of_the_fake():
    names = exported(CORE)
    assert names and all(name.startswith("gkf_") for name in names)


def wanted(library):
    """Names of the core that a library needs."""
    return {name for name in run("nm", "-D", "-u", library).split()
            if name.startswith("gkf_")}


def test_the_core_exports_what_the_fronts_use_and_nothing_else():
    fronts = [FRONT, *FRONTS, CUDA, *CUDAS]
    assert exported(CORE) == set().union(*map(wanted, fronts))


def test_the_auditor_exports_its_two_functions():
    assert exported(AUDIT) == {"la_version", "la_objsearch"}


def test_the_public_library_exports_its_header():
    declared = re.findall(r"^GK_API[^;(\[]*?\b(gk_\w+)\s*[(\[]",
                          libgpukit.headers(), re.M)
    names = {name.split("@@")[0] for name in exported(PUBLIC)}
    assert names - {"GPUKIT_0.1", "GPUKIT_0.2"} == set(declared)


@pytest.mark.parametrize("library, needs", [
    *((front, {"libgpukit-fake.so"})
      for front in [FRONT, *FRONTS, CUDA, *CUDAS]),
    (CORE, set()), (AUDIT, set()), (PUBLIC, set())])
def test_what_enters_other_processes_needs_libc_alone(library, needs):
    others = {name for name in dynamic(library, "NEEDED")
              if not SANITIZERS.match(name)}
    assert others - LIBC == needs


@pytest.mark.parametrize("front", [FRONT, *FRONTS, CUDA, *CUDAS])
def test_a_front_finds_its_core_beside_itself_only(front):
    assert dynamic(front, "RUNPATH") == ["$ORIGIN"]
    assert dynamic(front, "SONAME") == [os.path.basename(front)]
    assert "NODELETE" in run("readelf", "-d", front)
    for beside in (CORE, AUDIT):
        there = os.path.join(os.path.dirname(front), os.path.basename(beside))
        assert os.path.samefile(there, beside)


@pytest.mark.parametrize("front", [CUDA, *CUDAS])
def test_what_cuda_calls_within_itself_is_its_own(front):
    """No hook interferes: none of it is looked up by name."""
    by_name = re.findall(r" (cu[A-Z]\w*)( \+ \w+)?$",
                         run("readelf", "-rW", front), re.M)
    assert not by_name


@pytest.mark.parametrize("library", [FRONT, *FRONTS, CUDA, *CUDAS, CORE, AUDIT,
                                     PUBLIC])
def test_hardening(library):
    headers = run("readelf", "-lW", library)
    assert "GNU_RELRO" in headers
    assert re.search(r"GNU_STACK.*RW ", headers)
    assert "NOW" in run("readelf", "-d", library)
