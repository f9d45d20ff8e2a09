#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds what the tests of a room do not notice: changes single places of its
code at random, one at a time, and runs the room's tests on each change.

Usage: tools/mutate.py [ROOM] [--count N] [--seed S] [--jobs J]

ROOM is a folder of src/ (base, machine/store, ptx, fronts/nvml, ...; default:
all that have tests). tools/mutate-tests.txt lists the tests of each room. The
source tree is not changed: each job works on a copy in build/mutate/. Prints
every mutant that survived, then the share that was killed. Exit status 1: the
tests fail without a mutant; 2: wrong usage.
"""

import argparse
import collections
import concurrent.futures
import fcntl
import os
import queue
import random
import sys
import threading
import time

from mutant_tree import Failed, Tree, is_pytest
from mutants import applied, chosen, line_of, told

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "mutate-tests.txt")


def fail(text, code=1):
    print(f"mutate: {text}", file=sys.stderr)
    sys.exit(code)


def read_table(path=TESTS):
    """Returns {room: its tests: prefixes of names in CTest, and pytest
    files}."""
    with open(path, encoding="utf-8") as f:
        rows = [line.split("#")[0].split() for line in f]
    return {row[0]: tuple(row[1:]) for row in rows if row}


def row_of(path, table):
    """Returns the tests of the room that contains a source file."""
    folder = os.path.dirname(path).removeprefix("src/")
    while folder and folder not in table:
        folder = os.path.dirname(folder)
    return table.get(folder, ())


def tests_of(path, row, linked):
    """Returns the tests of its row that are made of a source file, and last
    all pytest files. linked: {C test: files}."""
    stem = os.path.splitext(os.path.basename(path))[0]

    def rank(test):
        """Sorts tests named after the file first, then keeps the row's
        order."""
        return (not test.endswith("-" + stem),
                next(i for i, start in enumerate(row)
                     if test.startswith(start)))

    found = [test for test in linked
             if test.startswith(row or ("/",)) and path in linked[test]]
    return sorted(found, key=rank) + [test for test in row if is_pytest(test)]


class Hunt:
    """The mutants of a room, the trees that try them, and the results."""

    def __init__(self, trees, tests, sources, seconds):
        self.free = queue.SimpleQueue()
        for tree in trees:
            self.free.put(tree)
        self.sources, self.lock = sources, threading.Lock()
        self.tests, self.seconds = tests, seconds  # by file; by test
        self.kills = collections.Counter()  # (file, test) -> kills so far
        self.came_of = {"killed": 0, "survived": 0, "did not compile": 0}

    def in_order(self, path):
        """Puts tests that have killed most mutants of the file first: a mutant
        dies at the first failure, and only the tests that are tried get
        linked."""
        with self.lock:
            return sorted(self.tests[path],
                          key=lambda test: -self.kills[path, test])

    def fate(self, tree, path, mutant):
        tree.put(path, applied(self.sources[path], mutant))
        for test in self.in_order(path):
            try:
                tree.make([test])
            except Failed:
                return "did not compile"
            if not tree.passes(test, self.seconds[test]):
                with self.lock:
                    self.kills[path, test] += 1
                return "killed"
        return "survived"

    def hunt(self, path, mutant):
        tree = self.free.get()
        try:
            fate = self.fate(tree, path, mutant)
        finally:
            self.free.put(tree)
        with self.lock:
            self.came_of[fate] += 1
            if fate == "survived":
                self.tell(path, mutant)

    def tell(self, path, mutant):
        source = self.sources[path]
        before, after = told(source, mutant)
        print(f"{path}:{line_of(source, mutant)}: {mutant.kind}\n"
              f"  - {before}\n  + {after}", flush=True)

    def summary(self):
        killed, survived = self.came_of["killed"], self.came_of["survived"]
        share = 100 * killed / (killed + survived) if killed + survived else 0
        return (f"{killed} of {killed + survived} killed ({share:.0f} %), "
                f"{survived} survived, "
                f"{self.came_of['did not compile']} did not compile")


def sources_of(root, room):
    """Returns {path: text} of the C files of a room."""
    found = {}
    for folder, _, files in os.walk(os.path.join(root, "src", room)):
        for name in files:
            if name.endswith(".c"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as f:
                    found[os.path.relpath(path, root)] = f.read()
    return found


def lock_folder(folder):
    """Locks the folder: two hunts in one checkout would share trees. The lock
    ends with its process."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "lock")
    lock = open(path, "a", encoding="utf-8")  # noqa: SIM115 - its caller's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        fail(f"another one works in {folder}; wait for it")
    return lock


