# SPDX-License-Identifier: Apache-2.0
"""The filters of `gpukit web` and of `gpukit top` are compared on one machine.
"""

import os
import re
import subprocess

import pytest

from browser import BROWSER, Browser
from conftest import GPUKIT, clean_env
from exporter import BUILT
from screen import Terminal
from web import web

pytestmark = [BUILT, BROWSER]
assert web  # the fixture

ROWS = "[...document.querySelectorAll('#processes tbody tr')]" \
    ".map(r => Number(r.children[1].textContent))"


@pytest.fixture
def jobs(web, tmp_path):
    """A page and its machine, with processes that differ in everything a filter
    can name without a container."""
    server = web(["--gpus", "a100:4"], "--commands")
    made, started = web.made, []
    for rank in range(4):
        at = tmp_path / f"run{rank}"
        at.mkdir()
        started.append(subprocess.Popen(
            ["nice", "-n", str(rank), GPUKIT, "fake", "load", "--name",
             made.path, f"train:{rank},n={rank + 1},mem={rank + 1}GiB"],
            cwd=at, env=clean_env(RANK=str(rank)),
            stdout=subprocess.DEVNULL))
    yield server
    for one in started:
        one.terminate()
        one.wait(timeout=20)


def top_rows(terminal, pids):
    """The pids that the viewer lists, by GPU, then by pid."""
    return [pid for pid in pids
            if re.search(rf"^\W*\d+ +{pid} ", terminal.text, re.M)]


def page_rows(b, words):
    b.eval("document.getElementById('filter').value = ''; "
           "document.getElementById('filter').focus()")
    b.type(words or " ")
    return sorted(b.eval(ROWS))


def test_the_same_words_give_the_same_pids(jobs, web, tmp_path):
    b = Browser(tmp_path / "profile")
    terminal = Terminal(
        [GPUKIT, "top"], clean_env(XDG_CONFIG_HOME=str(tmp_path),
                                   **web.made.env), 200, 60)
    try:
        b.open(jobs.url)
        b.until(f"{ROWS}.length === 10")
        every = page_rows(b, "")
        terminal.wait_for(lambda _: top_rows(terminal, every) == every)
        seen = set()
        for words in ("", "load", str(every[0]), "!load", "name:^gpukit",
                      "name:fake$", f"user:{os.environ.get('USER', 'root')}",
                      "user:root", "gpu:1,3", "type:C", "type:G", "rank:2-3",
                      "!rank:0-1", "cwd:run1", "cwd:/run", "state:RS",
                      "state:Z", "mem>2GiB", "mem<3GiB gpu:0-1", "nice>1",
                      "nice<1", "threads>0", "threads>100", "time>1h",
                      "time<1h", "read<1GiB", "written<1", "io-read<1GiB",
                      "io-write>1TiB", "container:a", "pod:b", "host>1",
                      "rank:3 mem>3GiB !cwd:run2"):
            pids = page_rows(b, words)
            terminal.send(b"\\\x15" + words.encode() + b"\r")
            terminal.settle()
            terminal.wait_for(lambda _: top_rows(terminal, every) == pids, 10)
            seen.add(len(pids))
        assert {0, 1, 2, 3, 4, 5, 7, 10} <= seen, seen
    finally:
        terminal.close()
        b.end()


def test_a_directory_is_told_with_commands_only(jobs, web):
    """Like a command line, a directory may be private."""
    with jobs.stream() as s:
        told = s.until("processes", lambda e: len(
            e.data["processes"]) == 10).data["processes"]
    assert all("/run" in p["cwd"] and p["command"] for p in told)
    assert sorted(p["rank"] for p in told) == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    assert {p["stat"] for p in told} <= {"R", "S"}
