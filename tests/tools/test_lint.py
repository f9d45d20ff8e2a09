# SPDX-License-Identifier: Apache-2.0
"""./run lint finds, with tools of its own, dead links and wrong commit titles;
clang-tidy reads only what has changed."""

import importlib
import os
import subprocess
import sys

import pytest

from conftest import ROOT

TOOLS = os.path.join(ROOT, "tools")
sys.path.insert(0, TOOLS)
links = importlib.import_module("check-links")
commits = importlib.import_module("check-commits")
tidy = importlib.import_module("tidy")


@pytest.fixture
def page(tmp_path):
    """page(TEXT) returns the path of a Markdown file beside other.md."""
    (tmp_path / "other.md").write_text(
        "# One `two`, three!\n\n## Same\n\n## Same\n\n<a id=\"here\"></a>\n"
        "```\n# no heading\n```\n")

    def write(text):
        path = tmp_path / "page.md"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize("link", [
    "other.md", "other.md#one-two-three", "other.md#same", "other.md#same-1",
    "other.md#here", "#mine", "https://example.org/none#at-all", "."])
def test_what_is_there_may_be_linked(page, link):
    assert links.main(page(f"# Mine\n\n[it]({link})\n")) == 0


@pytest.mark.parametrize("text", [
    "[it](none.md)", "[it](other.md#none)", "[it](other.md#no-heading)",
    "[it](other.md#same-2)", "[it][1]\n\n[1]: none.md", "[it](#none)",
    '<img src="none.png">'])
def test_what_is_not_there_may_not(page, capsys, text):
    assert links.main(page(text + "\n")) == 1
    assert "page.md: " in capsys.readouterr().err


def test_code_is_no_link(page):
    assert links.main(page("`[a](none.md)` and\n```\n[b](none.md)\n```\n")) == 0


@pytest.mark.parametrize("title", [
    "core: read links", "cli, tui: take --json", "nvml/board: pass a bus on",
    "lint: need no npm", "docs: process lists as they come"])
def test_a_title_is_an_area_and_an_imperative(title):
    assert commits.why_refused(title, "Why.\n") is None


@pytest.mark.parametrize("title, body", [
    ("core: read links", ""), ("core: read links", " \n"),
    ("read links", "Why."), ("core: reads links", "Why."),
    ("core: added links", "Why."), ("core: reading links", "Why."),
    ("core: a link is read", "Why."), ("Core: read links", "Why."),
    ("core: read " + "x" * 50, "Why.")])
def test_other_titles_are_refused(title, body):
    assert commits.why_refused(title, body)


def test_a_clone_without_history_cannot_be_checked(capsys):
    assert commits.main("0" * 40) == 0
    assert "not checked" in capsys.readouterr().err


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A build of one file that includes another, and a program in place of
    clang-tidy: it logs each file, and refuses those that contain BAD."""
    (tmp_path / "one.c").write_text('#include "one.h"\n')
    (tmp_path / "one.h").write_text("int one;\n")
    (tmp_path / ".clang-tidy").write_text("Checks: all\n")
    program = tmp_path / "program"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exit\necho read >>log\n'
        '! grep BAD *.c *.h\n')
    program.chmod(0o755)
    (tmp_path / "compile_commands.json").write_text(
        f'[{{"file": "{tmp_path}/one.c", "command": "cc -DA -I. -c one.c"}}]')
    monkeypatch.setattr(tidy.rooms, "ROOT", str(tmp_path))
    monkeypatch.setattr(tidy.rooms, "list_tracked", lambda *_: ["one.c"])

    def run():
        """Its exit code, and how often a file was read so far."""
        tidy.read_source.cache_clear()
        code = tidy.main("./program", str(tmp_path))
        with open(tmp_path / "log", encoding="utf-8") as f:
            return code, len(f.readlines())

    old = os.getcwd()
    yield tmp_path, run
    os.chdir(old)


def test_only_what_has_changed_is_read_again(tree):
    path, run = tree
    assert run() == (0, 1) and run() == (0, 1)
    (path / "one.h").write_text("int two;\n")
    assert run() == (0, 2) and run() == (0, 2)
    (path / ".clang-tidy").write_text("Checks: fewer\n")
    assert run() == (0, 3)
    (path / "one.h").write_text("int one;\n")
    (path / ".clang-tidy").write_text("Checks: all\n")
    assert run() == (0, 3)


def test_what_was_refused_is_read_again(tree):
    path, run = tree
    (path / "one.h").write_text("int BAD;\n")
    assert run() == (1, 1) and run() == (1, 2)


def test_lint_of_what_has_changed_has_no_files_where_nothing_has(tmp_path):
    """The functions of tools/run/lint.sh in a repository without changes, then
    with one committed on a branch, one uncommitted, and one new."""
    def shell(script):
        return subprocess.run(
            ["sh", "-euc", f". {TOOLS}/run/lint.sh; {script}"], cwd=tmp_path,
            text=True, capture_output=True, check=True).stdout.split()

    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b",
                        *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    for name in ("a.c", "b.c", "c.c", "gone.c"):
        (tmp_path / name).write_text("\n")
    git("add", ".")
    git("commit", "-m", "first")
    assert shell("changed '*.c'") == []
    assert shell("on changed 'echo it' '*.c'") == []
    git("checkout", "-b", "work")
    (tmp_path / "a.c").write_text("a\n")
    git("rm", "gone.c")
    git("commit", "-a", "-m", "second")
    (tmp_path / "b.c").write_text("b\n")
    (tmp_path / "new.c").write_text("c\n")
    (tmp_path / "new.py").write_text("c\n")
    assert shell("on changed 'echo it' '*.c'") == ["it", "a.c", "b.c", "new.c"]


def test_headers_that_are_named_are_checked_though_new_or_gone(tmp_path):
    """The changed headers of a tree may be new to git, deleted, or of those
    that are left out; then no compiler is started without a file."""
    def check(*names):
        done = subprocess.run(
            ["sh", os.path.join(TOOLS, "check-headers.sh"), *names],
            cwd=tmp_path, text=True, capture_output=True, check=False)
        return done.returncode, done.stderr

    subprocess.run(["git", "init", "-b", "main"], cwd=tmp_path, check=True,
                   capture_output=True)
    inside = tmp_path / "src" / "fronts" / "cufft" / "inside"
    inside.mkdir(parents=True)
    (inside / "line.h").write_text("no C\n")
    assert check("src/fronts/cufft/inside/line.h") == (0, "")
    assert check("src/gone.h") == (0, "")
    new = tmp_path / "src" / "new.h"
    new.write_text("int right;\n")
    assert check("src/new.h") == (0, "")
    new.write_text("wrong right;\n")
    code, said = check("src/new.h", "src/gone.h")
    assert code == 1 and "src/new.h:1" in said
