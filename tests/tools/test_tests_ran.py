# SPDX-License-Identifier: Apache-2.0
"""tools/tests-ran.py names what did not run, and fails."""

import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT

TOOL = os.path.join(ROOT, "tools", "tests-ran.py")
LOG = """test 1
      Start  1: base-one
test 2
      Start  2: base-two
1: [==========] tests: Running 2 test(s).
2: [==========] tests: Running 1 test(s).
1: [ RUN      ] it_works
1: [       OK ] it_works
2: [ RUN      ] it_waits
1: [==========] tests: Running 2 test(s).
1: [       OK ] it_works
1: [       OK ] it_ends
2: [       OK ] it_waits
1/2 Test #1: base-one .........................   Passed    0.01 sec
2/2 Test #2: base-two .........................   Passed    0.02 sec
"""
NODES = "tests/cli/test_a.py::test_b\ntests/cli/test_a.py::test_c[x::y/z]\n"
CASE_B = '<testcase classname="tests.cli.test_a" name="test_b"/>'
CASE_C = '<testcase classname="tests.cli.test_a" name="test_c[x::y/z]"/>'
SKIPPED = CASE_C.replace("/>", '><skipped message="no tool"/></testcase>')
FAILED = CASE_C.replace("/>", '><failure message="not so"/></testcase>')
WHOLE_FILE = ('<testcase classname="" name="tests.cli.test_d"><skipped message='
              '"collection skipped">no pynvml</skipped></testcase>')


class Reports:
    """A build tree with reports, which each test changes."""

    def __init__(self, place):
        self.place, self.log, self.cases = place, LOG, CASE_B + CASE_C
        self.nodes = NODES
        self.allowed, self.built = "# nothing\n", ["one_test.c"]
        self.programs = [{"name": "base-one"}, {"name": "base-two"}]

    def ran(self, *options, **env):
        build, tests = self.place / "build", self.place / "tests"
        build.mkdir(exist_ok=True)
        tests.mkdir(exist_ok=True)
        (tests / "one_test.c").touch()
        (tests / "may-skip.txt").write_text(self.allowed)
        (build / "ctest.json").write_text(json.dumps(
            {"tests": self.programs}))
        (build / "ctest.log").write_text(self.log)
        (build / "compile_commands.json").write_text(json.dumps(
            [{"file": str(tests / name)} for name in self.built]))
        (build / "pytest.ids").write_text(self.nodes)
        (build / "pytest.xml").write_text(
            f"<testsuites><testsuite>{self.cases}</testsuite></testsuites>")
        clean = {k: v for k, v in os.environ.items() if k != "CI"}
        done = subprocess.run(
            [sys.executable, TOOL, str(build), "--tests", str(tests),
             *options], text=True, capture_output=True, check=False,
            env={**clean, **env})
        return done.returncode, done.stdout.splitlines()


@pytest.fixture(name="tests")
def tests_fixture(tmp_path):
    return Reports(tmp_path)


def test_all_passed(tests):
    assert tests.ran() == (0, ["5 passed, 0 failed"])


@pytest.mark.parametrize("old, new, told", [
    ("2: [       OK ] it_waits\n", "",
     "failed: base-two/it_waits: did not run to its end"),
    ("1: [       OK ] it_ends\n", "",
     "failed: base-one: 1 of its 2 tests came to an end"),
    ("[       OK ] it_ends", "[  FAILED  ] it_ends",
     "failed: base-one/it_ends: failed"),
    ("[       OK ] it_ends", "[  SKIPPED ] it_ends",
     "failed: base-one/it_ends: skipped: skip() (tests/may-skip.txt does not "
     "allow it)"),
    ("      Start  2: base-two\n", "", "failed: base-two: did not run to its end"),
    ("base-two .........................   Passed ",
     "base-two .........................***Timeout ",
     "failed: base-two: ***Timeout"),
])
def test_a_program_that_did_not_end_well_fails(tests, old, new, told):
    assert old in LOG
    tests.log = LOG.replace(old, new)
    code, lines = tests.ran()
    assert code == 1
    assert told in lines
    assert ", 1 failed" in lines[-1]


PLAIN = {"name": "limit-plain", "properties": [
    {"name": "TIMEOUT", "value": 120.0}, {"name": "LABELS", "value": ["plain"]}]}


