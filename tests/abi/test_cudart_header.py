# SPDX-License-Identifier: Apache-2.0
"""src/abi/cudart* is compared with NVIDIA's headers and libraries of CUDA 12.9
and 13.0, and later additions with those of 13.3 (build/cuda-newer).

CUDART_HEADERS_12 and CUDART_HEADERS_13 name directories of cuda_runtime_api.h;
without them the toolkits that `./run deps` puts into build/cuda12 and
build/cuda are used. With neither it is skipped, or fails where CI=true.
"""

import ctypes
import glob
import os
import re
import shutil
import subprocess

import pytest

from conftest import FAKE_DIR, ROOT
from abi_tables import TWINS, cudart_rows, cudart_symbols
from cudart_facts import (ALL, FOREIGN, LEFT_OUT, OURS, CudartHeader,
                          emitted)
from nvml_facts import differences
from test_nvml_header import WARNINGS, changed, kinds, read, write

ABI = os.path.join(ROOT, "src", "abi", "cudart")
TOOLKITS = {12: os.path.join(ROOT, "build", "cuda12", "nvidia",
                             "cuda_runtime"),
            13: os.path.join(ROOT, "build", "cuda", "nvidia", "cu13"),
            "newer": os.path.join(ROOT, "build", "cuda-newer", "nvidia",
                                  "cu13")}
NEWER = "newer"
VERSIONS = {12: 12090, 13: 13000, NEWER: 13030}
EXPORTS = {12: 435, 13: 422}

LATER_ERRORS = {"cudaErrorStreamDetached": 917,
                "cudaErrorGraphRecaptureFailure": 918}

# Exported by 13.3 and declared in no header.
UNDECLARED = {"cudaSubgridCreate", "cudaSubgridWorkerGridCreate",
              "cudaSubgridWorksetCreate"}
each = pytest.mark.parametrize("major", [12, 13])


def toolkit(major, *path):
    """A directory of NVIDIA's, or the reason why there is none."""
    place = os.environ.get(f"CUDART_HEADERS_{major}", "")
    if place and path == ("include",):
        return place
    place = os.path.join(TOOLKITS[major], *path)
    if os.path.isdir(place):
        return place
    why = f"no CUDA {major} runtime: CUDART_HEADERS_{major} or `./run deps`"
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    return pytest.skip(why)


def theirs(major, workdir):
    include = toolkit(major, "include")
    text = read(os.path.join(include, "cuda_runtime_api.h"))
    assert re.search(rf"CUDART_VERSION +{VERSIONS[major]}$", text, re.M)
    for name, text in FOREIGN.items():
        path = os.path.join(workdir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, text)
    header = os.path.join(workdir, "all.h")
    write(header, ALL)
    # crt/ is a package of its own, the same for this purpose in both majors.
    return CudartHeader(header, ["-I" + include, "-I" + str(workdir),
                                 "-I" + toolkit(13, "include")])


def ours(major, directory=ABI):
    return CudartHeader(os.path.join(directory, "cudart_abi.h"),
                        [f"-DCUDART_MAJOR={major}",
                         "-I" + os.path.join(directory, "..", "..")])


@pytest.fixture(scope="session")
def facts(tmp_path_factory):
    """facts("theirs" or "ours", major), each read once."""
    known = {}

    def get(whose, major):
        if (whose, major) not in known:
            header = (ours(major) if whose == "ours" else
                      theirs(major, tmp_path_factory.mktemp("headers")))
            known[whose, major] = header.facts(
                str(tmp_path_factory.mktemp(whose)))
        return known[whose, major]
    return get


@each
@pytest.mark.parametrize("wanted, at_least", [
    (("function",), 420),
    (("struct", "union", "enum", "typedef"), 170),
    (("layout",), 500),
    (("member",), 430),
    (("constant", "enumerator", "helper"), 1480),
])
def test_same_as_nvidias_headers(facts, major, wanted, at_least):
    there = kinds(facts("theirs", major), *wanted)
    here = kinds(facts("ours", major), *wanted)
    assert len(there) >= at_least - (len(OURS) if "function" in wanted else 0)
    assert len(here) >= at_least
    assert not differences(there, here, LEFT_OUT, {*OURS, *later(here)})


def later(here):
    """Names that came after 13.0: from cudart_newer.h, and functions."""
    text = re.sub(r"/\*.*?\*/", "", read(os.path.join(ABI, "cudart_newer.h")),
                  flags=re.S)
    names = set(re.findall(r"\b(?:cudaDev|cudaExecution|cudaGraphRe)\w+", text))
    return names | {*LATER_ERRORS} | {
        key.split()[1] for key in here if key.startswith("function ") and
        key.split()[1] in later_functions()}


