# SPDX-License-Identifier: Apache-2.0
"""The HOWTOs of docs/ are true. A block that begins with
    ```diff FILE     is an edit; one with only new lines is at the end of its
                     file, or creates it
    ```c FILE        is a quotation from anywhere in the file
    ```console       is commands after "$ ", and their output
Every day the edits must apply. `./run nightly howtos` makes them in a scratch
tree, builds it, and runs the commands (GPUKIT_HOWTOS=1)."""

import collections
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT, clean_env

Block = collections.namedtuple("Block", "kind path text")

FENCE = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.S | re.M)
DOCS = os.path.join(ROOT, "docs")
HOWTOS = sorted(name for name in os.listdir(DOCS)
                if name.startswith("HOWTO_ADD_"))


def read_blocks(howto, kind):
    with open(os.path.join(DOCS, howto), encoding="utf-8") as f:
        return [block for block in map(Block._make, FENCE.findall(f.read()))
                if block.kind == kind]


def sides(text):
    """The text that a diff expects, and its replacement."""
    lines = text.splitlines(keepends=True)
    return ("".join(line[1:] for line in lines if line[0] != "+"),
            "".join(line[1:] for line in lines if line[0] != "-"))


def edited(root, block):
    """The text of its file after an edit, which must apply in exactly one
    place."""
    path = os.path.join(root, block.path)
    before, after = sides(block.text)
    text = ""
    if before or os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            text = f.read()
    if not before:
        return text + after
    assert ("\n" + text).count("\n" + before) == 1, f"{block.path}:\n{before}"
    return ("\n" + text).replace("\n" + before, "\n" + after)[1:]


def apply_edits(root, howto):
    for block in read_blocks(howto, "diff"):
        text = edited(root, block)
        path = os.path.join(root, block.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def test_there_are_howtos():
    assert len(HOWTOS) >= 4
    for howto in HOWTOS:
        assert read_blocks(howto, "diff") and read_blocks(howto, "console")


def test_a_metric_is_three_edits():
    assert len(read_blocks("HOWTO_ADD_A_METRIC.md", "diff")) == 3


@pytest.mark.parametrize("howto", HOWTOS)
def test_edits_fit_and_quotations_are_true(howto):
    for block in read_blocks(howto, "diff"):
        assert edited(ROOT, block)
    for block in read_blocks(howto, "c"):
        with open(os.path.join(ROOT, block.path), encoding="utf-8") as f:
            there = f.read()
        # Rows of a table are quoted that are not adjacent there.
        pieces = (block.text.splitlines() if block.path.endswith(".def")
                  else [block.text])
        assert [piece for piece in pieces if piece not in there] == []


@pytest.mark.parametrize("howto", HOWTOS)
def test_files_that_are_named_are_there(howto):
    with open(os.path.join(DOCS, howto), encoding="utf-8") as f:
        prose = FENCE.sub("", f.read())
    made = {block.path for block in read_blocks(howto, "diff")}
    named = re.findall(r"`((?:src|tools|tests|include|python)/[\w/.-]+\w)", prose)
    assert [path for path in named if path not in made | {
        "tests/cli/test_names.py"} and not os.path.exists(
            os.path.join(ROOT, path))] == []
    # Files named without a folder are below src.
    alone = set(re.findall(r"`([a-z_/]+\.(?:c|h|def))`", prose))
    there = {name for _, _, names in os.walk(os.path.join(ROOT, "src"))
             for name in names} | set(os.listdir(
                 os.path.join(ROOT, "include", "gpukit")))
    assert {name for name in alone
            if os.path.basename(name) not in there} <= {"map_test.c"}


# ---- running it ----

@pytest.fixture(scope="module", name="scratch")
def scratch_fixture(tmp_path_factory):
    """A tree with all edits, built; deleted at the end."""
    root = str(tmp_path_factory.mktemp("howtos"))
    for path in subprocess.run(["git", "ls-files"], cwd=ROOT, check=True,
                               capture_output=True,
                               text=True).stdout.splitlines():
        os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, path), os.path.join(root, path),
                     follow_symlinks=False)
    for howto in HOWTOS:
        apply_edits(root, howto)
    for command in (["cmake", "--preset", "dev", "-DGPUKIT_TESTS=OFF"],
                    ["ninja", "-C", "build", "--quiet"]):
        done = subprocess.run(command, cwd=root, env=clean_env(), check=False,
                              text=True, capture_output=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    yield root
    shutil.rmtree(root)


def console(howto):
    """(command, output) from the command blocks."""
    for block in read_blocks(howto, "console"):
        for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("GPUKIT_HOWTOS"),
                    reason="part of ./run nightly howtos")
@pytest.mark.parametrize("howto", HOWTOS)
def test_what_it_says_happens(scratch, howto):
    path = f"{scratch}/build/bin:{os.environ['PATH']}"
    for command, printed in console(howto):
        done = subprocess.run(["sh", "-c", command], cwd=scratch, text=True,
                              env=clean_env(PATH=path), check=False,
                              capture_output=True, timeout=120)
        assert (done.stdout, done.returncode) == (printed, 0), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("GPUKIT_HOWTOS"),
                    reason="part of ./run nightly howtos")
def test_what_tells_of_it_agrees(scratch):
    """The rows of the new verb's room, and what the HOWTO's commands have
    written: the list of the ABI, the schema, the page of what is there."""
    subprocess.run(["git", "init", "-q"], cwd=scratch, check=True)
    subprocess.run(["git", "add", "-A"], cwd=scratch, check=True)
    for command in (["tools/check-layers.py"],
                    ["tools/stat-schema.py", "--check"],
                    ["tools/coverage-page.py", "--check"],
                    ["-m", "pytest", "-q", "tests/abi/test_libgpukit.py"]):
        done = subprocess.run([sys.executable, *command], cwd=scratch,
                              env=clean_env(), check=False, text=True,
                              capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
    doors = subprocess.run([sys.executable, "tools/check-doors.py"],
                           cwd=scratch, check=False, text=True,
                           capture_output=True).stderr
    assert "Traceback" not in doors
    assert "gk_cmd_names" not in doors and "cli/names" not in doors
