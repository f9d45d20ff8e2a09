#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the existing tests with those that ran, names those that did not
run, and prints how many passed.

Usage: tools/tests-ran.py BUILD [--whole] [--ignore DIR]... [--any-may-skip]
                         [--status NAME=CODE]... [--left-out TESTS=WHY]...

Reads in the build tree: ctest.json (the list of ctest), ctest.log (its -V),
compile_commands.json, pytest*.ids (what pytest collected, written by
tests/conftest.py), pytest*.xml (its JUnit reports). A skipped test fails,
unless tests/may-skip.txt allows it; --any-may-skip: allowed unless CI is set.
--whole: all tests were requested; a test that exists but was not collected
fails, and so does a row of may-skip.txt that matches no test; --ignore: except
those in a directory of tests/ that another command runs.
--status: the exit status of a runner; unless it is 0, some test must have
failed.
--left-out: tests that were not requested; reported as one skipped test. The
last line is "N passed, N failed[, N skipped]"; exit status 1: any failed.
"""

import argparse
import ast
import collections
import fnmatch
import glob
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

TESTS = os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "tests")

# The outcome of a test: passed, failed or skipped, and why.
Fate = collections.namedtuple("Fate", "what why")
PASSED = Fate("passed", "")
ABSENT = Fate("failed", "did not run to its end")
# The reasons of tests/can.py and tests/can.h for what a machine lacks.
CANNOT = re.compile(r"(?:Skipped: )?(cannot:[a-z0-9-]+):")
RESULT = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] (\w+)$")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def lines_by_program(log):
    """Returns {program: its output} of `ctest -V`, which numbers every
    line."""
    names, lines = {}, collections.defaultdict(list)
    for line in log.splitlines():
        begun = re.match(r" +Start +(\d+): (\S+)", line)
        said = re.match(r"(\d+): ?(.*)", line)
        if begun:
            names[begun[1]] = begun[2]
        elif said and said[1] in names:
            lines[names[said[1]]].append(said[2])
    return lines


def of_program(name, lines):
    """Returns {id: outcome} of the tests of a C program, from cmocka's
    output."""
    fates, announced, why = {}, 0, "skip()"
    for line in lines:
        # A test may run another group in a child: the largest number is the
        # total.
        count = re.search(r"\[=+\] .*Running (\d+) test", line)
        announced = max(announced, int(count[1]) if count else 0)
        begun = re.search(r"\[ RUN +\] (\w+)$", line)
        if begun:
            fates.setdefault(f"{name}/{begun[1]}", ABSENT)
            why = "skip()"
        why = line.strip() if CANNOT.match(line.strip()) else why
        result = RESULT.search(line)
        if result:
            what = {"OK": PASSED, "FAILED": Fate("failed", "failed"),
                    "SKIPPED": Fate("skipped", why)}[result[1]]
            test = f"{name}/{result[2]}"
            if fates.get(test, ABSENT) in (ABSENT, PASSED):
                fates[test] = what
    if len(fates) < announced or not announced:
        fates[name] = Fate("failed", f"{len(fates)} of its {announced} tests "
                           "came to an end")
    return fates


def is_plain(test):
    """Whether its label says that the program is a single test with output of
    its own."""
    return any(one["name"] == "LABELS" and "plain" in one["value"]
               for one in test.get("properties", []))


def of_plain(ended):
    """Returns the outcome of such a program, from ctest's result."""
    if ended == "Passed":
        return PASSED
    if "Skipped" in ended:
        return Fate("skipped", "status 77")
    return Fate("failed", ended)


