#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which object calls which: tools/rooms.txt, which rules includes, also
rules calls, read from the symbols of all objects of a build. Objects of a room
must not call each other in circles; tools/circles.txt lists those that still
do, and may only shrink.

    tools/check-doors.py [BUILD]     (default: build)
    tools/check-doors.py --write     write the list again
    tools/check-doors.py --show      print each circle with the calls in it
"""

import collections
import json
import os
import re
import shlex
import subprocess
import sys

import rooms

CIRCLES = os.path.join(rooms.HERE, "circles.txt")


def list_objects(build):
    """Returns (source below src, object) for all C of src that the build
    compiles."""
    with open(os.path.join(build, "compile_commands.json"),
              encoding="utf-8") as f:
        rows = json.load(f)
    src = os.path.join(rooms.ROOT, "src", "")
    for row in rows:
        if row["file"].startswith(src):
            words = shlex.split(row["command"])
            yield (row["file"].removeprefix(src), os.path.join(
                row["directory"], words[words.index("-o") + 1]))


def read_symbols(objects):
    """Returns object -> ({strong}, {weak}, {undefined})."""
    found = {path: (set(), set(), set()) for _, path in objects}
    told = subprocess.run(["nm", "-A", "--extern-only", *found], check=True,
                          capture_output=True, text=True).stdout
    for line in told.splitlines():
        path, rest = line.split(":", 1)
        kind, name = rest.split()[-2:]
        strong, weak, undefined = found[path]
        if kind in "Uw":
            undefined.add(name)
        else:
            (weak if kind in "WV" else strong).add(name)
    return found


def read_calls(build, table):
    """Returns source -> {source that it calls: {symbols}}. Sources that are
    compiled once for each version of a library count as one."""
    objects = list(list_objects(build))
    symbols = read_symbols(objects)
    strong, weak = (collections.defaultdict(set) for _ in range(2))
    for source, path in objects:
        for name in symbols[path][0]:
            strong[name].add(source)
        for name in symbols[path][1]:
            weak[name].add(source)
    calls = {source: collections.defaultdict(set) for source, _ in objects}
    for source, path in objects:
        for name in symbols[path][2]:
            callee = (choose_definer(source, strong[name], table)
                      or choose_definer(source, weak[name], table))
            if callee and callee != source:
                calls[source][callee].add(name)
    return calls


def is_library(room):
    """Whether a room is a library of its own, whose names (NVIDIA's or the C
    library's) others find only with dlsym()."""
    return room == "limit/preload" or (room.startswith("fronts/") and
                                       room != "fronts/common")


def choose_definer(source, definers, table):
    """Returns the nearest definer that can be linked with the source."""
    room = rooms.room_of(source, table)
    linked = [path for path in sorted(definers)
              if rooms.room_of(path, table) == room
              or not is_library(rooms.room_of(path, table) or "")]
    return max(linked, default=None, key=lambda path: len(
        os.path.commonprefix([source, path])))


def read_public():
    """Returns the functions and data of <gpukit/gpukit.h>."""
    with open(os.path.join(rooms.ROOT, "src", "core", "libgpukit.map"),
              encoding="utf-8") as f:
        return set(re.findall(r"\bgk_\w+", f.read()))


def check_rooms(calls, table):
    public = read_public()
    for source, callees in sorted(calls.items()):
        room = rooms.room_of(source, table)
        if not room:
            yield f"src/{source}: no room in tools/rooms.txt"
            continue
        for callee, names in sorted(callees.items()):
            to = rooms.room_of(callee, table)
            header = os.path.splitext(callee)[0] + ".h"
            if to == room or {to, header} & table[room] or (
                    "<gpukit>" in table[room] and names <= public):
                continue
            yield (f"src/{source} calls {min(names)} of src/{callee}: {room} "
                   f"has no door to {to}")


def find_circles(calls):
    """Returns strongly connected components of several sources (Tarjan)."""
    index, low, stack, on, circles = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on.add(node)
        for callee in calls[node]:
            if callee not in index:
                visit(callee)
                low[node] = min(low[node], low[callee])
            elif callee in on:
                low[node] = min(low[node], index[callee])
        if low[node] == index[node]:
            circle = []
            while not circle or circle[-1] != node:
                circle.append(stack.pop())
                on.remove(circle[-1])
            if len(circle) > 1:
                circles.append(sorted(circle))

    sys.setrecursionlimit(10000)
    for node in sorted(calls):
        if node not in index:
            visit(node)
    return sorted(circles)


def read_list():
    with open(CIRCLES, encoding="utf-8") as f:
        return {line.strip() for line in f if line[0] not in "#\n"}


def write_list(circles):
    with open(CIRCLES, "w", encoding="utf-8") as f:
        f.write("# Objects that call each other in circles. The list may only "
                "shrink;\n# tools/check-doors.py reads it.\n")
        for circle in circles:
            f.write("\n" + "".join(source + "\n" for source in circle))


def show(circles, calls):
    for circle in circles:
        print(f"== {len(circles)} circles; this one has {len(circle)}")
        for source in circle:
            for callee in sorted(set(calls[source]) & set(circle)):
                print(f"{source} -> {callee}: "
                      f"{' '.join(sorted(calls[source][callee]))}")


def main(argv):
    build = next((arg for arg in argv if arg[0] != "-"),
                 os.path.join(rooms.ROOT, "build"))
    table = rooms.read_rooms()
    calls = read_calls(build, table)
    circles = find_circles(calls)
    if "--write" in argv:
        write_list(circles)
        return 0
    if "--show" in argv:
        show(circles, calls)
        return 0
    known, found = read_list(), {s for circle in circles for s in circle}
    bad = list(check_rooms(calls, table))
    bad += [f"src/{s} calls in a circle (--show)" for s in sorted(found - known)]
    bad += [f"src/{s} is in no circle any more: take it out of "
            "tools/circles.txt" for s in sorted(known - found)]
    for line in bad:
        print("doors:", line, file=sys.stderr)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
