# SPDX-License-Identifier: Apache-2.0
"""Every verb has --version and -V, from one hook."""

import re
import subprocess

import pytest

from conftest import GPUKIT

WORDS = [*re.findall(r"^  (\w+) ", subprocess.run(
    [GPUKIT, "help"], text=True, capture_output=True, check=True).stdout,
    re.M), "fake ctl", "fake doctor", "limit show", ""]
WORDS.remove("smi")  # these are nvidia-smi's: versions of the driver


@pytest.mark.parametrize("option", ["-V", "--version"])
@pytest.mark.parametrize("words", WORDS)
def test_a_verb_tells_its_version(gpukit, words, option):
    told = gpukit.ok(*words.split(), option)
    assert re.fullmatch(r"gpukit \d+\.\d+\.\d+\n", told)
    assert told == gpukit.ok("--version")


@pytest.mark.parametrize("verb", ["stat", "select", "limit"])
def test_a_full_disk_is_told(verb):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([GPUKIT, verb, "-V"], text=True, check=False,
                              stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == ("gpukit: cannot write the output: No space left on "
                           "device\n")