def c_fates(build):
    """Returns {id: outcome} of all C tests."""
    tests = json.loads(read(os.path.join(build, "ctest.json")))["tests"]
    names = [test["name"] for test in tests if not is_plain(test)]
    log = read(os.path.join(build, "ctest.log"))
    lines = lines_by_program(log)
    ended = dict(re.findall(r"Test +#\d+: (\S+) [. ]*(.*?) +[\d.]+ sec", log))
    fates = {test["name"]: of_plain(ended.get(test["name"], "did not end"))
             for test in tests if is_plain(test)}
    for name in names:
        fates.update(of_program(name, lines[name]) if name in lines
                     else {name: ABSENT})
        of_it = [fates[t] for t in fates if t.startswith(name + "/")]
        if ended.get(name) != "Passed" and \
                "failed" not in [fate.what for fate in of_it]:
            fates[name] = Fate("failed", ended.get(name, "did not end"))
    return fates


def unbuilt(build, tests):
    """Returns the files of C tests that no program is made of."""
    compiled = {os.path.realpath(one["file"]) for one in json.loads(
        read(os.path.join(build, "compile_commands.json")))}
    found = glob.glob(os.path.join(tests, "**", "*_test.c"), recursive=True)
    return {os.path.relpath(path, os.path.dirname(tests)): Fate("failed", "no program has it")
            for path in found if os.path.realpath(path) not in compiled}


def id_of(node):
    """Returns a pytest id as JUnit writes it: class::name."""
    path, bracket, rest = node.partition("[")
    *places, name = path.split("::")
    places[0] = places[0].removesuffix(".py").replace("/", ".")
    return ".".join(places) + "::" + name + bracket + rest


def of_case(case):
    for tag, what in (("failure", "failed"), ("error", "failed"),
                      ("skipped", "skipped")):
        found = case.find(tag)
        if found is not None:
            why = found.get("message") or tag
            # a whole file: the text has the reason
            if why == "collection skipped":
                why = found.text or why
            return Fate(what, why.splitlines()[0])
    return PASSED


def collected(build):
    """Returns what the runs of pytest have collected. Each run writes a list
    and a report: pytest.ids and pytest.xml."""
    lists = sorted(glob.glob(os.path.join(build, "pytest*.ids")))
    return {one[:-4]: read(one).splitlines() for one in lists}


def python_fates(build):
    """Returns {id: outcome} of all Python tests; a test that was collected but
    is in no report did not run."""
    runs = collected(build) or {os.path.join(build, "pytest"): []}
    fates = {id_of(node): ABSENT for nodes in runs.values() for node in nodes}
    cases = [case for run in runs for case in
             ElementTree.parse(run + ".xml").getroot().iter("testcase")]
    for case in cases:
        place = case.get("classname")
        test = f"{place}::{case.get('name')}" if place else case.get("name")
        fate = of_case(case)
        if fates.get(test, ABSENT) in (ABSENT, PASSED):
            fates[test] = fate
    return fates


def written(path):
    """Returns the tests in a Python file, in order: test_a, Class::test_b."""
    def named(nodes, before=""):
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                yield from named(node.body, f"{node.name}::")
            elif isinstance(node, ast.FunctionDef) and \
                    node.name.startswith("test_"):
                yield before + node.name
    return list(named(ast.parse(read(path)).body))


def uncollected(build, tests, ignored, fates):
    """Returns tests that pytest never saw: their file does not have a test's
    name, or a later test has the same name."""
    # A node may end with its arguments, and with @ and the group of xdist.
    seen = {node.partition("[")[0].partition("@")[0]
            for nodes in collected(build).values() for node in nodes}
    found, root = {}, os.path.dirname(tests)
    for path in glob.glob(os.path.join(tests, "**", "*.py"), recursive=True):
        file = os.path.relpath(path, root)
        if os.path.relpath(path, tests).split(os.sep)[0] in ignored:
            continue
        if file.removesuffix(".py").replace("/", ".") in fates:  # skipped as a whole
            continue
        for name, times in collections.Counter(written(path)).items():
            if times > 1 or f"{file}::{name}" not in seen:
                found[id_of(f"{file}::{name}")] = Fate(
                    "failed", f"{times} of that name are in the file"
                    if times > 1 else "was not collected")
    return found


