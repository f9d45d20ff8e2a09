# SPDX-License-Identifier: Apache-2.0
"""The subcommands of `gpukit smi` that ask the driver directly are tested here:
nvlink, drain, topo -p2p and -mp, conf-compute, sessions, and those that gpukit
only answers."""

import re
import time

import pytest

from smi_tools import Smi

LEGEND = ("\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n"
          "  CNS  = Chipset not supported\n  GNS  = GPU not supported\n"
          "  TNS  = Topology not supported\n  NS   = Not supported\n"
          "  DR   = Disabled by regkey\n  U    = Unknown\n")
BUS = "00000000:0F:00.0"


@pytest.fixture(name="smi")
def fixture_smi(machine):
    return Smi(machine("--gpus", "a100-sxm4-80gb:2", "--topology", "hgx"))


def head(smi, gpu):
    name, uuid = (smi.values(field)[gpu] for field in ("name", "uuid"))
    return f"GPU {gpu}: {name} (UUID: {uuid})\n"


@pytest.mark.parametrize("args, lines", [
    (["-s"], "".join(f"\t Link {i}: 25.000 GB/s\n" for i in range(12))),
    (["--status", "-l", "0,3"],
     "\t Link 0: 25.000 GB/s\n\t Link 3: 25.000 GB/s\n"),
    (["-c", "-l", "4"],
     "\t Link 4, P2P is supported: true\n"
     "\t Link 4, Access to system memory supported: false\n"
     "\t Link 4, P2P atomics supported: true\n"
     "\t Link 4, System memory atomics supported: false\n"
     "\t Link 4, SLI is supported: false\n"
     "\t Link 4, Link is supported: true\n"),
    (["-e", "-l", "1"], "\t Link 1: Replay Errors: 0\n"
     "\t Link 1: Recovery Errors: 0\n\t Link 1: CRC Errors: 0\n\n"),
])
def test_nvlink(smi, args, lines):
    assert smi("nvlink", *args) == (0, head(smi, 0) + lines + head(smi, 1) +
                                    lines)
    assert smi("nvlink", *args, "-i", "1") == (0, head(smi, 1) + lines)


def test_nvlink_ends(smi):
    status, out = smi("nvlink", "-p", "-i", "0", "-l", "0")
    ends = out.splitlines()[1]
    assert status == 0 and ends == "\t Link 0: 00000000:03:00.0"
    assert smi("nvlink", "-R", "-i", "0", "-l", "0")[1].splitlines()[1] == (
        "\t Link 0: Remote Device 00000000:03:00.0")


def test_nvlinks_that_are_down(smi):
    assert smi.one.ctl("fail", "0", "nvlink=3").returncode == 0
    lines = smi("nvlink", "-s", "-i", "0")[1].splitlines()
    assert lines[4] == "\t Link 3: <inactive>"
    assert lines[5] == "\t Link 4: 25.000 GB/s"
    for link in range(12):
        assert smi.one.ctl("fail", "0", f"nvlink={link}").returncode == 0
    assert smi("nvlink", "-s", "-i", "0") == (
        0, head(smi, 0) + "NVML: Unable to retrieve NVLink information as all "
                          "links are inActive\n")


def test_nvlink_of_a_split_gpu_and_of_a_board_without(smi, machine):
    assert smi("-mig", "1", "-i", "0")[0] == 0
    assert smi("nvlink", "-s", "-i", "0") == (
        0, head(smi, 0) +
        "Nvlink queries are not supported for Devices in MIG mode\n")
    other = Smi(machine("--gpus", "t4"))
    assert other("nvlink", "-s") == (
        0, head(other, 0) + "Device does not have or support Nvlink\n")


# The words of topo -p2p, by NVML's numbers.
P2P_WORDS = ["OK", "CNS", "GNS", "TNS", "DR", "NS", "U"]


@pytest.mark.parametrize("board, kinds", [
    ("a100-sxm4-80gb", {"r": "OK", "w": "OK", "n": "OK", "a": "OK"}),
    ("t4", {"n": "NS"}), ("rtx-4090", {})])
