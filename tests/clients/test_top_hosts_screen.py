# SPDX-License-Identifier: Apache-2.0
"""`gpukit top --host` in a terminal: several machines, one of them, and
machines that go away and come back."""

import json
import os
import re
import signal
import subprocess

import pytest

from conftest import GPUKIT, clean_env
from hosts_script import Remote
from screen import Terminal, state_of

F4 = b"\x1bOS"
LOADS = ("--load", "train:0,mem=20GiB", "--frozen")


@pytest.fixture
def remote(tmp_path):
    place = tmp_path / "hosts"
    place.mkdir()
    return Remote(place)


@pytest.fixture
def show(remote, tmp_path):
    started = []

    def start(*options, columns=120, rows=30):
        started.append(Terminal(
            [GPUKIT, "top", *remote.options, *options],
            clean_env(XDG_CONFIG_HOME=str(tmp_path)), columns, rows))
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


def leave(terminal):
    terminal.send(b"q")
    assert terminal.ends(30) and terminal.status == 0
    terminal.left_intact()


def stat(machine):
    done = subprocess.run([GPUKIT, "stat", "--json"], check=True,
                          capture_output=True, env=clean_env(**machine.env))
    return json.loads(done.stdout)["devices"]


def row(text, name):
    found = re.search(rf"^ (\S) {name} +(.*?) *$", text, re.M)
    return found[1], found[2]


def test_a_filter_by_what_only_that_machine_knows(machine, remote, show):
    """The processes' directories and states come from /proc there; a process
    outside of pods has no pod."""
    atlas = machine("--gpus", "a100:2", "--load", "train:0-1,mem=20GiB",
                    "--frozen", name="atlas")
    remote.add("atlas", atlas)
    pids = {str(p["pid"]) for gpu in stat(atlas) for p in gpu["processes"]}
    assert len(pids) == 2
    directory, = {os.readlink(f"/proc/{pid}/cwd") for pid in pids}

    def are_shown(words, wanted):
        terminal.send(F4 + words.encode() + b"\r")
        terminal.wait_for(lambda text: f"filter {words} " in text and {
            pid for pid in pids
            if re.search(rf"^.? +\d +{pid} ", text, re.M)} == wanted)
        terminal.send(b"\x1b")
        terminal.wait_for(lambda text: "· filter" not in text)

    terminal = show(columns=160)
    terminal.wait_for(lambda text: all(pid in text for pid in pids))
    are_shown(f"cwd:{directory}", pids)
    are_shown(f"!cwd:{directory}", set())
    are_shown("state:RSDT", pids)
    are_shown("!state:RSDT", set())
    are_shown("pod:x", set())
    leave(terminal)


def test_all_of_one_host_and_back(machine, remote, show):
    atlas = machine("--gpus", "a100:4", *LOADS, name="atlas")
    borg = machine("--gpus", "l4:2", "--frozen", name="borg")
    remote.add("atlas", atlas)
    remote.add("borg", borg)
    terminal = show()
    terminal.wait_for("2 of 2 hosts · 6 GPUs")
    terminal.send(b"\r")
    text = terminal.wait_for("4 × A100")
    assert text.startswith(" gpukit  atlas")
    for gpu in stat(atlas):
        watts = int(gpu["power_watts"] + 0.5)
        assert re.search(rf"\b{watts}( W|/400)", text)
        assert f"{gpu['gpu_utilization_percent']}%" in text
    pid = stat(atlas)[0]["processes"][0]["pid"]
    assert re.search(rf" 0 +{pid} ", text)
    # Esc first removes the selection, then leaves the host.
    terminal.send(b"\x1bOB")
    terminal.send(b"K")
    terminal.wait_for("The processes of another machine cannot be signalled")
    terminal.send(b"t")
    terminal.wait_for("The processes of another machine cannot be read.")
    assert state_of(pid) != "X"
    terminal.send(b"\x1b")
    terminal.settle()
    assert "4 × A100" in terminal.text
    terminal.send(b"\x1b")
    terminal.wait_for("2 of 2 hosts")
    terminal.send(b"\x1bOB")
    terminal.send(b"d")
    terminal.wait_for("2 × L4")
    terminal.send(b"q")
    terminal.wait_for("2 of 2 hosts")
    leave(terminal)


def click(terminal, row, column):
    at = bytes((33 + column, 33 + row))
    terminal.send(b"\x1b[M " + at + b"\x1b[M#" + at)


