# SPDX-License-Identifier: Apache-2.0
"""Every name of the original cuBLASLt is tested or refused, as a list says; it
has the original's versions and needs only libc; the declarations of src/abi
match NVIDIA's header."""

import ctypes
import glob
import json
import os
import re
import subprocess
import sys

import pytest

from conftest import FAKE_DIR, ROOT, clean_env
from test_cublas import CALL_ALL, exports

MAJORS = [12, 13]
ABI = os.path.join(ROOT, "src", "abi", "libraries")
HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(ROOT, "tests", "fronts", "cublas")
NVIDIA = [path for path in glob.glob("/usr/local/cuda*/lib64/libcublasLt.so.13")
          if os.path.isfile(path)]
HEADER = [path for path in ("/usr/local/cuda/include/cublasLt.h",)
          if os.path.isfile(path)]


def library(major):
    return os.path.join(FAKE_DIR, f"libcublasLt.so.{major}")


def listed(major=None):
    """{name: verdict} from the list in the repository."""
    with open(os.path.join(HERE, "cublaslt.txt"), encoding="ascii") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    assert rows == sorted(rows)
    assert len({row[0] for row in rows}) == len(rows)
    return {name: verdict for name, majors, verdict in rows
            if major is None or str(major) in majors.split(",")}


def test_each_name_has_a_test_or_is_refused_or_absent():
    for name, verdict in listed().items():
        if verdict in ("refused", "absent"):
            continue
        file, test = verdict.split("::")
        path = os.path.join(HERE if file == "test_cublaslt" else CASES,
                            file + ".py")
        with open(path, encoding="utf-8") as source:
            assert re.search(rf"^def {test}\(", source.read(), re.M), (
                name, verdict)


@pytest.mark.parametrize("major", MAJORS)
def test_it_exports_what_is_not_absent_under_the_original_version(major):
    right = {name for name, verdict in listed(major).items()
             if verdict != "absent"}
    assert exports(library(major)) == dict.fromkeys(
        right, f"libcublasLt.so.{major}")


@pytest.mark.skipif(not NVIDIA, reason="no cuBLASLt of NVIDIA's here")
def test_the_list_has_all_names_of_the_original():
    theirs = {name for name in exports(NVIDIA[0]) if name.startswith("cublas")}
    assert set(listed(13)) == theirs


@pytest.mark.parametrize("major", MAJORS)
def test_it_needs_libc_alone(major):
    told = subprocess.run(["readelf", "-d", library(major)], check=True,
                          capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", told)
    if any("san.so" in one for one in needed):
        pytest.skip("a sanitizer is linked in")
    assert all(re.match(r"libc\.|ld-linux", one) for one in needed), needed


@pytest.mark.parametrize("major", MAJORS)
def test_what_is_refused_says_so_and_is_counted(machine, major):
    one = machine()
    symbols = [name for name, verdict in listed(major).items()
               if verdict == "refused"]
    done = subprocess.run(
        [sys.executable, "-c", CALL_ALL, library(major), *symbols],
        env=clean_env(**one.env), capture_output=True, text=True, timeout=60,
        check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(one.ctl("coverage", "--json").stdout)
    refused = {row["function"]: row["refused"] for row in told
               if row["library"] == "libcublas"}
    assert refused == dict.fromkeys(symbols, 1)


@pytest.mark.parametrize("major", MAJORS)
def test_its_version_is_that_of_its_runtime(major):
    lt = ctypes.CDLL(library(major))
    version = lt.cublasLtGetVersion() // 100
    assert version // 100 == major
    assert lt.cublasLtGetCudartVersion() == version * 10


@pytest.mark.parametrize("major", MAJORS)
def test_it_knows_the_names_of_statuses(major):
    lt = ctypes.CDLL(library(major))

    def text(function, status):
        call = getattr(lt, "cublasLt" + function)
        call.restype = ctypes.c_char_p
        return call(status)

    assert text("GetStatusName", 0) == b"CUBLAS_STATUS_SUCCESS"
    assert text("GetStatusName", 15) == b"CUBLAS_STATUS_NOT_SUPPORTED"
    assert b"not supported" in text("GetStatusString", 15)
    for unknown in (-1, 2, 4, 17):
        assert text("GetStatusName", unknown) == b"unrecognized status"


def preprocessed(name):
    """One of our headers after the preprocessor."""
    return subprocess.run(
        ["cc", "-E", "-P", f"-I{os.path.join(ROOT, 'src')}", "-include",
         "stddef.h", os.path.join(ABI, name)], check=True,
        capture_output=True, text=True).stdout


def our_constants():
    text = preprocessed("cublaslt_abi.h")
    # The preprocessor turns `(id)` into a number in parentheses.
    found = dict(re.findall(r"\b((?:CUBLAS|CUDA_[RC]_|\w+_VERSION\b|PATCH_)\w*)"
                            r" = \(?(\d+)\)?", text))
    with open(os.path.join(ABI, "cublaslt_abi.h"), encoding="utf-8") as file:
        found.update(re.findall(r"^#define (CUBLASLT\w+) +(0x\w+)$",
                                file.read(), re.M))
    return found


def our_prototypes():
    with open(os.path.join(ABI, "cublaslt.def"), encoding="utf-8") as file:
        return re.findall(r"^CUBLASLT\((\w+), \d+, (\(.*\))\)$", file.read(),
                          re.M)


SIZES = {"cublasLtMatrixLayoutOpaque_t": 64, "cublasLtMatmulAlgo_t": 64,
         "cublasLtMatmulDescOpaque_t": 256,
         "cublasLtMatrixTransformDescOpaque_t": 64,
         "cublasLtMatmulPreferenceOpaque_t": 64,
         "cublasLtEmulationDescOpaque_t": 64,
         "cublasLtMatmulHeuristicResult_t": 96}


def compile_facts(tmp_path, include, constants, prototypes):
    lines = [include]
    lines += [f'_Static_assert({name} == {value}, "{name}");'
              for name, value in constants.items()]
    lines += [f'_Static_assert(sizeof({name}) == {size}, "{name}");'
              for name, size in SIZES.items()]
    lines += [f"cublasStatus_t {name}{params};"
              for name, params in prototypes]
    source = tmp_path / "facts.c"
    source.write_text("\n".join(lines) + "\n", encoding="ascii")
    return subprocess.run(
        ["cc", "-std=gnu17", "-fsyntax-only", "-I/usr/local/cuda/include",
         f"-I{os.path.join(ROOT, 'src')}", str(source)], check=False,
        capture_output=True, text=True)


def test_our_declarations_have_the_documented_sizes(tmp_path):
    done = compile_facts(tmp_path, '#include "abi/libraries/cublaslt_abi.h"', {},
                         our_prototypes())
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not HEADER, reason="no cublasLt.h here")
def test_our_declarations_are_those_of_nvidia(tmp_path):
    with open(HEADER[0].replace("Lt.h", "_api.h"), encoding="utf-8") as file:
        if "#define CUBLAS_VER_MAJOR 13\n" not in file.read():
            pytest.skip("not a header of CUDA 13")
    constants = our_constants()
    assert len(constants) > 200
    done = compile_facts(tmp_path, "#include <cublasLt.h>", constants,
                         our_prototypes())
    assert done.returncode == 0, done.stderr
