# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake doctor --python PYTHON`: says whether the PyTorch of that
Python will run on a made-up machine and, if not, how to fix that. It neither
imports PyTorch nor builds anything."""

import importlib.util
import json
import os
import re
import sys
import textwrap

from . import build, table

_FIRST = (2, 5)  # the first version that loads extensions such as ours
_CUDA = ("12", "13")  # versions with a made-up runtime

# Code -> (the reason why PyTorch does not run, how to fix that).
_REASONS = {
    "no-pytorch": ("there is no PyTorch in it", "pip install torch"),
    "old-pytorch": ("PyTorch looks for parts such as ours since 2.5",
                    "install a newer PyTorch"),
    "no-cuda": ("this PyTorch was built without CUDA",
                "install a wheel for CUDA 12 or 13, PyPI's default"),
    "other-cuda": ("this PyTorch is for another CUDA than 12 and 13",
                   "install a wheel for CUDA 12 or 13"),
    "no-compiler": ("its C++ part is not built, and there is no C++ compiler",
                    "install g++, or name a compiler in CXX"),
    "no-headers": ("its C++ part is not built, and this PyTorch has no headers",
                   "install PyPI's wheel"),
    "in-python": ("GPUKIT_TORCH=python is in the environment", "unset it"),
    "turned-off": ("TORCH_DEVICE_BACKEND_AUTOLOAD=0 or GPUKIT_TORCH=0 is in "
                   "the environment", "unset it"),
}

# The codes that do not prevent PyTorch from running, but make it use slower
# kernels in Python.
_SLOWER = ("no-compiler", "no-headers", "in-python")


def _folder():
    """The folder of PyTorch, or None."""
    found = importlib.util.find_spec("torch")
    places = list(found.submodule_search_locations or ()) if found else []
    return places[0] if places else None


def _version(folder):
    """(version, CUDA version) from torch/version.py, which is read but not
    run."""
    try:
        with open(os.path.join(folder, "version.py"), encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return None, None
    said = dict(re.findall(
        r"(?m)^(__version__|cuda)\b[^=\n]*= *['\"]([^'\"]+)['\"]", text))
    return said.get("__version__"), said.get("cuda")


def _numbers(version):
    return tuple(int(one) for one in re.findall(r"\d+", version)[:2])


def _compiler():
    try:
        return " ".join(build.compiler())
    except build.NoCompiler:
        return None


def _turned_off():
    return os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD") == "0" or \
        os.environ.get("GPUKIT_TORCH") == "0"


def _why_not(found, folder):
    """Returns the codes in _REASONS that apply."""
    if not found["pytorch"]:
        return ["no-pytorch"]
    why = []
    if _numbers(found["pytorch"]) < _FIRST:
        why.append("old-pytorch")
    if not found["cuda"]:
        why.append("no-cuda")
    elif found["cuda"].split(".")[0] not in _CUDA:
        why.append("other-cuda")
    if not found["built"] and not found["compiler"]:
        why.append("no-compiler")
    if not found["built"] and not os.path.exists(os.path.join(
            folder, "include", "ATen", "ATen.h")):
        why.append("no-headers")
    if os.environ.get("GPUKIT_TORCH") == "python":
        why.append("in-python")
    if _turned_off():
        why.append("turned-off")
    return why


def look():
    """Returns all findings, as docs/PYTORCH.md lists them."""
    folder = _folder()
    version, cuda = _version(folder) if folder else (None, None)
    built = build.find_for(version) if version else None
    found = {"path": sys.executable, "kind": "python environment",
             "python": "%d.%d.%d" % sys.version_info[:3], "pytorch": version,
             "cuda": cuda, "folder": folder, "compiler": _compiler(),
             "built": built, "refused": table.kept(built) if built else None}
    why = _why_not(found, folder)
    found["advice"] = [
        {"code": code, "says": _REASONS[code][0],
         "what_to_do": _REASONS[code][1]} for code in why]
    found["runs"] = all(code in _SLOWER for code in why)
    found["slower"] = found["runs"] and bool(why)
    return found


def _refused_text(rows):
    by_reason = {}
    for row in rows:
        if row["key"] == "CUDA":
            by_reason.setdefault(row["reason"], []).append(
                row["operator"].split("::")[-1])
    return [textwrap.fill(f"  refused  {', '.join(names)}: {reason}", 80,
                          subsequent_indent=" " * 11)
            for reason, names in by_reason.items()]


def text(found):
    lines = [f'{found["path"]}: a Python environment']
    if found["pytorch"]:
        lines.append(f'  pytorch  {found["pytorch"]}, {found["folder"]}')
        lines.append("  part     " + (
            f'built: {found["built"]}' if found["built"] else
            f'to be built by the first program, with {found["compiler"]}'
            if found["compiler"] else "not built"))
    if found["slower"]:
        lines.append(f'  refused  gpukit fake -- {found["path"]} -m '
                     '_gpukit_torch --table')
    elif found["refused"] is not None:
        lines += _refused_text(found["refused"])
    elif found["runs"]:
        lines.append("  refused  not known before a program has run")
    for one in found["advice"]:
        lines.append(f'  runs     {"slower" if found["runs"] else "no"}: '
                     f'{one["says"]}; {one["what_to_do"]}')
    if found["runs"] and not found["slower"]:
        lines.append("  runs     yes")
    return "\n".join(lines)


def main(as_json):
    found = look()
    print(json.dumps(found) if as_json else text(found))
    return 0 if found["runs"] else 1
