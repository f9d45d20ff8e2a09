# SPDX-License-Identifier: Apache-2.0
"""Libraries that ours need for computing: what fails without them is reported
at the end of `gpukit fake`, and before that by its doctor."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from conftest import FAKE_DIR, GPUKIT, ROOT, clean_env

BLAS = ("libopenblas.so.0", "libopenblas0-pthread")
SINGLE = ("libfftw3f.so.3", "libfftw3-single3")
DOUBLE = ("libfftw3.so.3", "libfftw3-double3")

# what fails: (what is missing, the library that needs it, the returned status)
MAKERS = {
    "cublas12": ("libcublas.so.12", "cublasCreate_v2(at)", BLAS, 1),
    "cublas": ("libcublas.so.13", "cublasCreate_v2(at)", BLAS, 1),
    "cublas.h": ("libcublas.so.12", "cublasInit()", BLAS, 1),
    "cusolver": ("libcusolver.so.12", "cusolverDnCreate(at)", BLAS, 1),
    "cufft single": ("libcufft.so.12", "cufftPlan1d(at, 8, 0x29, 1)", SINGLE,
                     7),
    "cufft double": ("libcufft.so.11", "cufftPlan1d(at, 8, 0x69, 1)", DOUBLE,
                     7),
}


@pytest.fixture(name="hidden")
def a_place_that_hides(tmp_path):
    """The environment in which none of them can be loaded."""
    for file, _ in (BLAS, SINGLE, DOUBLE):
        (tmp_path / file).write_text("")
    return {"LD_LIBRARY_PATH": str(tmp_path)}


def run(gpukit, library, call, *options, env=None):
    code = ("import ctypes\n"
            "at = ctypes.byref(ctypes.c_void_p())\n"
            f"print(ctypes.CDLL('{library}').{call})\n")
    return gpukit("fake", *options, "--", sys.executable, "-c", code,
                  env=env)


def told(library, file, package):
    owner = library.split(".")[0]
    return (f"gpukit fake: refused: {owner} needs {file}, which is not "
            f"installed: apt install {package}, or the package of your system "
            "that has this file, 1 time, by ")


@pytest.mark.parametrize("one", MAKERS)
def test_what_is_missing_is_told(gpukit, hidden, one):
    library, call, (file, package), status = MAKERS[one]
    done = run(gpukit, library, call, env=hidden)
    assert done.stdout == f"{status}\n"
    assert done.stderr.startswith(told(library, file, package))
    assert done.stderr.count("\n") == 1


def test_what_is_there_is_not_told(gpukit):
    for library, call, *_ in MAKERS.values():
        done = run(gpukit, library, call)
        assert (done.stdout, done.stderr) == ("0\n", "")


def test_it_counts_as_a_refusal(gpukit, hidden, tmp_path):
    library, call, (file, _), _ = MAKERS["cusolver"]
    assert run(gpukit, library, call, "--refusals=error",
               env=hidden).returncode == 3
    report = tmp_path / "report.json"
    run(gpukit, library, call, "--report", report, env=hidden)
    (row,) = json.loads(report.read_text())["refused"]
    assert (row["library"], row["call"]) == ("libcusolver", None)
    assert file in row["reason"]


@pytest.mark.parametrize("names,missing", [
    (["libcublas.so.13"], [BLAS]),
    (["libcublasLt.so.12"], [BLAS]),
    (["libcusolver.so.11"], [BLAS]),
    (["libcufft.so.12"], [SINGLE, DOUBLE]),
    (["libcurand.so.10", "libcusparse.so.12", "libcudart.so.13"], []),
])
def test_the_doctor_says_it_before(gpukit, hidden, tmp_path, names, missing):
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    program = tmp_path / "program"
    subprocess.run([shutil.which("cc") or "gcc", "-o", program, source, "-Wl,--no-as-needed",
                    "-L", FAKE_DIR, "-Wl,--unresolved-symbols=ignore-all",
                    *(f"-l:{name}" for name in names)], check=True)
    done = gpukit("fake", "doctor", "--json", program,
                  env=hidden)
    (found,) = json.loads(done.stdout)
    assert done.returncode == (1 if missing else 0)
    reasons = [one for one in found["reasons"]
               if one["code"] == "missing-library"]
    assert len(reasons) == len(missing)
    for reason, (file, package) in zip(reasons, missing):
        assert file in reason["says"] and package in reason["do"]
    found = json.loads(gpukit("fake", "doctor", "--json", program).stdout)
    assert not found[0]["reasons"]


def test_the_doctor_tells_of_all(gpukit, hidden):
    done = gpukit("fake", "doctor", "--libraries")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("runs     yes") == 3
    done = gpukit("fake", "doctor", "--libraries", env=hidden)
    assert done.returncode == 1
    for file, package in (BLAS, SINGLE, DOUBLE):
        assert f"{file}: computes for libcu" in done.stdout
        assert f"apt install {package}," in done.stdout
    done = gpukit("fake", "doctor", "-lj", env=hidden)
    assert [one["runs"] for one in json.loads(done.stdout)] == [False] * 3


@pytest.fixture(name="with_blas")
def a_build_with_a_blas(tmp_path):
    """Runs the command of a build that has a BLAS, but no FFT."""
    command = tmp_path / "bin" / "gpukit"
    inside = (tmp_path / "bin" / os.path.relpath(FAKE_DIR,
                                                 os.path.dirname(GPUKIT)))
    command.parent.mkdir()
    profiles = os.path.join(ROOT, "profiles")
    shutil.copy(GPUKIT, command)
    os.makedirs(os.path.normpath(inside))
    subprocess.run([shutil.which("cc") or "gcc", "-shared", "-x", "c", "-o",
                    os.path.normpath(inside / "libgpukit-blas.so"),
                    "/dev/null"], check=True)

    def call(*args, env=None):
        return subprocess.run([command, *args], text=True, check=False,
                              capture_output=True, env=clean_env(GPUKIT_PROFILES=profiles,
                                            **(env or {})))
    return call


def test_the_doctor_tells_of_what_is_inside(with_blas, hidden):
    done = with_blas("fake", "doctor", "--libraries", env=hidden)
    assert done.returncode == 1
    assert "runs     yes, by libgpukit-blas.so, which is inside\n" in done.stdout
    assert done.stdout.count("runs     no: it is not installed") == 2
    done = with_blas("fake", "doctor", "-lj", env=hidden)
    assert [(one["runs"], one["inside"]) for one in json.loads(done.stdout)] == [
        (True, True), (False, False), (False, False)]
    done = with_blas("fake", "doctor", "-lj")
    assert [(one["runs"], one["inside"]) for one in json.loads(done.stdout)] == [
        (True, False)] * 3


def test_so_does_the_doctor_of_this_machine(with_blas, hidden):
    text = with_blas("doctor", env=hidden).stdout
    (line,) = [line for line in text.splitlines() if "optional, inside" in line]
    assert "libopenblas.so.0 (libcublas.so" in line and "fftw" not in line
    (line,) = [line for line in text.splitlines() if "optional, missing" in line]
    assert "libopenblas" not in line and "libfftw3.so.3 (" in line
    found = {one["file"]: (one["installed"], one["inside"]) for one in json.loads(
        with_blas("doctor", "--json", env=hidden).stdout)["libraries"]}
    assert found[BLAS[0]] == (False, True)
    assert found[DOUBLE[0]] == (False, False)


def test_the_script_installs_them():
    """./run build and ./run demo install all of `fake`."""
    path = os.path.join(ROOT, "tools", "run", "packages.txt")
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.startswith("fake\t")]
    assert {(row[3], row[1]) for row in rows} == {BLAS, SINGLE, DOUBLE}
