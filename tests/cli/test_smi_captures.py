# SPDX-License-Identifier: Apache-2.0
"""`gpukit smi` answers in the formats of nvidia-smi.

tests/data/smi has the shapes of nvidia-smi's answers on real boards: the values
of every field with 0 for each digit, the keys of -q, the tables.
"""

import glob
import json
import os
import re
import subprocess

import pytest

from conftest import FAKE_DIR, GPUKIT, ROOT, clean_env

DATA = os.path.join(ROOT, "tests", "data")
CAPTURES = sorted(glob.glob(os.path.join(DATA, "smi", "*.json")))
NAMES = [os.path.basename(path)[:-len(".json")] for path in CAPTURES]
# Settings of a machine at the time of the capture.
STATE = {"h100": ["virtualization-mode=1"], "h200": ["virtualization-mode=1"],
         "rtx": ["addressing-mode=1"]}
# Two answers of one kind.
KINDS = [{"Active", "Not Active"}, {"Enabled", "Disabled"}, {"Yes", "No"}]


def shape(text):
    """The format of an answer: digits become 0, numbers may have any length."""
    text = re.sub(r"0x[0-9A-Fa-f]+", lambda m: "0x" + "0" * (len(m[0]) - 2),
                  text)
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
                  "00000000-0000-0000-0000-000000000000", text)
    text = re.sub(r"[0-9A-F]{8}:[0-9A-F]{2}:", "00000000:00:", text)
    text = re.sub(r"\d", "0", text)
    text = re.sub(r"^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 0]0",
                  "Day Mon 00", text)
    return re.sub(r"(?<![0-9A-Za-z.:/x-])0+(?=$|[ .,%x])", "0", text)


def same(answer, shapes):
    """Whether an answer has one of the shapes."""
    mine = shape(answer)
    wanted = {shape(one) for one in shapes}
    return mine in wanted or any(mine in kind and wanted & kind
                                 for kind in KINDS)


class Board:
    """A machine with the board of a capture."""

    def __init__(self, machine, path, driver):
        with open(path, encoding="ascii") as file:
            self.facts = json.load(file)
        self.name = os.path.basename(path)
        self.driver = driver
        profile = self.facts["profile"]
        if profile.endswith(".yaml"):
            profile = os.path.join(DATA, profile)
        self.one = machine("--gpus", profile, "--driver", driver)
        for board, state in STATE.items():
            if self.name.startswith(board):
                assert self.one.ctl("set", "0", *state).returncode == 0

    @property
    def major(self):
        return int(self.facts["driver"].split(".")[0])

    def smi(self, *args):
        path = os.path.join(FAKE_DIR, self.driver)
        done = subprocess.run(
            [GPUKIT, "smi", *args], text=True, capture_output=True,
            env=clean_env(GPUKIT_MACHINE=self.one.path, LD_LIBRARY_PATH=path),
            check=False, timeout=60)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout

    def query(self, *options):
        """(titles, values) of all fields of the capture."""
        fields = ",".join(title.split(" [")[0]
                          for title in self.facts["query_gpu"])
        out = self.smi(f"--query-gpu={fields}", "--format=csv", *options)
        titles, values = out.splitlines()
        return titles.split(", "), values.split(", ")


# There is no fake driver 595. The next one knows all its fields, the one before
# prints the same except for one key.

@pytest.fixture(params=CAPTURES, ids=NAMES)
def board(request, machine):
    """A board with a driver that has all fields of the capture."""
    return Board(machine, request.param,
                 "590" if "-590." in request.param else "610")


@pytest.fixture(params=CAPTURES, ids=NAMES)
def printed(request, machine):
    """A board with the driver that prints what the capture shows."""
    return Board(machine, request.param,
                 "610" if "-610." in request.param else "590")


def test_titles_are_those_of_the_capture(board):
    titles, values = board.query()
    assert titles == list(board.facts["query_gpu"])
    assert len(values) == len(titles)


# nvidia-smi reports these; a fake board or driver does not.
UNTOLD = {"pcie.link.gen.hostmax", "edpp_multiplier [%]"}


def test_values_have_the_formats_of_the_capture(board):
    titles, values = board.query()
    other = {title: (value, board.facts["query_gpu"][title])
             for title, value in zip(titles, values)
             if not same(value, board.facts["query_gpu"][title])}
    share = 1 - len(other) / len(titles)
    print(f"{board.name}: {share:.1%} of {len(titles)} formats")
    assert share >= 0.98, other
    assert set(other) <= UNTOLD, other


# A change, the field that follows it, and a shape that one of the captures has
# for it.
CHANGES = [
    ("utilization=73", "utilization.gpu [%]", "00 %"),
    ("temperature=88", "temperature.gpu", "00"),
    ("power-average=612.34W", "power.draw [W]", "000.00 W"),
    ("power-limit=650W", "power.limit [W]", "000.00 W"),
    ("sm-clock=1755", "clocks.current.sm [MHz]", "0000 MHz"),
    ("memory-clock=2619", "clocks.current.memory [MHz]", "0000 MHz"),
    ("extra-memory=4GiB", "memory.used [MiB]", "0000 MiB"),
    ("persistence=0", "persistence_mode", "Disabled"),
    ("display-active=1", "display_active", "Enabled"),
    ("display-attached=0", "display_attached", "No"),
    ("pstate=8", "pstate", "P8"),
    ("clocks-event-reasons=4", "clocks_event_reasons.sw_power_cap", "Active"),
    ("clocks-event-reasons=4", "clocks_event_reasons.active",
     "0x0000000000000000"),
    ("compute-mode=3", "compute_mode", "Exclusive_Process"),
    ("addressing-mode=1", "addressing_mode", "HMM"),
    ("accounting=1", "accounting.mode", "Enabled"),
    ("ecc-pending=0", "ecc.mode.pending", "Disabled"),
    ("ecc-corrected=17", "ecc.errors.corrected.volatile.total", "00"),
    ("pcie-generation=1", "pcie.link.gen.current", "0"),
    ("pcie-width=8", "pcie.link.width.current", "0"),
    ("fabric-state=2", "fabric.state", "In Progress"),
]


