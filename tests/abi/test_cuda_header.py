# SPDX-License-Identifier: Apache-2.0
"""src/abi/cuda* is compared with NVIDIA's headers of CUDA 13.0, and later
additions with those of 13.3; it is also checked alone.

CUDA_HEADERS names the directory of cuda.h; without it the toolkit that `./run
deps` puts into build/cuda is used, or /usr/local/cuda if that is 13.0. With
neither it is skipped, or fails where CI=true. CUDA_NEWER_HEADERS and
build/cuda-newer are the same for 13.3.
"""

import glob
import os
import re
import shutil
import subprocess

import pytest

from abi_tables import HOOKED, NOT_HOOKED, TWINS, cuda_rows
from conftest import ROOT
from cuda_facts import (ABI, LEFT_OUT, OURS, CudaHeader, newer_names,
                        pointer_types, rows)
from nvml_facts import compiler, differences, without_system_headers
from test_nvml_header import (WARNINGS, changed, kinds, read, without_layout,
                              write)

# No typedef of cudaTypedefs.h says since when these exist. The versions are
# those that NVIDIA's cuda-bindings 13.5 passes to cuGetProcAddress.
NO_TYPEDEF = {
    12010: ["cuCoredumpGetAttribute", "cuCoredumpGetAttributeGlobal",
            "cuCoredumpSetAttribute", "cuCoredumpSetAttributeGlobal"],
    12040: ["cuCtxFromGreenCtx", "cuCtxGetDevResource",
            "cuDevResourceGenerateDesc", "cuDevSmResourceSplitByCount",
            "cuDeviceGetDevResource", "cuDeviceRegisterAsyncNotification",
            "cuDeviceUnregisterAsyncNotification", "cuGreenCtxCreate",
            "cuGreenCtxDestroy", "cuGreenCtxGetDevResource",
            "cuGreenCtxRecordEvent", "cuGreenCtxWaitEvent",
            "cuStreamGetGreenCtx"],
    12050: ["cuCtxRecordEvent", "cuCtxWaitEvent"],
    13000: ["cuGreenCtxGetId"],
    4000: ["cuProfilerInitialize", "cuProfilerStart", "cuProfilerStop"],
}

# The same for CUDA 13.1, whose header is the first that has them.
LATER_NO_TYPEDEF = ["cuDevSmResourceSplit", "cuStreamGetDevResource",
                    "cuStreamGetDevResource_ptsz"]


def abi_facts(directory, workdir):
    return CudaHeader(os.path.join(directory, "cuda_abi.h")).facts(
        str(workdir))


def compare(theirs, ours):
    return differences(theirs, ours, LEFT_OUT, {*OURS, *newer_names()})


def is_version(path, version):
    return (os.path.isfile(path) and
            re.search(rf"^#define CUDA_VERSION {version}$", read(path), re.M))


def headers_of(version, variable, package):
    places = [os.environ.get(variable, ""),
              os.path.join(ROOT, "build", package, "nvidia", "cu13",
                           "include"),
              "/usr/local/cuda/include"]
    for place in places:
        if is_version(os.path.join(place, "cuda.h"), version):
            return place
    why = f"no cuda.h of CUDA {version}: set {variable} or `./run deps`"
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def headers():
    return headers_of(13000, "CUDA_HEADERS", "cuda")


@pytest.fixture(scope="session")
def newer():
    return headers_of(13030, "CUDA_NEWER_HEADERS", "cuda-newer")


@pytest.fixture(scope="session")
def theirs(headers, tmp_path_factory):
    return CudaHeader(os.path.join(headers, "cuda.h")).facts(
        str(tmp_path_factory.mktemp("theirs")))


@pytest.fixture(scope="session")
def ours(tmp_path_factory):
    return abi_facts(ABI, tmp_path_factory.mktemp("ours"))


@pytest.mark.parametrize("wanted, at_least", [
    (("function",), 634),
    (("struct", "union", "enum", "typedef"), 290),
    (("layout",), 650),
    (("member",), 560),
    (("constant", "enumerator", "helper"), 1820),
])
def test_same_as_nvidias_header(theirs, ours, wanted, at_least):
    assert len(kinds(theirs, *wanted)) >= at_least
    assert not compare(kinds(theirs, *wanted), kinds(ours, *wanted))


