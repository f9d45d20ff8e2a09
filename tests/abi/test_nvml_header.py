# SPDX-License-Identifier: Apache-2.0
"""src/abi is compared with NVIDIA's header, and checked alone.

NVML_HEADER names the header; without it build/nvml-dev is searched, where `pip
install --target build/nvml-dev --no-deps nvidia-nvml-dev==13.3.29` puts it.
Without a header it is skipped, or fails where CI=true.
"""

import glob
import os
import re
import shutil
import subprocess

import pytest

from abi_tables import nvml_rows
from nvml_facts import LEFT_OUT, OURS, Header, differences

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ABI = os.path.join(ROOT, "src", "abi", "nvml")
ROWS_MISSING = os.path.join(ROOT, "tools", "nvml-rows-missing.sh")
WARNINGS = """-Wall -Wextra -Wshadow -Wundef -Wvla -Wformat=2 -Wpointer-arith
-Wcast-qual -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes
-Wswitch-enum -Wdouble-promotion -Wimplicit-fallthrough -Werror""".split()


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def changed(directory, file, old, new):
    """Makes a copy of the headers in which one text is replaced."""
    shutil.copytree(os.path.dirname(ABI), directory)
    path, = directory.glob("*/" + file)
    text = read(path)
    assert text.count(old) == 1
    write(path, text.replace(old, new))
    return path.parent


def without_layout(directory, types):
    """Otherwise the static asserts of sizes would catch some changes first."""
    layout = f'#include "{types}_layout.h"\n'
    path = directory / f"{types}_types.h"
    text = read(path)
    assert layout in text
    write(path, text.replace(layout, ""))
    return directory


def abi_facts(directory, workdir):
    return Header(os.path.join(directory, "nvml_abi.h")).facts(str(workdir))


@pytest.fixture(scope="session")
def nvidia_header():
    path = os.environ.get("NVML_HEADER")
    if not path:
        found = glob.glob(os.path.join(ROOT, "build/nvml-dev/**/nvml.h"),
                          recursive=True)
        path = found[0] if found else ""
    if not os.path.isfile(path):
        why = "no NVIDIA nvml.h: set NVML_HEADER or install nvidia-nvml-dev"
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    return path


@pytest.fixture(scope="session")
def theirs(nvidia_header, tmp_path_factory):
    return Header(nvidia_header).facts(str(tmp_path_factory.mktemp("theirs")))


@pytest.fixture(scope="session")
def ours(tmp_path_factory):
    return abi_facts(ABI, tmp_path_factory.mktemp("ours"))


def kinds(facts, *wanted):
    return {k: v for k, v in facts.items() if k.split()[0] in wanted}


@pytest.mark.parametrize("wanted, at_least", [
    (("function",), 413),
    (("struct", "union", "enum", "typedef"), 290),
    (("layout",), 850),
    (("member",), 690),
    (("constant", "enumerator", "helper"), 2000),
])
def test_same_as_nvidias_header(theirs, ours, wanted, at_least):
    assert len(kinds(theirs, *wanted)) >= at_least
    assert not differences(kinds(theirs, *wanted), kinds(ours, *wanted))


def test_no_exception_outlives_its_reason(nvidia_header):
    there = read(nvidia_header)
    here = "".join(read(f) for f in glob.glob(os.path.join(ABI, "nvml*")))
    assert not [n for n in LEFT_OUT if not re.search(rf"\b{n}\b", there)]
    assert not [n for n in OURS if not re.search(rf"\b{n}\b", here)]


