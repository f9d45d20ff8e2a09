# SPDX-License-Identifier: Apache-2.0
"""The commands of README.md and docs/ work. Blocks marked `sh` run here on the
build, and in bare systems on the packages (`./run nightly docs`); those marked
`text` do not run, and tests/docs-not-run.txt says why."""

import os
import re

import pytest

import pages
from conftest import BUILD, clean_env

# Lines that a reader would paste.
PASTED = re.compile(r"^\s*(?:\$ )?(?:sudo |exec )?(?:gpukit(?! \w+:)|\./run|docker|"
                    r"pip|ssh|apt|curl|kubectl|cmake|nvcc|python3?) \S", re.M)
INDENTED = re.compile(r"(?:^(?: {4}|\t)\S.*\n|^\n(?= {4}|\t))+", re.M)
LANGUAGES = {"sh", "text", "python", "yaml", "json", "cmake", "cuda", "gdb",
             "ini", "promql"}


def not_run():
    """[(page, first line, reason)]"""
    with open(pages.NOT_RUN, encoding="utf-8") as file:
        return [tuple(part.strip() for part in line.split("\t") if part)
                for line in file if line.strip() and line[0] != "#"]


def test_every_block_that_does_not_run_has_a_reason():
    there = {(page, block.text.splitlines()[0].strip())
             for page in pages.pages() for block in pages.blocks(page)
             if block.words[:1] == ["text"]}
    listed = not_run()
    assert {(page, line) for page, line, _ in listed} == there
    assert len(listed) == len(there) <= 15
    assert all(len(reason) > 10 for _, _, reason in listed)


@pytest.mark.parametrize("page", pages.pages())
def test_commands_are_marked(page):
    """A command outside of `sh` and `text` would be checked by nobody."""
    for block in pages.blocks(page):
        if block.words:
            assert block.words[0] in LANGUAGES, f"{page}:{block.line}"
        else:
            assert not PASTED.search(block.text), f"{page}:{block.line}"
    prose = pages.FENCE.sub("", pages.read(page))
    for found in INDENTED.findall("\n" + prose):
        assert not PASTED.search(found), found


def test_a_page_that_is_wrong_fails(monkeypatch):
    wrong = "```sh\ntrue\n```\n\n```sh\ngpukit stat --nonsense\n```\n"
    monkeypatch.setattr(pages, "read", lambda page: wrong)
    told = pages.run("page.md", environment())
    assert told.startswith("page.md:6: the block fails (2):")
    wrong = "```sh\ntrue\nfalse && true\n```\n\n```sh\ntrue\n```\n"
    assert "page.md:2:" in pages.run("page.md", environment())
    wrong = "```sh until-stopped\ngpukit export --nonsense\n```\n"
    assert "page.md:2:" in pages.run("page.md", environment())


def environment():
    return clean_env(PATH=os.path.join(BUILD, "bin") + os.pathsep +
                     os.environ["PATH"])


def run_pages():
    """The pages with commands. Those that serve use the same ports, and so take
    turns."""
    for page in pages.pages():
        text = pages.script(page, False)[1]
        if text:
            serves = re.search(r"gpukit (?:web|export)", text)
            group = "docs-ports" if serves else page
            yield pytest.param(page, marks=pytest.mark.xdist_group(group))


@pytest.mark.parametrize("page", run_pages())
def test_its_commands_work(page):
    wrong = pages.run(page, environment())
    assert wrong is None, wrong