def configured(root, folder, jobs):
    trees = [Tree(root, os.path.join(folder, str(i))) for i in range(jobs)]
    for tree in trees:
        tree.configure()
    return trees


def find_tests(tree, sources, table):
    """Returns {path: its tests} for the sources that have any."""
    rows = {path: row_of(path, table) for path in sources}
    starts = tuple({start for row in rows.values() for start in row})
    linked = {test: tree.files_of(test)
              for test in tree.tests() if starts and test.startswith(starts)}
    found = {path: tests_of(path, row, linked) for path, row in rows.items()}
    return {path: tests for path, tests in found.items() if tests}


def build(trees, tests):
    """Builds the tests in all trees and runs them; returns {test: seconds}."""
    for tree in trees:
        tree.make(tests)

    def tried(test):
        begin = time.monotonic()
        return trees[0].passes(test), time.monotonic() - begin

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        found = dict(zip(tests, pool.map(tried, tests)))
    bad = [test for test, (good, _) in found.items() if not good]
    if bad:
        fail("without any mutant there fail: " + " ".join(bad))
    return {test: seconds for test, (_, seconds) in found.items()}


def arguments():
    parser = argparse.ArgumentParser(
        prog="mutate", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", nargs="?", default="")
    parser.add_argument("--count", type=int, default=50, metavar="N",
                        help="so many mutants (50)")
    parser.add_argument("--seed", type=int, default=None, metavar="S",
                        help="which ones (printed, else at random)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        metavar="J", help="so many at once (one per core)")
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))), help=argparse.SUPPRESS)
    parser.add_argument("--tests", default=TESTS, help=argparse.SUPPRESS)
    return parser.parse_args()


def run_all(hunt, mutants, jobs):
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    try:
        for _ in pool.map(lambda one: hunt.hunt(*one), mutants):
            pass
    finally:  # after an interrupt, try no further mutants
        pool.shutdown(cancel_futures=True)


def hunt_in(root, room, args):
    folder = os.path.join(root, "build", "mutate")
    lock = lock_folder(folder)
    trees = configured(root, folder, args.jobs)
    sources = sources_of(root, room)
    tests = find_tests(trees[0], sources, read_table(args.tests))
    sources = {path: sources[path] for path in tests}
    if not sources:
        fail(f"src/{room} has no test in {os.path.basename(args.tests)}", 2)
    mutants = chosen(sources, args.count, random.Random(args.seed))
    print(f"mutate: src/{room}, {len(mutants)} mutants, --seed {args.seed}",
          flush=True)
    # Sorted by file, so that the previous mutant's file is not compiled once
    # more.
    mutants.sort(key=lambda one: one[0])
    wanted = {test for path, _ in mutants for test in tests[path]}
    hunt = Hunt(trees, tests, sources, build(trees, sorted(wanted)))
    run_all(hunt, mutants, args.jobs)
    print(f"mutate: {hunt.summary()}")
    lock.close()


def main():
    args = arguments()
    root = os.path.abspath(args.root)
    room = args.room.strip("/").removeprefix("src/")
    if not sources_of(root, room):
        fail(f"src/{room} has no C file", 2)
    if args.count < 1 or args.jobs < 1:
        fail("--count and --jobs are 1 at least", 2)
    if args.seed is None:
        args.seed = random.randrange(1 << 31)
    try:
        hunt_in(root, room, args)
    except Failed as failed:
        fail(f"the tree does not build without any mutant\n{failed}")


if __name__ == "__main__":
    main()
