# SPDX-License-Identifier: Apache-2.0
"""The auditor gives our libraries to programs that LD_LIBRARY_PATH does not
reach."""

import os
import shutil
import subprocess
import sys

import pytest

from conftest import FAKE_DIR, clean_env

AUDIT = os.path.join(FAKE_DIR, "libgpukit-audit.so")
NOWHERE = "/usr/lib/x86_64-linux-gnu/gpukit-no-such/libnvidia-ml.so.1"

DECOY = """
int nvmlInit_v2(void);
int nvmlInit_v2(void) { return 999; }
"""
CALLER = """
#include <stdio.h>
int nvmlInit_v2(void);
int main(void) { return printf("%d\\n", nvmlInit_v2()) < 0; }
"""


@pytest.fixture(autouse=True)
def needs_an_auditor(gpukit, tmp_path):
    """A build with a sanitizer sets none: the sanitizer's runtime cannot run in
    an auditor."""
    out = gpukit.ok("fake", "--name", tmp_path / "m", "--", "env")
    if f"LD_AUDIT={AUDIT}" not in out.splitlines():
        pytest.skip("this build sets no LD_AUDIT")


def dlopen(path):
    return ["fake", "--", sys.executable, "-c",
            "import ctypes, os\n"
            "os.environ.pop('LD_LIBRARY_PATH')\n"
            f"n = ctypes.CDLL({str(path)!r})\n"
            "print(n.nvmlInit_v2())\n"
            "print([l.split()[-1] for l in open('/proc/self/maps')"
            " if 'libnvidia-ml' in l][0])\n"]


@pytest.mark.parametrize("path", [
    NOWHERE, "libnvidia-ml.so.1", "libnvidia-ml.so",
    NOWHERE.removesuffix(".1"), "./libnvidia-ml.so.1"])
def test_dlopen_by_any_path_gets_ours(gpukit, path):
    lines = gpukit.ok(*dlopen(path)).splitlines()
    assert lines[0] == "0"
    assert os.path.realpath(lines[1]) == os.path.realpath(
        os.path.join(FAKE_DIR, "libnvidia-ml.so.1"))


def test_without_the_auditor_that_path_is_not_there():
    done = subprocess.run([sys.executable, "-c",
                           f"import ctypes; ctypes.CDLL({NOWHERE!r})"],
                          env=clean_env(LD_LIBRARY_PATH=FAKE_DIR),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot open shared object file" in done.stderr


def build(tmp_path, name, code, *flags):
    source = tmp_path / (name + ".c")
    source.write_text(code)
    subprocess.run([shutil.which("cc") or "gcc", "-o", tmp_path / name,
                    source, *flags], check=True)
    return tmp_path / name


def test_dt_rpath_is_overruled(gpukit, tmp_path):
    """DT_RPATH is searched before LD_LIBRARY_PATH; a wheel may have it."""
    libs = tmp_path / "wheel.libs"
    libs.mkdir()
    build(libs, "libnvidia-ml.so.1", DECOY, "-shared", "-fPIC",
          "-Wl,-soname,libnvidia-ml.so.1")
    program = build(tmp_path, "program", CALLER,
                    str(libs / "libnvidia-ml.so.1"),
                    "-Wl,--disable-new-dtags", f"-Wl,-rpath,{libs}")
    alone = subprocess.run([program], capture_output=True, text=True,
                           env=clean_env(LD_LIBRARY_PATH=FAKE_DIR),
                           check=True)
    assert alone.stdout == "999\n"
    assert gpukit.ok("fake", "--", program) == "0\n"


def test_other_libraries_are_left_alone(gpukit):
    out = gpukit.ok("fake", "--", sys.executable, "-c",
                    "import ctypes, ctypes.util\n"
                    "print(ctypes.CDLL('libm.so.6').abs(-3))\n"
                    "try: ctypes.CDLL('/nowhere/libfoo.so')\n"
                    "except OSError as e: print(e)\n")
    assert out.splitlines()[0] == "3"
    assert out.splitlines()[1].startswith("/nowhere/libfoo.so: cannot open")


def test_a_name_without_a_file_of_ours_is_left_alone(tmp_path):
    """An auditor alone in its directory has nothing to offer."""
    alone = tmp_path / "libgpukit-audit.so"
    shutil.copy(AUDIT, alone)
    done = subprocess.run([sys.executable, "-c",
                           f"import ctypes; ctypes.CDLL({NOWHERE!r})"],
                          env=clean_env(LD_AUDIT=str(alone)),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert NOWHERE in done.stderr


def test_it_needs_libc_alone():
    done = subprocess.run(["readelf", "-d", AUDIT], capture_output=True,
                          text=True, check=True)
    needed = [line.split("[")[1].rstrip("]\n") for line in
              done.stdout.splitlines() if "(NEEDED)" in line]
    assert needed == ["libc.so.6"]
    done = subprocess.run(["nm", "-D", "--defined-only", AUDIT],
                          capture_output=True, text=True, check=True)
    assert sorted(line.split()[-1] for line in done.stdout.splitlines()) == [
        "la_objsearch", "la_version"]
