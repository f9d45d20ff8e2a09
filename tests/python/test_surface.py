"""Every name that programs know from nvitop is there, or is one of those that
docs/PYTHON.md tells of."""

import importlib
import os
import sys

from conftest import ROOT
from python_package import PACKAGE, check_built

check_built()
sys.path.insert(0, PACKAGE)

# Bindings of CUDA and NVML, and what is inside there: rows of the document.
ABSENT = {
    "libcuda", "libcuda.CUDAError", "libcudart", "libcudart.cudaError",
    "libnvml", "termcolor", "version", "device.ValueOmitted",
    "device ValueOmitted", "device.Device UUID_PATTERN",
    "process auto_garbage_clean", "process.HostProcess memory_info_ex",
    "utils SIZE_PATTERN", "utils Method", "utils memoize_when_activated",
    "collector.ResourceMetricCollector __del__"}


def rows():
    path = os.path.join(ROOT, "tests", "data", "python-surface.txt")
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                owner, _, *names = line.split()
                yield from ((owner, name) for name in names)


def find(owner):
    part, _, cls = owner.partition(".")
    name = "gpukit" if part == "nvitop" else f"gpukit.{part}"
    module = importlib.import_module(name)
    return getattr(module, cls) if cls else module


def test_every_row_is_there_or_told_of():
    asked = [(owner, name) for owner, name in rows() if owner not in ABSENT]
    missing = {f"{owner} {name}" for owner, name in asked
               if not hasattr(find(owner), name)}
    assert missing == {row for row in ABSENT if " " in row}
    assert len(asked) > 500
