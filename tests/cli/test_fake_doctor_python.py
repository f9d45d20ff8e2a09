# SPDX-License-Identifier: Apache-2.0
"""What `gpukit fake doctor --python` says of a PyTorch; here PyTorch is a
folder with the files that are read."""

import json
import os
import subprocess
import sys

import pytest

from conftest import FAKE_DIR

# Reasons for which it runs, but more slowly.
SLOWER = {"no-compiler", "no-headers", "in-python"}


class Environment:
    """A Python whose PyTorch has a given version."""

    def __init__(self, place):
        self.place = place
        self.torch = place / "site" / "torch"
        self.env = {"XDG_CACHE_HOME": str(place / "cache"),
                    "PYTHONPATH": str(place / "site"),
                    "CXX": sys.executable}

    def install(self, version="2.9.1+cu128", cuda="'12.8'"):
        (self.torch / "include" / "ATen").mkdir(parents=True, exist_ok=True)
        (self.torch / "include" / "ATen" / "ATen.h").touch()
        (self.torch / "__init__.py").write_text("raise SystemExit(9)\n")
        (self.torch / "version.py").write_text(
            "from typing import Optional\n"
            f"__version__ = '{version}'\ncuda: Optional[str] = {cuda}\n"
            "hip: Optional[str] = None\n")


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path)


@pytest.fixture
def ask(gpukit, environment):
    def look(*words, status=0, **env):
        done = gpukit("fake", "doctor", "--python", sys.executable, *words,
                      env={**environment.env, **env})
        assert done.returncode == status, (done.stdout, done.stderr)
        assert done.stderr == ""
        return done.stdout

    return look


def codes(text):
    (found,) = json.loads(text)
    advice = [one["code"] for one in found["advice"]]
    assert found["runs"] == (not set(advice) - SLOWER)
    assert found["slower"] == (found["runs"] and bool(advice))
    return advice


def test_without_pytorch_it_says_so(ask):
    assert codes(ask("--json", status=1)) == ["no-pytorch"]
    assert "no PyTorch" in ask(status=1)


@pytest.mark.parametrize("version, cuda, expected", [
    ("2.5.0+cu121", "'12.1'", []), ("2.15.0+cu132", "'13.2'", []),
    ("2.10.0a0+git", "'13.0'", []), ("2.4.1+cu121", "'12.1'", ["old-pytorch"]),
    ("2.7.0+cu118", "'11.8'", ["other-cuda"]),
    ("2.9.1+cpu", "None", ["no-cuda"])])
def test_the_version_decides(ask, environment, version, cuda, expected):
    environment.install(version, cuda)
    text = ask("--json", status=int(bool(expected)))
    assert codes(text) == expected
    (found,) = json.loads(text)
    assert found["pytorch"] == version
    assert found["folder"] == str(environment.torch)
    assert found["built"] is found["refused"] is None
    assert found["compiler"] == sys.executable


def test_what_is_turned_off_does_not_run(ask, environment):
    environment.install()
    off = ask("--json", status=1, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert codes(off) == ["turned-off"]


def test_what_cannot_be_built_runs_by_python(ask, environment):
    environment.install()
    os.unlink(environment.torch / "include" / "ATen" / "ATen.h")
    assert codes(ask("--json")) == ["no-headers"]
    assert "runs     slower: " in ask()
    environment.install()
    assert codes(ask("--json", PATH=str(environment.place), CXX="")) == [
        "no-compiler"]
    assert codes(ask("--json", GPUKIT_TORCH="python")) == ["in-python"]
    environment.install("2.4.1+cu121", "'12.1'")
    text = ask("--json", status=1, GPUKIT_TORCH="python")
    assert codes(text) == ["old-pytorch", "in-python"]


def test_a_part_that_is_built_tells_what_is_refused(ask, environment):
    """It is found without a compiler; another user's is not trusted."""
    environment.install()
    name = subprocess.check_output(
        [sys.executable, "-c", "from _gpukit_torch import build\n"
         "print(build._key('2.9.1+cu128', 1))"], text=True,
        env={"PYTHONPATH": os.path.join(FAKE_DIR, "python")}).strip()
    folder = environment.place / "cache" / "gpukit" / "torch" / name
    folder.mkdir(parents=True)
    library = folder / "libgpukit-torch.so"
    library.touch(0o755)
    rows = [{"key": "CUDA", "operator": "aten::miopen_rnn", "fate": "refused",
             "reason": "AMD's"}]
    (folder / "refused.json").write_text(json.dumps(rows))
    (found,) = json.loads(ask("--json", PATH=str(environment.place), CXX=""))
    assert found["built"] == str(library) and found["refused"] == rows
    assert found["compiler"] is None
    assert "refused  miopen_rnn: AMD's\n" in ask()
    library.chmod(0o777)
    text = ask("--json", PATH=str(environment.place), CXX="")
    assert codes(text) == ["no-compiler"]


def test_files_are_looked_at_beside_it(ask, environment, gpukit):
    environment.install()
    python, file = json.loads(ask("--json", gpukit.path))
    assert python["kind"] == "python environment"
    assert file["path"] == gpukit.path


@pytest.mark.parametrize("program, says", [
    ("/bin/true", "/bin/true: not a working Python"),
    ("no-such-python", "no-such-python: command not found")])
def test_what_is_no_python_is_told_once(gpukit, program, says):
    done = gpukit("fake", "doctor", "--python", program)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1 and says in done.stderr
