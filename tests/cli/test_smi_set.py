# SPDX-License-Identifier: Apache-2.0
"""The options of `gpukit smi` that change a GPU are tested here: their lines,
their exit codes, and the effect as queries read it back. Lines that public
text tells are those of docs/SMI.md; the others are ours."""

import json
import os
import signal
import time

import pytest

from conftest import Machine
from smi_tools import Smi
from stranger import NOBODY, run_as

GPUS = ["00000000:07:00.0", "00000000:0F:00.0", "00000000:17:00.0"]
DONE = "All done.\n"
WARNING = "Treating as warning and moving on.\n"
STOPPED = "Terminating early due to previous errors.\n"
FORGOTTEN = (
    "\nWarning: persistence mode is disabled on device {}. See the Known "
    "Issues section of the nvidia-smi(1) man page for more information. Run "
    "with [--help | -h] switch to get more information on how to enable "
    "persistence mode.\n")
COMBINATION = (
    'Specified clock combination "(MEM 715, SM 111)" is not supported for GPU '
    "{}. Run 'nvidia-smi -q -d SUPPORTED_CLOCKS' to see list of supported "
    "clock combinations\n")
DENIED_CLOCKS = (
    "The current user does not have permission to change clocks for GPU {}.\n")


@pytest.fixture(name="a100", scope="module")
def fixture_a100(gpukit, tmp_path_factory):
    del gpukit  # it is there
    one = Machine(tmp_path_factory.mktemp("smi") / "a100", "--gpus",
                  "a100-sxm4-80gb:3", "--driver", "580")
    yield Smi(one)
    one.stop()


def each(line, gpus=None):
    return "".join(line.format(gpu) for gpu in gpus or GPUS)


# The arguments, the lines for each GPU, the field, its values afterwards.
# Each row finds the machine as the rows before it have left it.
ROWS = [
    (["-pm", "1"], "Persistence mode is already Enabled for GPU {}.\n",
     "persistence_mode", ["Enabled"] * 3),
    (["-pl", "300"],
     "Power limit for GPU {} was set to 300.00 W from 400.00 W.\n",
     "power.limit", ["300.00"] * 3),
    (["--power-limit=250.5"],
     "Power limit for GPU {} was set to 250.50 W from 300.00 W.\n",
     "power.limit", ["250.50"] * 3),
    (["-lgc", "300,1200"],
     'GPU clocks set to "(gpuClkMin 300, gpuClkMax 1200)" for GPU {}\n',
     "sm-clock-lock-max", [1200] * 3),
    (["-lgc", "1005"],
     'GPU clocks set to "(gpuClkMin 1005, gpuClkMax 1005)" for GPU {}\n',
     "sm-clock-lock-min", [1005] * 3),
    (["-lgc", "0,5000"],
     'GPU clocks set to "(gpuClkMin 0, gpuClkMax 1410)" for GPU {}\n',
     "sm-clock-lock-max", [1410] * 3),
    (["-lgc", "tdp,tdp"],
     'GPU clocks set to "(gpuClkMin tdp, gpuClkMax tdp)" for GPU {}\n',
     "sm-clock-lock-min", [1410] * 3),
    (["-rgc"], "", "sm-clock-lock-min", [210] * 3),
    (["-lmc", "1593,1593"],
     'Memory clocks set to "(memClkMin 1593, memClkMax 1593)" for GPU {}\n',
     "memory-clock-lock-min", [1593] * 3),
    (["-ac", "1593,1200"],
     'Applications clocks set to "(MEM 1593, SM 1200)" for GPU {}\n',
     "clocks.applications.graphics", ["1200"] * 3),
    (["-rac"], "", "clocks.applications.graphics", ["1140"] * 3),
    (["-c", "3"], "Set compute mode to EXCLUSIVE_PROCESS for GPU {}.\n",
     "compute_mode", ["Exclusive_Process"] * 3),
    (["-c", "EXCLUSIVE_PROCESS"],
     "Compute mode is already set to EXCLUSIVE_PROCESS for GPU {}.\n",
     "compute_mode", ["Exclusive_Process"] * 3),
    (["-c", "DEFAULT"], "Set compute mode to DEFAULT for GPU {}.\n",
     "compute_mode", ["Default"] * 3),
    (["-am", "1"], "Enabled Accounting Mode for GPU {}.\n",
     "accounting.mode", ["Enabled"] * 3),
    (["-am", "1"], "Accounting Mode is already Enabled for GPU {}.\n",
     "accounting.mode", ["Enabled"] * 3),
    (["-am", "0"], "Disabled Accounting Mode for GPU {}.\n",
     "accounting.mode", ["Disabled"] * 3),
    (["-mig", "1"], "Enabled MIG Mode for GPU {}\n",
     "mig.mode.current", ["Enabled"] * 3),
    (["-mig", "0"], "Disabled MIG Mode for GPU {}\n",
     "mig.mode.current", ["Disabled"] * 3),
    (["-ac", "715,111"], COMBINATION + WARNING, None, None),
    (["-gtt", "80"], "Changing GPU target temperature is not supported for "
                     "GPU: {}.\n" + WARNING, None, None),
    (["--gom=0"], 'Unable to set GOM to "All On" for GPU {}: Not Supported\n'
     + WARNING, None, None),
    (["-lmcd", "1593"], "Setting deferred locked Memory clocks is not "
                        "supported for GPU {}.\n" + WARNING, None, None),
    (["-cc", "1"], "Setting CUDA clocks is not supported for GPU {}.\n"
     + WARNING, None, None),
]


def test_each_option_changes_all_gpus(a100):
    for args, line, field, values in ROWS:
        assert a100(*args) == (0, each(line) + DONE), args
        if field:
            assert a100.told(field) == values, args


def test_gpus_are_chosen_by_index_bus_and_uuid(a100):
    uuid = a100.values("uuid")[2]
    assert a100("-pl", "250.5")[0] == 0
    line = "Power limit for GPU {} was set to 200.00 W from 250.50 W.\n"
    assert a100("-pl", "200", "-i", f"{uuid},0000:07:00.0") == (
        0, each(line, [GPUS[0], GPUS[2]]) + DONE)
    assert a100.values("power.limit") == ["200.00", "250.50", "200.00"]
    assert a100("-i", "1", "-pl", "200") == (
        0, line.format(GPUS[1]) + DONE)
    for none in ("3", "", "1,", ",1", "-0", "+1", "0x1",
                 "0x0000:0x07:0x00.0x0", "100000000:07:00.0", "07:00.0x",
                 "0000:07:00"):
        assert a100("-pl", "210", "-i", none) == (6, "No devices were found\n")
    assert a100.values("power.limit") == ["200.00"] * 3


def test_who_has_no_uuid_is_not_named_by_an_empty_word(machine):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:2"))
    before = smi.values("power.limit")
    assert smi.one.ctl("fail", "0", "nvmlDeviceGetUUID=NVML_ERROR_UNKNOWN"
                       ).returncode == 0
    for none in ("", "1,"):
        assert smi("-pl", "310", "-i", none) == (6, "No devices were found\n")
    assert smi.values("power.limit") == before


def test_a_gpu_that_is_not_found_again_is_told(machine):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:2", "--driver", "580"))
    assert smi("-pm", "0")[0] == 0
    assert smi.one.ctl("fail", "nvmlDeviceDiscoverGpus=NVML_ERROR_NOT_SUPPORTED"
                       ).returncode == 0
    gpu = smi.values("pci.bus_id")[0]
    assert smi("-r") == (
        255, f"GPU {gpu} was taken out of the driver, which does not find it "
        "again: Not Supported\n" + STOPPED)
    assert len(smi.values("uuid")) == 1  # the other one was not touched
    assert smi("drain", "-q", "-p", gpu)[0] != 6


def test_a_failed_reset_leaves_a_drain(machine):
    smi = Smi(machine("--gpus", "t4", "--load", "train:0"))
    gpu = smi.values("pci.bus_id")[0]
    assert smi("-pm", "0")[0] == 0
    assert smi("drain", "-p", gpu, "-m", "1")[0] == 0
    assert smi("-r", "-i", "0")[0] == 255
    assert smi("drain", "-q", "-p", gpu)[1].endswith("is: draining.\n")


def test_ecc_changes_at_a_reset(a100):
    assert a100("-e", "0", "-i", "1") == (
        0, f"Disabled ECC support for GPU {GPUS[1]}.\n" + DONE +
        "Reboot required.\n")
    assert a100("-e", "0", "-i", "1") == (
        0, f"ECC support is already Disabled for GPU {GPUS[1]}.\n" + DONE)
    assert a100.values("ecc.mode.current") == ["Enabled"] * 3
    assert a100.values("ecc.mode.pending") == ["Enabled", "Disabled",
                                               "Enabled"]
    busy = a100("--gpu-reset", "-i", "1")
    assert busy == (
        255, "The following GPUs could not be reset:\n"
        f"  GPU {GPUS[1]}: In use by another client\n\n"
        "1 device is currently being used by one or more other processes "
        "(e.g., Fabric Manager, CUDA application, graphics application such "
        "as an X server, or a monitoring application such as another instance "
        "of nvidia-smi). Please first kill all processes using this device "
        "and all compute applications running in the system.\n")
    assert a100("-pm", "0", "-i", "1") == (
        0, f"Disabled persistence mode for GPU {GPUS[1]}.\n" + DONE)
    assert a100("-r", "-i", "1") == (
        0, f"GPU {GPUS[1]} was successfully reset.\n" + DONE)
    assert a100.values("ecc.mode.current") == ["Enabled", "Disabled",
                                               "Enabled"]
    assert a100("-r") == (
        255, f"GPU {GPUS[1]} was successfully reset.\n" +
        busy[1].replace(f"  GPU {GPUS[1]}: In use by another client\n", each(
            "  GPU {}: In use by another client\n", [GPUS[0], GPUS[2]]))
        .replace("1 device is", "2 devices are")
        .replace("this device", "these devices"))
    assert a100("-lgc", "900", "-i", "0,1") == (
        0, each('GPU clocks set to "(gpuClkMin 900, gpuClkMax 900)" for GPU '
                "{}\n", GPUS[:2]) + FORGOTTEN.format(GPUS[1]) + DONE)
    assert a100("-pm", "1", "-i", "1") == (
        0, f"Enabled Legacy persistence mode for GPU {GPUS[1]}.\n" + DONE)


# ---- changes that NVML shows to another program ----

NUMBER = """
def number(function, *args, of=ctypes.c_uint):
    told = []
    for i in range(count()):
        value = of()
        r = getattr(nvml, function)(device(i), *args, ctypes.byref(value))
        told.append(value.value if r == 0 else -r)
    return told
"""
MEMORY_CLOCK = 'number("nvmlDeviceGetClockInfo", 2)'
ECC = ('number("nvmlDeviceGetTotalEccErrors", {}, {}, of=ctypes.c_ulonglong)')
RESTRICTION = 'number("nvmlDeviceGetAPIRestriction", 0)'
LIMIT = 'number("nvmlDeviceGetPowerManagementLimit")'


def by_nvml(smi, *expressions):
    """Values of all GPUs, asked through NVML without gpukit smi."""
    return [json.loads(line) for line in smi.one.python(NUMBER + "".join(
        f"print({e})\n" for e in expressions)).splitlines()]


def await_nvml(smi, expression, values):
    """Clocks follow with the time of the machine."""
    until = time.monotonic() + 30
    while by_nvml(smi, expression) != [values]:
        assert time.monotonic() < until, by_nvml(smi, expression)


def test_memory_clocks_are_locked_and_unlocked(machine):
    smi = Smi(machine("--gpus", "rtx-3090:2"))
    await_nvml(smi, MEMORY_CLOCK, [405, 405])
    assert smi("-lmc", "5000,9000", "-i", "1")[0] == 0
    await_nvml(smi, MEMORY_CLOCK, [405, 5000])
    assert smi("-rmc", "-i", "1") == (0, DONE)
    await_nvml(smi, MEMORY_CLOCK, [405, 405])


