# SPDX-License-Identifier: Apache-2.0
"""tools/mutate.py changes what it should, and reports which mutants survive."""

import fcntl
import glob
import json
import os
import random
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
import mutants
import mutate as mutate_tool

MUTATE = os.path.join(ROOT, "tools", "mutate.py")

# Only the text between CODE and END may be changed.
QUIET = r"""
#include <stdio.h> /* 1 + 2 */
#define TWICE(x) \
	((x) + (x) * 2)
static const int table[] = {1, 2, 3};
_Static_assert(1 + 1 == 2, "3 < 4");
struct point { int x[4]; unsigned wide : 3; };
int declared(int a, char b[8]);
static int f(int a)
{
	/* a = 1 + 2; return 3 < 4; */
	// if (a && 1) break;
	const char *text = "a < b && c + 1; \"x\" = 2";
	char room[64], c = '\'';
	struct point *p = NULL, **pp;
	assert(a > 0 && a < 10);
	GK_ASSERT(a > 1 && a < 9);
	gk_log(GK_LOG_WARN, "%d < %d", a + 1, 2);
	gk_log_write(3, "%d", a - 1);
	free(p);
	gk_buf_free(&room[1 + 2]);
#if TWICE(2) > 3
#endif
/* CODE */
	a = a + 7;
/* END */
}
"""


def made_of(statement, declarations=""):
    """The texts that the mutants of one statement make of it."""
    source = f"{declarations}int f(int a)\n{{\n\t{statement}\n}}\n"
    return {" ".join(mutants.applied(source, m).split("{\n\t", 1)[1][:-2]
                     .split()) for m in mutants.mutants_of(source)}


@pytest.mark.parametrize("statement, changed", [
    ("x = a < b;", {"x = a <= b;", "x = a >= b;", ";"}),
    ("x = a == b;", {"x = a != b;", ";"}),
    ("x = a + b;", {"x = a - b;", ";"}),
    ("x = a * b / c;", {"x = a / b / c;", "x = a * b * c;", ";"}),
    ("x = a && b;", {"x = a || b;", ";"}),
    ("x = 0x10u;", {"x = 17u;", "x = 15u;", ";"}),
    ("x = 0;", {"x = 1;", "x = (-1);", ";"}),
    ("call(a);", {";"}),
    ("x->y++;", {";"}),
    ("if (a) call(b);", {"if (!(a)) call(b);", "if (a) ;"}),
    ("return a;", {"return 0;"}),
    ("return true;", {"return false;"}),
    ("for (;;) break;", {"for (;;) continue;"}),
    ("case A: x = y; continue;", {"case A: ; continue;",
                                  "case A: x = y; break;"}),
    ("struct a *b = c;", set()),
    ("char text[12], more[5];", set()),
    ("x = (char)-a;", {";"}),
    ("x = *a;", {";"}),
    ("return NULL;", set()),
    ("return NVML_SUCCESS;", {"return !(NVML_SUCCESS);"}),
    ("x = __builtin_expect(f(a, 2), 1);",
     {";", "x = __builtin_expect(f(a, 3), 1);",
      "x = __builtin_expect(f(a, 1), 1);"}),
    ("x = atomic_load_explicit(&y, memory_order_relaxed);", {";"}),
])
def test_a_statement_has_these_mutants(statement, changed):
    assert made_of(statement) == changed


def test_comments_strings_and_declarations_are_never_changed():
    start, end = QUIET.index("/* CODE */"), QUIET.index("/* END */")
    found = mutants.mutants_of(QUIET)
    assert {m.kind for m in found} == {"arithmetic", "constant", "drop"}
    assert [m for m in found if not start < m.start < m.end < end] == []


def test_a_seed_chooses_the_same_mutants():
    sources = {"a.c": QUIET, "b.c": QUIET.replace("7", "9")}

    def choice(seed):
        return mutants.chosen(sources, 4, random.Random(seed))

    assert choice(5) == choice(5)
    assert len({tuple(choice(seed)) for seed in range(20)}) > 1
    assert len({path for path, _ in choice(5)}) == 2  # one per line at first


def test_lines_keep_their_numbers():
    source = "int f(void)\n{\n\tcall(1,\n\t     b);\n\treturn b;\n}\n"
    for mutant in mutants.mutants_of(source):
        changed = mutants.applied(source, mutant)
        assert changed.count("\n") == source.count("\n")
    assert [mutants.line_of(source, m) for m in mutants.mutants_of(source)
            if m.kind == "return"] == [5]


TOY = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.22)
project(toy C)
enable_testing()
add_executable(test-toy-one tests/one.c src/toy/toy.c)
add_test(NAME toy-one COMMAND test-toy-one)
add_executable(test-other-two tests/two.c)
add_test(NAME other-two COMMAND test-other-two)
add_executable(test-toy-apart tests/two.c)
add_test(NAME toy-apart COMMAND test-toy-apart)
# A test without a program of its own is no C test.
add_test(NAME toy-command COMMAND ${CMAKE_COMMAND} -E false)
add_subdirectory(src/command)
""",
    "rows.txt": "toy toy-\ncommand test_command.py # by hand\n",
    # A command, which is part of no C test.
    "src/command/CMakeLists.txt": "add_executable(command command.c)\n",
    "src/command/command.c": "int main(void)\n{\n\treturn 3;\n}\n",
    "test_command.py": """import os