def later_functions():
    """The functions of libcudart.so.13 that 13.0 lacks."""
    with open(os.path.join(ROOT, "tests", "data", "cudart-13.3-added.txt"),
              encoding="utf-8") as f:
        return {line.strip() for line in f if not line.startswith("#")}


def test_what_came_later_is_as_in_the_later_headers(facts):
    there, here = facts("theirs", NEWER), facts("ours", 13)
    names = later(here)
    found = {key for key in here if re.split(r"[ .]", key)[1] in names}
    assert len(found) > 100
    assert {key: here[key] for key in found} == {
        key: there.get(key) for key in found}


def test_the_list_of_later_functions_is_that_of_the_library():
    def names(major):
        return {line.split("@")[0] for line in exported(os.path.join(
            toolkit(major, "lib"), "libcudart.so.13"))}
    assert later_functions() == names(NEWER) - names(13) - UNDECLARED


def test_no_exception_outlives_its_reason(facts):
    there = {re.split(r"[ .]", key)[1] for major in (12, 13)
             for key in facts("theirs", major)}
    here = {re.split(r"[ .]", key)[1] for major in (12, 13)
            for key in facts("ours", major)}
    assert set(LEFT_OUT) - there == set()
    assert set(OURS) - here == set()
    assert set(OURS) & there == set()


def test_what_nvcc_emits_calls_to(facts):
    """host_runtime.h and device_functions.h are C++ and internal to nvcc."""
    include = toolkit(13, "include")
    there = emitted(read(os.path.join(include, "crt", "host_runtime.h")) +
                    read(os.path.join(include, "crt", "device_functions.h")))
    gone = {"__cudaRegisterTexture", "__cudaRegisterSurface"}
    there = {name: value for name, value in there.items() if name not in gone}
    assert len(there) == 12
    for major in (12, 13):
        here = facts("ours", major)
        for name, prototype in there.items():
            assert here["function " + name] == prototype, name


def test_rows_are_sorted():
    names = [(row.symbol, row.first) for row in cudart_rows()]
    assert names == sorted(set(names))


def test_columns_have_the_words_that_the_table_explains():
    for row in cudart_rows():
        assert re.fullmatch(r"(__)?cuda\w+", row.symbol)
        assert 12 <= int(row.first) <= int(row.last) <= 13
        assert row.twin in {"ALONE", *TWINS}
        assert re.fullmatch(r"DONE|REFUSED\(\w+\)", row.refused)
        assert row.refused == "DONE" or row.type == "cudaError_t"
        assert re.fullmatch(r"\(.+\)", row.params)


def exported(library):
    told = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    return {line.split()[-1] for line in told.splitlines()
            if " A " not in line}


@each
def test_the_library_exports_nvidias_names(major):
    names = exported(os.path.join(FAKE_DIR, f"libcudart.so.{major}"))
    original = exported(os.path.join(toolkit(major, "lib"),
                                     f"libcudart.so.{major}"))
    assert len(original) == EXPORTS[major]
    if major == 13:
        original |= {f"{name}@@libcudart.so.13" for name in later_functions()}
    assert names == original        # with their versions, name@@libcudart.so.N


@each
def test_the_library_exports_the_rows(major):
    names = exported(os.path.join(FAKE_DIR, f"libcudart.so.{major}"))
    assert names == {f"{name}@@libcudart.so.{major}" for name in cudart_symbols(major)}


@each
def test_the_archive_defines_the_rows_and_nothing_else(major):
    archive = os.path.join(FAKE_DIR, f"cuda{major}", "libcudart_static.a")
    told = subprocess.run(["nm", "-g", "--defined-only", archive], check=True,
                          capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in told.splitlines()
             if len(line.split()) == 3}
    assert names == set(cudart_symbols(major))


@each
def test_the_archive_shows_nothing_to_other_libraries(major):
    """Two plugins that contain it, even of two majors, are kept apart."""
    archive = os.path.join(FAKE_DIR, f"cuda{major}", "libcudart_static.a")
    told = subprocess.run(["readelf", "-sW", archive], check=True,
                          capture_output=True, text=True).stdout
    symbols = [line.split() for line in told.splitlines()
               if re.search(r" (GLOBAL|WEAK) ", line)]
    defined = [row for row in symbols if row[6] != "UND"]
    assert {row[5] for row in defined} == {"HIDDEN"}
    assert {row[7] for row in defined} == set(cudart_symbols(major))


@each
def test_needs_libc_alone(major):
    library = os.path.join(FAKE_DIR, f"libcudart.so.{major}")
    told = subprocess.run(["readelf", "-dW", library], check=True,
                          capture_output=True, text=True).stdout
    needs = set(re.findall(r"\(NEEDED\).*\[(.*)\]", told))
    assert not {name for name in needs if not re.match(
        r"(libc|ld-linux-.*|lib(a|t|ub)san)\.so\.\d+$", name)}
    assert re.findall(r"\(SONAME\).*\[(.*)\]", told) == [
        f"libcudart.so.{major}"]


