# SPDX-License-Identifier: Apache-2.0
"""YAML of strangers: profiles, scenarios and configurations of the viewer that
are deep, repeat themselves, or are not files at all."""

import os
import subprocess
import time

import pytest

from conftest import GPUKIT, clean_env

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10))
TEXTS = {
    "lists": "a: " + "[" * 60_000,
    "lists that end": "a: " + "[" * 30_000 + "]" * 30_000,
    "lists in lines": "a:\n" + " [\n" * 20_000,
    "mappings": "a: " + "{b: " * 15_000,
    "blocks": "- " * 30_000,
    "blocks in lines": "".join(" " * i + "a:\n" for i in range(340)),
    "questions": "? " * 30_000,
    "laughs": LAUGHS,
    "itself": "a: &a [*a]\n",
    "itself, by a key": "a: &a {b: *a}\n",
    "anchors": "a: [" + ", ".join(f"&a{i} x" for i in range(5_000)) + "]\n",
    "aliases": "a: &a x\nb: [" + ", ".join(["*a"] * 15_000) + "]\n",
    "an anchor of a long name": "a: &" + "x" * 60_000 + " b\n",
}
SPECIAL = {
    "a text without an end": "a: '" + "x" * 60_000,
    "a long text": "a: " + "x" * 60_000 + "\n",
    "keys": "".join(f"k{i}: 1\n" for i in range(6_000)),
    "equal keys": "a: 1\n" * 12_000,
    "comments": "#" * 60_000 + "\n",
    "lines of nothing": "\n" * 60_000,
    "tabs": "a:\n" + "\t" * 60_000,
    "documents": "---\n" * 15_000,
    "much more than a file has": "a: b\n" * 200_000,
    "no characters": b"a: " + bytes(range(128, 256)) * 400,
    "nulls": bytes(60_000),
}


def reader(name, path, tmp_path):
    """The command that reads a file of this kind."""
    if name == "profile":
        return ["fake", "--gpus", f"{path}:1", "--", "true"]
    if name == "scenario":
        return ["fake", "--scenario", str(path), "--", "true"]
    if name == "check":
        return ["fake", "scenario", "check", str(path)]
    (tmp_path / "gpukit").mkdir(exist_ok=True)
    os.replace(path, tmp_path / "gpukit" / "top.yaml")
    return ["fake", "--gpus", "t4:1", "--", GPUKIT, "top", "--once"]


def run(args, tmp_path):
    """(code, stderr); the command must end within a few seconds."""
    began = os.times()
    done = subprocess.run(
        [GPUKIT, *args], text=True, errors="replace", capture_output=True,
        timeout=60, check=False, stdin=subprocess.DEVNULL, env=clean_env(
            XDG_CONFIG_HOME=str(tmp_path), LC_ALL="C.UTF-8"))
    after = os.times()
    busy = after.children_user + after.children_system - \
        began.children_user - began.children_system
    assert busy < 3, f"{busy} s of CPU"
    return done.returncode, done.stderr


@pytest.mark.parametrize("kind", ["profile", "scenario", "check", "config"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_shape_that_costs_much_is_refused(tmp_path, name, kind):
    path = tmp_path / "x.yaml"
    path.write_text(TEXTS[name])
    code, errors = run(reader(kind, path, tmp_path), tmp_path)
    assert code in (0, 1, 2) and (code or kind == "config"), errors
    assert ".yaml:" in errors and errors.count("\n") == 1, errors
    assert any(words in errors for words in (
        "nested more than 64", "aliases that expand to too much", "anchors",
        "an alias within its own anchor")), errors


@pytest.mark.parametrize("kind", ["profile", "scenario", "config"])
@pytest.mark.parametrize("name", SPECIAL)
def test_what_is_large_costs_little(tmp_path, name, kind):
    path = tmp_path / "x.yaml"
    text = SPECIAL[name]
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    code, errors = run(reader(kind, path, tmp_path), tmp_path)
    assert code in (0, 1, 2), errors
    assert errors.count("\n") <= 1 and len(errors) < 5000, errors


@pytest.mark.parametrize("kind", ["profile", "scenario"])
def test_what_is_no_file_is_not_waited_for(tmp_path, kind):
    os.mkfifo(tmp_path / "pipe.yaml")
    os.symlink("/dev/zero", tmp_path / "zero.yaml")
    (tmp_path / "place.yaml").mkdir()
    for name in ("pipe", "zero", "place"):
        code, errors = run(reader(kind, tmp_path / f"{name}.yaml", tmp_path),
                           tmp_path)
        assert code in (1, 2) and "not a file" in errors, errors


def test_sixty_four_lists_are_not_too_many(tmp_path):
    """The mapping counts as one level, so 63 lists can be read; the error is
    then that the key is unknown."""
    path = tmp_path / "x.yaml"
    for depth, words in ((63, "unknown key"), (64, "nested more than 64")):
        path.write_text("a: " + "[" * depth + "]" * depth + "\n")
        code, errors = run(["fake", "scenario", "check", str(path)], tmp_path)
        assert code == 2 and words in errors, errors


def test_an_anchor_is_of_use(gpukit, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("inherits: &a t4\nmemory_mib: &b 8192\nbar1_mib: 256\n")
    assert gpukit("fake", "--gpus", path, "--", "true").returncode == 0


@pytest.mark.parametrize("name", ["lists", "blocks"])
def test_fake_ends_by_a_signal_while_it_reads(tmp_path, name):
    """It ends at once, however long reading the file would take."""
    path = tmp_path / "x.yaml"
    path.write_text(TEXTS[name])
    child = subprocess.Popen(
        [GPUKIT, "fake", "--scenario", str(path), "--", "true"],
        env=clean_env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.05)
    child.terminate()
    try:
        child.wait(5)
    finally:
        child.kill()
        child.wait()