@pytest.mark.parametrize("end, told", [
    ("   Passed", (0, "6 passed, 0 failed")),
    ("***Skipped", (1, "5 passed, 1 failed")),
    ("***Failed ", (1, "5 passed, 1 failed")),
    (None, (1, "5 passed, 1 failed"))])
def test_a_plain_program_is_one_test(tests, end, told):
    tests.programs.append(PLAIN)
    if end:
        tests.log += f"3/3 Test #3: limit-plain ......{end}    0.02 sec\n"
    code, lines = tests.ran()
    assert (code, lines[-1]) == told


@pytest.mark.parametrize("cases, told", [
    (CASE_B, "failed: tests.cli.test_a::test_c[x::y/z]: did not run to its end"),
    (CASE_B + FAILED, "failed: tests.cli.test_a::test_c[x::y/z]: not so"),
    (CASE_B + SKIPPED, "failed: tests.cli.test_a::test_c[x::y/z]: skipped: "
     "no tool (tests/may-skip.txt does not allow it)"),
])
def test_what_was_collected_has_to_run(tests, cases, told):
    tests.cases = cases
    assert tests.ran() == (1, [told, "4 passed, 1 failed"])


def test_all_runs_of_pytest_count(tests):
    build = tests.place / "build"
    build.mkdir()
    (build / "pytest-more.ids").write_text("tests/e/test_e.py::test_f\n")
    (build / "pytest-more.xml").write_text(
        "<testsuites><testsuite></testsuite></testsuites>")
    assert tests.ran() == (1, [
        "failed: tests.e.test_e::test_f: did not run to its end",
        "5 passed, 1 failed"])
    (build / "pytest-more.xml").unlink()
    code, _ = tests.ran()
    assert code == 1


def test_a_row_allows_a_skip(tests):
    tests.cases = CASE_B + SKIPPED
    tests.allowed = "tests.cli.test_a::test_c[x* - no tool here\n"
    assert tests.ran() == (0, [
        "skipped: tests.cli.test_a::test_c[x::y/z]: no tool",
        "4 passed, 0 failed, 1 skipped"])


def test_a_row_allows_nothing_where_the_thing_is(tests):
    tests.cases = CASE_B + SKIPPED
    tests.allowed = f"tests.cli.test_a::* {ROOT} no tool here\n"
    assert tests.ran()[0] == 1


def test_a_row_allows_no_failure(tests):
    tests.cases = CASE_B + FAILED
    tests.allowed = "* - anything\n"
    assert tests.ran()[0] == 1


def test_a_file_that_is_skipped_is_named_with_its_reason(tests):
    tests.cases += WHOLE_FILE
    assert tests.ran("--any-may-skip") == (0, [
        "skipped: tests.cli.test_d: no pynvml",
        "5 passed, 0 failed, 1 skipped"])


def test_in_ci_nothing_may_skip_that_no_row_allows(tests):
    tests.cases += WHOLE_FILE
    assert tests.ran("--any-may-skip", CI="true")[0] == 1


def test_a_source_that_no_program_has_fails(tests):
    tests.built = []
    assert tests.ran() == (1, ["failed: tests/one_test.c: no program has it",
                               "5 passed, 1 failed"])


def test_a_runner_that_failed_for_itself_fails(tests):
    assert tests.ran("--status", "pytest=3", "--status", "ctest=0") == (
        1, ["failed: pytest: ended with status 3", "5 passed, 1 failed"])


WRITTEN = ("def test_b():\n    pass\n\n\n@mark\ndef test_c(x):\n    pass\n\n\n"
           "def helper():\n    def test_inside():\n        pass\n")


@pytest.mark.parametrize("path, text, told", [
    ("cli/test_a.py", WRITTEN, None),
    ("cli/test_a.py", WRITTEN + "\n\ndef test_b():\n    pass\n",
     "failed: tests.cli.test_a::test_b: 2 of that name are in the file"),
    ("cli/test_a.py", WRITTEN + "\n\ndef test_d():\n    pass\n",
     "failed: tests.cli.test_a::test_d: was not collected"),
    ("cli/a_tests.py", "class TestA:\n    def test_b(self):\n        pass\n",
     "failed: tests.cli.a_tests.TestA::test_b: was not collected"),
    ("cli/test_d.py", "def test_b():\n    pass\n", None),
])
def test_what_is_written_has_to_be_collected(tests, path, text, told):
    file = tests.place / "tests" / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    tests.cases += WHOLE_FILE
    tests.allowed = "tests.cli.test_d - no tool here\n"
    code, lines = tests.ran("--whole")
    assert code == (told is not None)
    assert [line for line in lines if line.startswith("failed")] == \
        ([told] if told else [])


