# SPDX-License-Identifier: Apache-2.0
"""Every verb has --version and -V, from one hook."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import GPUKIT, ROOT, clean_env

WORDS = [*re.findall(r"^  (\w+) ", subprocess.run(
    [GPUKIT, "help"], text=True, capture_output=True, check=True).stdout,
    re.M), "fake ctl", "fake doctor", "limit show", ""]
WORDS.remove("smi")  # these are nvidia-smi's: versions of the driver


@pytest.mark.parametrize("option", ["-V", "--version"])
@pytest.mark.parametrize("words", WORDS)
def test_a_verb_tells_its_version(gpukit, words, option):
    told = gpukit.ok(*words.split(), option)
    assert re.fullmatch(r"gpukit \d+\.\d+\.\d+( \([0-9a-f]{12}(-dirty)?\))?\n",
                        told)
    assert told == gpukit.ok("--version") == gpukit.ok("version")


@pytest.mark.parametrize("words", [
    *(word for word in WORDS if word not in ("", "plot", "limit", "fake") and
      " " not in word), "fake models", "limit ls", "version",
    "--version"])
def test_an_argument_too_many_is_named(gpukit, words):
    """plot takes files, limit and fake a command."""
    done = gpukit(*words.split(), "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unexpected argument 'nonsense'" in done.stderr


def commit_of(source, tmp_path, **env):
    """The commit and the day that a build of these sources tells."""
    out = tmp_path / "commit.h"
    subprocess.run(["cmake", f"-DSOURCE={source}", f"-DOUT={out}", "-P",
                    f"{ROOT}/cmake/commit.cmake"], check=True,
                   env=clean_env(**env))
    return re.findall(r'"(.*)"', out.read_text())


@pytest.fixture(name="sources")
def checkout(tmp_path):
    """A repository with what the build reads."""
    top = tmp_path / "sources"
    (top / "cmake").mkdir(parents=True)
    for name in ("cmake/commit.txt", ".gitattributes", "CHANGELOG.md"):
        shutil.copy(os.path.join(ROOT, name), top / name)
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit",
        "-qm", "one")
    return top


def git(top, *words):
    return subprocess.run(
        ["git", "-C", top, *words], check=True, capture_output=True,
        env=clean_env(GIT_COMMITTER_DATE="1000000000 +0000")).stdout


def test_the_commit_comes_from_the_checkout(sources, tmp_path):
    head = git(sources, "rev-parse", "HEAD").decode()[:12]
    assert commit_of(sources, tmp_path) == [f" ({head})", "2001-09-09"]
    assert commit_of(sources, tmp_path, SOURCE_DATE_EPOCH="86400") == [
        f" ({head})", "1970-01-02"]
    (sources / "CHANGELOG.md").write_text("changed")
    assert commit_of(sources, tmp_path)[0] == f" ({head}-dirty)"


def test_the_commit_comes_from_the_archive(sources, tmp_path):
    """Also where the archive lies in the checkout of something else."""
    head = git(sources, "rev-parse", "HEAD").decode()[:12]
    other = tmp_path / "other"
    unpacked = other / "gpukit"
    unpacked.mkdir(parents=True)
    git(other, "init", "-q")
    subprocess.run(["tar", "x", "-C", unpacked], check=True,
                   input=git(sources, "archive", "HEAD"))
    assert commit_of(unpacked, tmp_path) == [f" ({head})", "2001-09-09"]
    shutil.copy(os.path.join(ROOT, "cmake/commit.txt"), unpacked / "cmake")
    os.utime(unpacked / "CHANGELOG.md", (86400, 86400))
    assert commit_of(unpacked, tmp_path) == ["", "1970-01-02"]


@pytest.mark.parametrize("name, verb", [
    ("gpustat", "stat"), ("nvidia-smi", "smi"), ("nvisel", "select"),
    ("nvitop", "top")])
def test_a_link_of_that_name_is_the_verb(gpukit, tmp_path, name, verb):
    link = tmp_path / name
    link.symlink_to(GPUKIT)
    told = subprocess.run([link, "--help"], text=True, check=True,
                          capture_output=True).stdout
    assert told == gpukit.ok(verb, "--help")


@pytest.mark.parametrize("verb", ["stat", "select", "limit"])
def test_a_full_disk_is_told(verb):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([GPUKIT, verb, "-V"], text=True, check=False,
                              stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == ("gpukit: cannot write the output: No space left on "
                           "device\n")
