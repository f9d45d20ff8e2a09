# SPDX-License-Identifier: Apache-2.0
"""Every key of src/tui/screen/keys.def is typed into a terminal in each of its
spellings, and its effect is seen on the screen."""

import os
import re

import pytest

from conftest import GPUKIT, ROOT, Machine, clean_env
from screen import Terminal

NAMED = {
    "Up": "\x1bOA", "Down": "\x1bOB", "Right": "\x1bOC", "Left": "\x1bOD",
    "Home": "\x1b[1~", "End": "\x1b[4~", "PageUp": "\x1b[5~",
    "PageDown": "\x1b[6~", "Delete": "\x1b[3~", "Enter": "\r", "Space": " ",
    "Esc": "\x1b", "Tab": "\t", "Shift-Tab": "\x1b[Z", "F2": "\x1bOQ",
    "F3": "\x1bOR", "F4": "\x1bOS", "F5": "\x1b[15~", "F7": "\x1b[18~",
    "F8": "\x1b[19~"}
ROW = re.compile(r'^KEY\((\w+),\s*"((?:[^"\\]|\\.)*)"', re.M)
DOWN, F2 = NAMED["Down"], NAMED["F2"]
RECORDED = "Only a recording can"

# Past times need a past: see tests/tui/model/time_test.c;
# test_top_hosts_screen.py has hosts.
ELSEWHERE = {"TIME_BACK", "TIME_FORWARD", "TIME_NOW", "HOST"}


class Gone:
    """Words that have left the screen."""

    def __init__(self, words):
        self.words = words

    def before(self, text):
        return self.words in text

    def after(self, text, _):
        return self.words not in text


class Moved:
    """A column of the settings that has moved down by this many lines."""

    def __init__(self, name, by):
        self.name, self.by = f"columns.{name} ", by

    def line(self, text):
        return [self.name in row for row in text.splitlines()].index(True)

    def before(self, text):
        return self.name in text

    def after(self, text, old):
        return self.name in text and (self.line(text) ==
                                      self.line(old) + self.by)


class Shown:
    """A pattern or words that have appeared on the screen."""

    def __init__(self, what):
        self.what = re.compile(re.escape(what)) if isinstance(what, str) \
            else what

    def before(self, text):
        return not self.what.search(text)

    def after(self, text, _):
        return self.what.search(text)


