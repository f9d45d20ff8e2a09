#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/COVERAGE.md: which functions of NVIDIA's libraries are
implemented, which are refused and why, and what they mean to the limiter. Reads
the tables of src/abi, and the built libraries for what the tables do not say.

coverage-page.py           writes the page
coverage-page.py --check   exits with 1 if it is out of date

GPUKIT_BUILD names the build tree; default: build/ in the source tree.
"""

import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "COVERAGE.md")
FAKE = os.path.join(os.environ.get("GPUKIT_BUILD", os.path.join(ROOT, "build")),
                    "lib", "gpukit", "fake")

sys.path.insert(0, os.path.join(ROOT, "tests"))

# pylint: disable=wrong-import-position
import abi_tables  # noqa: E402

# The newest version of each library.
LIBRARIES = ["610/libnvidia-ml.so.1", "610/libcuda.so.1", "libcudart.so.13",
             "libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12",
             "libcurand.so.10", "libcusparse.so.12", "libcusolver.so.12",
             "libnccl.so.2", "libcupti.so.13", "libnvToolsExt.so.1"]
OURS = re.compile(r" ([TW]) ((?:nvml|cu|__cu|p?nccl|nvtx|Initialize)\w+)")

LIMIT = {
    "ALLOCATES": "allocates device memory",
    "FREES": "frees device memory",
    "LAUNCHES": "makes kernels run",
    "REPORTS": "reports how much memory there is, or who uses it",
    "MARKS": "tells when hooked calls take effect",
    "GROWS": "makes the context's memory grow, which is measured by NVML",
    "REACHES": "makes a handle or an address of something that is charged "
               "already",
    "MOVES": "moves the memory of a process to the host, or back; the process "
             "stays charged meanwhile",
    "UNCHARGED": "frees something that is not charged by itself",
}


def exports(library):
    """[(T or W, name)], sorted by name."""
    told = subprocess.run(
        ["nm", "-D", "--defined-only", os.path.join(FAKE, library)],
        check=True, capture_output=True, text=True).stdout
    return sorted(OURS.findall(told), key=lambda row: row[1])


def reasons():
    with open(os.path.join(ROOT, "src", "fronts", "common", "refused.def"),
              encoding="utf-8") as file:
        return dict(re.findall(r'^REASON\((\w+), "(.+)"\)$', file.read(),
                               re.M))


def prose(text):
    """In lines of the page's width."""
    return textwrap.fill(text, 85, break_long_words=False,
                         break_on_hyphens=False)


def wrapped(names):
    return prose(", ".join(f"`{name}`" for name in names))


def refused(rows):
    """A paragraph for each reason, with the functions of the rows."""
    functions = {}
    for row in rows:
        if row.refused != "DONE":
            functions.setdefault(row.refused[len("REFUSED("):-1],
                                 []).append(row.symbol)
    for reason, text in reasons().items():
        if reason in functions:
            yield f"*{text[0].upper()}{text[1:]}*:\n" + wrapped(
                dict.fromkeys(functions[reason]))


def counts():
    yield "| library | functions | implemented | refused |\n|---|---|---|---|"
    for library in LIBRARIES:
        kinds = [kind for kind, _ in exports(library)]
        yield (f"| `{os.path.basename(library)}` | {len(kinds)} "
               f"| {kinds.count('T')} | {kinds.count('W')} |")


def limited():
    rows = [*abi_tables.cuda_rows(), *abi_tables.nvml_rows()]
    assert {*LIMIT, "NONE"} == abi_tables.HOOKED | abi_tables.NOT_HOOKED
    for word, text in LIMIT.items():
        hooked = "hooked: " if word in abi_tables.HOOKED else ""
        yield prose(f"*{word}*, {hooked}{text}:") + "\n" + wrapped(
            row.symbol for row in rows if row.limit == word)


def page():
    return "\n\n".join([
        "# What is implemented",
        prose(
            "Every function of these libraries is exported. A refused one "
            "returns an error, is counted (`gpukit fake ctl coverage`) and, "
            "with `GPUKIT_LOG=warn`, logged. `tools/coverage-page.py` writes "
            "this page, for the newest version of each library, from the "
            "tables in `src/abi` and from the built libraries."),
        "\n".join(counts()),
        "## Refused functions of NVML", *refused(abi_tables.nvml_rows()),
        "## Refused functions of the driver, without their twins",
        *refused(abi_tables.cuda_rows()),
        "## Refused functions of the runtime, without their twins",
        *refused(abi_tables.cudart_rows()),
        "## The limiter", prose(
            "This lists what functions mean to the limiter. Those that are "
            "not listed do nothing of this, or only on the host or on a copy "
            "engine. A twin means the same as its function."),
        *limited()]) + "\n"


def main():
    text = page()
    if "--check" in sys.argv:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != text:
                sys.exit("docs/COVERAGE.md is out of date: run "
                         "tools/coverage-page.py")
        return
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
