# SPDX-License-Identifier: Apache-2.0
"""tools/run/packages.sh looks for what ./run needs instead of asking dpkg."""

import os
import subprocess

import pytest

from conftest import ROOT

SCRIPT = """
say() { printf '%s\\n' "run: $*" >&2; }
fail() { say "$*"; exit 1; }
. tools/run/packages.sh
"""
# What answers on Debian, and what would install there.
DEBIAN = {"dpkg-query", "dpkg", "apt-get", "apt", "sudo"}


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """tools(LEFT_OUT...): a PATH with all programs except these."""
    def path(*left_out):
        place = tmp_path_factory.mktemp("bin")
        for folder in ("/usr/bin", "/usr/sbin"):
            for name in os.listdir(folder):
                if name not in left_out and not (place / name).exists():
                    (place / name).symlink_to(os.path.join(folder, name))
        return str(place)
    return path


def packages(command, path):
    # `has` also looks into /usr/sbin, where nothing is left out here.
    return subprocess.run(["sh", "-euc", SCRIPT + command], cwd=ROOT,
                          env={"PATH": path}, text=True, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True)


def test_without_dpkg_what_is_here_suffices(tools):
    done = packages("need build test; echo good", tools(*DEBIAN))
    assert (done.stdout, done.stderr, done.returncode) == ("good\n", "", 0)


def test_without_dpkg_what_is_missing_is_named(tools):
    done = packages("need build test", tools("ninja", "g++", *DEBIAN))
    assert (done.returncode, done.stderr) == (
        1, "run: not Debian or Ubuntu; install the equivalents of: "
        "ninja-build g++\n")


def test_what_can_be_done_without_stops_nobody(tools):
    done = packages("can_use test; echo on", tools("gdb", *DEBIAN))
    assert (done.returncode, done.stdout) == (0, "on\n")
    assert done.stderr.splitlines() == [
        "run: not Debian or Ubuntu; install the equivalents of: gdb",
        "run: continuing without them"]


@pytest.mark.parametrize("left_out, missing", [
    (("gcc", "cc"), "gcc libc6-dev libfftw3-double3 libfftw3-single3 "
     "libopenblas0-pthread"),
    (("pkg-config",),
     "pkg-config libyaml-dev libjansson-dev libncurses-dev libpcre2-dev "
     "libzstd-dev liblz4-dev libmicrohttpd-dev libgnutls28-dev "
     "libcurl4-gnutls-dev"),
    (("cmake",), "cmake"),
])
def test_each_probe_finds_out(tools, left_out, missing):
    done = packages("missing build fake", tools(*left_out))
    assert done.stdout.split() == missing.split()


def test_a_machine_that_installs_nothing_is_told_so(tools):
    """If requested packages are still missing, they are named."""
    script = ("install_packages() { echo asked for $*; }\n"
              "need build")
    done = packages(script, tools("cmake"))
    assert done.stdout == "asked for cmake\n"
    assert done.stderr == "run: installed, but still not found: cmake\n"
