# SPDX-License-Identifier: Apache-2.0
"""help() is complete: every public function says what it does, every number has
its unit, and every refusal is documented."""

import importlib
import inspect
import pydoc
import re
import sys

import pytest

from python_package import PACKAGE, check_built

check_built()
sys.path.insert(0, PACKAGE)

MODULES = ["utils", "caching", "na", "snapshot", "device", "process", "host",
           "collector", "select", "libnvml", "libcuda", "libcudart", "fake",
           "termcolor", "_errors", "_timings", "__main__",
           "callbacks.tensorboard"]
UNITS = re.compile(r"bytes|percent|MHz|KiB/s|mW|degrees C|seconds|in W|"
                   r"number|How many|index|ordinal|id\b|errors|"
                   r"timedelta|PID|indices")


def functions():
    """(where, function, its class or None) for everything public."""
    for part in MODULES:
        module = importlib.import_module("gpukit." + part)
        for name, thing in vars(module).items():
            home = getattr(thing, "__module__", None) or ""
            inner = "." + part not in home and "._" in home
            if name[0] == "_" or inner or not home.startswith("gpukit"):
                continue
            if inspect.isclass(thing):
                yield f"{part}.{name}", thing, None
                yield from ((f"{part}.{name}.{key}", member, thing)
                            for key, member in vars(thing).items()
                            if key[0] != "_" and (
                                callable(member) or isinstance(
                                    member, (property, classmethod,
                                             staticmethod))))
            elif callable(thing):
                yield f"{part}.{name}", thing, None


def test_every_public_function_has_a_sentence():
    found = list(functions())
    assert len(found) > 500
    bare = [where for where, function, _ in found
            if not re.search(r"\w", getattr(function, "__doc__", "") or "")]
    assert bare == []


def types_of_the_stubs(module):
    """Class.method -> its return type, as the stub says."""
    import ast
    import os

    path = os.path.join(PACKAGE, "gpukit", module + ".pyi")
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    return {f"{cls.name}.{each.name}": ast.unparse(each.returns)
            for cls in tree.body if isinstance(cls, ast.ClassDef)
            for each in cls.body
            if isinstance(each, ast.FunctionDef) and each.returns}


@pytest.mark.parametrize("module", ["device", "process"])
def test_every_number_has_a_unit(module):
    home = importlib.import_module("gpukit." + module)
    bare, asked = [], 0
    for name, kind in types_of_the_stubs(module).items():
        if not re.match(r"(int|float|list\[int)\b", kind):
            continue
        cls, method = name.split(".")
        if method[0] == "_":
            continue
        asked += 1
        doc = getattr(inspect.getattr_static(
            getattr(home, cls), method), "__doc__", "")
        if not UNITS.search(doc):
            bare.append((name, doc))
    assert bare == [] and asked > (20 if module == "process" else 50)


RAISES = {
    "device.Device": "NVMLError", "device.CudaDevice": "RuntimeError",
    "utils.human2bytes": "ValueError", "utils.colored": "KeyError",
    "caching.ttl_cache": "ValueError", "select.select_devices": "ValueError",
    "collector.take_snapshots": "NVMLError",
    "collector.collect_in_background": "ValueError",
    "process.HostProcess": "NoSuchProcess",
    "process.GpuProcess": "NoSuchProcess", "libnvml.nvmlQuery": "NVMLError",
    "libcuda.cuDeviceGet": "CUDAError", "libcudart.cudaGetDeviceCount":
    "cudaError", "fake.use": "RuntimeError"}


@pytest.mark.parametrize("where", RAISES)
def test_who_refuses_says_with_what(where):
    module, name = where.rsplit(".", 1)
    thing = getattr(importlib.import_module("gpukit." + module), name)
    assert RAISES[where] in thing.__doc__


def test_help_reads_well():
    import gpukit

    text = pydoc.plain(pydoc.render_doc(gpukit.Device))
    assert "class Device(" in text and re.search(r"Memory\W+is in bytes", text)
    assert re.search(r"fan_speed\(self\).*\n.*Fan speed", text)
    assert re.search(r"nvlink_total_tx_throughput\(self, interval=None\)\n"
                     r".*out of the GPU over all NVLinks together in KiB/s",
                     text)
    assert "lambda" not in text and "<function" not in text
    top = pydoc.plain(pydoc.render_doc(gpukit))
    assert "take_snapshots" in top and "select_devices" in top
