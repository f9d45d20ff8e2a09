#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes point only downwards, as tools/rooms.txt says, and that
no folder of src has more than FILES files, so that a newcomer sees at a glance
what it contains."""

import collections
import os
import re
import sys

import rooms

FILES = 45
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(gpukit)/)', re.MULTILINE)
CURSES = re.compile(r"include <(n?curses|ncursesw)")
# Fronts do not know the machine file: store/gate.h has all that they need.
MACHINE_FILE = re.compile(r"machine/file/(file|device|slot|clock_state)\.h")


def read(path):
    with open(os.path.join(rooms.ROOT, "src", path), encoding="utf-8") as f:
        return f.read()


def check_includes(path, text, table):
    room = rooms.room_of(path, table)
    if not room:
        yield f"src/{path}: no room in tools/rooms.txt"
        return
    for quoted, public in INCLUDE.findall(text):
        # A name without a folder is in the same folder.
        wanted = quoted if "/" in quoted else \
            os.path.join(os.path.dirname(path), quoted)
        to = "<gpukit>" if public else rooms.room_of(wanted, table)
        if to != room and not {to, quoted} & table[room]:
            yield (f"src/{path} includes {quoted or '<gpukit/...>'}: {room} may"
                   f" include {' '.join(sorted(table[room])) or 'itself only'}")


def check_text(path, text):
    if path.startswith(("fronts/", "device/")) and MACHINE_FILE.search(text):
        yield f"src/{path}: fronts and device go through machine/store"
    if CURSES.search(text) and os.path.basename(path) not in (
            "term.c", "term_key.c"):
        yield f"src/{path}: only term.c and term_key.c may include curses"


def check_folders():
    counts = collections.Counter(
        os.path.dirname(path) for path in rooms.list_sources(""))
    for folder, count in sorted(counts.items()):
        if count > FILES:
            yield f"src/{folder} has {count} files; at most {FILES} are read"


def main():
    table = rooms.read_rooms()
    bad = list(check_folders())
    for path in rooms.list_sources(".c", ".h", ".def"):
        text = read(path)
        bad += [*check_includes(path, text, table), *check_text(path, text)]
    for line in bad:
        print("layers:", line, file=sys.stderr)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