# Each changes one thing in a copy of src/abi: file, old text, new text, and
# what the report must then say.
MUTATIONS = {
    "record grows to 84 bytes": (
        "nvml_device.h",
        "	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];\n} nvmlPciInfo_t;",
        "	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];\n"
        "	unsigned int reserved[4];\n} nvmlPciInfo_t;",
        "differs: layout nvmlPciInfo_t: NVIDIA size 68 align 4, here size 84"),
    "fields change places": (
        "nvml_thermal.h",
        "	nvmlTemperatureSensors_t sensorType;\n	int temperature;",
        "	int temperature;\n	nvmlTemperatureSensors_t sensorType;",
        "differs: layout nvmlTemperature_v1_t.temperature: NVIDIA offset 8"),
    "field in a nested struct widens": (
        "nvml_thermal.h", "		int currentTemp;", "		long currentTemp;",
        "nvmlGpuThermalSettings_t.sensor[0].currentTemp"),
    "field changes its sign": (
        "nvml_thermal.h", "	int marginTemperature;",
        "	unsigned int marginTemperature;",
        "differs: member nvmlMarginTemperature_v1_t.marginTemperature"),
    "field is renamed": (
        "nvml_process.h", "	unsigned int smUtil;\n	unsigned int memUtil;\n"
        "	unsigned int encUtil;\n	unsigned int decUtil;\n"
        "} nvmlProcessUtilizationSample_t;",
        "	unsigned int smUtil;\n	unsigned int memoryUtil;\n"
        "	unsigned int encUtil;\n	unsigned int decUtil;\n"
        "} nvmlProcessUtilizationSample_t;",
        "missing here: layout nvmlProcessUtilizationSample_t.memUtil"),
    "member of a union goes": (
        "nvml_base.h", "	unsigned short usVal;\n", "",
        "missing here: layout nvmlValue_t.usVal"),
    "array shrinks": (
        "nvml_base.h", "#define NVML_DEVICE_NAME_V2_BUFFER_SIZE         96",
        "#define NVML_DEVICE_NAME_V2_BUFFER_SIZE         64",
        "differs: layout nvmlGpuInstanceProfileInfo_v2_t.name"),
    "enum value": (
        "nvml_device.h", "NVML_COMPUTEMODE_PROHIBITED = 2",
        "NVML_COMPUTEMODE_PROHIBITED = 4",
        "differs: constant NVML_COMPUTEMODE_PROHIBITED: NVIDIA int 2, "
        "here int 4"),
    "enum constant goes": (
        "nvml_clock.h", "	NVML_PSTATE_UNKNOWN = 32,\n", "",
        "missing here: constant NVML_PSTATE_UNKNOWN"),
    "macro value": (
        "nvml_event.h", "GpuRecoveryAction      0x0000000000008000LL",
        "GpuRecoveryAction      0x0000000000010000LL",
        "differs: constant nvmlEventTypeAll"),
    "macro type": (
        "nvml_power.h", "#define NVML_POWER_SCOPE_MEMORY   2U",
        "#define NVML_POWER_SCOPE_MEMORY   2",
        "NVIDIA unsigned int 2, here int 2"),
    "text macro": (
        "nvml_device.h", '"%08X:%02X:%02X.0"', '"%04X:%02X:%02X.0"',
        "differs: constant NVML_DEVICE_PCI_BUS_ID_FMT:"),
    "struct version": (
        "nvml_device.h", "NVML_STRUCT_VERSION(Memory, 2)",
        "((unsigned int)sizeof(nvmlMemory_v2_t) | 3u << 24)",
        "differs: constant nvmlMemory_v2:"),
    "version scheme": (
        "nvml_base.h", "((ver##u) << 24)", "((ver##u) << 16)",
        "differs: constant nvmlTemperature_v1:"),
    "field id": (
        "nvml_fields.def", "NVML_FIELD(NVML_FI_DEV_MEMORY_TEMP, 82)",
        "NVML_FIELD(NVML_FI_DEV_MEMORY_TEMP, 83)",
        "differs: constant NVML_FI_DEV_MEMORY_TEMP: NVIDIA int 82, here"),
    "return code": (
        "nvml_return.def", "NVML_RETURN(NVML_ERROR_GPU_IS_LOST, 15,",
        "NVML_RETURN(NVML_ERROR_GPU_IS_LOST, 16,",
        "differs: constant NVML_ERROR_GPU_IS_LOST"),
    "stride of the oldest process list": (
        "nvml.def", "NVML(nvmlDeviceGetComputeRunningProcesses, 0, 0, OPT, "
        "ACCEPTS, REPORTS, DONE, (nvmlDevice_t device, unsigned int *infoCount, "
        "nvmlProcessInfo_v1_t",
        "NVML(nvmlDeviceGetComputeRunningProcesses, 0, 0, OPT, "
        "ACCEPTS, REPORTS, DONE, (nvmlDevice_t device, unsigned int *infoCount, "
        "nvmlProcessInfo_v2_t",
        "differs: function nvmlDeviceGetComputeRunningProcesses:"),
    "parameter loses its const": (
        "nvml.def", "ORDINARY, NONE, DONE, (const char *uuid, nvmlDevice_t *device",
        "ORDINARY, NONE, DONE, (char *uuid, nvmlDevice_t *device",
        "differs: function nvmlDeviceGetHandleByUUID:"),
    "row is renamed": (
        "nvml.def", "NVML(nvmlShutdown,", "NVML(nvmlShutdown_v2,",
        "missing here: function nvmlShutdown "),
    "result type": (
        "nvml_abi.h", "const char *nvmlErrorString", "char *nvmlErrorString",
        "differs: function nvmlErrorString:"),
    "handle is another type": (
        "nvml_base.h", "typedef struct nvmlUnit_st *nvmlUnit_t;",
        "typedef struct nvmlDevice_st *nvmlUnit_t;",
        "differs: typedef nvmlUnit_t:"),
    "id changes its sign": (
        "nvml_base.h", "typedef unsigned int nvmlVgpuTypeId_t;",
        "typedef int nvmlVgpuTypeId_t;", "differs: typedef nvmlVgpuTypeId_t:"),
    "invented constant": (
        "nvml_base.h", "#define NVML_API_VERSION     13",
        "#define NVML_API_VERSION     13\n#define NVML_INVENTED 1",
        "only here: constant NVML_INVENTED"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_change_here_is_reported(theirs, tmp_path, name):
    file, old, new, report = MUTATIONS[name]
    copy = without_layout(changed(tmp_path / "abi", file, old, new), "nvml")
    found = differences(theirs, abi_facts(copy, tmp_path))
    assert any(report in line for line in found), found


# A later header may add these; each must be reported as missing here.
ADDITIONS = {
    "nvmlReturn_t nvmlDeviceGetNews(nvmlDevice_t device, int *news);":
        "missing here: function nvmlDeviceGetNews",
    "typedef struct { int news; } nvmlNews_t;":
        "missing here: struct nvmlNews_t",
    "typedef enum { NVML_NEWS_GOOD = 1 } nvmlNewsKind_t;":
        "missing here: constant NVML_NEWS_GOOD",
    "#define NVML_NEWS_MAX 4":
        "missing here: constant NVML_NEWS_MAX",
    "#define NVML_NEWS_OF(x) ((x) + 1)":
        "missing here: helper NVML_NEWS_OF",
    "typedef unsigned int nvmlNewsId_t;":
        "missing here: typedef nvmlNewsId_t",
}


def longer_header(nvidia_header, tmp_path, line):
    text = read(nvidia_header)
    at = text.rindex("#endif")              # the end of the include guard
    path = tmp_path / "nvml.h"
    write(path, text[:at] + line + "\n" + text[at:])
    return path


@pytest.mark.parametrize("line", ADDITIONS)
def test_an_addition_there_is_reported(nvidia_header, ours, tmp_path, line):
    path = longer_header(nvidia_header, tmp_path, line)
    found = differences(Header(path).facts(str(tmp_path)), ours)
    assert any(ADDITIONS[line] in entry for entry in found), found


def test_the_maintainers_script_prints_missing_rows(nvidia_header, tmp_path):
    path = longer_header(nvidia_header, tmp_path, next(iter(ADDITIONS)))
    for header, code, text in (
            (nvidia_header, 0, ""),
            (path, 1, "NVML(nvmlDeviceGetNews, MAJOR, MINOR, UNUSED, "
                      "ORDINARY, NONE, REFUSED(NOT_MODELLED), "
                      "(nvmlDevice_t device, int *news))\n")):
        done = subprocess.run(["sh", ROWS_MISSING, header], check=False,
                              capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (code, text), done.stderr


def test_rows_are_sorted_and_unique():
    rows = [row.symbol for row in nvml_rows()]
    assert rows == sorted(set(rows))


def test_columns_have_the_words_that_the_table_explains():
    for row in nvml_rows():
        assert re.fullmatch(r"nvml\w+", row.symbol)
        assert row.core in {"UNUSED", "REQ", "OPT", "MORE"}
        assert row.mig in {"ORDINARY", "ACCEPTS", "REFUSES", "NOT_SPLIT",
                           "NOT_HELD"}
        assert row.limit in {"NONE", "REPORTS", "MARKS"}
        assert re.fullmatch(r"DONE|REFUSED\(\w+\)", row.refused)
        assert re.fullmatch(r"\(.+\)", row.params)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_header_compiles_alone(compiler):
    if not shutil.which(compiler):
        pytest.skip("no " + compiler)
    headers = sorted(glob.glob(os.path.join(ABI, "nvml*.h")))
    assert len(headers) >= 18
    for header in headers:
        subprocess.run([compiler, "-std=gnu17", *WARNINGS, "-fsyntax-only",
                        "-xc", "-"], input=f'#include "{header}"\n',
                       text=True, check=True)


def test_sizes_are_held_without_nvidias_header(tmp_path):
    copy = changed(tmp_path / "abi", *MUTATIONS["record grows to 84 bytes"][:3])
    with pytest.raises(RuntimeError, match="nvmlPciInfo_t is not 68 bytes"):
        abi_facts(copy, tmp_path)
