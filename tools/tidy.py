#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the C files of the build, as many at once as there are
processors: tidy.py PROGRAM BUILD [--checks=LIST] [FILE...]; by default the
checks of .clang-tidy, and all files that git tracks. Skips files that the
build does not compile: programs that tests compile against NVIDIA's headers.

A file in BUILD/tidy marks a clean source. Its name is a hash of everything
that clang-tidy read: the source, our headers that it includes, the flags, the
checks and the version, so that only changes are checked again."""

import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

import rooms

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<(gpukit/[^>]+)>)', re.M)
PATHS = ("-I", "-isystem", "-include")


def read_flags(command):
    """Returns the part of a compile command that affects how the source is
    read."""
    words, kept = iter(shlex.split(command)), []
    for word in words:
        if word in PATHS:
            kept += [word, next(words)]
        elif word.startswith(("-D", "-I", "-std=")):
            kept.append(word)
    return kept


def read_commands(build):
    """Returns path -> flags; those of the first command if a file is compiled
    several times."""
    with open(os.path.join(build, "compile_commands.json"),
              encoding="utf-8") as f:
        rows = json.load(f)
    found = {}
    for row in rows:
        path = os.path.relpath(row["file"], rooms.ROOT)
        found.setdefault(path, read_flags(row["command"]))
    return found


@functools.cache
def read_source(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return None


def gather(path, folders, seen):
    """Adds a source, and all our files that it includes, to `seen`."""
    text = read_source(path)
    if text is None or path in seen:
        return
    seen[path] = text
    for name in INCLUDE.findall(text):
        for folder in (os.path.dirname(path), *folders):
            gather(os.path.normpath(os.path.join(folder, name[0] or name[1])),
                   folders, seen)


def hash_of(path, flags, salt):
    folders = [flag[2:] for flag in flags if flag.startswith("-I")]
    seen = {}
    gather(path, tuple(folders), seen)
    text = repr((salt, flags, sorted(seen.items())))
    return hashlib.sha256(text.encode()).hexdigest()


class Tidy:
    def __init__(self, program, build, options):
        self.words = [program, "--quiet", "--warnings-as-errors=*", *options]
        self.commands = read_commands(build)
        self.clean = os.path.join(build, "tidy")
        os.makedirs(self.clean, exist_ok=True)
        version = subprocess.run([program, "--version"], text=True,
                                 capture_output=True, check=True).stdout
        self.salt = (read_source(".clang-tidy"), options, version)

    def check(self, path):
        """Returns clang-tidy's output for a file; empty if it is clean."""
        flags = self.commands[path]
        marker = os.path.join(self.clean, hash_of(path, flags, self.salt))
        if os.path.exists(marker):
            return ""
        done = subprocess.run([*self.words, path, "--", *flags], text=True,
                              capture_output=True, check=False)
        if done.returncode:
            return done.stdout or done.stderr
        with open(marker, "w", encoding="utf-8"):
            return ""


def main(program, build, *words):
    os.chdir(rooms.ROOT)
    options = [word for word in words if word.startswith("--")]
    paths = [word for word in words if not word.startswith("--")]
    one = Tidy(program, build, options)
    bad = 0
    wanted = [path for path in paths or rooms.list_tracked("*.c")
              if path in one.commands]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in filter(None, pool.map(one.check, wanted)):
            bad += 1
            print(said, file=sys.stderr)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
