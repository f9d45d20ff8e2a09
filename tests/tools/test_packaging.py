# SPDX-License-Identifier: Apache-2.0
"""What packages and releases are made with: who publishes them, what is linked in,
images, and the scripts of the GitHub Action."""

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tarfile

import pytest

from conftest import BUILD, ROOT, clean_env

TOOLS = os.path.join(ROOT, "tools")
ACTION = os.path.join(ROOT, "packaging", "action")
sys.path.insert(0, TOOLS)
project = importlib.import_module("project")
sbom = importlib.import_module("sbom")


def run(*words, **variables):
    return subprocess.run(words, env=clean_env(**variables), text=True,
                          capture_output=True, check=False, timeout=100)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of all files that repeat the facts; the current directory."""
    for path in {project.CONF, *sum(project.REPEATED.values(), ())}:
        to = tmp_path / path
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.join(ROOT, path), to)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_file_repeats_the_facts_of_the_project(copy):
    assert not project.check()


def test_a_file_that_lacks_a_fact_is_told(copy, capsys):
    (copy / "SECURITY.md").write_text("write to somebody")
    assert project.check()
    assert "SECURITY.md lacks SECURITY_CONTACT" in capsys.readouterr().err


def test_a_fact_is_changed_everywhere(copy):
    project.change("SECURITY_CONTACT", "safe@example.net")
    assert "safe@example.net" in (copy / "SECURITY.md").read_text()
    assert project.read_conf()["SECURITY_CONTACT"] == "safe@example.net"
    assert not project.check()


def test_an_unknown_fact_is_refused(copy):
    with pytest.raises(SystemExit, match="no NONSENSE"):
        project.change("NONSENSE", "x")


def test_the_sbom_lists_files_with_checksums_and_what_is_linked_in(
        tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "gpukit-1.tar.xz").write_bytes(b"bytes")
    (out / "gpukit-fake_1_amd64.deb").write_bytes(b"others")
    done = run(sys.executable, os.path.join(TOOLS, "sbom.py"), "spdx",
               "--version", "1", "--commit", "c0ffee", str(out),
               SOURCE_DATE_EPOCH="86400")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["spdxVersion"] == "SPDX-2.3"
    assert told["creationInfo"]["created"] == "1970-01-02T00:00:00Z"
    sums = {file["SPDXID"]: file["checksums"] for file in told["files"]}
    # SPDX allows letters, digits, dots and dashes.
    assert sorted(sums) == ["SPDXRef-File-gpukit-1.tar.xz",
                            "SPDXRef-File-gpukit-fake-1-amd64.deb"]
    assert {"algorithm": "SHA256",
            "checksumValue": hashlib.sha256(b"bytes").hexdigest()} \
        in sums["SPDXRef-File-gpukit-1.tar.xz"]
    assert {each["name"] for each in told["packages"]} == {
        "gpukit", *(row[0] for row in sbom.rows())}
    linked = [each for each in told["relationships"]
              if each["relationshipType"] == "STATIC_LINK"]
    assert len(linked) == len(list(sbom.rows()))
    known = {"SPDXRef-DOCUMENT", *(each["SPDXID"] for each in
                                   told["packages"] + told["files"])}
    for each in told["relationships"]:
        assert {each["spdxElementId"], each["relatedSpdxElement"]} <= known


def names_of_linked():
    """The static libraries of cmake/dependencies.cmake."""
    with open(os.path.join(ROOT, "cmake", "dependencies.cmake"),
              encoding="utf-8") as f:
        return {line.split("(")[1].split()[0] for line in f
                if line.startswith("gk_library(")}


def test_every_library_of_the_command_has_a_row_of_notices():
    rows = {row[0] for row in sbom.rows()}
    other = {"yaml": "libyaml", "curses": "ncurses", "tinfo": "ncurses"}
    assert {other.get(name, name) for name in names_of_linked()} <= rows


def test_every_source_of_the_portable_build_has_a_row_of_notices():
    only_headers = {"gnutls28", "curl"}
    sources = {words[0] for words in sbom.lines_of(
        os.path.join(ROOT, sbom.SOURCES))}
    assert sources - only_headers == {row[1] for row in sbom.rows()} - {"ziglang"}


def test_an_archive_of_the_sources_has_what_is_committed(tmp_path):
    tree = tmp_path / "tree"
    shutil.copytree(os.path.join(ROOT, "tools", "run"), tree / "tools" / "run")
    for name in ("run", "CMakeLists.txt"):
        shutil.copy(os.path.join(ROOT, name), tree)
    git = ("git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x")):
        subprocess.run([*git, *words], check=True)
    (tree / "not-committed").touch()
    sums = set()
    for out in ("one", "two"):
        done = run(str(tree / "run"), "package", "source",
                   PACKAGES=str(tmp_path / out), PACKAGE_VERSION="1.2.3")
        assert done.returncode == 0, done.stderr
        path = tmp_path / out / "gpukit-1.2.3-source.tar.xz"
        sums.add(hashlib.sha256(path.read_bytes()).hexdigest())
    with tarfile.open(path) as archive:
        names = [entry.name for entry in archive if entry.isfile()]
    assert len(sums) == 1
    assert sorted(names) == sorted(
        f"gpukit-1.2.3/{each}" for each in ("run", "CMakeLists.txt", *(
            f"tools/run/{each}" for each in os.listdir(tree / "tools" / "run"))))


def make_image(tmp_path, out):
    """Makes the images of a tree with a single program, as a release does."""
    tree, base = tmp_path / "tree", tmp_path / "base.tar"
    if not tree.exists():
        (tree / "bin").mkdir(parents=True)
        (tree / "bin" / "gpukit").write_text("#!/bin/sh\n")
        (tree / "bin" / "gpukit").chmod(0o700)
        (tree / "gpukit").symlink_to("bin/gpukit")
        with tarfile.open(base, "w") as tar:
            tar.addfile(tarfile.TarInfo("etc"))
    os.mkdir(out)
    done = run(sys.executable, os.path.join(TOOLS, "package", "image.py"),
               "--tree", str(tree), "--base", str(base), "--version", "1.2.3",
               str(out), SOURCE_DATE_EPOCH="86400")
    assert done.returncode == 0, done.stderr
    return sorted(os.path.join(out, name) for name in os.listdir(out))


def test_images_made_twice_are_the_same_bytes(tmp_path):
    one = make_image(tmp_path, tmp_path / "one")
    os.utime(tmp_path / "tree" / "bin" / "gpukit", (1, 1))
    two = make_image(tmp_path, tmp_path / "two")
    assert len(one) == 2
    for left, right in zip(one, two):
        with open(left, "rb") as f, open(right, "rb") as g:
            assert f.read() == g.read()


def test_an_image_unpacks_to_both_layers_and_says_what_starts(tmp_path):
    _, fake = make_image(tmp_path, tmp_path / "out")
    to = tmp_path / "unpacked"
    to.mkdir()
    done = run(sys.executable, os.path.join(TOOLS, "package",
                                            "unpack_image.py"), fake, str(to))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "/usr/local/bin/gpukit fake --\n"
    assert (to / "etc").exists()
    assert os.access(to / "usr/local/bin/gpukit", os.X_OK)
    assert os.readlink(to / "usr/local/gpukit") == "bin/gpukit"


def test_an_image_with_a_changed_blob_is_refused(tmp_path):
    _, fake = make_image(tmp_path, tmp_path / "out")
    broken = tmp_path / "broken.tar"
    with tarfile.open(fake) as old, tarfile.open(broken, "w") as new:
        for entry in old:
            if not entry.isfile():
                new.addfile(entry)
                continue
            data = old.extractfile(entry).read()
            path = tmp_path / "blob"
            path.write_bytes(data[:-1] + b"?" if "blobs" in entry.name else data)
            new.add(path, entry.name)
    done = run(sys.executable, os.path.join(TOOLS, "package",
                                            "unpack_image.py"),
               str(broken), str(tmp_path))
    assert done.returncode == 1
    assert "is not what its name says" in done.stderr


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """What `gpukit fake` needs of the build, packed like the portable archive."""
    top = tmp_path_factory.mktemp("archive")
    tree = top / "gpukit-0"
    fake = tree / "lib" / "gpukit" / "fake"
    fake.mkdir(parents=True)
    (tree / "bin").mkdir()
    shutil.copy(os.path.join(BUILD, "bin", "gpukit"), tree / "bin")
    for name in ("libnvidia-ml.so.1", "libcuda.so.1", "libgpukit-fake.so",
                 "libgpukit-audit.so"):
        shutil.copy(os.path.join(BUILD, "lib", "gpukit", "fake", name), fake)
    for name in ("profiles", "scenarios"):
        shutil.copytree(os.path.join(ROOT, name),
                        tree / "share" / "gpukit" / name)
    path = top / "gpukit.tar.xz"
    subprocess.run(["tar", "-C", top, "-I", "xz -0", "-cf", path, "gpukit-0"],
                   check=True)
    return path


def step(script, temp, **variables):
    return run("bash", os.path.join(ACTION, script), RUNNER_TEMP=str(temp),
               GITHUB_PATH=str(temp / "path"), GITHUB_ENV=str(temp / "env"),
               **variables)


def test_the_action_runs_commands_on_the_gpus_that_it_is_given(
        archive, tmp_path):
    done = step("install.sh", tmp_path, ARCHIVE=str(archive))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "path").read_text() == f"{tmp_path}/gpukit/bin\n"
    done = step("run.sh", tmp_path, GPUS="h100:8", OPTIONS="--seed 7",
                COMMANDS="gpukit stat\nexit 7\necho not reached")
    assert done.returncode == 7, done.stderr
    assert done.stdout.count("H100") == 8
    assert "not reached" not in done.stdout


def test_a_step_of_the_action_ends_with_the_first_failure(archive, tmp_path):
    step("install.sh", tmp_path, ARCHIVE=str(archive))
    done = step("run.sh", tmp_path, GPUS="t4", COMMANDS="false\necho reached")
    assert done.returncode == 1
    assert "reached" not in done.stdout


def test_the_action_refuses_an_archive_with_another_checksum(
        archive, tmp_path):
    done = step("install.sh", tmp_path, ARCHIVE=str(archive), SHA256="0" * 64)
    assert done.returncode != 0
    assert not (tmp_path / "path").exists()


def test_the_action_needs_a_release_or_an_archive(tmp_path):
    done = step("install.sh", tmp_path, TAG="main", RELEASES="https://none")
    assert done.returncode == 1
    assert "give the input archive" in done.stderr