def test_p2p(machine, board, kinds):
    """The states are those that NVML tells a program."""
    smi = Smi(machine("--gpus", f"{board}:2"))
    told = smi.one.python("""
for kind in range(5):
    state = ctypes.c_int(-1)
    r = nvml.nvmlDeviceGetP2PStatus(device(0), device(1), kind,
                                    ctypes.byref(state))
    print(state.value if r == 0 else 6)
""").split()
    for kind, number in zip("rwnap", told):
        word = P2P_WORDS[int(number)]
        assert word == kinds.get(kind, word)
        assert smi("topo", "-p2p", kind) == (
            0, "\t\033[4mGPU0\tGPU1\t\033[0m\n"
            f" GPU0\tX\t{word}\t\n GPU1\t{word}\tX\t\n" + LEGEND)


def test_the_matrix_without_nvlinks(smi):
    rows = [line.split("\t") for line in
            smi("topo", "-mp")[1].splitlines()[1:3]]
    assert [rows[0][1], rows[1][2]] == [" X ", " X "]
    assert rows[0][2] == rows[1][1] != "NV12"
    assert rows[0][2] in ("PIX", "PXB", "PHB", "NODE", "SYS")


def test_drain(smi):
    busy = smi("drain", "-p", "0000:0F:00.0", "-m", "1")
    assert busy == (255, f"Failed to set the drain state of GPU {BUS}: In use "
                         "by another client\n")
    assert smi("-pm", "0", "-i", "1")[0] == 0
    assert smi("drain", "-p", "0000:0F:00.0", "-m", "1") == (
        0, f"Successfully set GPU {BUS} drain state to: draining.\n")
    assert smi("drain", "-q", "-p", "0f:00.0") == (
        0, f"The drain state of GPU {BUS} is: draining.\n")
    assert smi("drain", "-p", BUS, "--modify=0") == (
        0, f"Successfully set GPU {BUS} drain state to: not draining.\n")
    assert smi("drain", "-p", BUS, "-r") == (
        0, f"Successfully removed GPU {BUS}.\n")
    assert len(smi("-L")[1].splitlines()) == 1
    for bus in (BUS, "00000000:7F:00.0"):
        assert smi("drain", "-p", bus, "-q") == (
            2, f"Failed to query the drain state of GPU {bus}: Invalid "
               "Argument\n")


def test_drain_is_for_root(machine):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:2"), allowed="none")
    assert smi("drain", "-p", BUS, "-m", "1") == (
        4, f"Failed to set the drain state of GPU {BUS}: Insufficient "
           "Permissions\n")


def test_units(smi):
    status, out = smi("-q", "-u")
    assert status == 0 and out.endswith(
        "\nCUDA Version                              : 13.0\n\n"
        "HIC Info                                  : N/A\n"
        "Attached Units                            : 0\n")
    assert smi("-u")[0] == smi("-q", "-x", "-u")[0] == 2
    for error, text in (("UNKNOWN", "Unknown Error"), ("NOT_SUPPORTED", "0")):
        assert smi.one.ctl("fail", f"nvmlUnitGetCount=NVML_ERROR_{error}"
                           ).returncode == 0
        assert smi("-q", "-u")[1].splitlines()[-1].endswith(f" : {text}")


def test_excluded_gpus(smi):
    assert smi("-B") == (0, "No excluded devices found.\n")
    uuid = smi.values("uuid")[1]
    assert smi.one.ctl("set", "1", "excluded=1").returncode == 0
    assert smi("-B") == (0, f"Excluded device 0: {BUS} (UUID: {uuid})\n")