def rows_of_nothing(tests, ignored, fates):
    """Returns rows of may-skip.txt that match no test any more, except those
    for another command."""
    elsewhere = tuple(f"tests.{directory}." for directory in ignored)
    for line in read(os.path.join(tests, "may-skip.txt")).splitlines():
        pattern = line.split(maxsplit=1)[0] if line.strip() else "#"
        if not pattern.startswith(("#", "cannot:", *elsewhere)) and not any(
                reason_for(test, [(pattern, "")]) is not None
                for test in fates):
            yield f"tests/may-skip.txt: {pattern}", Fate(
                "failed", "no test has that name")


def has_to_run(where):
    """Whether the condition in the second word of a row of tests/may-skip.txt
    holds here."""
    words = {"root": os.getuid() == 0, "ci": bool(os.environ.get("CI")),
             "-": False}
    return words[where] if where in words else os.path.exists(where)


def allowed_rows(tests):
    """Returns the (pattern, reason) rows of tests/may-skip.txt that apply
    here."""
    rows = []
    for line in read(os.path.join(tests, "may-skip.txt")).splitlines():
        if line and not line.startswith("#"):
            pattern, where, reason = line.split(maxsplit=2)
            if not has_to_run(where):
                rows.append((pattern, reason))
    return rows


def reason_for(test, rows):
    # Parameters are in brackets, which must match literally.
    return next((reason for pattern, reason in rows if fnmatch.fnmatchcase(
        test, pattern.replace("[", "[[]"))), None)


def may_skip(test, fate, rows):
    """Whether a row names the test, or the resource that the machine lacks."""
    cannot = CANNOT.match(fate.why)
    return reason_for(test, rows) is not None or \
        cannot and reason_for(cannot[1], rows) is not None


def judged(fates, rows):
    """Returns the outcomes, with skips that no row allows as failures."""
    for test, fate in fates.items():
        if fate.what == "skipped" and not may_skip(test, fate, rows):
            fate = Fate("failed", f"skipped: {fate.why} (tests/may-skip.txt "
                        "does not allow it)")
        yield test, fate


def runners(statuses, fates):
    """A runner that failed without a failed test is itself a failure."""
    if any(fate.what == "failed" for fate in fates.values()):
        return {}
    return {name: Fate("failed", f"ended with status {code}")
            for name, _, code in (one.partition("=") for one in statuses)
            if code != "0"}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--ignore", action="append", default=[])
    parser.add_argument("--any-may-skip", action="store_true")
    parser.add_argument("--status", action="append", default=[])
    parser.add_argument("--left-out", action="append", default=[])
    parser.add_argument("--tests", default=TESTS, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    args = arguments()
    anything = args.any_may_skip and not os.environ.get("CI")
    try:
        fates = {**c_fates(args.build), **unbuilt(args.build, args.tests),
                 **python_fates(args.build)}
        if args.whole:
            fates.update(uncollected(args.build, args.tests, args.ignore,
                                     fates))
            fates.update(rows_of_nothing(args.tests, args.ignore,
                                         fates))
        rows = [("*", "")] if anything else allowed_rows(args.tests)
    except (OSError, ValueError, SyntaxError, ElementTree.ParseError) as error:
        sys.exit(f"tests-ran: no report of the tests: {error}")
    fates = dict(judged(fates, rows))
    fates.update(runners(args.status, fates))
    fates.update((name, Fate("skipped", why)) for name, _, why in
                 (one.partition("=") for one in args.left_out))
    for test, fate in sorted(fates.items()):
        if fate.what != "passed":
            print(f"{fate.what}: {test}: {fate.why}")
    counts = collections.Counter(fate.what for fate in fates.values())
    print(f"{counts['passed']} passed, {counts['failed']} failed" +
          (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    sys.exit(counts["failed"] > 0 or len(fates) == len(args.left_out))


if __name__ == "__main__":
    main()
