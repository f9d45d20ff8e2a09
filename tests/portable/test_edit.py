# SPDX-License-Identifier: Apache-2.0
"""Changes of the sources of the portable build: each must change something."""

import os
import subprocess

from conftest import ROOT


def edit(file, *scripts):
    return subprocess.run(
        ["sh", os.path.join(ROOT, "tools/portable/edit.sh"), file, *scripts],
        capture_output=True, text=True, check=False)


def test_scripts_follow_each_other_and_can_be_repeated(tmp_path):
    source = tmp_path / "configure"
    source.write_text("one\ntwo\n")
    source.chmod(0o755)
    for _ in range(2):
        assert edit(source, "s/one/three/", "s/three/four/").returncode == 0
        assert source.read_text() == "four\ntwo\n"
    assert source.stat().st_mode & 0o777 == 0o755


def test_a_script_that_changes_nothing_stops(tmp_path):
    source = tmp_path / "make_defs.mk"
    source.write_text("one\ntwo\n")
    done = edit(source, "s/one/three/", "s/one/four/")
    assert done.returncode == 1
    assert done.stderr == (
        f"portable: nothing to edit in {source}: s/one/four/\n")
    assert source.read_text() == "one\ntwo\n"


def test_sources_are_edited_with_it_only():
    with open(os.path.join(ROOT, "tools/portable/libraries.sh"),
              encoding="utf-8") as file:
        text = file.read()
    assert "sed -i" not in text and text.count("\n\tedit ") >= 5
