# SPDX-License-Identifier: Apache-2.0
"""Hours of use in minutes: `gpukit top` on 8 GPUs while processes come and go,
GPUs are lost and come back, the window changes, and keys are pressed at random.

    ./run soak             in each look half of SOAK_SECONDS (600) with the
                           address sanitizer, and as long without it

It checks for sanitizer messages, exit status 0, the terminal being restored,
screens that a full redraw would change, and memory that keeps growing after the
first minute.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", name)
                for name in ("", "clients")]

from conftest import GPUKIT, Machine, clean_env  # noqa: E402
from screen import Terminal  # noqa: E402

BATCHES, BATCH = 8, 25  # at most 200 processes
SIZES = ((80, 24), (40, 10), (120, 40), (200, 60), (100, 30), (160, 50))
KEYS = (b"\x1bOA", b"\x1bOB", b"\x1bOC", b"\x1bOD", b"\t", b"[", b"]", b" ",
        b"\x1b", b"t", b"u", b"d", b"e", b"\r", b"h", b"a", b"f", b"c", b"/",
        b",", b".", b"om", b"ou", b"oc", b"on", b"m", b"\x06x\r", b"\\py\r",
        b"p", b"p", b"(", b")", b"0", b"g", b"A", b"{", b"}", b"\x1bOQ", b"\x1b[H", b"\x1b[F", b"\x1b[5~", b"\x1b[6~")


class Crowd:
    """Processes on the machine, in batches that come and go."""

    def __init__(self, machine, chance):
        self.machine, self.chance, self.batches = machine, chance, []

    def change(self):
        if len(self.batches) == BATCHES or (
                self.batches and self.chance.random() < 0.4):
            self.end(self.batches.pop(self.chance.randrange(
                len(self.batches))))
            return
        gpu = self.chance.randrange(8)
        self.batches.append(subprocess.Popen(
            [GPUKIT, "fake", "load", "--name", self.machine.path,
             f"train:{gpu},n={BATCH},mem=256MiB"],
            # Leaks are searched for in the viewer; 25 searches at once take
            # long.
            env=clean_env(ASAN_OPTIONS="detect_leaks=0"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    @staticmethod
    def end(batch):
        batch.terminate()
        batch.wait()

    def close(self):
        for batch in self.batches:
            self.end(batch)


def private_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return sum(int(line.split()[1]) for line in f
                   if line.startswith("Private_"))


def shown(terminal, columns, rows):
    """The screen after a full redraw: the window changes its size for a moment.
    """
    for width in (columns - 1, columns):
        terminal.resize(width, rows)
        terminal.settle()
    return terminal.text


class Soak:
    """One run of `seconds`; memory may grow for `warm` seconds."""

    def __init__(self, machine, terminal, seconds, warm, seed):
        self.machine, self.terminal = machine, terminal
        self.seconds, self.warm = seconds, warm
        self.chance = random.Random(seed)
        self.crowd = Crowd(machine, self.chance)
        self.size = (120, 40)
        self.lost = None
        self.memory = []  # (second, KiB)
        self.torn = []

    def fail_or_mend(self):
        if self.lost is None:
            self.lost = self.chance.randrange(8)
            kind = self.chance.choice(("lost", "hang", "fallen"))
            self.machine.ctl("fail", self.lost, kind)
        else:
            self.machine.ctl("clear", self.lost)
            self.lost = None

    def look_for_tears(self):
        """A frozen machine shows the same again: any difference was torn."""
        self.machine.ctl("clock", "pause")
        before = self.steady()
        after = shown(self.terminal, *self.size)
        if self.differ(before, after):
            self.torn.append((before, after))
        self.machine.ctl("clock", "run")

    def steady(self):
        """The screen once it has stayed the same for some frames: new processes
        may still appear, GPUs may still be found lost."""
        text, since = self.terminal.text, time.monotonic()
        end = since + 60
        while since + 2.5 > time.monotonic() < end:
            self.terminal.draw(0.1)
            if self.differ(text, self.terminal.text):
                text, since = self.terminal.text, time.monotonic()
        return self.terminal.text

    @staticmethod
    def differ(before, after):
        """Lines about the host show other processes, and times pass."""
        def form(line):
            return "".join("0" if c.isdigit() else c for c in line
                           if c in "│┌┐└┘├┤─═╞╡╪┼┬┴┤╤╧" or c.isalpha())
        pairs = list(zip(before.splitlines(), after.splitlines()))
        wrong = sum(form(a) != form(b) for a, b in pairs)
        return wrong > 2

    def step(self, second):
        self.terminal.send(self.chance.choice(KEYS))
        self.terminal.draw_for(0.2)
        if second % 3 == 0:
            self.crowd.change()
        if second % 11 == 5:
            self.fail_or_mend()
        if second % 7 == 3:
            self.size = self.chance.choice(SIZES)
            self.terminal.resize(*self.size)
        if second % 29 == 17:
            self.look_for_tears()
        self.memory.append((second, private_kib(self.terminal.process.pid)))

    def run(self):
        began, second = time.monotonic(), 0
        try:
            # A busy host takes longer for the same number of steps.
            while (time.monotonic() < began + self.seconds
                   or second < self.seconds / 2):
                self.step(second)
                assert self.terminal.process.poll() is None, self.terminal.text
                second += 1
                self.terminal.draw_for(max(0, began + second
                                           - time.monotonic()))
        finally:
            self.crowd.close()

    def growth(self):
        """How many KiB more at the end than after the warm-up: the peaks of
        both, so that temporary use does not count."""
        last = self.memory[-1][0]
        warm = [m for s, m in self.memory if self.warm / 2 <= s <= self.warm]
        late = [m for s, m in self.memory if s >= last - self.warm / 2]
        return max(late) - max(warm)

    def leave(self):
        self.terminal.send(b"\x1b\x1b\x1b")
        self.terminal.draw_for(1)
        for _ in range(5):
            if self.terminal.process.poll() is None:
                self.terminal.send(b"q")
                self.terminal.ends(10)
        assert self.terminal.status == 0, self.terminal.text
        self.terminal.left_intact()


FIRST = {"lanes": "processes", "nvitop": "Processes:"}  # words of the screen


def soak(seconds, warm, seed, look):
    with tempfile.TemporaryDirectory(prefix="gpukit-soak-") as directory:
        machine = Machine(os.path.join(directory, "machine"),
                          "--gpus", "h100:8")
        log = os.path.join(directory, "sanitizer")
        terminal = Terminal(
            [GPUKIT, "top", "--look", look, "--interval", "0.5"],
            clean_env(XDG_CONFIG_HOME=directory,
                      # Some of the freed memory is kept back, but not too much.
                      ASAN_OPTIONS=f"log_path={log}:detect_leaks=1"
                      ":quarantine_size_mb=2:thread_local_quarantine_size_kb=64",
                      **machine.env), 120, 40)
        run = Soak(machine, terminal, seconds, warm, seed)
        try:
            terminal.wait_for(FIRST[look])
            run.run()
            run.leave()
        finally:
            terminal.close()
            machine.stop()
        said = [name for name in os.listdir(directory)
                if name.startswith("sanitizer")]
        for name in said:
            with open(os.path.join(directory, name), encoding="utf-8") as f:
                print(f.read())
        assert not said, "a sanitizer complained"
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--look", choices=FIRST, default="lanes")
    parser.add_argument("--any-memory", action="store_true",
                        help="a sanitizer keeps what was freed")
    options = parser.parse_args()
    run = soak(options.seconds, min(60, options.seconds / 3), options.seed,
               options.look)
    print(f"{options.look}, {options.seconds:g} s, {len(run.memory)} steps: memory "
          f"{run.memory[0][1]} KiB at first, grew by {run.growth()} KiB after "
          f"the first minute; {len(run.torn)} torn screens")
    print("KiB every half minute:", *(
        memory for second, memory in run.memory if second % 30 == 0))
    for before, after in run.torn:
        print("SHOWN\n" + before + "\nREDRAWN\n" + after)
    if run.torn or (run.growth() > 1024 and not options.any_memory):
        sys.exit(1)


if __name__ == "__main__":
    main()
