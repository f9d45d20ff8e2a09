# SPDX-License-Identifier: Apache-2.0
"""The drop-in libraries other than cuBLAS: their tables, and the originals."""

import glob
import os
import re

from conftest import FAKE_DIR, ROOT

ABI = os.path.join(ROOT, "src", "abi", "libraries")
WHEELS = os.environ.get("GPUKIT_CUDA12_LIBRARIES", "")


class Library:
    """file: the library's file name; table: in src/abi; major: the column of
    the table that applies (cuSOLVER has its own); refuses: the status that
    refused functions return."""

    # pylint: disable-next=too-many-arguments
    def __init__(self, file, table, *, macro, major=None, refuses=None,
                 counted=None, prefixes=()):
        self.file, self.table, self.macro = file, table, macro
        self.major, self.refuses, self.counted = major, refuses, counted
        self.prefixes = prefixes
        self.path = os.path.join(FAKE_DIR, file)

    def __repr__(self):
        return self.file

    def rows(self):
        """[(kind, symbol)] of this version, in the order of the table."""
        with open(os.path.join(ABI, self.table), encoding="utf-8") as file:
            lines = re.findall(rf"^{self.macro}(_?\w*)\((.*)\)$", file.read(),
                               re.M)
        found = []
        for kind, text in lines:
            words = text.split(", ")
            symbol = words[1] if kind == "_TELLS" else words[0]
            between = words[1:3]
            bounded = len(between) == 2 and all(
                re.fullmatch(r"\d\d", one) for one in between)
            if bounded and not (
                    int(between[0]) <= self.major <= int(between[1])):
                continue
            found.append((kind, symbol))
        return found

    def names(self):
        return [symbol for _, symbol in self.rows()]

    def refused(self):
        kinds = {"CUSPARSE": "_REFUSED", "CUSOLVER": "_REFUSED", "CUPTI": ""}
        return [symbol for kind, symbol in self.rows()
                if self.refuses is not None and kind == kinds[self.macro]]

    def originals(self):
        """NVIDIA's libraries of that name on this machine."""
        places = ["/usr/local/cuda*/lib64", os.path.join(WHEELS, "*", "lib")]
        return [path for place in places if place
                for path in glob.glob(os.path.join(place, self.file))]


class Listed(Library):
    """A library whose names are in names.txt of its test room, each with its
    test or "refused"; absent: names that this version lacks."""

    def __init__(self, file, room, *, absent=(), refuses):
        super().__init__(file, "", macro="", refuses=refuses,
                         counted="lib" + room)
        self.room, self.absent = room, absent

    def tests(self):
        """{symbol: test or refused}"""
        path = os.path.join(ROOT, "tests", "fronts", self.room, "names.txt")
        with open(path, encoding="utf-8") as file:
            rows = [line.split() for line in file if not line.startswith("#")]
        assert rows == sorted(rows)
        return {name: test for name, test in rows if name not in self.absent}

    def rows(self):
        return [(test, name) for name, test in self.tests().items()]

    def refused(self):
        return [name for test, name in self.rows() if test == "refused"]


LIBRARIES = [
    Library("libcusparse.so.12", "cusparse.def", macro="CUSPARSE", refuses=10,
            counted="libcusparse"),
    Library("libcusolver.so.11", "cusolver.def", macro="CUSOLVER", major=11,
            refuses=9, counted="libcusolver"),
    Library("libcusolver.so.12", "cusolver.def", macro="CUSOLVER", major=12,
            refuses=9, counted="libcusolver"),
    Library("libcupti.so.12", "cupti.def", macro="CUPTI", major=12, refuses=27,
            counted="libcupti"),
    Library("libcupti.so.13", "cupti.def", macro="CUPTI", major=13, refuses=27,
            counted="libcupti"),
    Library("libnvToolsExt.so.1", "nvtx.def", macro="NVTX"),
    Listed("libcufft.so.11", "cufft", refuses=16),
    Listed("libcufft.so.12", "cufft", refuses=16,
           absent=["__cufftXtSetJITCallback_12_7"]),
    Listed("libcurand.so.10", "curand", refuses=204),
]
REFUSING = [one for one in LIBRARIES if one.refuses is not None]
