#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every source file has an SPDX licence line among its first two
lines. --write adds it where it is missing."""

import os
import sys

import rooms

LINE = "SPDX-License-Identifier: Apache-2.0"
BLOCK = (".c", ".h", ".def", ".S", ".cpp", ".cu", ".inc", ".js", ".css", ".map",
         ".map.in")
HASH = (".py", ".pyi", ".sh", ".cmake", "CMakeLists.txt", ".ci/run")


def is_source(path):
    """Test data stays as its source provided it."""
    return path == "run" or (path.endswith(BLOCK + HASH)
                             and not path.startswith("tests/data/"))


def spell_line(path):
    return f"/* {LINE} */\n" if path.endswith(BLOCK) else f"# {LINE}\n"


def add_line(path, lines):
    at = 1 if lines and lines[0].startswith("#!") else 0
    with open(path, "w", encoding="utf-8") as f:
        f.writelines([*lines[:at], spell_line(path), *lines[at:]])


def main(argv):
    os.chdir(rooms.ROOT)
    missing = False
    for path in filter(is_source, rooms.list_tracked()):
        with open(path, encoding="utf-8") as f:
            lines = f.readlines()
        if any(LINE in line for line in lines[:2]):
            continue
        if "--write" in argv:
            add_line(path, lines)
            continue
        missing = True
        print(f"spdx: {path} lacks '{LINE}' (tools/check-spdx.py --write)",
              file=sys.stderr)
    return missing


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