def test_a_click_opens_a_host(machine, remote, show):
    remote.add("atlas", "echo refused >&2; exit 1")
    remote.add("borg", machine("--gpus", "l4:2", "--frozen", name="borg"))
    terminal = show()
    terminal.wait_for("1 of 2 hosts")
    click(terminal, 2, 10)
    terminal.wait_for("atlas has not answered yet.")
    click(terminal, 3, 10)
    terminal.wait_for("2 × L4")
    terminal.send(b"\x1b")
    text = terminal.wait_for(lambda text: "1 of 2 hosts" in text and
                             "q quit" in text)
    row_of_keys, keys = list(enumerate(text.split("\n")))[-1]
    click(terminal, row_of_keys, keys.index("quit"))
    assert terminal.ends(30) and terminal.status == 0


def test_a_host_goes_away_and_comes_back(machine, remote, show):
    remote.add("atlas", machine("--gpus", "a100:4", *LOADS, name="atlas"))
    remote.add("borg", machine("--gpus", "l4:2", "--frozen", name="borg"))
    comes = remote.cases["borg"]
    terminal = show("--interval", "0.2")
    terminal.wait_for("2 of 2 hosts")
    remote.add("borg", 'echo "ssh: no route to host" >&2; exit 255')
    os.kill(remote.pid("borg"), signal.SIGKILL)
    terminal.wait_for(lambda text: "ssh: no route to host" in
                      row(text, "borg")[1])
    assert row(terminal.text, "borg")[0] == "✕"
    assert row(terminal.text, "atlas")[0] == "●"
    assert "1 of 2 hosts · 4 GPUs" in terminal.text
    # The last values remain visible and are marked old. Unreachable hosts come
    # first; the selected one stays selected.
    terminal.send(b"\x1bOA\r")
    text = terminal.wait_for("2 × L4")
    assert re.search(r"◀ away \d+s: ssh: no route to host", text)
    assert "2 stale" in text and "◌ stale" in text
    remote.add("borg", comes)
    terminal.wait_for(lambda text: "stale" not in text and
                      "away" not in text and "○ idle" in text)
    terminal.send(b"\x1b")
    terminal.wait_for("2 of 2 hosts · 6 GPUs")
    leave(terminal)


def names(text):
    return re.findall(r"^ \S (atlas|borg|kobe) (?!GPU)", text, re.M)


def test_those_in_trouble_stand_first(machine, remote, show):
    made = {name: machine("--gpus", "t4:2", "--frozen", name=name)
            for name in ("atlas", "borg", "kobe")}
    for name, one in made.items():
        remote.add(name, one)
    terminal = show("--interval", "0.2")
    terminal.wait_for("3 of 3 hosts")
    assert names(terminal.text) == ["atlas", "borg", "kobe"]
    terminal.send(b"\x1bOB")  # borg stays selected
    made["kobe"].ctl("fail", "1", "hang")
    terminal.wait_for(lambda text: names(text) == ["kobe", "atlas", "borg"])
    terminal.send(b"\r")
    terminal.wait_for(lambda text: text.startswith(" gpukit  borg"))
    terminal.send(b"\x1b")
    terminal.wait_for("3 of 3 hosts")
    made["kobe"].ctl("clear", "1")
    terminal.wait_for(lambda text: not re.search("stale|hung", text))
    assert names(terminal.text)[0] == "kobe"  # for a while
    terminal.wait_for(lambda text: names(text) == ["atlas", "borg", "kobe"])
    leave(terminal)


