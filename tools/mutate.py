#!/usr/bin/env python3
"""Tells what the C tests of a room do not notice: changes single places of its
code at random, one at a time, and runs the room's tests on each.

Usage: tools/mutate.py [ROOM] [--count N] [--seed S] [--jobs J]

ROOM is a folder of src/ (base, machine/store, ptx, fronts/nvml, ...; default:
all that have tests in C). The source tree stays as it is: each job works on a
copy in build/mutate/. Prints every mutant that survived, then the share that
was killed. Exit 1: the tests fail without any mutant; 2: wrong usage.
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

from mutant_tree import Failed, Tree
from mutants import applied, chosen, line_of, told

# Rooms and their tests: beginnings of names in CTest, of the room itself and of
# those above that use it, the likeliest to notice first. The longest room that
# a file lies in is taken; without a row it is its folder's name.
ROOMS = {
    "machine/store": ("store-", "model-", "trouble-", "device-", "nvml-",
                      "cuda-memory", "cuda-work"),
    "machine/model": ("model-", "trouble-", "store-", "nvml-"),
    "machine/trouble": ("trouble-", "words-", "nvml-fault", "nvml-event",
                        "cuda-fault", "nvml-garbage"),
    "machine/words": ("words-", "nvml-calls"),
    "device": ("device-",),
    "ptx": ("ptx-", "cuda-launch", "cuda-work", "cuda-link"),
    "fronts/common": ("nvml-", "cuda-"),
    "yaml": ("words-", "tui-config", "nvml-calls"),
    "cli": ("cli-",),
}


def fail(text, code=1):
    print(f"mutate: {text}", file=sys.stderr)
    sys.exit(code)


def row_of(path):
    """The beginnings of the tests of the room that a source file lies in."""
    room = os.path.dirname(path).removeprefix("src/")
    fitting = [known for known in ROOMS if f"{room}/".startswith(known + "/")]
    return ROOMS[max(fitting, key=len)] if fitting else \
        (os.path.basename(room) + "-",)


def tests_of(path, linked):
    """The tests of its room that are made of a source file: {test: files}."""
    row = row_of(path)
    return [test for test in linked
            if test.startswith(row) and path in linked[test]]


def rank(path, test):
    """Tests named after the file come first, then as the room's row has
    them."""
    row = row_of(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    return (not test.endswith("-" + stem),
            next(i for i, start in enumerate(row) if test.startswith(start)))


class Hunt:
    """The mutants of a room, the trees that try them, and what came of it."""

    def __init__(self, trees, linked, sources, seconds):
        self.free = queue.SimpleQueue()
        for tree in trees:
            self.free.put(tree)
        self.sources, self.lock = sources, threading.Lock()
        self.linked, self.seconds = linked, seconds  # by test
        self.kills = collections.Counter()  # of (file, test), so far
        self.came_of = {"killed": 0, "survived": 0, "did not compile": 0}

    def in_order(self, path):
        """Tests that killed most there come first: a mutant dies at its first
        test, and only what is tried is linked."""
        with self.lock:
            return sorted(tests_of(path, self.linked), key=lambda test: (
                -self.kills[path, test], *rank(path, test),
                self.seconds[test]))

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
    """{path: text} of the C files of a room."""
    found = {}
    for folder, _, files in os.walk(os.path.join(root, "src", room)):
        for name in files:
            if name.endswith(".c"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as f:
                    found[os.path.relpath(path, root)] = f.read()
    return found


def lock_folder(folder):
    """Two hunts in one checkout would share trees; who holds this is alone.
    The lock ends with its process."""
    os.makedirs(folder, exist_ok=True)
    lock = open(os.path.join(folder, "lock"), "a", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        fail(f"another one works in {folder}; wait for it")
    return lock


def configured(root, folder, jobs):
    """The trees, and {test: the files it is made of}."""
    trees = [Tree(root, os.path.join(folder, str(i))) for i in range(jobs)]
    for tree in trees:
        tree.configure()
    return trees, {test: trees[0].files_of(test) for test in trees[0].tests()}


def build(trees, tests):
    """Builds the tests everywhere, sees them pass, and how long that takes:
    {test: seconds}."""
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
    return parser.parse_args()


def run_all(hunt, mutants, jobs):
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    try:
        for _ in pool.map(lambda one: hunt.hunt(*one), mutants):
            pass
    finally:  # of an interrupted hunt no further mutant is tried
        pool.shutdown(cancel_futures=True)


def hunt_in(root, room, args):
    folder = os.path.join(root, "build", "mutate")
    lock = lock_folder(folder)
    trees, linked = configured(root, folder, args.jobs)
    sources = {path: text for path, text in sources_of(root, room).items()
               if tests_of(path, linked)}
    if not sources:
        fail(f"src/{room} has no test in C", 2)
    mutants = chosen(sources, args.count, random.Random(args.seed))
    print(f"mutate: src/{room}, {len(mutants)} mutants, --seed {args.seed}",
          flush=True)
    # By file: what the one before changed is not compiled once more.
    mutants.sort(key=lambda one: one[0])
    wanted = {test for path, _ in mutants for test in tests_of(path, linked)}
    hunt = Hunt(trees, linked, sources, build(trees, sorted(wanted)))
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
