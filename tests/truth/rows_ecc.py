# SPDX-License-Identifier: Apache-2.0
"""ECC, its errors, and what was done about them."""

import ctypes

import pynvml

from nvml_client import UINT, ULL, made, structure, versioned
from truth import Changes, Ctl, Sets, of_device

CORRECTED = pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED
UNCORRECTED = pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
VOLATILE, AGGREGATE = pynvml.NVML_VOLATILE_ECC, pynvml.NVML_AGGREGATE_ECC
L1, L2, DRAM, REGISTERS, SRAM = (
    pynvml.NVML_MEMORY_LOCATION_L1_CACHE, pynvml.NVML_MEMORY_LOCATION_L2_CACHE,
    pynvml.NVML_MEMORY_LOCATION_DRAM,
    pynvml.NVML_MEMORY_LOCATION_REGISTER_FILE,
    pynvml.NVML_MEMORY_LOCATION_SRAM)
OLD = ("--gpus", "v100-sxm2-32gb")
HOPPER = ("--gpus", "h100-80gb-hbm3")
NEW = ("--gpus", "b200")
RESET = Ctl("reset-gpu", 0)

DETAILED = structure(("l1", ULL), ("l2", ULL), ("dram", ULL),
                     ("registers", ULL))
SRAM_STATUS = versioned(pynvml.c_nvmlEccSramErrorStatus_v1_t, 1)
REPAIRS = made(pynvml.c_nvmlRepairStatus_t,
               version=pynvml.nvmlRepairStatus_v1)
HISTOGRAM = pynvml.c_nvmlRowRemapperHistogramValues
ROWS_V2 = structure(*((name, UINT) for name in (
    "corr_active", "corr_inactive", "unc_active", "unc_inactive", "pending",
    "failed")))


def errors(*args):
    """Causes errors: kind, place, count."""
    return Ctl("ecc", 0, *args)


def by_location(c):
    """The counts of each location that the board reports, and whether their sum
    is the total that another function reports."""
    told = [c.call(c.function, c.device, UNCORRECTED, AGGREGATE, place, ULL)
            for place in (DRAM, SRAM)]
    total = c.nvml.nvmlDeviceGetTotalEccErrors(c.device, UNCORRECTED,
                                               AGGREGATE)
    return told, sum(told) == total


def totals(c):
    """Volatile and aggregate, corrected and uncorrected."""
    return [c.call(c.function, c.device, kind, counter, ULL)
            for counter in (VOLATILE, AGGREGATE)
            for kind in (CORRECTED, UNCORRECTED)]


def sram(c):
    told = c.call(c.function, c.device, SRAM_STATUS())
    return [told[key] for key in (
        "aggregateUncParity", "aggregateUncSecDed", "aggregateCor",
        "volatileUncParity", "aggregateUncBucketL2", "aggregateUncBucketSm",
        "bThresholdExceeded")]


def uniques(c):
    """Each SRAM address that failed: whether it was parity, and how often."""
    entry = pynvml.c_nvmlEccSramUniqueUncorrectedErrorEntry_v1_t
    kind = pynvml.c_nvmlEccSramUniqueUncorrectedErrorCounts_v1_t
    asked = versioned(kind, 1)()
    c.call(c.function, c.device, asked)
    room = (entry * 8)()
    asked.entries, asked.entryCount = room, 8
    c.call(c.function, c.device, asked)
    return [(one.isParity, one.count) for one in room[:asked.entryCount]]


def pages(cause, *more):
    """Addresses of the pages retired for a cause; all on a 64 KiB boundary."""
    def ask(c):
        count = UINT(8)
        lists = [(ULL * 8)() for _ in range(1 + len(more))]
        c.call(c.function, c.device, cause, ctypes.byref(count), *lists)
        return [tuple(told[i] for told in lists) for i in range(count.value)]
    return ask


def dated_pages(told):
    """Checks for one page, retired in this century."""
    return len(told) == 1 and told[0][0] % 65536 == 0 and \
        told[0][1] > 1_000_000_000


def ecc_modes(c):
    return c.call("nvmlDeviceGetEccMode", c.device, UINT, UINT)