@pytest.mark.parametrize("args, status, out", [
    (["conf-compute", "-f"], 0, "CC status: OFF\n"),
    (["conf-compute", "-grs"], 3, "Unable to get Confidential Compute GPUs "
                                  "Ready state: Not Supported\n"),
    (["conf-compute", "-srs", "1"], 3,
     "Unable to set Confidential Compute GPUs Ready state: Not Supported\n"),
    (["encodersessions", "-c", "1", "-i", "1"], 0,
     "# GPU Session    Process   Codec       H       V Average     Average\n"
     "# Idx      Id         Id    Type     Res     Res     FPS Latency(us)\n"
     "    1       -          -       -       -       -       -           -\n"),
    (["fbcsessions", "-c", "1", "-i", "0"], 0,
     "# GPU   Session   Process   Display   Session Diff. Map  Class. Map"
     "       Capture   Max H   Max V     H     V   Average       Average\n"
     "# Idx        Id        Id   Ordinal      Type     State       State"
     "          Mode     Res     Res   Res   Res       FPS   Latency(us)\n"
     "    0         -         -         -         -         -           -"
     "             -       -       -     -     -         -             -\n"),
    (["power-profiles", "-l"], 3,
     "Workload Power Profiles feature is not supported on this device.\n"),
    (["vgpu"], 0, "No supported devices in vGPU mode\n"),
    (["vgpu", "-i", "7"], 6, "No devices were found\n"),
    (["power-profiles", "-l", "-i", "7"], 6, "No devices were found\n"),
    (["power-profiles", "-l", "-i", "1"], 3,
     "Workload Power Profiles feature is not supported on this device.\n"),
    (["vgpu", "--nonsense"], 255,
     "ERROR: Option --nonsense is not recognized. Please run 'nvidia-smi -h' "
     "for help.\n"),
    (["stats", "word"], 255,
     "ERROR: Option word is not recognized. Please run 'nvidia-smi -h' for "
     "help.\n"),
    (["clocks", "-i"], 255,
     "ERROR: Option -i is missing its value. Please run 'nvidia-smi -h' for "
     "help.\n"),
    (["boost-slider", "-l"], 3,
     "Boost slider is not supported on this device.\n"),
    (["compute-policy", "-l"], 3,
     "Compute policy is not supported on this device.\n"),
    (["clocks", "--sync"], 3,
     "Clocks synchronization is not supported on this device.\n"),
    (["power-smoothing", "-ppd"], 3,
     "Power smoothing is not supported on this device.\n"),
    (["c2c", "-i", "0", "-s"], 3, "C2C is not supported on this device.\n"),
    (["boost-slider", "--vboost", "1"], 3,
     "Boost slider is not supported on this device.\n"),
    (["compute-policy", "--set-timeslice=1"], 3,
     "Compute policy is not supported on this device.\n"),
    (["vgpu", "-i", "0", "-v", "-c"], 0,
     "No supported devices in vGPU mode\n"),
])
def test_lines_of_other_subcommands(smi, args, status, out):
    assert smi(*args) == (status, out)


@pytest.mark.parametrize("verb, option", [
    ("clocks", "-ppd"), ("vgpu", "--sync"), ("power-smoothing", "-l"),
    ("power-profiles", "-ppd"), ("boost-slider", "-gr"), ("c2c", "-l"),
    ("stats", "-s")])
def test_no_subcommand_takes_the_option_of_another(smi, verb, option):
    assert smi(verb, option) == (
        255, f"ERROR: Option {option} is not recognized. Please run "
             "'nvidia-smi -h' for help.\n")


@pytest.mark.parametrize("args, status", [
    (["nvlink"], 2), (["nvlink", "-s", "-e"], 2), (["nvlink", "-x"], 255),
    (["topo", "-p2p", "x"], 2), (["topo", "-p2p"], 255),
    (["drain", "-q"], 2), (["drain", "-p", BUS, "-m", "2"], 2),
    (["drain", "-p", BUS], 2),
    (["drain", "-p", "0", "-q"], 2), (["encodersessions", "-c", "0"], 2),
    (["drain", "-p", "0x0:0f:00.0", "-q"], 2),
    (["drain", "-p", "100000000:0f:00.0", "-q"], 2),
    (["encodersessions", "-c", "-0"], 2), (["encodersessions", "-d", "+1"], 2),
    (["mig", "-cgi", "0" * 64 + "9"], 2), (["dmon", "-c", "-0"], 2),
    (["conf-compute"], 2), (["conf-compute", "-srs", "2"], 2)])
def test_wrong_usage(smi, args, status):
    assert smi(*args)[0] == status


@pytest.mark.parametrize("verb, word", [
    ("nvlink", "--errorcounters"), ("drain", "--pciid=BUS"),
    ("conf-compute", "--get-cc-feature"), ("encodersessions", "--count=N"),
    ("mig", "--create-gpu-instance=LIST"), ("stats", "--id=LIST"),
    ("power-profiles", "--id=LIST")])