import subprocess


def test_command():
    build = os.environ["GPUKIT_BUILD"]
    assert subprocess.call([f"{build}/src/command/command"]) == 3
""",
    # Nobody tests 10: >= survives in place of >. The second test is watched.
    "src/toy/toy.c": """int big(int a)
{
	return a > 10;
}

int same(int a)
{
	return a;
}
""",
    "src/untested/untested.c": "int f(int a) { return a + 1; }\n",
    "tests/one.c": """int big(int a);
int same(int a);
int main(void)
{
	return !(big(20) == 1 && big(0) == 0 && big(12) == 1 &&
		 big(8) == 0 && same(3) == 3);
}
""",
    "tests/two.c": "int main(void) { return 1; }\n",
}


@pytest.fixture(name="toy")
def toy_fixture(tmp_path):
    for path, text in TOY.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def mutate(toy, *args):
    return subprocess.run(
        [sys.executable, MUTATE, "--root", str(toy), "--tests",
         str(toy / "rows.txt"), *args], text=True,
        capture_output=True, check=False, timeout=240,
        stdin=subprocess.DEVNULL)


@pytest.mark.slow
def test_a_survivor_is_told_and_the_others_are_counted(toy):
    """return 0 for both, < and >= for >, 11 and 9 for 10 are six mutants in
    all; three of them survive. The failing test is another room's."""
    done = mutate(toy, "toy", "--count", "99", "--seed", "1", "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "mutate: src/toy, 6 mutants, --seed 1"
    assert "src/toy/toy.c:3: compare" in lines
    assert "  - return a > 10;" in lines
    assert "  + return a >= 10;" in lines
    assert "  + return a <= 10;" not in lines
    assert lines[-1] == "mutate: 3 of 6 killed (50 %), 3 survived, " \
        "0 did not compile"
    assert (toy / "src/toy/toy.c").read_text() == TOY["src/toy/toy.c"]


@pytest.mark.slow
def test_what_does_not_compile_is_not_counted(toy):
    (toy / "src/toy/toy.c").write_text(
        "struct pair { int a, b; };\nstatic struct pair pair;\n"
        "static struct pair of(void)\n{\n\treturn pair;\n}\n"
        "int big(int a)\n{\n\treturn of().a * 0 || a > 10;\n}\n"
        "int same(int a)\n{\n\treturn a;\n}\n")
    done = mutate(toy, "toy", "--count", "99", "--seed", "1", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(", 1 did not compile")


@pytest.mark.slow
def test_a_hunt_needs_tests_that_pass(toy):
    (toy / "tests/one.c").write_text(TOY["tests/two.c"])
    done = mutate(toy, "toy", "--count", "1", "--jobs", "1")
    assert done.returncode == 1
    assert done.stderr == "mutate: without any mutant there fail: toy-one\n"


def test_two_hunts_do_not_share_a_tree(toy):
    (toy / "build/mutate").mkdir(parents=True)
    with open(toy / "build/mutate/lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = mutate(toy, "toy")
    assert done.returncode == 1
    assert done.stderr.startswith("mutate: another one works in ")


@pytest.mark.slow
def test_each_mutant_meets_the_tests_of_its_own_room(toy):
    """With all rooms at once, a file without a test is left out, and neither
    other-two nor toy-apart, which fail, contain toy's files."""
    done = mutate(toy, "--count", "99", "--seed", "1", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "untested" not in done.stdout
    assert "9 mutants" in done.stdout


@pytest.mark.slow
def test_a_file_of_pytest_sees_all_of_its_room(toy):
    """return 0, 4 and 2 in place of 3."""
    done = mutate(toy, "command", "--count", "99", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("mutate: 3 of 3 killed")


def test_the_table_names_rooms_and_tests_that_there_are():
    listed = json.loads(subprocess.run(
        ["ctest", "--test-dir", BUILD, "--show-only=json-v1"], check=True,
        capture_output=True, text=True).stdout)["tests"]
    names = [test["name"] for test in listed]
    files = [os.path.relpath(path, ROOT) for path in glob.glob(
        os.path.join(ROOT, "src", "**", "*.c"), recursive=True)]
    table = mutate_tool.read_table()
    for room, row in table.items():
        assert any(path.startswith(f"src/{room}/") for path in files), room
        for test in row:
            assert (os.path.exists(os.path.join(ROOT, test))
                    if test.endswith(".py") else
                    any(name.startswith(test) for name in names)), test
    assert [path for path in files if not mutate_tool.row_of(path, table)] == []
    reached = tuple({test for row in table.values() for test in row})
    assert [name for name in names if not name.startswith(reached)] == []


def test_the_results_have_a_row_for_each_room():
    with open(os.path.join(ROOT, "docs", "TESTING.md"), encoding="utf-8") as f:
        rows = [line.split("|")[1].strip(" `") for line in f
                if line.startswith("| `")]
    assert [room for room in mutate_tool.read_table() if room not in rows] == []


@pytest.mark.parametrize("args, told", [
    (("nowhere",), "mutate: src/nowhere has no C file\n"),
    (("untested",), "mutate: src/untested has no test in rows.txt\n"),
    (("toy", "--count", "0"), "mutate: --count and --jobs are 1 at least\n"),
])
def test_wrong_usage_is_told(toy, args, told):
    done = mutate(toy, *args)
    assert (done.returncode, done.stderr) == (2, told)