def texts(library):
    lib = ctypes.CDLL(library)
    for function in (lib.cudaGetErrorName, lib.cudaGetErrorString):
        function.restype = ctypes.c_char_p
    return {i: (lib.cudaGetErrorName(i), lib.cudaGetErrorString(i))
            for i in range(-2, 11000)}


@each
def test_errors_have_nvidias_names_and_words(major):
    name = f"libcudart.so.{major}"
    here = texts(os.path.join(FAKE_DIR, name))
    there = texts(os.path.join(toolkit(major, "lib"), name))
    if major == 13:
        newer = texts(os.path.join(toolkit(NEWER, "lib"), name))
        there.update({error: newer[error] for error in LATER_ERRORS.values()})
    assert here == there
    # Plus the one for all others.
    assert len(set(here.values())) == 135 + len(LATER_ERRORS) * (major == 13)


# Each changes one thing in a copy of src/abi: major, file, old text, new text,
# and what the report must then say.
MUTATIONS = {
    "struct grows": (
        13, "cudart_memory.h", "	size_t pitch;\n	size_t xsize;",
        "	size_t pitch, more;\n	size_t xsize;",
        "differs: layout cudaPitchedPtr: NVIDIA size 32"),
    "fields change places": (
        13, "cudart_device.h", "	int major;\n	int minor;",
        "	int minor;\n	int major;",
        "differs: layout cudaDeviceProp.major"),
    "field of one major goes": (
        12, "cudart_device.h", "	int clockRate;\n", "",
        "missing here: layout cudaDeviceProp.clockRate"),
    "tail grows": (
        13, "cudart_device.h", "	int reserved[56];",
        "	int reserved[57];",
        "differs: layout cudaDeviceProp: NVIDIA size 1008"),
    "field changes its sign": (
        12, "cudart_launch.h", "	unsigned int numAttrs;",
        "	int numAttrs;", "differs: member cudaLaunchConfig_t.numAttrs"),
    "enum value": (
        13, "cudart_memory.h", "cudaMemcpyDefault = 4",
        "cudaMemcpyDefault = 5",
        "differs: constant cudaMemcpyDefault: NVIDIA int 4, here int 5"),
    "enum constant of one major": (
        13, "cudart_memory.h", "	cudaMemLocationTypeNone = 0,\n", "",
        "missing here: constant cudaMemLocationTypeNone"),
    "macro value": (
        13, "cudart_launch.h", "cudaEventDisableTiming  0x02",
        "cudaEventDisableTiming  0x08",
        "differs: constant cudaEventDisableTiming"),
    "result code": (
        13, "cudart_error.def", "CUDART_ERROR(cudaErrorNotReady, 600,",
        "CUDART_ERROR(cudaErrorNotReady, 601,",
        "differs: constant cudaErrorNotReady"),
    "parameter loses its const": (
        13, "cudart.def", "CUDART(cudaMemcpy, 12, 13, PTDS, DONE, cudaError_t, "
        "(void *dst, const void",
        "CUDART(cudaMemcpy, 12, 13, PTDS, DONE, cudaError_t, (void *dst, void",
        "differs: function cudaMemcpy:"),
    "row of the other major": (
        12, "cudart.def", "CUDART(cudaMemAdvise, 12, 12,",
        "CUDART(cudaMemAdvise_v9, 12, 12,",
        "missing here: function cudaMemAdvise "),
    "majors overlap": (
        13, "cudart.def", "CUDART(cudaThreadExit, 12, 12,",
        "CUDART(cudaThreadExit, 12, 13,",
        "only here: function cudaThreadExit"),
    "handle is another type": (
        13, "cudart_base.h", "typedef struct CUevent_st *cudaEvent_t;",
        "typedef struct CUstream_st *cudaEvent_t;",
        "differs: typedef cudaEvent_t"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_change_here_is_reported(facts, tmp_path, name):
    major, file, old, new, report = MUTATIONS[name]
    copy = changed(tmp_path / "abi", file, old, new)
    found = differences(facts("theirs", major),
                        ours(major, str(copy)).facts(str(tmp_path)),
                        LEFT_OUT, OURS)
    assert any(report in line for line in found), found


@each
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_header_compiles_alone(major, compiler):
    if not shutil.which(compiler):
        pytest.skip("no " + compiler)
    headers = sorted(glob.glob(os.path.join(ABI, "cudart*.h")))
    assert len(headers) == 9
    for header in headers:
        subprocess.run([compiler, "-std=gnu17", *WARNINGS, "-fsyntax-only",
                        f"-DCUDART_MAJOR={major}",
                        "-I" + os.path.join(ROOT, "src"), "-xc", "-"],
                       input=f'#include "{header}"\n', text=True, check=True)
