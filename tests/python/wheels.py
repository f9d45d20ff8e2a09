# SPDX-License-Identifier: Apache-2.0
"""The wheels that tools/wheel.py makes of the build tree, in environments of
their own. All tests that use it are in one group, so that they are made once.
"""

import functools
import os
import subprocess
import sys
import sysconfig
import tempfile

import pytest

from conftest import BUILD, ROOT, clean_env, needed

GROUP = pytest.mark.xdist_group("wheels")


def wheel(out, *words, **env):
    """Runs tools/wheel.py."""
    return subprocess.run(
        [sys.executable, os.path.join(ROOT, "tools", "wheel.py"), *words,
         "--out", str(out)], text=True, capture_output=True, check=False,
        timeout=300, env=clean_env(**env))


def made(out, *words, **env):
    done = wheel(out, *words, **env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@functools.lru_cache
def folder():
    return tempfile.TemporaryDirectory(prefix="gpukit-test-wheels-")


@functools.lru_cache
def gpukit_wheel():
    return made(folder().name, "gpukit", "--tree", BUILD)


@functools.lru_cache
def nvitop_wheel():
    return made(folder().name, "nvitop")


def python_that_builds():
    """A Python with setuptools, wheel and headers, found as ./run does."""
    for python in (sys.executable, "/usr/bin/python3", "python3"):
        done = subprocess.run(
            [python, "-c", "import os, setuptools, sysconfig, wheel\nassert "
             "os.path.exists(sysconfig.get_path('include') + '/Python.h')"],
            capture_output=True, check=False)
        if not done.returncode:
            return python
    return pytest.skip("no Python with setuptools, wheel and its headers")


def setup(python, folder, *words):
    done = subprocess.run([python, "setup.py", "-q", *words], cwd=folder,
                          text=True, capture_output=True, check=False,
                          env=clean_env(), timeout=500)
    assert done.returncode == 0, done.stderr


class Environment:
    """A virtual environment with wheels in it, and modules of this Python's
    own (such as psutil) by links."""

    def __init__(self, path, wheels, modules=()):
        needed("pip", "the test of wheels")
        self.path = str(path)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip",
                        self.path], check=True)
        self.pip("install", "--no-index", "--no-deps", *wheels)
        for name in modules:
            os.symlink(os.path.join(sysconfig.get_paths()["purelib"], name),
                       os.path.join(self.packages, name))

    @property
    def packages(self):
        return sysconfig.get_path("purelib", "venv", {"base": self.path})

    @property
    def python(self):
        return self.command("python")

    def command(self, name):
        return os.path.join(self.path, "bin", name)

    def pip(self, *words):
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--python", self.python, "-q",
             "--disable-pip-version-check", *words], text=True,
            capture_output=True, check=False, env=clean_env(), timeout=200)
        assert done.returncode == 0, done.stderr

    def run(self, *words, **env):
        """Runs a command of the environment, with nothing else on PATH that
        could be gpukit."""
        env = clean_env(PATH=f"{self.path}/bin:/usr/bin:/bin", **env)
        return subprocess.run([self.command(words[0]), *words[1:]], env=env,
                              text=True, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, cwd="/", timeout=120)

    def ok(self, *words, **env):
        done = self.run(*words, **env)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout
