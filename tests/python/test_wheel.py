# SPDX-License-Identifier: Apache-2.0
"""The wheel that ./run build --python makes is complete and has no
dependencies."""

import glob
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

import pytest

from conftest import BUILD, ROOT, clean_env
from python_package import check_built
from wheels import python_that_builds, setup

check_built()
# One worker builds the wheel: two would do it in the same directory.
pytestmark = pytest.mark.xdist_group("wheel")


@pytest.fixture(scope="module", name="wheel")
def built_wheel():
    done = subprocess.run([os.path.join(ROOT, "run"), "build", "--python"],
                          text=True, capture_output=True, check=False,
                          env=clean_env(), timeout=300)
    assert done.returncode == 0, done.stderr
    wheels = glob.glob(os.path.join(ROOT, "build", "python", "dist", "*"))
    assert len(wheels) == 1, wheels
    return wheels[0]


@pytest.mark.slow
def test_it_works_where_nothing_else_is_installed(wheel, machine, tmp_path):
    assert "-cp39-abi3-linux_" in wheel
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
        assert "gpukit/py.typed" in archive.namelist()
    code = ("import sys; from gpukit import _core\n"
            "print(_core.count(), _core.__file__.startswith(sys.argv[1]))")
    on = machine("--gpus", "h100:2")
    out = subprocess.run([sys.executable, "-I", "-S", "-c",
                          "import sys; sys.path.insert(0, sys.argv[1])\n" +
                          code, str(tmp_path)],
                         text=True, capture_output=True, check=True,
                         env=clean_env(**on.env)).stdout
    assert out.split() == ["2", "True"]


def test_the_module_exports_its_start_only():
    module = os.path.join(BUILD, "python", "gpukit", "_core.abi3.so")
    out = subprocess.run(["nm", "-D", "--defined-only", module], text=True,
                         capture_output=True, check=True).stdout
    assert [line.split()[-1] for line in out.splitlines()] == ["PyInit__core"]


@pytest.mark.slow
def test_a_source_distribution_is_built_anywhere(wheel, tmp_path):
    """Away from this tree, its wheel has the same files as this tree's."""
    python = python_that_builds()
    before = sorted(os.listdir(os.path.join(ROOT, "python", "src")))
    setup(python, os.path.join(ROOT, "python"), "egg_info", "-e", str(tmp_path),
          "sdist", "-d", str(tmp_path))
    assert sorted(os.listdir(os.path.join(ROOT, "python", "src"))) == before
    (archive,) = tmp_path.glob("gpukit-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "away")
    (folder,) = (tmp_path / "away").iterdir()
    assert (folder / "libgpukit" / "LICENSE").exists()
    setup(python, folder, "bdist_wheel", "-d", str(tmp_path / "dist"))
    (made,) = (tmp_path / "dist").glob("*-cp39-abi3-linux_*.whl")
    with zipfile.ZipFile(made) as ours, zipfile.ZipFile(wheel) as whole:
        assert sorted(ours.namelist()) == sorted(whole.namelist())
        assert "gpukit/fake/torch/src/types.inc" in ours.namelist()
        assert "gpukit/fake/__init__.pyi" in ours.namelist()


def stable_names():
    """The functions and variables of the limited API up to 3.9, as declared by
    the headers of Python.h under Py_LIMITED_API."""
    include = sysconfig.get_paths()["include"]
    done = subprocess.run(
        ["gcc", "-E", "-P", "-DPy_LIMITED_API=0x03090000",
         "-DPY_SSIZE_T_CLEAN", "-I", include, "-"],
        input="#include <Python.h>\n", text=True, capture_output=True,
        check=True)
    return set(re.findall(r"\b_?Py\w+", done.stdout))


def test_the_module_uses_the_stable_abi_only():
    module = os.path.join(BUILD, "python", "gpukit", "_core.abi3.so")
    out = subprocess.run(["nm", "-D", "--undefined-only", module], text=True,
                         capture_output=True, check=True).stdout
    used = {line.split()[-1] for line in out.splitlines()}
    used = {name for name in used if name.startswith(("Py", "_Py"))}
    assert len(used) > 30 and used - stable_names() == set()
    needed = subprocess.run(["readelf", "-d", module], text=True,
                            capture_output=True, check=True).stdout
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", needed)) <= {
        "libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6",
        "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
