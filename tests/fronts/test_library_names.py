# SPDX-License-Identifier: Apache-2.0
"""Every name of an NVIDIA library that we replace, with or without a version,
opens ours, whatever toolkit LD_LIBRARY_PATH leads to."""

import glob
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import FAKE_DIR, ROOT, clean_env, sanitized
from cuda_programs import TOOLKIT, TOOLKIT_12

NVIDIAS = [os.path.join(TOOLKIT, "lib"), os.path.join(TOOLKIT_12, "lib"),
           *glob.glob("/usr/local/cuda*/lib64")]
needs_an_auditor = pytest.mark.skipif(
    sanitized(), reason="this build sets no LD_AUDIT")

# Prints the file that was loaded for each name.
PROGRAM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *opened = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		struct link_map *map;
		if (!opened)
			return fprintf(stderr, "%s\\n", dlerror()), 1;
		if (dlinfo(opened, RTLD_DI_LINKMAP, &map))
			return 1;
		puts(map->l_name);
	}
	return 0;
}
"""
SCRIPT = """
import ctypes, sys
libc = ctypes.CDLL(None)
for name in sys.argv[1:]:
    at = ctypes.POINTER(ctypes.c_char_p)()
    handle = ctypes.c_void_p(ctypes.CDLL(name)._handle)
    assert libc.dlinfo(handle, 2, ctypes.byref(at)) == 0
    print(at[1].decode())