def test_help(smi, verb, word):
    status, out = smi(verb, "-h")
    assert status == 0 and word in out


# A function that fails, how, what asks it, and the lines for GPU 0 below its
# name. A driver that lacks something answers "Not Supported": see above.
ERRORS = {"NO_PERMISSION": ("Insufficient Permissions", 4),
          "UNKNOWN": ("Unknown Error", 255), "GPU_IS_LOST": ("GPU is lost", 15)}


@pytest.fixture(name="fail")
def fixture_fail(smi):
    def fail(function, error, gpu=()):
        assert smi.one.ctl("fail", *gpu, f"{function}=NVML_ERROR_{error}"
                           ).returncode == 0
    return fail


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("function", [
    "nvmlDeviceGetNvLinkState", "nvmlDeviceGetMigMode"])
def test_nvlinks_that_cannot_be_read(smi, fail, function, error):
    text, status = ERRORS[error]
    fail(function, error, ["0"])
    assert smi("nvlink", "-s", "-l", "0") == (
        status, head(smi, 0) + "NVML: Unable to retrieve NVLink information: "
        f"{text}\n" + head(smi, 1) + "\t Link 0: 25.000 GB/s\n")


@pytest.mark.parametrize("function, option, line", [
    ("nvmlDeviceGetFieldValues", "-s", "\t Link 2: {}\n"),
    ("nvmlDeviceGetNvLinkRemotePciInfo_v2", "-R",
     "\t Link 2: Remote Device {}\n"),
    ("nvmlDeviceGetNvLinkErrorCounter", "-e",
     "\t Link 2: Replay Errors: {0}\n\t Link 2: Recovery Errors: {0}\n"
     "\t Link 2: CRC Errors: {0}\n\n"),
])
def test_values_of_a_link_that_cannot_be_read(smi, fail, function, option,
                                              line):
    for error, text in [("NOT_SUPPORTED", "N/A"), *(
            (error, text) for error, (text, _) in ERRORS.items())]:
        fail(function, error)
        assert smi("nvlink", option, "-l", "2", "-i", "0") == (
            0, head(smi, 0) + line.format(text))


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("verb, function, what", [
    ("encodersessions", "nvmlDeviceGetEncoderSessions", "encoder"),
    ("fbcsessions", "nvmlDeviceGetFBCSessions", "FBC")])
def test_sessions_that_cannot_be_read(smi, fail, verb, function, what, error):
    text, status = ERRORS[error]
    buses = smi.values("pci.bus_id")
    fail(function, error, "0")
    lines = [f"Unable to list the {what} sessions of GPU {bus}: {text}"
             for bus in buses]
    code, out = smi(verb, "-c", "2")
    assert code == 0 and out.count(lines[0]) == 2
    assert [row.split()[0] for row in out.splitlines()[2:]] == [
        "Unable", "1", "Unable", "1"]
    assert smi(verb, "-i", "0")[0] == status  # it does not repeat for ever
    fail(function, error, "1")
    code, out = smi(verb)
    assert (code, out.splitlines()[2:]) == (status, lines)
    for gpu in "01":
        fail(function, "NOT_SUPPORTED", gpu)
    code, out = smi(verb, "-c", "1")
    assert code == 0 and [row.split()[:2] for row in out.splitlines()[2:]] == [
        ["0", "-"], ["1", "-"]]


@pytest.mark.parametrize("error", ERRORS)
def test_p2p_and_excluded_gpus_that_cannot_be_read(smi, fail, error):
    text, status = ERRORS[error]
    fail("nvmlDeviceGetP2PStatus", error)
    assert smi("topo", "-p2p", "r") == (
        status, f"Failed to get the P2P status: {text}\n")
    fail("nvmlDeviceGetP2PStatus", "NOT_SUPPORTED")
    assert "\n GPU0\tX\tU\t\n" in smi("topo", "-p2p", "r")[1]
    fail("nvmlGetExcludedDeviceCount", error)
    assert smi("-B") == (
        status, f"Unable to list the excluded devices: {text}\n")
    fail("nvmlGetExcludedDeviceCount", "NOT_SUPPORTED")
    assert smi("-B") == (0, "No excluded devices found.\n")


