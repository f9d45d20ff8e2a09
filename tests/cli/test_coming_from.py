# SPDX-License-Identifier: Apache-2.0
"""docs/COMING-FROM.md is right: the options that it names exist, and what it
says about a pid namespace is true."""

import os
import re
import subprocess

import can
from conftest import GPUKIT, ROOT, clean_env


def page():
    with open(os.path.join(ROOT, "docs", "COMING-FROM.md"),
              encoding="utf-8") as file:
        return file.read()


def named():
    """{verb: its long options} as in the code of the page."""
    found = {}
    block = re.compile(r"^```\w+\n(.*?)^```$", re.M | re.S)
    code = block.findall(page()) + re.findall(r"`([^`]+)`",
                                              block.sub("", page()))
    for words in code:
        for verb, rest in re.findall(
                r"(?<!import )\bgpukit ([a-z]+)((?: [^|]*)?)", words):
            rest = rest.split(" -- ")[0]
            found.setdefault(verb, set()).update(
                re.findall(r"(?<!\w)--[a-z][a-z-]+", rest))
    return found


def test_every_verb_and_option_is_there(gpukit):
    options = named()
    assert len(options) >= 7 and sum(map(len, options.values())) >= 12
    for verb, wanted in options.items():
        helps = gpukit.ok(verb, "--help")
        if verb == "fake":
            helps += gpukit.ok("fake", "doctor", "--help")
        told = set(re.findall(r"--[a-z][a-z-]+", helps))
        assert wanted <= told, verb


def test_the_columns_are_those_of_gpu_watch(gpukit, machine, tmp_path):
    columns = re.search(r"`(timestamp,[\w,]+)`", page())[1]
    env = machine("--load", "train:0,mem=8GiB").env
    path = tmp_path / "gpu.csv"
    gpukit.ok("record", "--match", "gpukit-load", "--output", path,
              "--count", "1", env=env)
    gpukit.ok("record", "--match", "gpukit-load", "--output", path,
              "--append", "--count", "1", env=env)
    lines = path.read_text().splitlines()
    assert lines[0] == columns and len(lines) == 3
    assert all(",8192," in line for line in lines[1:])


def test_a_namespace_of_processes_hides_those_of_others(machine):
    can.need("processes-of-its-own")
    assert "-- unshare --pid --fork --mount-proc gpukit stat" in page()
    env = clean_env(**machine("--load", "train:0,mem=8GiB").env)
    done = subprocess.run([*can.PROCESSES, GPUKIT, "stat"], text=True, env=env,
                          capture_output=True, check=True)
    assert " 8192 / 81920 MB" in done.stdout
    assert "No running processes found" in done.stdout
