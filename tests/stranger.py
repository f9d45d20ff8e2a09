# SPDX-License-Identifier: Apache-2.0
"""Other users, for tests that run as root: a copy of the build that they can
reach, wherever the build is, and commands that run as one of them."""

import os
import shutil
import subprocess
import tempfile

import pytest

import can
from conftest import GPUKIT, clean_env

NOBODY = 65534


@pytest.fixture
def open_dir():
    """A directory that everybody may enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        yield directory


@pytest.fixture(scope="session")
def open_build():
    """The same with a copy of the build's bin, lib and share. The links of
    share lead elsewhere and are followed. Only root can use it."""
    can.need("other-users")
    tree = os.path.join(os.path.dirname(GPUKIT), "..")
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        for part, links in (("bin", True), ("lib", True), ("share", False)):
            shutil.copytree(os.path.join(tree, part),
                            os.path.join(directory, part), symlinks=links)
        yield directory


def become(user):
    """For preexec_fn: makes a child another user; None where that is root."""
    def change():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    return change if user else None


def run_as(user, command, *args, **env):
    """Runs a command to its end as a user."""
    return subprocess.run([command, *map(str, args)], text=True, cwd="/",
                          stdin=subprocess.DEVNULL, capture_output=True,
                          preexec_fn=become(user), check=False, timeout=120,
                          env=clean_env(HOME="/tmp", **env))