@pytest.mark.parametrize("word, number, name", [
    ("0", 0, "volatile"), ("AGGREGATE", 1, "aggregate")])
def test_ecc_errors_are_forgotten(machine, word, number, name):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:2"))
    for gpu in "01":
        for kind, errors in (("sec-ded", 3), ("corrected", 5)):
            assert smi.one.ctl("ecc", gpu, kind, "dram", errors
                               ).returncode == 0
    counts = [ECC.format(kind, counter) for kind in (0, 1)
              for counter in (0, 1)]
    assert by_nvml(smi, *counts) == [[5, 5], [5, 5], [3, 3], [3, 3]]
    gpu = smi.values("pci.bus_id")[0]
    assert smi("-p", word, "-i", "0") == (
        0, f"Reset {name} ECC errors to zero for GPU {gpu}.\n" + DONE)
    cleared = [[5, 5], [5, 5], [3, 3], [3, 3]]
    cleared[number][0] = cleared[2 + number][0] = 0
    assert by_nvml(smi, *counts) == cleared


def test_who_may_set_applications_clocks(a100):
    line = "Applications clocks commands have been set to {} for GPU {}\n"
    assert by_nvml(a100, RESTRICTION) == [[1, 1, 1]]
    assert a100("-acp", "0", "-i", "1") == (
        0, line.format("UNRESTRICTED", GPUS[1]) + DONE)
    assert by_nvml(a100, RESTRICTION) == [[1, 0, 1]]
    assert a100("-acp", "RESTRICTED") == (
        0, "".join(line.format("RESTRICTED", gpu) for gpu in GPUS) + DONE)
    assert by_nvml(a100, RESTRICTION) == [[1, 1, 1]]


ACCOUNTS = """
for i in range(count()):
    n, pids = ctypes.c_uint(100), (ctypes.c_uint * 100)()
    assert nvml.nvmlDeviceGetAccountingPids(device(i), ctypes.byref(n), pids
                                            ) == 0
    print(n.value)
"""


def test_accounts_are_forgotten(machine):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:2", "--load", "train:all"))
    assert smi("-am", "1")[0] == 0
    until = time.monotonic() + 30
    while "0" in smi.one.python(ACCOUNTS).split():
        assert time.monotonic() < until, "no account"
    gpu = smi.values("pci.bus_id")[1]
    # A running process would be counted again at once.
    apps = ["--query-compute-apps=pid", "--format=csv,noheader"]
    for pid in set(smi(*apps)[1].split()):
        os.kill(int(pid), signal.SIGKILL)
    while smi(*apps)[1]:
        assert time.monotonic() < until, "they do not end"
    assert "0" not in smi.one.python(ACCOUNTS).split()
    assert smi("-caa", "-i", "1") == (
        0, f"Cleared Accounted PIDs for GPU {gpu}.\n" + DONE)
    told = smi.one.python(ACCOUNTS).split()
    assert told[0] != "0" and told[1] == "0"


def test_a_wrong_value_stops(machine):
    """60 W are too little for the first board, and just enough for the second;
    90 W for none of them."""
    smi = Smi(machine("--gpus", "a100-sxm4-80gb,t4"))
    buses = smi.values("pci.bus_id")
    line = ("Provided power limit {} W is not a valid power limit which should "
            "be between {} W and {} W for GPU {}\n")
    assert by_nvml(smi, LIMIT) == [[400000, 70000]]
    assert smi("-pl", "60") == (
        2, line.format("60.00", "100.00", "400.00", buses[0]) + STOPPED)
    assert by_nvml(smi, LIMIT) == [[400000, 70000]]
    assert smi("-pl", "60", "-i", "1")[0] == 0
    assert by_nvml(smi, LIMIT) == [[400000, 60000]]
    assert smi("-pl", "300") == (
        2, f"Power limit for GPU {buses[0]} was set to 300.00 W from 400.00 W."
        "\n" + line.format("300.00", "60.00", "70.00", buses[1]) + STOPPED)
    assert by_nvml(smi, LIMIT) == [[300000, 60000]]
    before = [gpu["values"]["sm-clock-lock-max"] for gpu in
              smi.one.show()["gpus"]]
    assert smi("-lgc", "1200,300") == (
        2, "Unable to set locked GPU clocks for GPU "
        f"{buses[0]}: Invalid Argument\n" + STOPPED)
    assert before == [gpu["values"]["sm-clock-lock-max"] for gpu in
                      smi.one.show()["gpus"]]


