# SPDX-License-Identifier: Apache-2.0
"""The names of nvitop's modules. Each is a module of gpukit: one object under
all of its names. Refuses to work beside nvitop itself."""

import importlib
import os
import re
import sys
from importlib.machinery import ModuleSpec

# A name below nvitop -> the module that it stands for.
MODULES = {f"api.{name}": f"gpukit.{name}" for name in (
    "caching", "collector", "device", "host", "libcuda", "libcudart",
    "process", "termcolor", "utils")}
MODULES.update((name, f"nvitop.api.{name}") for name in (
    "caching", "collector", "device", "host", "libcuda", "libcudart",
    "libnvml", "process", "termcolor", "utils"))
MODULES.update((f"callbacks.{name}", f"gpukit.callbacks.{name}") for name in (
    "keras", "lightning", "pytorch_lightning", "tensorboard"))

_NVITOP = re.compile(r"nvitop(-(?P<version>\d[^-]*).*)?\.(dist|egg)-info")


def _find_nvitop():
    """Returns (directory, name of its metadata) of an installed nvitop, or
    None."""
    for directory in sys.path:
        try:
            names = os.listdir(directory or ".")
        except OSError:
            continue
        for name in names:
            if _NVITOP.fullmatch(name):
                return directory, name
    return None


def refuse_beside_nvitop():
    """Raises ImportError if nvitop itself is installed: both packages have the
    same files."""
    found = _find_nvitop()
    if found:
        version = _NVITOP.fullmatch(found[1])["version"]
        raise ImportError(
            f"gpukit-nvitop and nvitop{' ' + version if version else ''} are "
            f"both installed ({found[0]}), and have the same modules: "
            "uninstall both, then install the one that you want")


class _Loader:
    """Puts the other module under the name that is imported."""

    def __init__(self, other):
        self._other = other

    def create_module(self, spec):
        return None  # an empty module, soon to be replaced

    def exec_module(self, module):
        sys.modules[module.__name__] = importlib.import_module(self._other)


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        package, _, below = name.partition(".")
        if package == "nvitop" and below in MODULES:
            return ModuleSpec(name, _Loader(MODULES[below]))
        return None


def install():
    """Makes the names of MODULES importable."""
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)


def attributes(package, names, modules):
    """Returns __getattr__ and __dir__ for a package that has these names of
    gpukit and these submodules, both loaded on first use."""
    def find(name):
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name == "NVMLError":
            return importlib.import_module("nvitop.api.libnvml").NVMLError
        if name in names:
            return getattr(importlib.import_module("gpukit"), name)
        raise AttributeError(
            f"module {package!r} has no attribute {name!r}")

    def get(name):
        value = vars(sys.modules[package])[name] = find(name)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *names, *modules})