ROWS = [
    Changes("nvmlDeviceGetTotalEccErrors", totals,
            [errors("corrected", "dram", 3), errors("parity", "l2", 2), RESET,
             errors("corrected", "l1")],
            before=[0, 0, 0, 0], after=[1, 0, 4, 2]),
    Changes("nvmlDeviceGetMemoryErrorCounter", by_location,
            [errors("sec-ded", "dram", 2), errors("parity", "shared", 3),
             errors("sec-ded", "mcu", 4)],
            before=([0, 0], True), after=([2, 7], True)),
    Changes("nvmlDeviceGetDetailedEccErrors",
            of_device(UNCORRECTED, VOLATILE, DETAILED),
            [errors("parity", "l1"), errors("parity", "l2", 2),
             errors("sec-ded", "dram", 3),
             errors("sec-ded", "register-file", 4)], machine=OLD,
            before={"l1": 0, "l2": 0, "dram": 0, "registers": 0},
            after={"l1": 1, "l2": 2, "dram": 3, "registers": 4}),
    Changes("nvmlDeviceGetSramEccErrorStatus", sram,
            [errors("parity", "l2", 12), errors("sec-ded", "register-file", 3),
             errors("corrected", "pcie", 5), errors("sec-ded", "dram")],
            before=[0] * 7, after=[12, 3, 5, 12, 12, 3, 1]),
    Changes("nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts", uniques,
            [errors("parity", "l2", 12), errors("sec-ded", "mcu", 3)],
            machine=NEW, before=[], after=[(1, 12), (0, 3)]),
    Sets("nvmlDeviceClearEccErrorCounts",
         lambda c: c.call(c.function, c.device, VOLATILE),
         lambda c: (c.call("nvmlDeviceGetTotalEccErrors", c.device, CORRECTED,
                           VOLATILE, ULL),
                    c.call("nvmlDeviceGetTotalEccErrors", c.device, CORRECTED,
                           AGGREGATE, ULL)),
         before=(2, 2), after=(0, 2), given=[errors("corrected", "dram", 2)]),
    Changes("nvmlDeviceGetRemappedRows", of_device(UINT, UINT, UINT, UINT),
            [errors("sec-ded", "dram", 2), errors("corrected", "dram", 2)],
            before=(0, 0, 0, 0), after=(1, 2, 1, 0)),
    Changes("nvmlDeviceGetRemappedRows_v2", of_device(ROWS_V2),
            [errors("sec-ded", "dram", 2), RESET, errors("sec-ded", "dram")],
            driver="610",
            before=lambda told: not any(told.values()),
            after={"corr_active": 0, "corr_inactive": 0, "unc_active": 2,
                   "unc_inactive": 1, "pending": 1, "failed": 0}),
    Changes("nvmlDeviceGetRowRemapperHistogram", of_device(HISTOGRAM),
            errors("sec-ded", "dram"), machine=HOPPER,
            before={"max": 2560, "high": 0, "partial": 0, "low": 0, "none": 0},
            after={"max": 2559, "high": 1, "partial": 0, "low": 0,
                   "none": 0}),
    Changes("nvmlDeviceGetRetiredPages",
            pages(pynvml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR),
            errors("sec-ded", "dram"), machine=OLD, before=[],
            after=lambda told: len(told) == 1 and told[0][0] % 65536 == 0),
    Changes("nvmlDeviceGetRetiredPages_v2",
            pages(
                pynvml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
                "times"),
            [errors("corrected", "dram"), errors("corrected", "dram", 2)],
            machine=OLD, before=[], after=dated_pages),
    Changes("nvmlDeviceGetRetiredPagesPendingStatus", of_device(UINT),
            errors("sec-ded", "dram"), machine=OLD, before=0, after=1),
    Changes("nvmlDeviceGetRepairStatus",
            of_device(REPAIRS, pick=lambda told: (
                told["bChannelRepairPending"], told["bTpcRepairPending"])),
            errors("parity", "l1", 11), before=(0, 0), after=(0, 1)),
    Changes("nvmlDeviceGetUnrepairableMemoryFlag_v1",
            of_device(structure(("flag", UINT))),
            Ctl("fail", 0, "row-remap-failure"), machine=HOPPER, driver="590",
            before={"flag": 0}, after={"flag": 1}),
    Changes("nvmlDeviceGetEccMode", of_device(UINT, UINT),
            Ctl("set", 0, "ecc=0"), before=(1, 1),
            after=lambda told: told[1] == 0),
    Sets("nvmlDeviceSetEccMode", lambda c: c.call(c.function, c.device, 0),
         ecc_modes, before=(1, 1), after=(1, 0)),
]