@pytest.mark.parametrize("args", [
    ["-pm", "2"], ["-pm", "on"], ["-pl", "much"], ["-pl", ""], ["-ac", "715"],
    ["-lgc", "1,2,3"], ["-lgc", ""], ["-gtt", "-1"], ["-pm", "1", "-pl", "200"],
    ["-sc", "1"], ["-sc", "0"], ["-sc", "1", "-pm", "1"], ["-q", "-sc", "1"],
    ["-pl", "200", "-l", "1"], ["-pl", "200", "-l"], ["-r", "-lms", "9"],
    ["-pl", "200", "-lms", "500"], ["-f", "/nowhere/x", "-pm", "1"],
    ["-B", "-f", "/nowhere/x"], ["-rgc", "-l", "5"],
    ["-pm", "1", "-q"], ["-r", "-pm", "1"], ["-r", "gently"],
    ["-pl", "60", "-sc", "2"], ["-rgc=1"],
    ["-pl", "0x12c"], ["-pl", "3e2"], ["-pl", "inf"], ["-pl", " 300"],
    ["-pl", "+300"], ["-pl", "."], ["-pl", "300.5.5"], ["-pl", "1000000"],
    ["-lgc", "0x384"], ["-lgc", "+900"], ["-lgc", "-0"], ["-ac", "0x1,2"],
    ["-lgc", "0" * 70 + "900"], ["-gtt", "4294967296"], ["-gtt", "0x50"],
    ["-pm", "0x1"], ["-pm", "-0"], ["-vm", "2"], ["-vm", ""]])
def test_arguments_that_make_no_sense(a100, args):
    assert a100(*args) == (
        2, "Invalid combination of input arguments. Please run 'nvidia-smi "
           "-h' for help.\n\n")


@pytest.mark.parametrize("args, line", [
    (["-pm", "0"],
     "Unable to set persistence mode for GPU {}: Insufficient Permissions\n"),
    (["-pl", "300"], "Failed to set power management limit for GPU {}: "
                     "Insufficient Permissions\n"),
    (["-lgc", "900"], DENIED_CLOCKS), (["-rgc"], DENIED_CLOCKS),
    (["-lmc", "1593"], DENIED_CLOCKS), (["-rmc"], DENIED_CLOCKS),
    (["-ac", "1593,1200"], DENIED_CLOCKS), (["-rac"], DENIED_CLOCKS),
    (["-mig", "1"],
     "Unable to enable MIG Mode for GPU {}: Insufficient Permissions\n"),
    (["-c", "3"],
     "Unable to set compute mode for GPU {}: Insufficient Permissions\n"),
    (["-e", "0"],
     "Unable to set ECC mode for GPU {}: Insufficient Permissions\n"),
    (["-am", "1"],
     "Unable to set Accounting Mode for GPU {}: Insufficient Permissions\n"),
    (["-r"], "Unable to reset GPU {}: Insufficient Permissions\n"),
])
def test_other_users_may_not(machine, args, line):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:3"), allowed="none")
    before = smi.values("persistence_mode,power.limit,compute_mode,"
                        "ecc.mode.pending,mig.mode.pending")
    assert smi(*args) == (4, line.format(GPUS[0]) + STOPPED)
    assert smi.values("persistence_mode,power.limit,compute_mode,"
                      "ecc.mode.pending,mig.mode.pending") == before


def test_another_user_may_not(open_build):
    """The rule of a real driver, on a machine that a stranger has made."""
    done = run_as(NOBODY, os.path.join(open_build, "bin", "gpukit"), "fake",
                  "--gpus", "t4", "--", "nvidia-smi", "-pm", "0")
    gpu = "00000000:07:00.0"
    assert (done.returncode, done.stdout) == (
        4, "Unable to set persistence mode for GPU "
           f"{gpu}: Insufficient Permissions\n" + STOPPED), done.stderr


@pytest.mark.parametrize("args, line", [
    (["-lmc", "5000"], "Setting locked Memory clocks is not supported for GPU "
                       "{}.\n"),
    (["-mig", "1"], "Unable to enable MIG Mode for GPU {}: Not Supported\n"),
    (["-mig", "0"], "Unable to disable MIG Mode for GPU {}: Not Supported\n"),
    (["-pl", "60", "-sc", "1"], "Changing power management limit is not "
     "supported in current scope for GPU: {}.\n"),
])
def test_a_board_that_cannot(machine, args, line):
    smi = Smi(machine("--gpus", "t4"))
    gpu = smi.values("pci.bus_id")[0]
    assert smi(*args) == (0, line.format(gpu) + WARNING + DONE)
    assert smi(*args, "-eow") == (3, line.format(gpu) + WARNING + DONE)


def test_a_limit_of_the_module_that_is_out_of_range(a100):
    """No made-up board has such limits, so the driver's answer is forced."""
    call = "nvmlDeviceSetPowerManagementLimit_v2"
    fail = a100.one.ctl("fail", f"{call}=NVML_ERROR_INVALID_ARGUMENT")
    assert fail.returncode == 0
    try:
        for scope in ("1", "total_module"):
            assert a100("-pl", "90", "-sc", scope) == (
                2, "Provided power limit 90.00 W is not a valid power limit "
                "which should be between N/A W and N/A W for GPU "
                f"{GPUS[0]}\n" + STOPPED)
    finally:
        assert a100.one.ctl("clear", call).returncode == 0


@pytest.mark.parametrize("args, line", [
    (["-lmc", "100,900"],
     "Setting locked Memory clocks is not supported for GPU {}.\n"),
    (["-rmc"], "Resetting locked Memory clocks is not supported for GPU {}.\n"),
    (["-ac", "8533,1000"],
     "Setting applications clocks is not supported for GPU {}.\n"),
    (["-rac"], "Resetting applications clocks is not supported for GPU {}.\n"),
    (["-pl", "50"], "Changing power management limit is not supported in "
                    "current scope for GPU: {}.\n"),
])
def test_a_board_with_the_memory_of_its_host(machine, args, line):
    smi = Smi(machine("--gpus", "gb10", "--driver", "580"))
    gpu = smi.values("pci.bus_id")[0]
    assert smi(*args) == (0, line.format(gpu) + WARNING + DONE)


def test_a_driver_that_refuses_clocks_a_board_lacks_as_invalid(a100):
    answers = ["nvmlDeviceGetMaxClockInfo=NVML_ERROR_NOT_SUPPORTED",
               "nvmlDeviceSetMemoryLockedClocks=NVML_ERROR_INVALID_ARGUMENT",
               "nvmlDeviceSetApplicationsClocks=NVML_ERROR_INVALID_ARGUMENT"]
    assert a100.one.ctl("fail", *answers).returncode == 0
    try:
        for option, what in (("-lmc", "locked Memory"), ("-ac", "applications")):
            assert a100(option, "1593,1200", "-i", "0") == (
                0, f"Setting {what} clocks is not supported for GPU "
                f"{GPUS[0]}.\n" + WARNING + DONE)
    finally:
        for answer in answers:
            assert a100.one.ctl("clear", answer.split("=")[0]).returncode == 0