# The options and subcommands that nvidia-smi's help lists, of drivers 590 and
# 610 (docs/SMI.md), with an argument for those that need one.
OPTIONS = """--version -L -B -col -q;-u -q;-x -q;-d;MEMORY --dtd -q;-x;--dtd
    --help-query-gpu --help-query-supported-clocks
    --help-query-compute-apps --help-query-accounted-apps
    --help-query-retired-pages --help-query-remapped-rows -pm;0 -e;1 -p;0 -c;0
    --gom;0 -r -vm;3 -lgc;900 -lgc;900;-m;0 -rgc -lmc;1593 -rmc -lmcd;1593
    -rmcd -ac;1593,900 -rac -pl;300 -pl;300;-sc;0 -cc;0 -am;1 -caa
    --auto-boost-default;1 --auto-boost-permission;0 -mig;0 -gtt;80 -den;0
    --set-hostname;one --get-hostname -pm;1;-eow -t;0 -lmci;1 -svfd;-15 -gvfd
    --show-all-processes --debug;/nowhere/x"""
VERBS = """dmon daemon replay pmon topo drain nvlink c2c clocks encodersessions
    fbcsessions vgpu mig compute-policy boost-slider power-hint base-clocks
    conf-compute gpm pci power-smoothing power-profiles rusd prm soc event-log
    cper stats"""


def test_no_option_is_unknown(smi):
    """Nor does one refuse the argument that it has here."""
    told = {option: smi(*option.split(";")) for option in OPTIONS.split()}
    assert {option: answer for option, answer in told.items()
            if answer[0] not in (0, 3, 6)} == {}


def test_no_verb_is_unknown(smi):
    for verb in VERBS.split():
        out = smi(verb, "-h")[1]
        assert "not recognized" not in out and out, verb


@pytest.mark.parametrize("args, status, out", [
    (["base-clocks"], 3, "Base clocks are not supported on this device.\n"),
    (["-t", "0"], 6, "No units were found\n"),
    (["-t", "AMBER", "-i", "0"], 6, "No units were found\n"),
    (["--debug", "/nowhere/x"], 3, "Debug information is not supported.\n"),
    (["--show-all-processes"], 3,
     "Processes without a context are not supported.\n")])
def test_what_cannot_be_done_says_so(smi, args, status, out):
    assert smi(*args) == (status, out)


@pytest.mark.parametrize("args", [
    ["-t", "2"], ["-t", ""], ["-t", "0", "-l", "1"], ["-m", "0"],
    ["-m", "2", "-lgc", "900"], ["-pm", "1", "-m", "0"],
    ["--set-hostname", ""], ["--set-hostname", "a" * 64]])
def test_options_that_make_no_sense(smi, args):
    assert smi(*args)[0] == 2


def test_hostnames(machine):
    smi = Smi(machine("--gpus", "b200,h100-80gb-hbm3"))
    first, other = smi.values("pci.bus_id")
    assert smi("--set-hostname", "node-7.gpu", "-i", "0") == (
        0, f"Set the hostname of GPU {first} to node-7.gpu.\nAll done.\n")
    assert smi.one.python("""
text = ctypes.create_string_buffer(64)
assert nvml.nvmlDeviceGetHostname_v1(device(0), text) == 0
print(text.value.decode())""") == "node-7.gpu"
    assert smi("--get-hostname") == (
        0, f"Hostname of GPU {first}: node-7.gpu\n"
        f"Unable to get the hostname for GPU {other}: Not Supported\n"
        "Treating as warning and moving on.\nAll done.\n")
    assert smi("--set-hostname", "no blanks", "-i", "0") == (
        2, f"Unable to set the hostname for GPU {first}: Invalid Argument\n"
        "Terminating early due to previous errors.\n")


def test_a_mode_of_locked_clocks(machine):
    smi = Smi(machine("--gpus", "t4"))
    gpu = smi.values("pci.bus_id")[0]
    assert smi("-lgc", "900", "--mode=0")[1].startswith(
        f'GPU clocks set to "(gpuClkMin 900, gpuClkMax 900)" for GPU {gpu}\n')
    assert smi("-lgc", "600", "-m", "1")[1].startswith(
        f"Setting locked GPU clocks is not supported for GPU {gpu}.\n")
    assert smi.told("sm-clock-lock-max") == [900]


