#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `gpukit top` in a terminal on nonsense while keys are pressed at random.

    ./run fuzz                   all three, each for PTY_SECONDS
    pty_fuzz.py hosts            hosts that report whatever they like
    pty_fuzz.py replay           valid tapes with impossible values
    pty_fuzz.py machine          a machine file with bytes changed, before it
                                 is opened and while it is in use, for the
                                 viewer and for clients of NVML and CUDA
        [--seconds N] [--seed N] [--run N]

Runs on the build of GPUKIT_BUILD, which needs sanitizers to find much. A run is
identified by seed and number: --run N repeats it. It checks for sanitizer
messages, signals, exit statuses other than those of errors (and SIGTERM's), an
end when requested, and control characters on the terminal. The input of a
finding is kept in FINDINGS (build/fuzz-findings).
"""

import argparse
import copy
import fcntl
import glob
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

# pylint: disable=wrong-import-position
from conftest import BUILD, GPUKIT, Machine, clean_env

TESTS = os.path.join(BUILD, "tests")
CLIENT = [os.path.join(TESTS, "hostile-client")]
FINDINGS = os.environ.get("FINDINGS", os.path.join(BUILD, "fuzz-findings"))
GPUS = ("--gpus", "h100-80gb-hbm3:2,h100-mig:1,l4", "--load",
        "train:0-1,mem=3GiB")
KEYS = [bytes(key, "latin-1") for key in
        "\r \t ? h q q1 p t u d e a A m i x s c f F g G / \\ ( ) { } [ ] , . 0 "
        "1 2 3 om ou oc on or E M U D X".split(" ") if key] + [
            b"\x1b", b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1b[5~",
            b"\x1b[6~", b"\x1b[H", b"\x1b[F", b"\x1bOQ", b"\x1bOR",
            b"\x1b[17~", b"\x1b[18~", b"/a\r", b"\\py\r", b"\x06x\r",
            b"\x1b[<0;9;9M", b"\x1b[<0;9;9m", b"\x1b[<64;20;5M",
            b"\x1b[<32;70;8M"]
SIZES = [(2, 1), (3, 30), (10, 20), (24, 80), (50, 150), (60, 200)]
LOCALES = ["C", "C.UTF-8", "POSIX"]
# What no terminal should get: C1 controls, and characters that reverse text.
LEAKS = ["\x9b".encode(), "\u202e".encode()]
ODD_NUMBERS = [0, -1, 1, 101, 255, 65535, 65536, 2**31 - 1, -2**31, 2**32 - 1,
               2 * 10**9, 2**63 - 1, -2**63, 2**62, 9.1e18, -9.1e18, 1e300,
               -1e300, 1.5]
ODD_VALUES = ODD_NUMBERS + [
    None, True, "", "x" * 5000, "\x1b[2J\n\u009b\u202e", [], {}, [1] * 30,
    {"a": 1}, "12.345", "compute", "Default", "漢字" * 40, "\u0301" * 200]
STOP_S = 60
STATUSES = (*range(128), -signal.SIGTERM, 128 + signal.SIGTERM)


class Finding(Exception):
    """An error of a run."""


# ---- a program in a terminal ----

class Terminal:
    """Runs a program for a while, presses keys, changes the window."""

    def __init__(self, dice, argv, env):
        self.dice, self.out = dice, b""
        rows, columns = dice.choice(SIZES)
        self.pid, self.line = pty.fork()
        if not self.pid:
            os.execve(argv[0], argv, env)
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.line, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        """False: the program has closed the terminal."""
        if select.select([self.line], [], [], seconds)[0]:
            try:
                self.out += os.read(self.line, 65536)
            except OSError:
                return False
        return True

    def use(self, seconds, meanwhile):
        end = time.monotonic() + seconds
        while self.read(0.05) and time.monotonic() < end:
            try:
                os.write(self.line, self.dice.choice(KEYS))
            except OSError:
                return
            if self.dice.random() < 0.05:
                self.resize(*self.dice.choice(SIZES))
            meanwhile()

    def stop(self):
        """The exit status, negative for a signal."""
        end, status = time.monotonic() + STOP_S, None
        os.kill(self.pid, signal.SIGTERM)
        while status is None and time.monotonic() < end:
            done, how = os.waitpid(self.pid, os.WNOHANG)
            status = os.waitstatus_to_exitcode(how) if done else None
            self.read(0.05)
        if status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.line)
        return status


# ---- its input ----

def parts_of(value, found):
    """All places of a JSON value: (container, key)."""
    keys = value if isinstance(value, dict) else \
        range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found.append((value, key))
        parts_of(value[key], found)
    return found


def change_json(dice, stat):
    """A snapshot with some of its values changed, and many processes."""
    told = copy.deepcopy(stat)
    processes = [p for d in told["devices"] for p in d["processes"]]
    if processes and dice.random() < 0.3:
        told["devices"][0]["processes"] = [
            copy.deepcopy(dice.choice(processes))
            for _ in range(dice.choice([1, 5, 300]))]
    for _ in range(dice.choice([1, 3, 10, 60])):
        into, key = dice.choice(parts_of(told, []))
        into[key] = copy.deepcopy(dice.choice(ODD_VALUES))
    if dice.random() < 0.3:
        told["unix_seconds"] = dice.choice([0, 1e9, 9e9, 1e300])
    return json.dumps(told)


class Hosts:
    """Other machines that send nonsense, one line after the other."""

    def __init__(self, place, machine):
        done = subprocess.run(
            [GPUKIT, "stat", "--json", "--why", "--detail"],
            env=clean_env(**machine.env), capture_output=True, check=True,
            timeout=120)
        self.stat, self.place = json.loads(done.stdout), place

    def prepare(self, dice):
        names = ["a", "b", "c"][:dice.choice([1, 1, 2, 3])]
        for name in names:
            lines = [change_json(dice, self.stat)
                     for _ in range(dice.choice([1, 4, 12]))]
            with open(os.path.join(self.place, f"told.{name}"), "w",
                      encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        told = os.path.join(self.place, "told.{}")
        return ([GPUKIT, "top", "--host", ",".join(names), "--remote-command",
                 f"sh -c 'while read -r line; do echo \"$line\"; sleep 0.2; "
                 f"done <{told}; sleep 1'", "--interval", "0.25"], {})

    def meanwhile(self):
        pass


class Replay:
    """Tapes with impossible values, texts and numbers."""

    def __init__(self, place, machine):
        self.place, self.good = place, os.path.join(place, "good.tape")
        subprocess.run(
            [GPUKIT, "record", "--snapshots", "-o", self.good, "--interval", "0.1",
             "--count", "30"], env=clean_env(**machine.env), check=True,
            capture_output=True, timeout=300)

    def prepare(self, dice):
        bad = os.path.join(self.place, "bad.tape")
        subprocess.run(
            [os.path.join(TESTS, "hostile-tape"), self.good, bad,
             str(dice.randrange(1 << 32)), str(dice.choice([1, 10, 100]))],
            check=True, timeout=120)
        if dice.random() < 0.2:
            damage(dice, bad, 0, 20)
        return ([GPUKIT, "top", "--replay", bad, "--speed",
                 dice.choice(["1", "10"])], {})

    def meanwhile(self):
        pass


def odd_bytes(dice):
    size = dice.choice([1, 2, 4, 8])
    number = dice.choice(ODD_NUMBERS) if dice.random() < 0.7 else \
        dice.randrange(1 << 64)
    return (int(number if abs(number) < 1e19 else 0) & (1 << 8 * size) - 1) \
        .to_bytes(size, "little")


def damage(dice, path, begin, times):
    """Writes odd numbers into a file, mostly where it is not zero."""
    with open(path, "r+b") as file:
        data = file.read()
        size = len(data)
        places = [at for found in re.finditer(rb"[^\0]+", data[begin:])
                  for at in range(*found.span(), 8)]
        for _ in range(times):
            at = dice.choice([dice.choice(places)] * 9 +
                             [dice.randrange(size - begin)])
            at += begin + dice.choice([0] * 6 + [8, -8, 64])
            odd = odd_bytes(dice)
            at = max(begin, min(at - at % len(odd), size - len(odd)))
            file.seek(at)
            file.write(odd)


class MachineFile:
    """A machine file with changed bytes, for its readers."""

    HEAD = 64  # another magic, size or version is refused at once

    def __init__(self, place, machine):
        self.machine, self.dice = machine, None
        self.path = os.path.join(place, "machine")
        done = subprocess.run(
            CLIENT, env=clean_env(**machine.env), capture_output=True,
            check=True, timeout=120)
        assert int(done.stdout) > 0, "the client has no use of a machine"

    def _damage(self, times):
        begin = 0 if self.dice.random() < 0.02 else self.HEAD
        damage(self.dice, self.path, begin, times)

    def prepare(self, dice):
        self.dice = dice
        shutil.copyfile(self.machine.path, self.path)
        os.chmod(self.path, 0o600)
        self._damage(dice.choice([0, 1, 10, 100, 1000]))
        env = {**self.machine.env, "GPUKIT_MACHINE": self.path}
        if dice.random() < 0.7:  # otherwise CUDA has only the MIG device
            env["CUDA_VISIBLE_DEVICES"] = dice.choice(["0,1,3", "0", "3"])
        ctl = [GPUKIT, "fake", "ctl", "--name", self.path]
        return (dice.choice(
            [[GPUKIT, "top", "--interval", "0.25"]] * 4 + [CLIENT] * 2 +
            [[GPUKIT, "stat", "--json", "--detail", "--why"],
             [GPUKIT, "smi", "-q"], [GPUKIT, "smi", "topo", "-m"],
             [*ctl, "show", "all"], [*ctl, "coverage", "--by-caller"],
             [*ctl, "topology"], [*ctl, "mig", "2"], [*ctl, "ecc", "0"]]),
            env)

    def meanwhile(self):
        if self.dice.random() < 0.3:
            self._damage(self.dice.choice([1, 5]))


FEEDS = {"hosts": Hosts, "replay": Replay, "machine": MachineFile}


# ---- runs ----

def judge(status, out, logs):
    if logs:
        with open(logs[0], encoding="utf-8", errors="replace") as file:
            raise Finding(file.read(4000))
    if status is None:
        raise Finding(f"does not end within {STOP_S} s of SIGTERM")
    if status not in STATUSES:
        raise Finding(f"exit status {status}: "
                      f"{out[-300:].decode(errors='replace')}")
    for leak in LEAKS:
        if leak in out:
            raise Finding(f"{leak!r} on the terminal")


def one_run(feed, place, dice, seconds):
    argv, env = feed.prepare(dice)
    log = os.path.join(place, "sanitizer")
    locale = dice.choice(LOCALES)
    env = clean_env(**env, TERM="xterm-256color", LANG=locale, LC_ALL=locale,
                    XDG_CONFIG_HOME=place, XDG_RUNTIME_DIR=place,
                    ASAN_OPTIONS=f"detect_leaks=0:log_path={log}",
                    UBSAN_OPTIONS=f"print_stacktrace=1:log_path={log}")
    terminal = Terminal(dice, argv, env)
    terminal.use(seconds, feed.meanwhile)
    judge(terminal.stop(), terminal.out, glob.glob(log + ".*"))


def keep(place, mode, seed, number, finding):
    kept = os.path.join(FINDINGS, f"{mode}-{seed}-{number}")
    shutil.copytree(place, kept, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("up"))
    for log in glob.glob(os.path.join(place, "sanitizer.*")):
        os.unlink(log)
    print(f"{mode}, seed {seed}, run {number}, kept in {kept}:\n{finding}",
          flush=True)


def fuzz(options, place, feed):
    numbers = [options.run] if options.run else iter(range(1, 1 << 30))
    end, found, runs = time.monotonic() + options.seconds, 0, 0
    for number in numbers:
        if runs and time.monotonic() >= end:
            break
        dice = random.Random(options.seed * 1000003 + number)
        runs += 1
        try:
            one_run(feed, place, dice, dice.choice([0.7, 3]))
        except Finding as finding:
            found += 1
            keep(place, options.mode, options.seed, number, finding)
    print(f"{options.mode}: {runs} runs, {found} findings", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("mode", choices=FEEDS)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--run", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pty-fuzz-") as place:
        os.makedirs(os.path.join(place, "up"))
        machine = Machine(os.path.join(place, "up", "machine"), *GPUS)
        try:
            feed = FEEDS[options.mode](place, machine)
            return 1 if fuzz(options, place, feed) else 0
        finally:
            machine.stop()


if __name__ == "__main__":
    sys.exit(main())
