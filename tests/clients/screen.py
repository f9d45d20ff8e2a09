# SPDX-License-Identifier: Apache-2.0
"""A terminal for full-screen programs: a pty whose output pyte draws.

It also shows what the program leaves behind: its exit status, the modes of the
line, the cursor, the screen that it restored.
"""

import copy
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time

import pyte


class Stream(pyte.ByteStream):
    """pyte's parser with the scrolling that it lacks."""

    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down"}


class Screen(pyte.Screen):
    """pyte's screen with scrolling and an alternate screen."""

    alternate = False
    kept = None

    def _scroll(self, line, step, count):
        before = self.cursor.y
        for _ in range(count or 1):
            self.cursor.y = line
            step()
        self.cursor.y = before

    def scroll_up(self, count=1):
        bottom = self.margins.bottom if self.margins else self.lines - 1
        self._scroll(bottom, self.index, count)

    def scroll_down(self, count=1):
        top = self.margins.top if self.margins else 0
        self._scroll(top, self.reverse_index, count)

    def _switch(self, to_alternate):
        if to_alternate == self.alternate:
            return
        self.alternate = to_alternate
        if to_alternate:
            self.kept = (copy.deepcopy(self.buffer), copy.copy(self.cursor))
            self.erase_in_display(2)
        else:
            self.buffer, self.cursor = self.kept

    def set_mode(self, *modes, **how):
        super().set_mode(*modes, **how)
        if how.get("private") and 1049 in modes:
            self._switch(True)

    def reset_mode(self, *modes, **how):
        super().reset_mode(*modes, **how)
        if how.get("private") and 1049 in modes:
            self._switch(False)


def state_of(pid):
    """The state letter in /proc of a process's main thread; X: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8",
                  errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def family(pid):
    """The process and all its descendants."""
    found = [pid]
    for parent in found:
        try:
            with open(f"/proc/{parent}/task/{parent}/children",
                      encoding="ascii") as f:
                found += map(int, f.read().split())
        except OSError:
            pass  # it is gone
    return found


class Terminal:
    """Runs argv in a terminal of its own. `more` is added to the environment;
    None removes a variable."""

    def __init__(self, argv, env, columns=160, rows=60, **more):
        env = {**env, "TERM": "screen-256color", "LC_ALL": "C.UTF-8", **more}
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.bytes = 0
        self.raw = bytearray()
        self.master, self.line = os.openpty()
        fcntl.ioctl(self.line, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
        self.modes = termios.tcgetattr(self.line)
        self.process = subprocess.Popen(
            argv, stdin=self.line, stdout=self.line, stderr=self.line,
            env={k: v for k, v in env.items() if v is not None},
            start_new_session=True, preexec_fn=self._control)

    @staticmethod
    def _control():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    @property
    def text(self):
        return "\n".join(self.screen.display)

    def resize(self, columns, rows):
        """Changes the window size; the kernel sends SIGWINCH."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def draw(self, seconds):
        """Draws what comes; returns after `seconds` at most, or at once when
        something was drawn."""
        if select.select([self.master], [], [], seconds)[0]:
            data = os.read(self.master, 65536)
            self.bytes += len(data)
            self.raw += data
            self.stream.feed(data)

    def send(self, keys):
        os.write(self.master, keys)

    def _rests(self):
        """Whether all output is drawn and the programs wait for something. A
        frame may come in several pieces, and a busy host may not run the
        program between them; then its main thread could still run."""
        return (not any(state_of(pid) in "RD"
                        for pid in family(self.process.pid))
                and not select.select([self.master], [], [], 0.01)[0])

    def _finish(self):
        """Draws the rest of a frame that has begun."""
        end = time.monotonic() + 2
        while not self._rests() and time.monotonic() < end:
            self.draw(0.01)

    def wait_for(self, what, seconds=60):
        """Waits until what(text) is true of a whole frame, or until it contains
        the given words; returns that frame. `what` sees unfinished frames too,
        so an exception, as for half a number, means not yet."""
        trouble = []

        def seen():
            try:
                return what(self.text) if callable(what) \
                    else what in self.text
            except Exception as error:  # pylint: disable=broad-except
                trouble[:] = [error]
                return False

        end = time.monotonic() + seconds
        while True:
            if seen():
                self._finish()
                if seen():
                    return self.text
            assert self.process.poll() is None, (self.process.poll(),
                                                 self.text)
            assert time.monotonic() < end, \
                f"no {what} in\n{self.text}\n{trouble}"
            self.draw(0.1)

    def settle(self, seconds=0.2):
        """Waits until the program has read all keys and has rested for this
        long; by then it no longer waits for keys after an Esc."""
        end = time.monotonic() + 30
        quiet = None
        while not quiet or time.monotonic() < quiet:
            assert time.monotonic() < end, self.text
            unread = fcntl.ioctl(self.line, termios.FIONREAD, bytes(4))
            if any(unread) or not self._rests():
                quiet = None
                self.draw(0.01)
            else:
                quiet = quiet or time.monotonic() + seconds

    def draw_for(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            self.draw(min(0.1, max(0, end - time.monotonic())))

    def ends(self, seconds):
        """True if the program ends within that time; then status is its exit
        status."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.draw(0.05)
        if self.process.poll() is None:
            return False
        while select.select([self.master], [], [], 0)[0]:
            self.draw(0)
        return True

    @property
    def status(self):
        return self.process.returncode

    def left_intact(self):
        """Checks that the terminal is as the program found it."""
        assert termios.tcgetattr(self.line) == self.modes
        assert not self.screen.alternate
        assert not self.screen.cursor.hidden

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.line)
        os.close(self.master)
