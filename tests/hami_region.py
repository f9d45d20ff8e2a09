# SPDX-License-Identifier: Apache-2.0
"""As much of HAMi's monitor as the tests need: its region is read and written
here by offsets, as that program does on the host."""

import mmap
import struct
import time

import pytest

SIZE = 2008952
PROCS, PROC, MOST = 1856, 1960, 1024
FIELDS = {"magic": (0, "i"), "major": (4, "i"), "num": (56, "Q"),
          "proc_num": (2008896, "i"), "utilization_switch": (2008900, "i"),
          "recent_kernel": (2008904, "i"), "priority": (2008908, "i"),
          "last_kernel_time": (2008912, "q")}
CLASSES = {"context": 0, "module": 8, "data": 16, "total": 32}


class Monitor:
    """Does what the monitor does with a container's file."""

    def __init__(self, path):
        self.file = open(path, "r+b")  # noqa: SIM115 - until close()
        self.at = mmap.mmap(self.file.fileno(), SIZE)

    def close(self):
        self.at.close()
        self.file.close()

    def read(self, name):
        offset, kind = FIELDS[name]
        return struct.unpack_from("<" + kind, self.at, offset)[0]

    def write(self, name, value):
        offset, kind = FIELDS[name]
        struct.pack_into("<" + kind, self.at, offset, value)

    def word(self, offset):
        return struct.unpack_from("<i", self.at, offset)[0]

    def quad(self, offset):
        return struct.unpack_from("<Q", self.at, offset)[0]

    def uuids(self):
        return [self.at[64 + 96 * i:160 + 96 * i].rstrip(b"\0").decode()
                for i in range(self.read("num"))]

    def limits(self):
        return struct.unpack_from("<16Q", self.at, 1600)

    def sm_limits(self):
        return struct.unpack_from("<16Q", self.at, 1728)

    def pids(self):
        found = (struct.unpack_from("<i", self.at, PROCS + PROC * i)[0]
                 for i in range(MOST))
        return [pid for pid in found if pid]

    def used(self, device, which="total"):
        """Sums over all slots, as the monitor does."""
        at = PROCS + 8 + 64 * device + CLASSES[which]
        return sum(struct.unpack_from("<Q", self.at, at + PROC * i)[0]
                   for i in range(MOST))

    def told_used(self, device):
        """The counts that the monitor itself reads."""
        at = PROCS + 1032 + 8 * device
        return sum(struct.unpack_from("<Q", self.at, at + PROC * i)[0]
                   for i in range(MOST))

    def busy(self, device):
        """The percentage of its time, summed in the same way."""
        at = PROCS + 1160 + 48 * device + 16
        return sum(struct.unpack_from("<Q", self.at, at + PROC * i)[0]
                   for i in range(MOST))

    def statuses(self):
        found = (struct.unpack_from("<i", self.at, PROCS + PROC * i + 1928)[0]
                 for i in range(MOST))
        return [status for status in found if status]


@pytest.fixture
def monitor():
    opened = []

    def open_one(path):
        opened.append(Monitor(path))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def awaited(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