def test_alerts_of_hosts_are_told(machine, remote, show):
    """Alerts are below the rows, which stay, and on the main screen of the
    host."""
    made = {name: machine("--gpus", "t4:4", name=name)
            for name in ("atlas", "borg", "kobe")}
    for name, one in made.items():
        remote.add(name, one)
    terminal = show("--interval", "0.5")
    terminal.wait_for("3 of 3 hosts")
    made["borg"].ctl("fail", "2", "xid=13")
    terminal.wait_for("◆ borg GPU 2: Xid 13")
    made["kobe"].ctl("fail", "1", "lost", "xid=79")
    text = terminal.wait_for(lambda text: "✕ kobe GPU 1: lost" in text and
                             "◆ kobe GPU 1: Xid 79" in text)
    # The newest failure is above the earlier ones, and the footer below all.
    lines = [line for line in text.splitlines() if line.strip()]
    assert [line.split()[1] for line in lines[-4:-1]] == \
        ["kobe", "kobe", "borg"]
    assert "q quit" in lines[-1]
    made["atlas"].ctl("fail", "0", "lost")
    terminal.wait_for(lambda text: "✕ atlas GPU 0: lost" in text and
                      "+2 more" in text)
    terminal.send(b"\x1b[H\r")
    text = terminal.wait_for(lambda text: re.match(" gpukit  (atlas|kobe)",
                                                   text))
    assert re.search(r"^ ✕ GPU [01]: lost", text, re.M)
    terminal.send(b"A")
    terminal.wait_for(r"alerts · ")
    terminal.send(b"\x1b\x1b")
    terminal.settle()
    # An unreachable host has a row that says so, and no alert.
    os.kill(remote.pid("borg"), signal.SIGKILL)
    remote.add("borg", "exit 1")
    terminal.send(b"q" if "3 hosts" not in terminal.text else b"")
    terminal.wait_for(lambda text: "◆ borg" not in text and "away" in text)
    leave(terminal)


@pytest.mark.slow
def test_processes_of_a_host_go_back_in_time(machine, remote, show):
    atlas = machine("--gpus", "a100:2", name="atlas")
    remote.add("atlas", atlas)
    remote.add("borg", machine("--gpus", "t4", "--frozen", name="borg"))
    with subprocess.Popen(
            [GPUKIT, "fake", "load", "--name", atlas.path, "train:0,mem=20GiB"],
            env=clean_env()) as load:
        try:
            terminal = show()
            terminal.wait_for("2 of 2 hosts")
            terminal.send(b"\r")
            terminal.wait_for("gpukit-load")
            terminal.draw_for(3)  # earlier frames
        finally:
            load.terminate()
    terminal.wait_for(lambda text: "gpukit-load" not in text)
    terminal.draw_for(28)
    terminal.send(b"(")
    text = terminal.wait_for(lambda text: "ago" in text and
                             "gpukit-load" in text)
    assert "none kept" not in text and "graphs only" not in text
    terminal.send(b"0")
    terminal.wait_for(lambda text: "gpukit-load" not in text and
                      "ago" not in text)
    # The list of hosts shows the present, and another host begins there.
    terminal.send(b"(")
    terminal.wait_for("ago")
    terminal.send(b"\x1b")
    terminal.wait_for("2 of 2 hosts")
    terminal.send(b"\x1bOB\r")
    terminal.wait_for(lambda text: "T4" in text and "ago" not in text)
    terminal.send(b"qq")
    assert terminal.ends(30) and terminal.status == 0


def test_one_host_is_its_main_screen(machine, remote, show):
    remote.add("atlas", "exit 7")
    terminal = show()
    terminal.wait_for("atlas: away 0s+: the command ended with status 7")
    terminal.send(b"du\r\x1b")
    terminal.settle()
    remote.add("atlas", machine("--gpus", "a100:4", *LOADS, name="atlas"))
    terminal.wait_for("4 × A100")
    leave(terminal)
    assert "A100" in terminal.text  # the report of the last frame


def test_nobody_is_left_behind(remote, show):
    remote.add("one", "trap '' TERM\nwhile :; do sleep 1; done")
    remote.add("two", "exec sleep 1000")
    terminal = show()
    terminal.wait_for("0 of 2 hosts")
    terminal.wait_for(lambda _: remote.pid("one") and remote.pid("two"))
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.ends(30) and terminal.status == 128 + signal.SIGTERM
    for name in ("one", "two"):
        assert state_of(remote.pid(name)) == "X"


@pytest.mark.parametrize("columns", [40, 60, 80, 160, 240])
def test_rows_fit(machine, remote, show, columns):
    """What matters most is visible however narrow the terminal is."""
    remote.add("atlas", machine("--gpus", "h100-80gb-hbm3:8", "--load",
                                "train:0,mem=20GiB", "--frozen",
                                name="atlas"))
    remote.add("borg", "echo refused >&2; exit 1")
    terminal = show(columns=columns, rows=10)
    text = terminal.wait_for(lambda text: "1 of 2" in text and
                             "refused" in text)
    assert "%" in row(text, "atlas")[1]
    assert len(re.search(r"[▁-█]+", row(text, "atlas")[1])[0]) == 8
    leave(terminal)