"""


def rows():
    """[(bare name, version, CUDA)] from the table of libraries."""
    with open(os.path.join(ROOT, "src", "abi", "libraries", "libraries.def"),
              encoding="utf-8") as file:
        found = re.findall(r'^LIBRARY\("(.+)", (\d+), (\d+)\)', file.read(),
                           re.M)
    return [(f"lib{name}.so", version, int(cuda))
            for name, version, cuda in found]


def sonames():
    return [f"{bare}.{version}" for bare, version, _ in rows()]


def bare_names():
    return sorted({bare for bare, _, _ in rows()})


def wanted(bare, cuda, directory=FAKE_DIR):
    """What a bare name means to a driver of a CUDA version: the newest that it
    runs."""
    versions = [(major, version) for name, version, major in rows()
                if name == bare]
    fits = [one for one in versions if one[0] <= cuda] or versions[:1]
    return os.path.realpath(os.path.join(directory, f"{bare}.{fits[-1][1]}"))


def compiler():
    return shutil.which("cc") or shutil.which("gcc")


@pytest.fixture(name="opener", scope="module", params=["program", "ctypes"])
def an_opener(request, tmp_path_factory):
    """A command that opens its arguments and prints the files."""
    if request.param == "ctypes":
        return [sys.executable, "-c", SCRIPT]
    at = tmp_path_factory.mktemp("opener")
    (at / "open.c").write_text(PROGRAM)
    subprocess.run([compiler(), "-o", at / "open", at / "open.c", "-ldl"],
                   check=True)
    return [at / "open"]


@pytest.fixture(name="toolkit", scope="module")
def a_toolkit(tmp_path_factory):
    """As in NVIDIA's: a file with a full version, links for SONAME and bare
    name."""
    at = tmp_path_factory.mktemp("toolkit")
    (at / "decoy.c").write_text("int decoy(void); int decoy(void) "
                                "{ return 1; }\n")
    subprocess.run([compiler(), "-shared", "-fPIC", "-o", at / "decoy",
                    at / "decoy.c"], check=True)
    for bare, version, _ in rows():
        full = at / f"{bare}.{version}.0.48"
        shutil.copy(at / "decoy", full)
        for link in (at / f"{bare}.{version}", at / bare):
            link.unlink(missing_ok=True)
            link.symlink_to(full.name)
    return at


def opened(gpukit, opener, names, *options, path=None):
    """The files, with only a toolkit in LD_LIBRARY_PATH."""
    out = gpukit.ok("fake", *options, "--", "env", "--unset=LD_LIBRARY_PATH",
                    *([f"LD_LIBRARY_PATH={path}"] if path else []), *opener,
                    *names)
    return [os.path.realpath(line) for line in out.splitlines()]


def test_every_library_has_a_row():
    files = [os.path.basename(path) for path in
             glob.glob(os.path.join(FAKE_DIR, "lib*.so.*"))]
    assert sorted(files) == sorted(sonames())


@needs_an_auditor
def test_every_soname_opens_ours(gpukit, opener, toolkit):
    ours = [os.path.join(FAKE_DIR, name) for name in sonames()]
    by_path = [str(toolkit / name) for name in sonames()]
    assert opened(gpukit, opener, sonames(), path=toolkit) == ours
    assert opened(gpukit, opener, by_path) == ours


@needs_an_auditor
def test_every_bare_name_opens_ours(gpukit, opener, toolkit):
    ours = [wanted(bare, 13) for bare in bare_names()]
    assert opened(gpukit, opener, bare_names(), path=toolkit) == ours
    assert opened(gpukit, opener, [f"/nowhere/{bare}" for bare in
                                   bare_names()]) == ours


@needs_an_auditor
def test_a_bare_name_is_of_the_drivers_cuda(gpukit, opener, toolkit):
    for driver, cuda in (("470", 11), ("535", 12), ("610", 13)):
        directory = os.path.join(FAKE_DIR, driver)
        assert opened(gpukit, opener, bare_names(), "--driver", driver,
                      path=toolkit) == [wanted(bare, cuda, directory)
                                        for bare in bare_names()]


@needs_an_auditor
def test_a_full_version_opens_ours(gpukit, opener, toolkit):
    names = [f"{name}.0.48" for name in sonames()]
    ours = [os.path.join(FAKE_DIR, name) for name in sonames()]
    assert opened(gpukit, opener, names, path=toolkit) == ours
    # Versions by driver and by year.
    assert opened(gpukit, opener, ["libcuda.so.580.95.05",
                                   "/opt/libnvidia-ml.so.535.54.03",
                                   "/opt/libcupti.so.2025.3.0"]) == [
        wanted("libcuda.so", 13), wanted("libnvidia-ml.so", 13),
        wanted("libcupti.so", 13)]


@needs_an_auditor
def test_a_path_without_a_version_means_what_it_leads_to(gpukit, opener,
                                                         tmp_path):
    """A toolkit of CUDA 12 also has a libcudart.so."""
    (tmp_path / "libcudart.so.12.4.127").write_text("")
    (tmp_path / "libcudart.so").symlink_to("libcudart.so.12.4.127")
    assert opened(gpukit, opener, [tmp_path / "libcudart.so"]) == [
        os.path.join(FAKE_DIR, "libcudart.so.12")]


@needs_an_auditor
def test_other_versions_and_names_are_left_alone(gpukit, tmp_path, toolkit):
    """libcudart.so.11.0 has another ABI; a renamed copy is not our library."""
    names = ["libcudart.so.11.0", "libcudart.so.1",
             "libcuda.so.1.bak", "libcudart.so.13a", "libcudartx.so",
             "mylibcuda.so"]
    for name in names:
        shutil.copy(toolkit / "decoy", tmp_path / name)
    assert opened(gpukit, [sys.executable, "-c", SCRIPT], names,
                  path=tmp_path) == [str(tmp_path / name) for name in names]


@needs_an_auditor
def test_nvidias_toolkit_is_passed_by(gpukit, opener):
    """What is installed of it here, by name and by path."""
    for directory in filter(os.path.isdir, NVIDIAS):
        names = [name for name in sonames() + bare_names()
                 if os.path.exists(os.path.join(directory, name))]
        paths = [os.path.join(directory, name) for name in names]
        for asked in (names, paths):
            found = opened(gpukit, opener, asked, path=directory)
            assert all(os.path.dirname(path) == os.path.realpath(FAKE_DIR)
                       for path in found), found


def test_links_of_bare_names_need_no_auditor(opener, toolkit):
    """Even with LD_LIBRARY_PATH alone, ours come first."""
    env = clean_env(LD_LIBRARY_PATH=f"{FAKE_DIR}:{toolkit}")
    done = subprocess.run([*opener, *bare_names()], env=env, check=True,
                          capture_output=True, text=True)
    assert [os.path.realpath(line) for line in done.stdout.splitlines()] == [
        wanted(bare, 13) for bare in bare_names()]