THROUGHPUT = """
class Field(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("scope", ctypes.c_uint),
                ("time", ctypes.c_longlong), ("latency", ctypes.c_longlong),
                ("type", ctypes.c_int), ("result", ctypes.c_int),
                ("value", ctypes.c_ulonglong)]
for id in (138, 139, 140, 141):
    field = Field(id=id, scope=4)
    assert nvml.nvmlDeviceGetFieldValues(device(1), 1, ctypes.byref(field)) == 0
    print(field.value if field.result == 0 else "N/A")
"""


def test_what_links_have_carried(machine):
    """The lines are captured (docs/SMI.md); the numbers are NVML's."""
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:2", "--topology", "hgx",
                      "--load", "train:all", "--frozen"))
    data_tx, data_rx, raw_tx, raw_rx = smi.one.python(THROUGHPUT).split()
    assert int(data_tx) > 0 and int(raw_tx) > int(data_tx)
    for option, kind, word, tx, rx in (
            ("-gt", "d", "Data", data_tx, data_rx),
            ("--getthroughput", "r", "Raw", raw_tx, raw_rx)):
        assert smi("nvlink", option, kind, "-i", "1", "-l", "4") == (
            0, head(smi, 1) + f"\t Link 4: {word} Tx: {tx} KiB\n"
            f"\t Link 4: {word} Rx: {rx} KiB\n")
    assert smi("nvlink", "-gt", "x")[0] == 2
    assert smi("nvlink", "-cBridge") == (
        3, "This NvLink option is not supported.\n")


def test_errors_of_links_are_forgotten(smi):
    assert smi.one.ctl("set", "0", "nvlink.all.crc-flit=7").returncode == 0
    counts = ["nvlink", "-e", "-l", "2"]
    assert smi(*counts)[1].count("CRC Errors: 7") == 1
    assert smi("nvlink", "-re", "-l", "2") == (
        0, head(smi, 0) + "\t Link 2: Error counters were reset.\n" +
        head(smi, 1) + "\t Link 2: Error counters were reset.\n")
    assert "CRC Errors: 7" not in smi(*counts)[1]
    assert "CRC Errors: 7" in smi("nvlink", "-e", "-l", "3")[1]


AFFINITY = """
for i in range(count()):
    cpus, nodes = (ctypes.c_ulong * 64)(), (ctypes.c_ulong * 64)()
    assert nvml.nvmlDeviceGetCpuAffinity(device(i), 64, cpus) == 0
    assert nvml.nvmlDeviceGetMemoryAffinity(device(i), 64, nodes, 0) == 0
    print(sum(c << 64 * k for k, c in enumerate(cpus)),
          sum(n << 64 * k for k, n in enumerate(nodes)))
"""


def test_cpus_and_nodes_near_to_gpus(smi):
    """The lines of -c and -C are captured; NVML tells the same."""
    told = [[int(n) for n in line.split()]
            for line in smi.one.python(AFFINITY).splitlines()]
    for cpu in (0, 1, 4095, 4096, 10 ** 9):
        near = ", ".join(str(i) for i, (cpus, _) in enumerate(told)
                         if cpus >> cpu & 1)
        assert smi("topo", "-c", str(cpu)) == (
            0, f"The GPUs that have an affinity with CPU {cpu} are:\n{near}\n"
            if near else f"No GPUs have an affinity with CPU {cpu}.\n")
    nodes = [i for i in range(64) if told[1][1] >> i & 1]
    status, out = smi("topo", "-C", "-M", "-i", "1")
    first, second = out.splitlines()
    parts = re.findall(r"(\d+)(?:-(\d+))?", first.split(": ")[1])
    assert [n for a, b in parts for n in range(int(a), int(b or a) + 1)
            ] == nodes
    assert first.startswith("NUMA IDs of closest CPU: ")
    assert (status, second) == (0, "NUMA IDs of closest memory: N/A")
    assert smi("topo", "-gnid", "-i", "0") == (0, "NUMA ID of GPU: N/A\n")


