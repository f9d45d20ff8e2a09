"""Every function of the driver and the runtime that is refused has its reason in
src/fronts/common/refused.def, and no reason is there without a function."""

import os
import re
import subprocess

from conftest import FAKE_DIR, ROOT
from generations import directory


def rows():
    """[(beginning, reason)] in their order."""
    path = os.path.join(ROOT, "src", "fronts", "common", "refused.def")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    found = re.findall(r'^REFUSED\("(\w+)", "(.+)"\)$', text, re.M)
    assert len(found) == text.count("\nREFUSED(")
    return found


def refused():
    """What the newest driver and both runtimes refuse: weak symbols."""
    libraries = [os.path.join(directory("610"), "libcuda.so.1"),
                 os.path.join(FAKE_DIR, "libcudart.so.12"),
                 os.path.join(FAKE_DIR, "libcudart.so.13")]
    told = subprocess.run(["nm", "-D", "--defined-only", *libraries],
                          check=True, capture_output=True, text=True).stdout
    return set(re.findall(r" W (cu\w+)", told))


def row_of(symbol):
    name = re.sub("^(cuda|cu)", "", symbol)
    return next((beginning for beginning, _ in rows()
                 if name.startswith(beginning)), None)


def test_each_refused_function_has_its_reason():
    assert len(refused()) > 50
    assert {symbol for symbol in refused() if not row_of(symbol)} == set()


def test_each_reason_is_that_of_a_refused_function():
    wanted = {row_of(symbol) for symbol in refused()}
    assert [row for row, _ in rows() if row not in wanted] == []


def test_the_reason_is_told(machine):
    m = machine("--gpus", "t4")
    told = subprocess.run(
        ["python3", "-c", "import ctypes; c = ctypes.CDLL('libcuda.so.1');"
         "c.cuInit(0); print(c.cuCheckpointProcessLock(1, None))"],
        capture_output=True, text=True, check=True,
        env={**os.environ, **m.env, "GPUKIT_LOG": "warn"})
    assert told.stdout == "801\n"
    assert re.search(r"cuCheckpointProcessLock: refused, processes are not "
                     "checkpointed$", told.stderr, re.M)