def test_changed_values_have_the_formats_of_other_captures(machine):
    board = Board(machine, CAPTURES[0], "590")
    for change, title, wanted in CHANGES:
        assert board.one.ctl("set", "0", change).returncode == 0, change
        titles, values = board.query()
        value = values[titles.index(title)]
        assert shape(value) == shape(wanted), (change, title, value)
        number = re.fullmatch(r"[^=]*=(\d+)", change)
        if number and value[0].isdigit() and not value.startswith("0x"):
            assert re.match(r"[\d.]+", value)[0] == number[1], (change, value)
    assert board.one.ctl("clear", "0").returncode == 0


def log_rows(text):
    """[depth, key, value...] of the output of -q, without processes."""
    rows, inside = [], False
    for line in text.splitlines():
        if not line:
            continue
        depth = (len(line) - len(line.lstrip())) // 4
        if depth == 1:
            inside = line.startswith("    Processes")
        if inside:
            continue
        key, colon, value = line.partition(" : ")
        if not colon:
            key, colon, value = line.partition(": ")
        key = key.strip() + " " * (not colon and line.endswith(" "))
        rows.append([depth, key] + [value] * bool(colon))
    return rows


def test_the_log_has_the_keys_and_formats_of_the_capture(printed):
    board = printed
    wanted = board.facts["log"]
    rows = log_rows(board.smi("-q"))
    if board.major == 595:  # the one key that 590 lacks
        wanted = [row for row in wanted if row[1] != "Partition Assigned"]
    assert [[row[0], shape(row[1])] for row in rows] == [
        [row[0], shape(row[1])] for row in wanted]
    other = [(mine, row) for mine, row in zip(rows, wanted)
             if len(mine) > 2 and not same(mine[2], row[2:])]
    share = 1 - len(other) / len(rows)
    print(f"{board.name}: {share:.1%} of {len(rows)} rows of -q")
    assert share >= 0.97, other


def ends(line):
    """Where the words of a line begin and end."""
    return [(m.start(), m.end()) for m in re.finditer(r"\S+", line)]


def alike(mine, wanted):
    """Each word begins or ends where that of the other line does."""
    one, two = ends(mine), ends(wanted)
    return len(one) == len(two) and all(
        a[0] == b[0] or a[1] == b[1] for a, b in zip(one, two))


@pytest.mark.parametrize("monitor", ["pmon", "dmon"])
def test_monitors_have_the_lines_of_the_capture(board, monitor):
    wanted = board.facts[monitor]
    lines = board.smi(monitor, "-c", "2", "-d", "1").splitlines()
    assert lines[:2] == wanted[:2]
    assert len(lines) == 4
    for line in lines[2:]:
        assert any(alike(line, row) and len(line) == len(row) or
                   line.split()[1:3] == ["-", "-"] for row in wanted[2:]), line


def test_the_table_has_the_lines_of_the_capture(printed):
    wanted = printed.facts["table_idle"]
    mine = printed.smi().splitlines()
    head = next(i for i, line in enumerate(wanted) if "Processes:" in line)
    for line, row in zip(mine[:head + 4], wanted[:head + 4]):
        assert len(line) == len(row), (line, row)
        if re.search(r"[A-Z0-9] *\|.*\| *[0-9N]", line) and "MiB" in line:
            assert len(ends(line)) == len(ends(row)), (line, row)
        elif not re.search(r"\d", row):
            assert line == row
    assert len(mine) >= head + 6


def test_lists_and_versions(printed):
    assert [shape(line) for line in printed.smi("-L").splitlines()] == [
        shape(line) for line in printed.facts["list"]]
    assert [re.sub(r"\d", "0", line)
            for line in printed.smi("--version").splitlines()] == \
        printed.facts["version"]
    topo = printed.smi("topo", "-m").splitlines()
    wanted = printed.facts["topo"]
    assert topo[0] == wanted[0]
    assert re.sub(r"[\d,-]+", "0", topo[1]) == re.sub(r"[\d,-]+", "0",
                                                      wanted[1])


def test_other_queries_have_titles_of_the_capture(board):
    for name, option in [("compute_apps", "--query-compute-apps"),
                         ("accounted_apps", "--query-accounted-apps"),
                         ("retired_pages", "--query-retired-pages")]:
        wanted = board.facts[name]
        fields = ",".join(title.split(" [")[0]
                          for title in wanted[0].split(", "))
        lines = board.smi(f"{option}={fields}", "--format=csv").splitlines()
        assert lines[0] == wanted[0]
        if name != "compute_apps":
            assert [shape(line) for line in lines[1:]] == [
                shape(line) for line in wanted[1:]]