# action: the keys before it, and what is then visible
EFFECTS = {
    "BACK": ("h", "Processes:"),
    "HELP": ("", "any other key goes back"),
    "REFRESH": (DOWN, "AVG GPU MEM"),
    "PAUSE": ("", "PAUSED"),
    "MODE_AUTO": ("f", "Perf Pwr:Usg/Cap"),
    "MODE_FULL": ("", "Persistence-M"),
    "MODE_COMPACT": ("", Gone("AVG GPU MEM")),
    "SELECT_PREVIOUS": ("", "GPU 2 MEM"),
    "SELECT_NEXT": ("", "GPU 0 MEM"),
    "SELECT_FIRST": (NAMED["End"], "GPU 0 MEM"),
    "SELECT_LAST": ("", "GPU 2 MEM"),
    "PAGE_UP": ("d" + NAMED["PageDown"], "GPU utilisation:"),
    "PAGE_DOWN": ("d", Gone("GPU utilisation:")),
    "DEVICES_PREVIOUS": ("", "All GPUs are shown"),
    "DEVICES_NEXT": ("", "All GPUs are shown"),
    "SCROLL_LEFT": (NAMED["Right"], "%GMBW  %CPU"),
    "SCROLL_RIGHT": ("", "%GMBW%CPU"),
    "SCROLL_START": ("$", "%GMBW  %CPU"),
    "SCROLL_END": ("", "seed=1"),
    "COLLAPSE": ("t" + DOWN, "[+]"),
    "EXPAND": ("t" + DOWN + "-", Gone("[+]")),
    "TAG": ("", "GPU 0 MEM"),
    "CLEAR": (DOWN, "AVG GPU MEM"),
    "INTERRUPT": (DOWN, "SIGINT"),
    "TERMINATE": (DOWN, "SIGTERM"),
    "KILL": (DOWN, "SIGKILL"),
    "SIGNAL_TREE": (DOWN, "SIGTERM"),
    "RENICE": (DOWN, "Nice value of"),
    "METRICS": (DOWN, Gone("Processes:")),
    "ENVIRON": (DOWN, "PATH="),
    "UNMASK": (DOWN + "e", "in-clear"),
    "TREE": ("", "Host"),
    "DEVICE": ("", "GPU utilisation:"),
    "USERS": ("", "PROCESSES"),
    "USER_ONLY": ("u" + DOWN, "Processes:"),
    "ALERTS": ("", "Nothing has happened yet"),
    "ALERT_GPU": ("A", "Select an alert first"),
    "SETTINGS": ("", "height of the panels"),
    "SETTING_EDIT": (F2, re.compile("mode +full")),
    "SETTING_CHANGE": (F2, re.compile("mode +full")),
    "SETTING_RESET": (F2 + " ", re.compile("mode +auto")),
    "SETTING_CHANGE_BACK": (F2, re.compile("mode +compact")),
    "COLUMN_LEFT": (F2 + "\x06columns.user\r", Moved("user", -1)),
    "COLUMN_RIGHT": (F2 + "\x06columns.pid\r", Moved("pid", 1)),
    "SETTINGS_SAVE": (F2, "saved in"),
    "SEARCH": ("", "Search:"),
    "SEARCH_NEXT": ("", "Nothing has been searched for yet"),
    "FILTER": ("", "Filter:"),
    "SORT_PREVIOUS": ("", "COMMAND▲"),
    "SORT_NEXT": ("", "PID▲"),
    "SORT_REVERSE": ("", "GPU▼"),
    "SORT_NATURAL": ("op", "GPU▲"),
    "SORT_USER": ("", "USER▲"),
    "SORT_PID": ("", "PID▲"),
    "SORT_MEMORY": ("", "GPU-MEM▼"),
    "SORT_SM": ("", "SM▼"),
    "SORT_BANDWIDTH": ("", "%GMBW▼"),
    "SORT_CPU": ("", "%CPU▼"),
    "SORT_HOST": ("", "%MEM▼"),
    "SORT_TIME": ("", "TIME▼"),
    "SORT_NATURAL_R": ("", "GPU▼"),
    "SORT_USER_R": ("", "USER▼"),
    "SORT_PID_R": ("", "PID▼"),
    "SORT_MEMORY_R": ("", "GPU-MEM▲"),
    "SORT_SM_R": ("", "SM▲"),
    "SORT_BANDWIDTH_R": ("", "%GMBW▲"),
    "SORT_CPU_R": ("", "%CPU▲"),
    "SORT_HOST_R": ("", "%MEM▲"),
    "SORT_TIME_R": ("", "TIME▲"),
    "ZOOM_IN": ("d-", Gone("╴120s")),
    "ZOOM_OUT": ("d", "╴120s"),
    "SLOWER": ("", RECORDED),
    "FASTER": ("", RECORDED),
    "GRAPH": ("d", "memory bandwidth:"),
}


def table():
    with open(os.path.join(ROOT, "src", "tui", "screen", "keys.def"),
              encoding="utf-8") as f:
        return [(action, keys.replace("\\\\", "\\").split())
                for action, keys in ROW.findall(f.read())]


def code(key):
    if key in NAMED:
        return NAMED[key]
    if key.startswith("Ctrl-"):
        return chr(ord(key[5:]) & 31)
    if key.startswith("Alt-"):
        return "\x1b" + key[4:]
    return key.replace("+", "") if len(key) > 1 else key


@pytest.fixture(name="machine", scope="module")
def fixture_machine(tmp_path_factory):
    """Two GPUs with a process each, and one with three."""
    os.environ["MADE_UP_TOKEN"] = "in-clear"
    made = Machine(tmp_path_factory.mktemp("keys") / "machine",
                   "--gpus", "a100:4", "--frozen",
                   "--load", "train:0,mem=1GiB,util=20",
                   "--load", "train:1,mem=3GiB,util=50",
                   "--load", "infer:2,n=3,mem=2GiB,util=30")
    del os.environ["MADE_UP_TOKEN"]
    yield made
    made.stop()


def test_every_action_is_here():
    assert {action for action, _ in table()} == (
        set(EFFECTS) | ELSEWHERE | {"QUIT"})


@pytest.mark.parametrize("action, key", [
    (action, key) for action, keys in table() for key in keys
    if action not in ELSEWHERE])
def test_key(machine, tmp_path, action, key):
    terminal = Terminal([GPUKIT, "top", "--look", "nvitop"],
                        clean_env(XDG_CONFIG_HOME=str(tmp_path),
                                  **machine.env), 100, 40)
    try:
        terminal.wait_for(lambda text: text.count("gpukit-load") == 5)
        if action == "QUIT":
            terminal.send(code(key).encode())
            assert terminal.ends(30) and terminal.status == 0
            terminal.left_intact()
            return
        keys, effect = EFFECTS[action]
        if isinstance(effect, (str, re.Pattern)):
            effect = Shown(effect)
        terminal.send(keys.encode())
        terminal.draw_for(0.2 if keys else 0)
        old = terminal.wait_for(effect.before)
        terminal.send(code(key).encode())
        terminal.wait_for(lambda text: effect.after(text, old))
    finally:
        terminal.close()