def test_what_another_command_runs_need_not_be_collected(tests):
    for place in ("cli", "real"):
        directory = tests.place / "tests" / place
        directory.mkdir(parents=True)
        (directory / "test_e.py").write_text(WRITTEN)
    told = [f"failed: tests.{place}.test_e::test_{name}: was not collected"
            for place in ("cli", "real") for name in "bc"]
    assert tests.ran("--whole") == (1, [*told, "5 passed, 4 failed"])
    assert tests.ran("--whole", "--ignore", "real") == (
        1, [*told[:2], "5 passed, 2 failed"])


def test_a_group_of_workers_is_no_part_of_a_name(tests):
    tests.nodes = NODES.replace("test_b", "test_b@alone")
    tests.cases = tests.cases.replace("test_b", "test_b@alone")
    file = tests.place / "tests" / "cli" / "test_a.py"
    file.parent.mkdir(parents=True)
    file.write_text("def test_b():\n    pass\n")
    assert tests.ran("--whole") == (0, ["5 passed, 0 failed"])


def test_a_row_for_no_test_fails(tests):
    tests.allowed = "tests.cli.test_a::test_c[x* - no tool here\nold-*/a - no\n"
    assert tests.ran() == (0, ["5 passed, 0 failed"])
    assert tests.ran("--whole") == (1, [
        "failed: tests/may-skip.txt: old-*/a: no test has that name",
        "5 passed, 1 failed"])


def test_a_row_for_tests_of_another_command_stays(tests):
    tests.allowed = ("tests.cli.test_a::test_c[x* - no tool here\n"
                     "tests.torch.* - it is large\n")
    assert tests.ran("--whole")[0] == 1
    assert tests.ran("--whole", "--ignore", "torch") == (
        0, ["5 passed, 0 failed"])


CANNOT = CASE_C.replace("/>", '><skipped message="cannot:fly: no wings"/>'
                        '</testcase>')
FLIGHT = "cannot:fly ci men have no wings\n"


def test_what_the_machine_cannot_give_is_a_row_for_all(tests):
    tests.cases = CASE_B + CANNOT
    assert tests.ran()[0] == 1
    tests.allowed = FLIGHT
    assert tests.ran("--whole")[1][-2:] == [
        "skipped: tests.cli.test_a::test_c[x::y/z]: cannot:fly: no wings",
        "4 passed, 0 failed, 1 skipped"]
    tests.cases = CASE_B + SKIPPED
    assert tests.ran()[0] == 1


def test_a_row_may_end_in_ci(tests):
    tests.cases, tests.allowed = CASE_B + CANNOT, FLIGHT
    assert tests.ran()[0] == 0
    assert tests.ran(CI="true") == (1, [
        "failed: tests.cli.test_a::test_c[x::y/z]: skipped: cannot:fly: no "
        "wings (tests/may-skip.txt does not allow it)",
        "4 passed, 1 failed"])


def test_a_test_in_c_says_what_it_cannot_have(tests):
    tests.log = LOG.replace(
        "2: [       OK ] it_waits",
        "2: cannot:fly: no wings\n2: [  SKIPPED ] it_waits")
    tests.allowed = FLIGHT
    assert tests.ran() == (0, [
        "skipped: base-two/it_waits: cannot:fly: no wings",
        "4 passed, 0 failed, 1 skipped"])


def test_what_is_left_out_is_told_once(tests):
    assert tests.ran("--left-out", "tests/torch=it is large: ./run torch") == (
        0, ["skipped: tests/torch: it is large: ./run torch",
            "5 passed, 0 failed, 1 skipped"])


def test_what_is_left_out_is_no_test_that_ran(tests):
    tests.programs, tests.nodes, tests.cases = [], "", ""
    assert tests.ran("--left-out", "a=b") == (
        1, ["skipped: a: b", "0 passed, 0 failed, 1 skipped"])
