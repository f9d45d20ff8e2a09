# SPDX-License-Identifier: Apache-2.0
"""What programs compiled with gpukit.h rely on: sizes and offsets of structs,
numbers of enums, exported symbols. All of it as lines of text.

`python3 tests/abi/libgpukit.py` adds what is new to libgpukit.txt and prints it to
stderr, because it can never change again; it changes no line that is there, and
exits with 1 where one would have to change.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("GPUKIT_BUILD",
                                       os.path.join(ROOT, "build")))
LIST = os.path.join(ROOT, "tests", "abi", "libgpukit.txt")
INCLUDE = os.path.join(ROOT, "include")
LIBRARY = os.path.join(BUILD, "lib", "libgpukit.so")


def headers():
    """The text of gpukit.h and of the headers that it includes."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(
        pathlib.Path(INCLUDE, "gpukit").glob("*.h")))


def preprocessed():
    """The header's own part, without comments."""
    out = subprocess.run(
        ["gcc", "-E", "-I", INCLUDE, os.path.join(INCLUDE, "gpukit",
                                                  "gpukit.h")],
        text=True, capture_output=True, check=True).stdout
    own, keep = [], False
    for line in out.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            keep = "/gpukit/" in marker[1]
        elif keep:
            own.append(line)
    return "\n".join(own)


def structs(text):
    """(struct, member) pairs; unnamed members are left out."""
    for name, body in re.findall(r"struct (gk\w*)\s*\{([^}]*)\};", text):
        for declaration in body.split(";"):
            for part in declaration.split(","):
                member = re.search(r"(\w+)\s*(\[[^]]*\])*\s*$", part.strip())
                if member:
                    yield name, member[1]


def enumerators(text):
    for body in re.findall(r"enum gk\w*\s*\{([^}]*)\}", text):
        yield from re.findall(r"(\bGK_\w+)\s*(?:=[^,]*)?(?:,|\s*$)", body)


def functions(text):
    """The names of the exported functions."""
    marked = re.sub(r"static inline.*?\n}", "", text, flags=re.S)
    return re.findall(r"visibility\(\"default\"\)\)\)[^;{]*?(gk_\w+)\(", marked)


def layout(tmp_path):
    """Sizes, offsets and numbers as the compiler sees them."""
    text = preprocessed()
    members = list(structs(text))
    names = dict.fromkeys(name for name, _ in members)
    lines = [f'printf("size {s} %zu\\n", sizeof(struct {s}));' for s in names]
    lines += [f'printf("member {s}.{m} %zu %zu\\n", offsetof(struct {s}, {m}),'
              f' sizeof(((struct {s} *)0)->{m}));' for s, m in members]
    lines += [f'printf("number {e} %lld\\n", (long long){e});'
              for e in enumerators(text) if not e.endswith("_COUNT")]
    program = tmp_path / "layout"
    source = program.with_suffix(".c")
    source.write_text("#include <gpukit/gpukit.h>\n#include <stdio.h>\n"
                      "int main(void)\n{\n" + "\n".join(lines) +
                      "\nreturn 0;\n}\n")
    subprocess.run(["gcc", "-I", INCLUDE, "-o", program, source], check=True)
    return subprocess.run([program], text=True, capture_output=True,
                          check=True).stdout.splitlines()


def symbols():
    """symbol NAME@@NODE, sorted; sizes of data are part of the ABI."""
    out = subprocess.run(["readelf", "-W", "--dyn-syms", LIBRARY], text=True,
                         capture_output=True, check=True).stdout
    rows = []
    for line in out.splitlines():
        words = line.split()
        if len(words) < 8 or words[6] in ("UND", "ABS", "Ndx"):
            continue
        size = f" {words[2]}" if words[3] == "OBJECT" else ""
        rows.append(f"symbol {words[7]}{size}")
    return sorted(rows)


def key(line):
    """What a line is about: a kind and a name."""
    return line.split()[:2]


def with_new(frozen, here):
    """The list with the lines that it lacks, each behind the one that comes
    before it here."""
    lines = list(frozen)
    at = 0
    for line in here:
        if line in lines:
            at = lines.index(line) + 1
        elif key(line) in map(key, lines):
            raise ValueError(f"programs rely on another one: {line}")
        else:
            lines.insert(at, line)
            at += 1
    return lines


def main():
    with open(LIST, encoding="utf-8") as f:
        frozen = f.read().splitlines()
    with tempfile.TemporaryDirectory() as top:
        here = layout(pathlib.Path(top)) + symbols()
    try:
        lines = with_new(frozen, here)
    except ValueError as error:
        sys.exit(f"{LIST}: {error}")
    for line in lines:
        if line not in frozen:
            print("new in the public ABI:", line, file=sys.stderr)
    with open(LIST, "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)


if __name__ == "__main__":
    main()
