# SPDX-License-Identifier: Apache-2.0
"""What the tests of `gpukit limit` share."""

import os

import pytest

from conftest import BUILD

LIBRARY = os.path.join(BUILD, "lib", "gpukit", "libvgpu.so")
GIB = 1 << 30


@pytest.fixture
def group(gpukit, request):
    """The name of a group that does not exist, removed at the end."""
    name = f"t{os.getpid()}.{abs(hash(request.node.nodeid)) % 10 ** 9}"
    yield name
    gpukit("limit", "rm", name)


def fails(done, status, *words):
    """Checks the status, and one line on stderr with these words."""
    assert (done.returncode, done.stdout) == (status, ""), done
    if status != 2:
        assert done.stderr.startswith("gpukit limit: "), done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def directory():
    return f"/dev/shm/gpukit-limit-{os.geteuid()}"


def policy_of(gpukit, name):
    return gpukit.json("limit", "show", name, "--json")["groups"][0]["policy"]


def make(gpukit, name, *options):
    gpukit.ok("limit", "--group", name, *options, "--", "true")
    return policy_of(gpukit, name)