@pytest.mark.parametrize("driver, args, line", [
    ("535", ["-pm", "1"], "Enabled persistence mode for GPU {}.\n"),
    ("580", ["-pm", "1"], "Enabled Legacy persistence mode for GPU {}.\n"),
    ("590", ["-ac", "5001,1590"],
     "Setting applications clocks is not supported for GPU {}.\n" + WARNING),
])
def test_words_of_a_generation(machine, driver, args, line):
    smi = Smi(machine("--gpus", "t4", "--driver", driver), driver)
    gpu = smi.values("pci.bus_id")[0]
    assert smi("-pm", "0")[0] == 0
    assert smi(*args) == (0, line.format(gpu) + DONE)


@pytest.mark.parametrize("args, line", [
    (["--gom", "ALL_ON"],
     'Unable to set GOM to "All On" for GPU {}: Not Supported\n'),
    (["--gom", "low_dp"], 'Unable to set GOM to "Low Double Precision" for GPU '
                          "{}: Not Supported\n"),
    (["-vm", "VGPU"],
     "Unable to set virtualization mode for GPU {}: Not Supported\n"),
    (["-cc", "RESTORE_DEFAULT"],
     "Setting CUDA clocks is not supported for GPU {}.\n"),
])
def test_words_of_the_tool_for_values(a100, args, line):
    assert a100(*args) == (0, each(line + WARNING) + DONE)


def test_a_reset_mends_what_a_reset_mends(machine):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:2"))
    assert smi("-pm", "0")[0] == 0
    assert smi.one.ctl("fail", "1", "reset-required").returncode == 0
    assert smi.values("temperature.gpu")[1] == "[GPU requires reset]"
    assert smi("-r", "-i", "1")[0] == 0
    assert smi.values("temperature.gpu")[1].isdigit()


def test_a_busy_gpu_changes_to_mig_mode_later(machine):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb", "--load", "train:0"))
    gpu = smi.values("pci.bus_id")[0]
    assert smi("-mig", "1") == (
        0, "Warning: MIG mode is in pending enable state for GPU "
        f"{gpu}:In use by another client\n{gpu} is currently being used by one "
        "or more other processes (e.g. CUDA application or a monitoring "
        "application such as another instance of nvidia-smi). Please first "
        "kill all processes using the device and retry the command or reboot "
        "the system to make MIG mode effective.\n" + DONE)
    assert smi.values("mig.mode.current") == ["Disabled"]
    assert smi.values("mig.mode.pending") == ["Enabled"]


def test_a_target_temperature(machine):
    smi = Smi(machine("--gpus", "rtx-3090"))
    gpu = smi.values("pci.bus_id")[0]
    assert smi("-gtt", "80") == (
        0, f"GPU target temperature for GPU {gpu} was set to 80 C from 83 C.\n"
        + DONE)
    assert smi("-gtt", "20") == (
        2, "Provided target temperature 20 C is not a valid target temperature "
        f"which should be between 65 C and 91 C for GPU {gpu}\n" + STOPPED)
    for odd in ("94", "4294967295", "2147483648"):
        assert smi("-gtt", odd) == (
            2, f"Provided target temperature {odd} C is not a valid target "
            "temperature which should be between 65 C and 91 C for GPU "
            f"{gpu}\n" + STOPPED)
    status, out = smi("-q", "-d", "TEMPERATURE")
    assert status == 0 and "GPU Target Temperature" in out
    assert ": 80 C\n" in out.split("GPU Target Temperature")[1]


@pytest.mark.parametrize("error, status", [
    ("IRQ_ISSUE", 10), ("TIMEOUT", 255), ("GPU_IS_LOST", 15),
    ("CORRUPTED_INFOROM", 14), ("INSUFFICIENT_POWER", 8)])
def test_the_status_of_another_error(a100, error, status):
    """nvidia-smi's manual has 10 for interrupts, where NVML has 11."""
    call = "nvmlDeviceSetComputeMode"
    assert a100.one.ctl("fail", f"{call}=NVML_ERROR_{error}").returncode == 0
    try:
        assert a100("-c", "3")[0] == status
    finally:
        assert a100.one.ctl("clear", call).returncode == 0
