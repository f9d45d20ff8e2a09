#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how many callers without the lock GK_ASSERT catches: removes the
lock and unlock from random functions that call one with a GK_ASSERT for it,
one at a time, and runs the C tests of that room.

Usage: tools/unlock.py [--count N] [--seed S] [--room ROOM] [--list]

The source tree is not changed: the work is done in a copy in build/unlock.
Prints each caller and the test that caught it, then the total.
"""

import argparse
import importlib
import os
import random
import re
import sys

import rooms
from mutant_tree import Failed, Tree, is_pytest
from mutate import read_table, row_of, tests_of

check = importlib.import_module("check-asserts")

# Calls that take or release a lock, and the values that replace them.
TAKES = {
    "pthread_mutex_lock": "0", "pthread_rwlock_wrlock": "0",
    "pthread_rwlock_rdlock": "0", "gkf_lock": "0", "gkf_lock_to_compute": "0",
    "gkf_trylock": "1", "gkf_books_lock": "0", "gkf_books_lock_within": "0",
    "lock_own": "0", "own_lock": "0", "gkl_lock": "0", "stream_lock": "0",
    "physical_lock": "0", "lock_sharing": "0", "begin_measuring": "0",
}
GIVES = ("pthread_mutex_unlock", "pthread_rwlock_unlock", "gkf_unlock",
         "gkf_books_unlock", "own_unlock", "gkl_unlock", "gkl_unlock_begin",
         "gkl_unlock_end", "stream_unlock", "physical_unlock",
         "unlock_sharing", "end_measuring", "unlock_and_call")
HELD = re.compile(r"GK_ASSERT\([^;]*held\(")
# libvgpu.so is loaded into programs: all tests of the limiter, and these.
PRELOADED = ("src/limit/all", "src/cli/all", "src/fronts/all",
             "tests/limit/all")


def end_of_call(text, begin):
    """Returns the index after the bracket that closes the call starting
    there."""
    depth = 0
    for i in range(text.index("(", begin), len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return i + 1
    raise ValueError("a call without an end")


def without_lock(body):
    """Returns the body of a function without the lock, or None if it takes
    none."""
    taken = False
    for name, value in [*TAKES.items(), *[(name, "0") for name in GIVES]]:
        at = 0
        while found := re.compile(rf"\b{name}\s*\(").search(body, at):
            end = end_of_call(body, found.start())
            call = f"((void)sizeof(\"{name}\"), {value})"
            body = body[:found.start()] + call + body[end:]
            at = found.start() + len(call)
            taken |= name in TAKES
    unlocked = re.sub(r"\bGRAPH_LOCKED\(", "(", body)
    return unlocked if taken or unlocked != body else None


def find_callers(room):
    """Returns (path, function, its body without the lock) for the functions
    that take a lock and then call a function that asserts it."""
    functions = [f for f in check.read_functions() if f.body]
    asserting = {f.name for f in functions if HELD.search(f.body)}
    takes = re.compile(rf"\b(?:GRAPH_LOCKED|{'|'.join(TAKES)})\(")
    for f in functions:
        begin = takes.search(f.body)
        if not f.path.startswith(f"src/{room}") or not begin or \
                f.name in asserting or f.name in TAKES or \
                not f.path.endswith(".c"):
            continue
        called = set(re.findall(r"\b(\w+)\(", f.body[begin.end():]))
        if called & asserting:
            yield f, without_lock(f.body)


def fails(tree, names):
    """Returns how the CTest tests with such names fail: "assert", "failure",
    or None if they pass."""
    try:
        tree.run("ctest", "--test-dir", tree.build, "-R", names,
                 "--output-on-failure", "--stop-on-failure", "--timeout", "120")
    except Failed as failed:
        return "assert" if "assertion failed: " in str(failed) else "failure"
    return None


def find_catcher(tree, path, linked):
    """Returns (test, how it fails), or None. Raises Failed if it does not
    compile."""
    if path.startswith("src/limit/preload/"):
        tree.run("ninja", "-C", tree.build, *PRELOADED)
        how = fails(tree, "^limit-")
        return how and ("limit-", how)
    tests = tests_of(path, row_of(path, read_table()), linked)
    for test in [test for test in tests if not is_pytest(test)]:
        tree.make([test])
        how = fails(tree, f"^{re.escape(test)}$")
        if how:
            return test, how
    return None


def try_caller(tree, function, unlocked, linked):
    """Returns how the missing lock is caught."""
    with open(os.path.join(rooms.ROOT, function.path), encoding="utf-8") as f:
        text = f.read()
    tree.put(function.path, text.replace(function.body, unlocked, 1))
    try:
        catcher = find_catcher(tree, function.path, linked)
    except Failed as failed:
        sys.exit(f"{function.path}: {function.name} does not build without the"
                 f" lock: {str(failed)[-1000:]}")
    print(f"{function.path}:{function.line}: {function.name}: "
          + (" ".join(catcher) if catcher else "NOT CAUGHT"), flush=True)
    return catcher and catcher[1]


def read_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", default="", help="a folder of src")
    parser.add_argument("--list", action="store_true",
                        help="print the callers that are drawn, try none")
    return parser.parse_args()


def main():
    args = read_arguments()
    os.chdir(rooms.ROOT)
    callers = list(find_callers(args.room))
    drawn = random.Random(args.seed).sample(
        callers, min(args.count, len(callers)))
    print(f"seed {args.seed}: {len(drawn)} of {len(callers)} callers")
    if args.list:
        for f, _ in drawn:
            print(f"{f.path}:{f.line}: {f.name}")
        return 0
    tree = Tree(rooms.ROOT, os.path.join(rooms.ROOT, "build", "unlock", "0"))
    tree.configure()
    linked = {test: tree.files_of(test) for test in tree.tests()}
    how = [try_caller(tree, *caller, linked) for caller in drawn]
    print(f"{len(how) - how.count(None)} of {len(drawn)} caught, "
          f"{how.count('assert')} of them by an assert")
    return 0


if __name__ == "__main__":
    sys.exit(main())
