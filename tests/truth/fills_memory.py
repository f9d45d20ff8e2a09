# SPDX-License-Identifier: Apache-2.0
"""Fields of the structs about memory and memory errors."""

import os

from follows import Constant, Fills, Move
from rows_ecc import (HOPPER, NEW, OLD, RESET, UNCORRECTED, VOLATILE, errors)
from structs import Record, filled
from truth import Another, Ctl, Load

MIB, GIB = 1 << 20, 1 << 30
TOTAL, RESERVED = 81920 * MIB, 615 * MIB
H100 = ("--gpus", "h100-80gb-hbm3")
T4 = Another("--gpus", "t4")
CONFIDENTIAL = Ctl("set", "conf-compute=on")
TAKEN = Ctl("set", 0, "extra-memory=4GiB")
PROTECTED = 81559 * MIB
OPEN_GIB = Ctl("set", 0, "unprotected-memory=1048576")
ROOM = 8


def room_of(kind, count=ROOM):
    """The address of the caller's room, which is kept as long as the machine.
    """
    def address(client):
        room = client.keep.setdefault(kind, Record(kind, count=count))
        return room.address
    return address


class FewBanks:  # pylint: disable=too-few-public-methods
    """Another H100, with so few banks that after as many errors some have no
    spare row left."""

    def __init__(self, banks):
        self.banks = banks

    def apply(self, run):
        path = os.path.join(run.directory, "made.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("inherits: h100-80gb-hbm3\nsource: made\n"
                       f"row_remap_banks: {self.banks}\n")
        run.start("--gpus", path)


FILLS = [
    Fills("nvmlDeviceGetMemoryInfo", filled(),
          Move("memory is taken", TAKEN, {
              "used": (RESERVED, RESERVED + 4 * GIB),
              "free": (TOTAL - RESERVED, TOTAL - RESERVED - 4 * GIB)}),
          Move("another board", T4, {"total": (TOTAL, 15360 * MIB)})),
    Fills("nvmlDeviceGetMemoryInfo_v2", filled(),
          Move("memory is taken", TAKEN, {
              "used": (0, 4 * GIB),
              "free": (TOTAL - RESERVED, TOTAL - RESERVED - 4 * GIB)}),
          Move("another board", T4, {"total": (TOTAL, 15360 * MIB)},
               differ="reserved")),
    Fills("nvmlDeviceGetBAR1MemoryInfo", filled(),
          Move("it is mapped", Ctl("set", 0, "bar1-used=128MiB"), {
              "bar1Used": (MIB, 128 * MIB),
              "bar1Free": (255 * MIB, 128 * MIB)}),
          Move("another board", Another(*H100), {
              "bar1Total": (256 * MIB, 131072 * MIB)}),
          machine=("--gpus", "t4")),
    Fills("nvmlDeviceGetConfComputeMemSizeInfo", filled(),
          Move("confidential computing", CONFIDENTIAL, {
              "protectedMemSizeKib": (0, PROTECTED // 1024),
              "unprotectedMemSizeKib": (PROTECTED // 1024, 0)}),
          machine=H100),
    Fills("nvmlDeviceGetConfComputeProtectedMemoryUsage", filled(),
          Move("memory is taken", Load("train:0,mem=2GiB"), {
              "used": (0, 2 * GIB), "free": (PROTECTED, PROTECTED - 2 * GIB)}),
          Move("1 GiB is left open", OPEN_GIB, {
              "total": (PROTECTED, PROTECTED - GIB)}),
          machine=H100, given=[CONFIDENTIAL]),
    # errors
    Fills("nvmlDeviceGetDetailedEccErrors", filled(UNCORRECTED, VOLATILE),
          Move("errors", [
              errors("parity", "l1"), errors("parity", "l2", 2),
              errors("sec-ded", "dram", 3),
              errors("sec-ded", "register-file", 4)], {
                  "l1Cache": (0, 1), "l2Cache": (0, 2),
                  "deviceMemory": (0, 3), "registerFile": (0, 4)}),
          machine=OLD),
    Fills("nvmlDeviceGetSramEccErrorStatus", filled(),
          Move("errors", [
              errors("parity", "l2", 12), errors("sec-ded", "shared", 3),
              errors("corrected", "pcie", 5), errors("sec-ded", "pcie", 6),
              errors("sec-ded", "mcu", 7), errors("sec-ded", "other", 8)], {
                  "aggregateUncParity": (0, 12), "volatileUncParity": (0, 12),
                  "aggregateUncSecDed": (0, 24), "volatileUncSecDed": (0, 24),
                  "aggregateCor": (0, 5), "volatileCor": (0, 5),
                  "aggregateUncBucketL2": (0, 12),
                  "aggregateUncBucketSm": (0, 3),
                  "aggregateUncBucketPcie": (0, 6),
                  "aggregateUncBucketMcu": (0, 7),
                  "aggregateUncBucketOther": (0, 8),
                  "bThresholdExceeded": (0, 1)})),
    Fills("nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts",
          filled(entryCount=ROOM, entries=room_of(
              "nvmlEccSramUniqueUncorrectedErrorEntry_v1_t")),
          Move("one more error", errors("sec-ded", "mcu", 3), {
              "entryCount": (1, 2)}, given=[errors("parity", "l2", 12)]),
          Move("errors elsewhere", [Another(*NEW),
                                    errors("corrected", "dram"),
                                    errors("sec-ded", "mcu", 3)], {
              "entries[].isParity": ((1,), (0,)),
              "entries[].count": ((12,), (3,))},
               given=[errors("parity", "l2", 12)],
               differ="entries[].unit entries[].address"),
          machine=NEW, constant={
              f"entries[].{part}": Constant(
                  "not modelled: a place is a unit of SRAM as a whole")
              for part in ("location", "sublocation", "extlocation")}),
    Fills("nvmlDeviceGetRemappedRows_v2", filled(),
          Move("errors", [
              errors("sec-ded", "dram", 2), errors("corrected", "dram", 2)], {
                  "corrInactiveRemaps": (0, 1), "uncInactiveRemaps": (0, 2),
                  "bPending": (0, 1)}),
          Move("a reset", RESET, {
              "corrActiveRemaps": (0, 1), "uncActiveRemaps": (0, 2)},
               given=[errors("sec-ded", "dram", 2),
                      errors("corrected", "dram", 2)]),
          Move("a row cannot be remapped", Ctl("fail", 0, "row-remap-failure"),
               {"bFailureOccurred": (0, 1)}),
          driver="610"),
    Fills("nvmlDeviceGetRowRemapperHistogram", filled(),
          Move("errors", [errors("sec-ded", "dram", 10)] * 4,
               given=[FewBanks(8)], differ="max high partial low none"),
          machine=HOPPER),
    Fills("nvmlDeviceGetRepairStatus", filled(),
          Move("errors of an SM", errors("parity", "l1", 11),
               {"bTpcRepairPending": (0, 1)}),
          Move("a row cannot be remapped", Ctl("fail", 0, "row-remap-failure"),
               {"bChannelRepairPending": (0, 1)})),
    Fills("nvmlDeviceGetUnrepairableMemoryFlag_v1", filled(),
          Move("a row cannot be remapped", Ctl("fail", 0, "row-remap-failure"),
               {"bUnrepairableMemory": (0, 1)}),
          machine=HOPPER, driver="590"),
]
