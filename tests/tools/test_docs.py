# SPDX-License-Identifier: Apache-2.0
"""docs/README.md links to every page, and docs/ARCHITECTURE.md lists every
folder of src."""

import os
import re
import subprocess

from conftest import ROOT

DOCS = os.path.join(ROOT, "docs")
PICTURES = (".png", ".svg", ".film")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def test_every_page_is_one_click_from_the_index_and_there_once():
    linked = LINK.findall(read("docs/README.md"))
    wanted = [name for name in os.listdir(DOCS)
              if name != "README.md" and not name.endswith(PICTURES)]
    assert len(wanted) > 30
    assert {name: linked.count(name) for name in wanted
            if linked.count(name) != 1} == {}


def test_the_readme_leads_to_the_index():
    assert "docs/README.md" in LINK.findall(read("README.md"))


def test_the_house_has_all_of_its_folders():
    """Each is a room of the first table or a folder of the second; the verbs
    are cli/VERB."""
    listed = subprocess.run(["git", "ls-files", "src/*.[ch]"], cwd=ROOT,
                            check=True, text=True,
                            capture_output=True).stdout.split()
    folders = {os.path.dirname(path).removeprefix("src/") for path in listed}
    house = read("docs/ARCHITECTURE.md")
    named = set(re.findall(r"`(?:src/)?([a-z/]+?)/?`", house))
    assert {folder for folder in folders - named
            if not re.fullmatch(r"cli/\w+", folder)} == set()
