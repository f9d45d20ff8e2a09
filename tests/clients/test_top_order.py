# SPDX-License-Identifier: Apache-2.0
"""Columns, orders and filters of `gpukit top` are typed into a pty: what the
screen shows is compared with /proc and with itself."""

import os
import re
import subprocess

import pytest

from conftest import GPUKIT, ROOT, clean_env
from screen import Terminal

# GPU, memory in GiB, encoder, decoder, environment variables.
JOBS = [(0, 1, 40, 5, {"RANK": "2"}),
        (0, 3, 10, 25, {"SLURM_PROCID": "0", "PMI_RANK": "10"}),
        (1, 2, 20, 15, {"OMPI_COMM_WORLD_RANK": "1", "SLURM_PROCID": "7"}),
        (1, 4, 30, 35, {"LOCAL_RANK": "9"})]
F4 = b"\x1bOS"
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def number(text):
    """A cell as a number; None: absent."""
    found = re.fullmatch(r"(-?[\d.]+)(B|KiB|MiB|GiB|)", text)
    return float(found[1]) * UNITS.get(found[2], 1) if found else None


class Job:
    """A real process on the machine, in a directory of its own."""

    def __init__(self, machine, tmp_path, index):
        gpu, memory, encoder, decoder, variables = JOBS[index % len(JOBS)]
        self.directory = tmp_path / f"d{index}"
        self.directory.mkdir()
        self.process = subprocess.Popen(
            [GPUKIT, "fake", "load", "--name", machine.path,
             f"train:{gpu},mem={memory}GiB,util=30,enc={encoder},"
             f"dec={decoder}"],
            env=clean_env(**variables), cwd=self.directory,
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: os.nice(5 if index == 3 else 0))

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


@pytest.fixture
def top(machine, tmp_path):
    """top(COLUMNS) shows these columns of four processes in 160x50."""
    made = machine("--gpus", "a100:2")
    jobs = [Job(made, tmp_path, i) for i in range(len(JOBS))]
    started = []

    def start(columns, more=""):
        (tmp_path / "gpukit").mkdir(exist_ok=True)
        (tmp_path / "gpukit" / "top.yaml").write_text(
            f"columns: [{columns}]\nmode: compact\n{more}")
        started.append(Terminal(
            [GPUKIT, "top", "--look", "nvitop", "--interval", "0.2"],
            clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env), 160, 50))
        started[-1].wait_for("Processes:")
        return started[-1]

    start.add = lambda: jobs.append(Job(made, tmp_path, len(jobs)))
    yield start
    for terminal in started:
        terminal.close()
    for job in jobs:
        job.stop()


def table(text):
    """The rows of processes, each a mapping from titles to cells."""
    lines = text.split("\n")
    head = next((i for i, line in enumerate(lines) if " PID" in line), None)
    if head is None:
        return []
    # An arrow may replace a title's '%'.
    head_line = re.sub(r"(?<!\S)(SM|ENC|DEC)(?=[▲▼△▽])", r"%\1", lines[head])
    titles = re.sub("[▲▼△▽│]", " ", head_line).split()
    rows = []
    for line in lines[head + 2:]:
        if not line.startswith("│"):
            break
        cells = line.strip("│ ").split(None, len(titles) - 1)
        rows.append(dict(zip(titles, cells)))
    return rows


def by(title):
    return lambda text: [number(row.get(title, ""))
                         for row in table(text)]


def is_ordered(title, down):
    def check(text):
        values = by(title)(text)
        known = [v for v in values if v is not None]
        return (known and len(values) == len(JOBS)
                and re.search(f"{re.escape(title.lstrip('%'))}"
                              f"{'▼' if down else '▲'}", text)
                and known == sorted(known, reverse=down)
                and values[:len(known)] == known)
    return check


def leave(terminal):
    terminal.send(b"q")
    assert terminal.ends(30)
    assert terminal.status == 0
    terminal.left_intact()


def test_every_column_orders_by_the_keys(top):
    """`.` goes through them all; `/` reverses each; absent values come last."""
    terminal = top("pid, rank, gpu-memory, encoder, decoder, rss, threads, "
                   "nice, io-write-total, parent, command")
    shown = [("RANK", False), ("GPU-MEM", True), ("%ENC", True),
             ("%DEC", True), ("RSS", True), ("THR", True), ("NI", False),
             ("WRITTEN", True), ("PPID", False)]
    terminal.wait_for(lambda text: len(table(text)) == len(JOBS))
    terminal.wait_for(lambda text: None not in by("THR")(text))
    terminal.send(b"op")
    terminal.wait_for(is_ordered("PID", False))
    for title, down in shown:
        terminal.send(b".")
        terminal.wait_for(is_ordered(title, down))
        terminal.send(b"/")
        terminal.wait_for(is_ordered(title, not down))
    terminal.send(b",")
    terminal.wait_for(is_ordered("WRITTEN", True))
    leave(terminal)


