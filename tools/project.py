#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The facts of packaging/project.conf, and the files that repeat them.

Usage: project.py check           fails if a file lacks a value that it repeats
       project.py set NAME VALUE  changes a value, there and in these files
"""

import os
import sys

import rooms

CONF = "packaging/project.conf"
REPEATED = {
    "PROJECT_URL": ("packaging/aur/PKGBUILD", "packaging/nix/default.nix",
                    ".github/ISSUE_TEMPLATE/config.yml"),
    "PROJECT_ISSUES": ("CODE_OF_CONDUCT.md",),
    "PROJECT_RELEASES": ("packaging/aur/PKGBUILD",),
    "PROJECT_REPOSITORY": ("packaging/action/README.md",),
    "SECURITY_CONTACT": ("SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml"),
    "CONDUCT_CONTACT": ("CODE_OF_CONDUCT.md",),
}


def read_conf():
    """Returns the rows NAME=VALUE as a dictionary."""
    with open(CONF, encoding="utf-8") as f:
        rows = [line.rstrip("\n").partition("=") for line in f
                if "=" in line and not line.startswith("#")]
    return {name: value for name, _, value in rows}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def check():
    """Prints each file that lacks a value; returns whether there is one."""
    facts = read_conf()
    bad = False
    for name, paths in REPEATED.items():
        for path in paths:
            if facts[name] not in read(path):
                print(f"project: {path} lacks {name} of {CONF}: {facts[name]}",
                      file=sys.stderr)
                bad = True
    return bad


def change(name, value):
    """Replaces a value in the table and in all files that repeat it."""
    facts = read_conf()
    if name not in facts:
        sys.exit(f"project: no {name} in {CONF}; there are: {' '.join(facts)}")
    if not value or "\n" in value:
        sys.exit("project: a value is one line")
    for path in REPEATED.get(name, ()):
        text = read(path).replace(facts[name], value)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    text = read(CONF).replace(f"\n{name}={facts[name]}\n", f"\n{name}={value}\n")
    with open(CONF, "w", encoding="utf-8") as f:
        f.write(text)


def main(argv):
    os.chdir(rooms.ROOT)
    if argv == ["check"]:
        return check()
    if len(argv) == 3 and argv[0] == "set":
        change(argv[1], argv[2])
        return check()
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
