# SPDX-License-Identifier: Apache-2.0
"""The check of asserts finds the functions whose comments demand a lock."""

import importlib.util
import os
import sys

import pytest

TOOLS = os.path.join(os.path.dirname(__file__), "..", "..", "tools")


@pytest.fixture(scope="module")
def check():
    sys.path.insert(0, TOOLS)
    spec = importlib.util.spec_from_file_location(
        "check_asserts", os.path.join(TOOLS, "check-asserts.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(TOOLS)
    return module


def demanding(check, text):
    return [f.name for f in check.Reader("a.c", text).read() if f.demands]


@pytest.mark.parametrize("words", [
    "The caller holds a->lock.", "Frees it; the caller holds\n * the lock.",
    "The lock is held.", "With the lock held.", "Under module_lock.",
    "With the lock of graphs.", "Under the writers' lock."])
def test_each_phrase_demands_a_lock(check, words):
    text = f"/* {words} */\nstatic int f(int a)\n{{\n\treturn a;\n}}\n"
    assert demanding(check, text) == ["f"]


@pytest.mark.parametrize("words", [
    "No lock is held.", "Takes the lock if need be.", "Without the lock.",
    "Its clock is blocked.", "The caller holds no lock."])
def test_others_do_not(check, words):
    assert demanding(check, f"/* {words} */\nint f(int a);\n") == []


def test_it_holds_for_the_declarations_below_up_to_an_empty_line(check):
    text = ("/* The caller holds x. */\nint f(int a);\nvoid g(int a,\n"
            "       int b);\n\nvoid h(void);\n")
    assert demanding(check, text) == ["f", "g"]


def test_a_heading_speaks_for_all_down_to_the_next_one(check):
    text = ("/* ---- rows; the caller holds x ---- */\n\n"
            "struct s {\n\tint a;\n};\n\nint f(void)\n{\n\treturn 1;\n}\n\n"
            "/* Adds. */\nint g(void)\n{\n\treturn 2;\n}\n\n"
            "/* ---- for others ---- */\n\nint h(void)\n{\n\treturn 3;\n}\n")
    assert demanding(check, text) == ["f", "g"]


@pytest.mark.parametrize("body,good", [
    ("\tGK_ASSERT(a);\n\treturn 0;\n", True),
    ("\tint b = a;\n\tint c;\n\n\tGK_ASSERT(a);\n\treturn b;\n", True),
    ("\treturn 0;\n", False),
    ("\tint b = a;\n\n\tb++;\n\tGK_ASSERT(a);\n\treturn b;\n", False),
])
def test_the_assert_stands_behind_the_declarations(check, body, good):
    assert bool(check.ASSERTED.match("{\n" + body + "}")) == good