def test_the_values_are_those_of_proc(top, tmp_path):
    terminal = top("pid, rank, state, threads, priority, nice, parent, cwd, "
                   "name, command")
    ranks = {0: 2, 1: 10, 2: 1, 3: None}

    def are_there(text):
        rows = table(text)
        return (len(rows) == len(JOBS)
                and all(row["CWD"] != "N/A" and "NAME" in row
                        and None not in (number(row[title]) for title in
                                         ("PPID", "PRI", "NI", "THR"))
                        for row in rows)
                and sum(number(row["RANK"]) is not None
                        for row in rows) == len(JOBS) - 1)

    for row in table(terminal.wait_for(are_there)):
        pid = int(row["PID"])
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        index = int(os.path.basename(os.readlink(f"/proc/{pid}/cwd"))[1:])
        assert int(row["PPID"]) == int(fields[1])
        assert int(row["PRI"]) == int(fields[15])
        assert int(row["NI"]) == int(fields[16])
        assert int(row["THR"]) == int(fields[17])
        assert row["S"] in "RSD"
        assert number(row["RANK"]) == ranks[index]
        assert str(tmp_path / f"d{index}").startswith(row["CWD"][:-2])
    leave(terminal)


def test_the_documentation_names_every_column():
    def read(*path):
        with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
            return f.read()

    rows = re.findall(r'^COLUMN\(\w+, "([\w-]+)", "([^"]*)",',
                      read("src", "format", "columns.def"), re.M)
    assert len(rows) > 20
    section = read("docs", "TOP.md").split("## Columns")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([\w-]+)` \| (\S*) \|", section, re.M) == rows


def test_two_columns(top):
    """The previous order sorts ties, and both are marked."""
    terminal = top("gpu, pid, user, gpu-memory, nice, command")
    terminal.wait_for(lambda text: len(table(text)) == len(JOBS))
    terminal.send(b"ogou")
    terminal.wait_for(lambda text: "USER▲" in text and "GPU-MEM▽" in text
                      and by("GPU-MEM")(text) == [n << 30
                                                  for n in (4, 3, 2, 1)])
    terminal.send(b"oGou")
    terminal.wait_for(lambda text: "USER▲" in text and "GPU-MEM△" in text
                      and by("GPU-MEM")(text) == [n << 30
                                                  for n in (1, 2, 3, 4)])
    leave(terminal)


def test_two_columns_of_the_config(top):
    terminal = top("gpu, pid, user, gpu-memory, encoder, command",
                   "sort: [user, -encoder]\n")
    terminal.wait_for(lambda text: "USER▲" in text and "%ENC△" in text)
    terminal.wait_for(lambda text: by("%ENC")(text) == sorted(
        by("%ENC")(text)) and len(table(text)) == len(JOBS))
    leave(terminal)


def test_a_click_on_a_title(top):
    """Presses the mouse at the title's place, as xterm reports it."""
    terminal = top("gpu, pid, gpu-memory, decoder, threads, command")
    terminal.wait_for(lambda text: len(table(text)) == len(JOBS))
    lines = terminal.text.split("\n")
    line = next(i for i, text in enumerate(lines) if "%DEC" in text)
    at = bytes([32 + lines[line].index("%DEC") + 2, 32 + line + 1])
    press = b"\x1b[M " + at + b"\x1b[M#" + at
    terminal.send(press)
    terminal.wait_for(is_ordered("%DEC", True))
    terminal.draw_for(0.6)  # two clicks in a row would be a double click
    terminal.send(press)
    terminal.wait_for(is_ordered("%DEC", False))
    leave(terminal)


@pytest.mark.parametrize("words, memory", [
    ("rank:0-9", {1, 2}), ("rank:10", {3}), ("!rank:0-99", {4}),
    ("cwd:/d3", {4}), ("mem>2.5GiB gpu:0", {3}),
    (f"nice>{min(os.nice(0) + 4, 18)} !user:nobody", {4}),
    ("name:^gpukit.*train type:C mem<2GiB", {1}), ("threads<1", set()),
    ("pod:x", set())])
def test_filters(top, words, memory):
    """Filters use columns or other facts: what the words need is read."""
    terminal = top("gpu, pid, gpu-memory, command")
    terminal.wait_for(lambda text: len(table(text)) == len(JOBS))
    terminal.send(F4 + words.encode() + b"\r")
    terminal.wait_for(lambda text: f"[{words}]" in text and {
        n / (1 << 30) for n in by("GPU-MEM")(text)
        if n is not None} == memory)
    leave(terminal)


def test_a_wrong_regular_expression_is_told(top):
    terminal = top("gpu, pid, gpu-memory, command")
    terminal.send(F4 + b"name:(")
    terminal.wait_for("wanted a regular expression")
    terminal.send(b"\x1b")
    terminal.wait_for(lambda text: len(table(text)) == len(JOBS))
    leave(terminal)


def test_the_tree_shows_who_comes(top):
    """The tree has the processes on GPUs below those that started them."""
    def on_gpus(count):
        return lambda text: "NLWP" in text and len(re.findall(
            r"^ *\d+ .*GPU \d.*─ gpukit-load", text, re.M)) == count

    terminal = top("gpu, pid, command")
    terminal.wait_for(lambda text: len(table(text)) == len(JOBS))
    terminal.send(b"t")
    terminal.wait_for(on_gpus(len(JOBS)))
    top.add()
    terminal.wait_for(on_gpus(len(JOBS) + 1))
    terminal.send(b"q")
    terminal.wait_for("Processes:")
    leave(terminal)