def test_what_came_later_is_as_in_the_later_header(newer, ours,
                                                   tmp_path):
    theirs = CudaHeader(os.path.join(newer, "cuda.h")).facts(str(tmp_path))
    functions = {name for name in theirs if name.startswith("function ")}
    assert functions == {name for name in ours
                         if name.startswith("function cu") and
                         name.split()[1] not in OURS}
    names = newer_names()
    found = {key for key in ours if re.split(r"[ .]", key)[1] in names}
    assert len(found) > 90
    assert {key: ours[key] for key in found} == {
        key: theirs.get(key) for key in found}
    for error in ("STREAM_DETACHED", "GRAPH_RECAPTURE_FAILURE"):
        assert (ours["constant CUDA_ERROR_" + error] ==
                theirs["constant CUDA_ERROR_" + error])


def test_no_exception_outlives_its_reason(headers, theirs):
    there = read(os.path.join(headers, "cuda.h"))
    here = "".join(read(f) for f in glob.glob(os.path.join(ABI, "cuda*")))
    assert not [n for n in LEFT_OUT if not re.search(rf"\b{n}\b", there)]
    assert not [n for n in OURS if not re.search(rf"\b{n}\b", here)]
    assert not [n for n in OURS if "function " + n in theirs]


# Each changes one thing in a copy of src/abi: file, old text, new text, and
# what the report must then say.
MUTATIONS = {
    "struct grows": (
        "cuda_copy.h", "	unsigned int flags;\n} CUmemcpyAttributes_v1;",
        "	unsigned long long flags;\n} CUmemcpyAttributes_v1;",
        "differs: layout CUmemcpyAttributes_v1: NVIDIA size 24 align 4"),
    "fields change places": (
        "cuda_launch.h", "	CUstream hStream;\n	CUlaunchAttribute *attrs;",
        "	CUlaunchAttribute *attrs;\n	CUstream hStream;",
        "differs: layout CUlaunchConfig.attrs: NVIDIA offset 40"),
    "field of the old struct widens": (
        "cuda_v1.h", "	unsigned int WidthInBytes;\n	unsigned int Height;\n"
        "} CUDA_MEMCPY2D_v1;",
        "	size_t WidthInBytes;\n	unsigned int Height;\n"
        "} CUDA_MEMCPY2D_v1;",
        "differs: member CUDA_MEMCPY2D_v1.WidthInBytes"),
    "field in a nested struct": (
        "cuda_launch.h", "		int triggerAtBlockStart;",
        "		char triggerAtBlockStart;",
        "CUlaunchAttributeValue.programmaticEvent.triggerAtBlockStart"),
    "field changes its sign": (
        "cuda_array.h", "	float maxMipmapLevelClamp;",
        "	int maxMipmapLevelClamp;",
        "differs: member CUDA_TEXTURE_DESC_v1.maxMipmapLevelClamp"),
    "alignment goes": (
        "cuda_array.h", "_Alignas(128) cuuint64_t opaque",
        "cuuint64_t opaque",
        "differs: layout CUtensorMap: NVIDIA size 128 align 128"),
    "member of a union goes": (
        "cuda_launch.h", "	unsigned int nvlinkUtilCentricScheduling;\n", "",
        "missing here: layout CUlaunchAttributeValue.nvlinkUtil"),
    "array shrinks": (
        "cuda_memory.h", "#define CU_IPC_HANDLE_SIZE 64",
        "#define CU_IPC_HANDLE_SIZE 32",
        "differs: layout CUipcMemHandle_v1: NVIDIA size 64"),
    "enum value": (
        "cuda_memory.h", "CU_MEM_ATTACH_SINGLE = 0x4",
        "CU_MEM_ATTACH_SINGLE = 0x8",
        "differs: constant CU_MEM_ATTACH_SINGLE: NVIDIA int 4, here int 8"),
    "enum constant goes": (
        "cuda_device.h", "	CU_LIMIT_SHMEM_SIZE = 0x07,\n", "",
        "missing here: constant CU_LIMIT_SHMEM_SIZE"),
    "enum constant moves to another enum": (
        "cuda_stream.h",
        "	CU_EVENT_INTERPROCESS = 0x4,\n} CUevent_flags;",
        "} CUevent_flags;\nenum CUothers { CU_EVENT_INTERPROCESS = 0x4 };",
        "differs: enumerator CU_EVENT_INTERPROCESS"),
    "macro value": (
        "cuda_array.h",
        "#define CUDA_ARRAY3D_SPARSE                    0x40",
        "#define CUDA_ARRAY3D_SPARSE                    0x80",
        "differs: constant CUDA_ARRAY3D_SPARSE: NVIDIA int 64, here int 128"),
    "stream handle": (
        "cuda_base.h", "((CUstream)0x2)", "((CUstream)0x3)",
        "differs: constant CU_STREAM_PER_THREAD"),
    "result code": (
        "cuda_error.def", "CUDA_ERROR(CUDA_ERROR_NOT_FOUND, 500,",
        "CUDA_ERROR(CUDA_ERROR_NOT_FOUND, 501,",
        "differs: constant CUDA_ERROR_NOT_FOUND: NVIDIA int 500"),
    "attribute id": (
        "cuda_attribute.def", "CUDA_ATTRIBUTE(WARP_SIZE, 10)",
        "CUDA_ATTRIBUTE(WARP_SIZE, 11)",
        "differs: constant CU_DEVICE_ATTRIBUTE_WARP_SIZE"),
    "attribute goes": (
        "cuda_attribute.def",
        "CUDA_ATTRIBUTE(ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED, 147)\n",
        "", "differs: constant CU_DEVICE_ATTRIBUTE_MAX"),
    "old function takes the new struct": (
        "cuda.def", "DONE, (const CUDA_MEMCPY2D_v1 *pCopy, CUstream",
        "DONE, (const CUDA_MEMCPY2D *pCopy, CUstream",
        "differs: function cuMemcpy2DAsync: "),
    "parameter loses its const": (
        "cuda.def", "DONE, (CUmodule *module, const char *fname))",
        "DONE, (CUmodule *module, char *fname))",
        "differs: function cuModuleLoad:"),
    "row is renamed": (
        "cuda.def", "CUDA(cuInit,", "CUDA(cuInit_v2,",
        "missing here: function cuInit "),
    "handle is another type": (
        "cuda_base.h", "typedef struct CUkern_st *CUkernel;",
        "typedef struct CUfunc_st *CUkernel;",
        "differs: typedef CUkernel:"),
    "callback's parameters": (
        "cuda_stream.h", "CUstream hStream, CUresult status,",
        "CUstream hStream, int status,",
        "differs: typedef CUstreamCallback:"),
    "invented constant": (
        "cuda_base.h", "#define CUDA_VERSION 13000",
        "#define CUDA_VERSION 13000\n#define CUDA_INVENTED 1",
        "only here: constant CUDA_INVENTED"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_change_here_is_reported(theirs, tmp_path, name):
    file, old, new, report = MUTATIONS[name]
    copy = without_layout(changed(tmp_path / "abi", file, old, new), "cuda")
    found = compare(theirs, abi_facts(copy, tmp_path))
    assert any(report in line for line in found), found


# A later header may add these; each must be reported as missing here.
ADDITIONS = {
    "CUresult cuDeviceGetNews(CUdevice device, int *news);":
        "missing here: function cuDeviceGetNews",
    "typedef struct CUnews_st { int news; } CUnews;":
        "missing here: struct CUnews",
    "typedef enum { CU_NEWS_GOOD = 1 } CUnewsKind;":
        "missing here: constant CU_NEWS_GOOD",
    "#define CU_NEWS_MAX 4": "missing here: constant CU_NEWS_MAX",
    "typedef void (*CUnewsCallback)(int news);":
        "missing here: typedef CUnewsCallback",
}


@pytest.mark.parametrize("line", ADDITIONS)
def test_an_addition_there_is_reported(headers, ours, tmp_path, line):
    path = tmp_path / "news.h"
    write(path, f'#include "{os.path.join(headers, "cuda.h")}"\n{line}\n')
    found = compare(CudaHeader(path).facts(str(tmp_path)), ours)
    assert any(ADDITIONS[line] in entry for entry in found), found


def test_rows_are_sorted_and_unique():
    symbols = [row.symbol for row in cuda_rows()]
    assert symbols == sorted(set(symbols))


SUFFIX = {"LEGACY": "", **TWINS}


def test_columns_have_the_words_that_the_table_explains():
    for row in cuda_rows():
        assert re.fullmatch(rf"{row.base}(_v\d)?", row.symbol)
        assert row.twin in {"ALONE", *TWINS}
        assert row.limit in HOOKED | NOT_HOOKED
        assert row.capture in {"SAFE", "UNSAFE", "UNSAFE_LEGACY"}
        assert row.callers in {"NOBODY", "RUNTIME", "NATIVE", "BOTH"}
        assert re.fullmatch(r"DONE|REFUSED\(\w+\)", row.refused)
        assert re.fullmatch(r"\(.+\)", row.params)


def test_versions_of_a_function_are_in_order():
    by_base = {}
    for symbol, base, since, stream in rows():
        assert 2000 <= since <= 13030 and since % 10 == 0
        number = int((re.search(r"_v(\d)", symbol) or "01")[1])
        by_base.setdefault((base, stream), []).append((number, since))
    for versions in by_base.values():
        versions.sort()
        ages = [since for _, since in versions]
        assert ages == sorted(set(ages))


def since_by_typedef(headers, newest):
    """{symbol: since}, from the typedefs of each base's versions in order."""
    source = os.path.join(headers, "cudaTypedefs.h")
    types = pointer_types(without_system_headers(compiler(
        [*CudaHeader.defines, f"-I{headers}", "-E", source])))
    by_base, out = {}, {}
    for symbol, base, since, stream in rows():
        if since <= newest:
            by_base.setdefault((base, SUFFIX[stream]), []).append(symbol)
    for key, symbols in by_base.items():
        if key in types:
            assert len(types[key]) == len(symbols), key
            out.update(zip(sorted(symbols), sorted(types[key])))
    return out


def test_since_is_that_of_nvidias_typedefs(headers):
    wanted = since_by_typedef(headers, 13000)
    told = {symbol: since for symbol, _, since, _ in rows() if since <= 13000}
    for since, symbols in NO_TYPEDEF.items():
        assert not wanted.keys() & set(symbols)
        wanted.update(dict.fromkeys(symbols, since))
    assert told == wanted


def test_since_of_later_functions_is_that_of_later_typedefs(newer):
    wanted = since_by_typedef(newer, 13030)
    assert not wanted.keys() & set(LATER_NO_TYPEDEF)
    wanted.update(dict.fromkeys(LATER_NO_TYPEDEF, 13010))
    later = {symbol: since for symbol, _, since, _ in rows() if since > 13000}
    assert later == {symbol: wanted.get(symbol) for symbol in later}


@pytest.mark.parametrize("compiler_name", ["gcc", "clang"])
def test_every_header_compiles_alone(compiler_name):
    if not shutil.which(compiler_name):
        pytest.skip("no " + compiler_name)
    found = sorted(glob.glob(os.path.join(ABI, "cuda_*.h")))
    assert len(found) >= 15
    for header in found:
        subprocess.run([compiler_name, "-std=gnu17", *WARNINGS,
                        "-fsyntax-only", "-xc", "-"],
                       input=f'#include "{header}"\n', text=True, check=True)


def test_sizes_are_held_without_nvidias_header(tmp_path):
    copy = changed(tmp_path / "abi", *MUTATIONS["struct grows"][:3])
    with pytest.raises(RuntimeError, match="CUmemcpyAttributes is not 24 byt"):
        abi_facts(copy, tmp_path)
