"""The wheel that ./run build --python makes: it is whole and needs nothing."""

import glob
import os
import subprocess
import sys
import zipfile

import pytest

from conftest import BUILD, ROOT, clean_env
from python_package import check_built

check_built()


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
