# SPDX-License-Identifier: Apache-2.0
"""The driver generations as the tests use them: our tables, the built
libraries, and NVIDIA's Python bindings of each generation (build/venv-ml)."""

import os
import re
import subprocess
from collections import namedtuple

from abi_tables import nvml_rows
from conftest import FAKE_DIR, ROOT

Generation = namedtuple(
    "Generation", "name level driver cuda field_max events record binding")


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def level(major, minor):
    """535.86.10 is 535086."""
    return int(major) * 1000 + int(minor)


def _bindings():
    return dict(line.split() for line in
                text_of("tests", "nvidia-ml-py.txt").splitlines()
                if not line.startswith("#"))


def _generations():
    binding = _bindings()
    for row in re.findall(r"^GENERATION\((.*)\)$",
                          text_of("src", "abi", "nvml",
                                  "nvml_generations.def"),
                          re.M):
        (_, name, major, minor, driver, cuda, field_max, events,
         record) = row.replace('"', "").split(", ")
        yield Generation(name, level(major, minor), driver, int(cuda),
                         int(field_max), int(events, 16), int(record),
                         binding[name])


GENERATIONS = list(_generations())
BY_NAME = {g.name: g for g in GENERATIONS}


def since(table, macro):
    """{name: level of the first driver that has it}"""
    rows = re.findall(rf"^{macro}\((\w+), (\d+), (\d+)\)$",
                      text_of("src", "abi", "nvml", table), re.M)
    assert len(rows) == text_of("src", "abi", "nvml", table).count(macro + "(")
    return {name: level(major, minor) for name, major, minor in rows}


FUNCTIONS = {row.symbol: level(row.major, row.minor) for row in nvml_rows()
             if row.major != "0"}
STRUCTS = since("nvml_struct_since.def", "STRUCT_SINCE")


def directory(name):
    return os.path.join(FAKE_DIR, name)


def symbols(name):
    """{symbol: "T", or "W" if refused} of a generation's library."""
    library = os.path.join(directory(name), "libnvidia-ml.so.1")
    told = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    return {line.split()[-1]: line.split()[-2] for line in told.splitlines()}


def exported(name):
    return set(symbols(name))


def binding_dir(version):
    path = os.path.join(ROOT, "build", "venv-ml", version)
    assert os.path.isdir(path), f"no {path}: `./run test` installs it"
    return path


def binding_text(version):
    return text_of(binding_dir(version), "pynvml.py")


def bound(version):
    """The symbols that a version of the bindings looks up."""
    return set(re.findall(r"_nvmlGetFunctionPointer\(\s*[\"'](nvml\w+)",
                          binding_text(version)))