def test_paths_between_gpus(machine):
    """That of multiple switches is captured."""
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:8"))
    words = {"PIX": "a single PCIe switch", "PXB": "multiple PCIe switches",
             "PHB": "a PCIe host bridge",
             "NODE": "an interconnect between PCIe host bridges",
             "SYS": "an SMP interconnect between NUMA nodes"}
    rows = [line.split("\t") for line in
            smi("topo", "-mp")[1].splitlines()[1:9]]
    seen = set()
    for other in range(1, 8):
        word = rows[0][1 + other].strip()
        seen.add(word)
        assert smi("topo", "-p", "-i", f"0,{other}") == (
            0, f"Device 0 is connected to device {other} by way of "
            f"{words[word]}.\n")
    assert len(seen) > 1
    for number, word in enumerate(["PIX", "PXB", "PHB", "NODE", "SYS"], 1):
        near = ", ".join(str(other) for other in range(1, 8)
                         if rows[0][1 + other].strip() == word)
        assert smi("topo", "-n", str(number), "-i", "0") == (
            0, f"Device 0 is connected by way of {words[word]} to device(s): "
            f"{near or 'none'}\n")


def test_places_that_have_none(smi, fail):
    fail("nvmlDeviceGetCpuAffinity", "NOT_SUPPORTED")
    assert smi("topo", "-c", "0") == (
        3, "Unable to get the CPU affinity: Not Supported\n")


def test_nodes_of_several_gpus(smi, fail):
    """Each line belongs to the GPU above; no failure is forgotten."""
    first, other = (smi("topo", "-C", "-M", "-gnid", "-i", gpu)[1]
                    for gpu in "01")
    assert smi("topo", "-C", "-M", "-gnid") == (
        0, f"GPU 0:\n{first}GPU 1:\n{other}")
    fail("nvmlDeviceGetMemoryAffinity", "UNKNOWN")
    for options in (["-C"], ["-C", "-gnid"]):
        assert smi("topo", *options, "-i", "0")[0] == 255


def test_a_nearest_gpu_without_an_index(machine):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:8"))
    near = smi("topo", "-n", "5", "-i", "0")[1].split("device(s): ")[1]
    first, *others = near.strip().split(", ")
    assert others
    assert smi.one.ctl("fail", first, "nvmlDeviceGetIndex=NVML_ERROR_UNKNOWN"
                       ).returncode == 0
    assert smi("topo", "-n", "5", "-i", "0")[1].endswith(
        f"device(s): {', '.join(others)}\n")


@pytest.mark.parametrize("args", [
    ["vgpu"], ["stats"], ["power-profiles", "-l"], ["conf-compute", "-f"],
    ["conf-compute", "-grs"], ["nvlink", "-cBridge"], ["-B"], ["-t", "0"]])
def test_what_asks_no_gpu_waits_for_none(smi, args):
    told = smi(*args)
    assert smi.one.ctl("fail", "0", "hang").returncode == 0
    try:
        begin = time.monotonic()
        assert smi(*args) == told
        assert time.monotonic() - begin < 20
    finally:
        smi.one.ctl("clear", "all", "hang")


@pytest.mark.parametrize("args", [
    ["-c", "-1"], ["-c", ""], ["-p"], ["-p", "-i", "0"], ["-p", "-i", "0,0"],
    ["-n", "6", "-i", "0"], ["-n", "1"], ["-n", "1", "-i", "0,1"],
    ["-C", "-m"], ["-c", "0", "-C"], ["-C", "-p", "-i", "0,1"]])
def test_what_topo_refuses(smi, args):
    assert smi("topo", *args)[0] == 2


@pytest.mark.parametrize("function, args, line", [
    ("nvmlDeviceGetCpuAffinity", ["-c", "0"],
     "Unable to get the CPU affinity: {}\n"),
    ("nvmlDeviceGetMemoryAffinity", ["-C", "-i", "0"],
     "NUMA IDs of closest CPU: {}\n"),
    ("nvmlDeviceGetTopologyCommonAncestor", ["-p", "-i", "0,1"],
     "Unable to get the path: {}\n"),
    ("nvmlDeviceGetTopologyNearestGpus", ["-n", "5", "-i", "0"],
     "Unable to get the nearest GPUs: {}\n")])
def test_places_that_cannot_be_read(smi, fail, function, args, line):
    for error, (text, status) in ERRORS.items():
        fail(function, error)
        assert smi("topo", *args) == (status, line.format(text))
