# SPDX-License-Identifier: Apache-2.0
"""A value that nvidia-smi shows as N/A on a board is refused with its profile;
a value that it shows is returned.

The facts are from nvidia-smi's captures of an H200, an H100 with MIG, a GeForce
RTX 2080 SUPER and a GeForce RTX 4080 SUPER (drivers 590 and 595).
"""

import json
import sys

import pytest

from peers import run

H200, MIG, TURING, ADA = BOARDS = ["h200", "h100-mig", "rtx-2080-ti",
                                   "rtx-4080-super"]
SERVERS, CONSUMER = {H200, MIG}, {TURING, ADA}
ALL = SERVERS | CONSUMER
# Of the captured boards, those that report each value.
TELL = {
    "n.nvmlDeviceGetSerial(d)": SERVERS,
    "n.nvmlDeviceGetBoardPartNumber(d)": SERVERS,
    "n.nvmlDeviceGetMigMode(d)": SERVERS,
    "n.nvmlDeviceGetAccountingMode(d)": ALL,
    "n.nvmlDeviceGetCurrentDriverModel(d)": set(),
    "n.nvmlDeviceGetInforomVersion(d, n.NVML_INFOROM_OEM)": ALL,
    "n.nvmlDeviceGetInforomVersion(d, n.NVML_INFOROM_POWER)": set(),
    "n.nvmlDeviceGetGpuOperationMode(d)": set(),
    "n.nvmlDeviceGetBridgeChipInfo(d)": set(),
    "n.nvmlDeviceGetHostVgpuMode(d)": set(),
    "n.nvmlDeviceGetC2cModeInfoV(d)": SERVERS,
    "n.nvmlDeviceGetGspFirmwareVersion(d)": ALL,
    "n.nvmlDeviceGetFanSpeed(d)": CONSUMER,
    "n.nvmlDeviceGetConfComputeProtectedMemoryUsage(d)": ALL,
    "n.nvmlDeviceGetUtilizationRates(d)": ALL - {MIG},
    "n.nvmlDeviceGetEncoderUtilization(d)": ALL - {MIG},
    "n.nvmlDeviceGetDecoderUtilization(d)": ALL - {MIG},
    "n.nvmlDeviceGetJpgUtilization(d)": ALL - {MIG},
    "n.nvmlDeviceGetOfaUtilization(d)": ALL - {MIG},
    "n.nvmlDeviceGetEncoderStats(d)": ALL,
    "n.nvmlDeviceGetFBCStats(d)": ALL,
    "n.nvmlDeviceGetDramEncryptionMode(d)": set(),
    "n.nvmlDeviceGetRetiredPages(d, 0)": set(),
    "n.nvmlDeviceGetRetiredPagesPendingStatus(d)": set(),
    "n.nvmlDeviceGetMarginTemperature(d)": SERVERS,
    "n.nvmlDeviceGetTemperatureThreshold(d, 5)": CONSUMER,
    "n.nvmlDeviceGetMaxCustomerBoostClock(d, 0)": SERVERS,
    "n.nvmlDeviceGetAutoBoostedClocksEnabled(d)": set(),
    "field(n.NVML_FI_DEV_MEMORY_TEMP, 0)": SERVERS,
    "field(n.NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT, 0)": SERVERS,
    "field(n.NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER, 0)": ALL,
    "field(n.NVML_FI_DEV_POWER_INSTANT, 0)": ALL,
    "field(n.NVML_FI_DEV_POWER_AVERAGE, 0)": ALL - {TURING},
    "field(n.NVML_FI_DEV_POWER_INSTANT, 1)": set(),
    "field(n.NVML_FI_DEV_POWER_AVERAGE, 2)": SERVERS,
    "field(n.NVML_FI_DEV_POWER_INSTANT, 2)": set(),
    "n.nvmlDeviceGetInforomVersion(d, n.NVML_INFOROM_ECC)": SERVERS,
    "n.nvmlDeviceGetEccMode(d)": SERVERS,
    "n.nvmlDeviceGetTotalEccErrors(d, 0, 0)": SERVERS,
    "n.nvmlDeviceGetMemoryErrorCounter(d, 1, 1, 2)": SERVERS,
    "n.nvmlDeviceGetMemoryErrorCounter(d, 1, 0, 7)": SERVERS,
    "n.nvmlDeviceGetMemoryErrorCounter(d, 1, 0, 1)": set(),
    "n.nvmlDeviceGetRowRemapperHistogram(d)": SERVERS,
    "n.nvmlDeviceGetRemappedRows(d)": {H200},
    "field(n.NVML_FI_DEV_REMAPPED_COR, 0)": {H200},
}

ASK = """
import json, sys, pynvml as n
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
def field(number, scope):
    told = n.nvmlDeviceGetFieldValues(d, [(number, scope)])[0]
    if told.nvmlReturn:
        raise n.NVMLError(told.nvmlReturn)
    return told.value.ullVal
def ask(what):
    try:
        eval(what)
        return True
    except n.NVMLError_NotSupported:
        return False
json.dump({what: ask(what) for what in json.loads(sys.argv[1])}, sys.stdout)
"""


@pytest.mark.parametrize("board", BOARDS)
def test_as_captured(machine, board):
    told = json.loads(run([sys.executable, "-c", ASK,
                           json.dumps(list(TELL))],
                          machine("--gpus", board).env))
    assert told == {what: board in boards for what, boards in TELL.items()}


DISPLAYS = """
import pynvml as n
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
print(n.nvmlDeviceGetDisplayMode(d), n.nvmlDeviceGetDisplayActive(d))
"""


@pytest.mark.parametrize("board", sorted(SERVERS))
def test_a_display_is_attached_but_not_active(machine, board):
    told = run([sys.executable, "-c", DISPLAYS],
               machine("--gpus", board).env)
    assert told.split() == ["1", "0"]


POWERS = """
import pynvml as n
n.nvmlInit()
for i in range(n.nvmlDeviceGetCount()):
    print(n.nvmlDeviceGetPowerUsage(n.nvmlDeviceGetHandleByIndex(i)))
"""


def test_power_is_an_average_where_it_is_told(machine):
    """The captures' power.draw equals power.draw.average where there is one."""
    one = machine("--gpus", "h100,a100-sxm4-80gb,rtx-4090,t4")
    one.ctl("set", "all", "power-average=60W")
    now = [int(line) for line in
           run([sys.executable, "-c", POWERS], one.env).split()]
    assert [power == 60000 for power in now] == [True, False, True, False]
