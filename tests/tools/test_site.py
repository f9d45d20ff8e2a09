# SPDX-License-Identifier: Apache-2.0
"""The site of README.md and docs/: what it contains, and in which order.
`./run docs` builds it."""

import os
import sys

from conftest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
import site_pages


def pages_of(nav):
    for entry in nav:
        for value in entry.values():
            yield from [value] if isinstance(value, str) else pages_of(value)


def test_every_page_can_be_reached_and_is_in_the_navigation(tmp_path):
    folders = site_pages.collect(str(tmp_path / "site"))
    there = {os.path.relpath(os.path.join(folder, name), tmp_path / "site")
             for folder, _, names in os.walk(tmp_path / "site")
             for name in names if name.endswith(".md")}
    docs = {f"docs/{name}" for name in os.listdir(os.path.join(ROOT, "docs"))
            if name.endswith(".md")}
    assert docs < there and folders == ["profiles"]
    named = list(pages_of(site_pages.navigation(folders)))
    assert sorted(named) == sorted(there)


def test_links_to_folders_lead_to_their_pages(tmp_path):
    site_pages.collect(str(tmp_path / "site"))
    text = (tmp_path / "site" / "README.md").read_text()
    assert "](profiles.md)" in text and "](profiles/)" not in text
    assert "h100-80gb-hbm3.yaml" in (tmp_path / "site" / "profiles.md"
                                     ).read_text()


def test_fences_have_the_one_word_that_mkdocs_understands(tmp_path):
    site_pages.collect(str(tmp_path / "site"))
    for name in ("README.md", "docs/EXPORT.md", "docs/HOWTO_ADD_A_VERB.md"):
        for line in (tmp_path / "site" / name).read_text().splitlines():
            if line.lstrip().startswith("```"):
                assert " " not in line.strip(), (name, line)
