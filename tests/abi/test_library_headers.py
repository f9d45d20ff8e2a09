# SPDX-License-Identifier: Apache-2.0
"""src/abi/cusparse* and cusolver* have the same prototypes and numbers as
NVIDIA's headers."""

import glob
import os
import re
import subprocess

import pytest

from conftest import ROOT

ABI = os.path.join(ROOT, "src", "abi", "libraries")
INCLUDES = ("-I" + ABI, "-I" + os.path.join(ROOT, "src"))
HEADERS = {"cusparse": ("cusparse.h",),
           "cusolver": ("cusolver_common.h", "cusolverDn.h")}
EACH = pytest.mark.parametrize("library", sorted(HEADERS))


def include_of(library):
    found = [os.path.dirname(path) for path in
             glob.glob(f"/usr/local/cuda*/include/{HEADERS[library][-1]}")]
    return found[0] if found else pytest.skip(f"no header of {library} here")


def compile_c(text, *options):
    done = subprocess.run(["cc", "-std=gnu17", "-x", "c", "-", *options],
                          input=text, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr


@EACH
def test_prototypes_are_those_of_the_header(library):
    """A second declaration of a function must match the first."""
    macro = library.upper()
    text = "".join(f"#include <{name}>\n" for name in HEADERS[library])
    text += (f"#define {macro}(symbol, params) {library}Status_t symbol params;\n"
             f"#define {macro}_TELLS(type, symbol, params) type symbol params;\n"
             f"#define {macro}_REFUSED(...)\n#include \"{library}.def\"\n")
    compile_c(text, "-I" + include_of(library), *INCLUDES, "-fsyntax-only",
              "-Wno-deprecated-declarations")


def read_abi(name):
    with open(os.path.join(ABI, name), encoding="utf-8") as f:
        return f.read()


def numbers(library, tmp_path, names, header, *options):
    lines = "".join(f'\tprintf("{name} %d\\n", (int){name});\n'
                    for name in names)
    compile_c(f"{header}#include <stdio.h>\nint main(void)\n{{\n{lines}}}\n",
              *options, "-o", str(tmp_path / library))
    return subprocess.run([tmp_path / library], capture_output=True, text=True,
                          check=True).stdout


@EACH
def test_numbers_are_those_of_the_header(library, tmp_path):
    ours = f'#include "{library}_abi.h"\n'
    text = read_abi(f"{library}_abi.h") + read_abi("library_types.h")
    names = set(re.findall(r"\b((?:CUSPARSE|CUSOLVER|CUSOLVERDN|CUBLAS|CUDA)_"
                           r"[A-Z0-9_]+)\b(?= ?[,=}\n])", text))
    statuses = re.findall(r"^CUSPARSE_STATUS\((\w+),",
                          read_abi("cusparse_status.def"), re.M)
    if library == "cusparse":
        names |= {"CUSPARSE_STATUS_" + name for name in statuses}
    names |= {"MAJOR_VERSION", "MINOR_VERSION", "PATCH_LEVEL"}
    names = sorted(name for name in names if not re.search(
        r"_H$|_STATUS$|_TELLS$|_REFUSED$|_$", name))
    assert len(names) > 30
    theirs = "".join(f"#include <{name}>\n" for name in HEADERS[library])
    assert numbers(library, tmp_path, names, ours, *INCLUDES) == numbers(
        library, tmp_path, names, theirs, "-I" + include_of(library))
