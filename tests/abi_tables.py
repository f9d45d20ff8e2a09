# SPDX-License-Identifier: Apache-2.0
"""The tables of functions of src/abi as the tests read them, a row a line."""

import collections
import functools
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

Nvml = collections.namedtuple("Nvml",
                              "symbol major minor core mig limit refused "
                              "params")
Cuda = collections.namedtuple(
    "Cuda", "symbol base since twin limit capture callers refused params")
# An exported name: a function, or its twin.
CudaSymbol = collections.namedtuple("CudaSymbol", "symbol base since stream row")
Cudart = collections.namedtuple(
    "Cudart", "symbol first last twin refused type params")

# What the limiter hooks, and what it does not need to.
HOOKED = {"ALLOCATES", "FREES", "LAUNCHES", "REPORTS", "MARKS"}
NOT_HOOKED = {"GROWS", "REACHES", "MOVES", "UNCHARGED", "NONE"}
TWINS = {"PTDS": "_ptds", "PTSZ": "_ptsz"}


def table_text(*path):
    with open(os.path.join(ROOT, "src", "abi", *path),
              encoding="utf-8") as file:
        return file.read()


def split_row(text, columns):
    """The columns of a row; the last one may contain commas."""
    return tuple(part.strip() for part in text.split(", ", columns - 1))


def rows_of(text, macro, kind):
    """Rows `macro(...)` as tuples, one for each line that begins so."""
    found = re.findall(rf"^{macro}\((.*)\)$", text, re.M)
    assert len(found) == len(re.findall(rf"^{macro}\(", text, re.M)) > 0
    return [kind(*split_row(row, len(kind._fields))) for row in found]


@functools.cache
def nvml_rows():
    return rows_of(table_text("nvml", "nvml.def"), "NVML", Nvml)


@functools.cache
def cuda_rows():
    return rows_of(table_text("cuda", "cuda.def"), "CUDA", Cuda)


@functools.cache
def cuda_symbols():
    """The symbols that cuda_symbols.def makes from the rows."""
    found = []
    for row in cuda_rows():
        since = int(row.since)
        found.append(CudaSymbol(row.symbol, row.base, since, "LEGACY", row))
        if row.twin in TWINS:
            found.append(CudaSymbol(row.symbol + TWINS[row.twin], row.base,
                                    max(since, 7000), row.twin, row))
    return found


@functools.cache
def cudart_rows():
    return rows_of(table_text("cudart", "cudart.def"), "CUDART", Cudart)


def cudart_symbols(major):
    """{exported name: row} of a major, as cudart_symbols.def makes them."""
    found = {}
    for row in cudart_rows():
        if int(row.first) <= major <= int(row.last):
            for name in (row.symbol, row.symbol + TWINS.get(row.twin, "")):
                assert found.get(name, row) is row, name
                found[name] = row
    return found


def hooks():
    """The names for which libvgpu.so has functions of its own."""
    return ([s.symbol for s in cuda_symbols() if s.row.limit in HOOKED] +
            [row.symbol for row in nvml_rows() if row.limit in HOOKED])
