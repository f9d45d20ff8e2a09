# SPDX-License-Identifier: Apache-2.0
"""Films a session in a terminal as a moving picture: tools/film.py SPEC
OUT.svg

SPEC has one step per line:
    size COLUMNS ROWS
    title TEXT      above the picture
    type TEXT       types it key by key
    key KEY...      sends keys, with tmux's names
    wait TEXT       waits until TEXT is on the screen
    show SECONDS    films for that long
    look SECONDS    shows the current screen for that long
    skip SECONDS    waits for that long without filming

Needs tmux. The session runs in the current directory with build/bin first on
PATH. Rows that do not change are drawn once. Viewers who prefer reduced motion
see the last picture.
"""
import itertools
import os
import subprocess
import sys
import time

from ansi_svg import apart, draw_row, picture

KEY_SECONDS, FRAME_SECONDS, PATIENCE = 0.02, 0.5, 30


class Session:
    """A shell in a terminal of its own, and the frames that it has shown."""

    def __init__(self, columns, rows):
        self.socket = f"gpukit-film-{os.getpid()}"
        self.frames = []  # (lines, seconds that they are shown)
        environ = dict(os.environ, PS1="$ ", LC_ALL="C.UTF-8",
                       PATH=os.path.abspath("build/bin") + os.pathsep +
                       os.environ["PATH"])
        self.tmux("-f", os.devnull, "new-session", "-d", "-x", columns, "-y",
                  rows, "sh", env=environ)
        self.tmux("set", "-g", "status", "off")

    def tmux(self, *words, env=None):
        return subprocess.run(["tmux", "-L", self.socket, *words], check=True,
                              env=env, capture_output=True, text=True).stdout

    def screen(self):
        text = self.tmux("capture-pane", "-e", "-N", "-p")
        return list(apart(text.rstrip("\n").split("\n")))

    def take(self, seconds):
        self.frames.append((self.screen(), seconds))

    def type(self, text):
        for char in text:
            self.tmux("send-keys", "-l", char)
            time.sleep(KEY_SECONDS)
            self.take(KEY_SECONDS)

    def key(self, keys):
        for key in keys.split():
            self.tmux("send-keys", key)

    def wait(self, text):
        end = time.monotonic() + PATIENCE
        while not any(text in line for line in self.screen()):
            if time.monotonic() > end:
                sys.exit(f"film: '{text}' did not appear")
            time.sleep(0.05)

    def show(self, seconds):
        for _ in range(round(float(seconds) / FRAME_SECONDS)):
            time.sleep(FRAME_SECONDS)
            self.take(FRAME_SECONDS)

    def skip(self, seconds):
        time.sleep(float(seconds))

    def look(self, seconds):
        self.take(float(seconds))

    def close(self):
        self.tmux("kill-server")


def shoot(steps):
    """Returns the frames of a list of (word, text)."""
    told = dict(steps[:2])
    session = Session(*told["size"].split())
    try:
        for word, text in steps[2:]:
            getattr(session, word)(text)
    finally:
        session.close()
    return session.frames


def intervals(frames):
    """Yields (row, text, [(from, to)...]), in seconds, for each text that a
    row has had."""
    ends = list(itertools.accumulate(seconds for _, seconds in frames))
    rows = max(len(lines) for lines, _ in frames)
    for row in range(rows):
        seen = {}
        for (lines, seconds), end in zip(frames, ends):
            text = lines[row] if row < len(lines) else ""
            stands = seen.setdefault(text, [])
            if stands and abs(stands[-1][1] - (end - seconds)) < 1e-9:
                stands[-1] = (stands[-1][0], end)
            else:
                stands.append((end - seconds, end))
        for text, stands in seen.items():
            yield row, text, stands


def keyframes(stands, length):
    """Returns CSS for the times when something is visible; empty for
    always."""
    if stands == [(0, length)]:
        return ""
    on, off = "{visibility:visible}", "{visibility:hidden}"
    out = "" if stands[0][0] == 0 else "0%" + off
    for start, end in stands:
        out += f"{100 * start / length:.2f}%{on}"
        out += "" if end == length else f"{100 * end / length:.2f}%{off}"
    return out


def animate(title, columns, rows, frames):
    length = sum(seconds for _, seconds in frames)
    classes, body = {}, []
    for row, text, stands in intervals(frames):
        drawn = draw_row(row, text)
        if not drawn:
            continue
        stands[-1] = (stands[-1][0], min(stands[-1][1], length))
        css = keyframes(stands, length)
        name = classes.setdefault(css, f"f{len(classes)}") if css else ""
        last = stands[-1][1] == length
        body.append(f'<g class="{name}"' +
                    ("" if last else ' visibility="hidden"') +
                    f'>{drawn}</g>')
    style = "".join(f"@keyframes {name}{{{css}}}"
                    f".{name}{{animation:{name} {length:.1f}s step-end "
                    f"infinite}}" for css, name in classes.items())
    style += "@media(prefers-reduced-motion:reduce){g{animation:none!important}}"
    return picture(title, columns, rows,
                   f"<style>{style}</style>\n" + "\n".join(body))


def main():
    with open(sys.argv[1]) as spec:
        steps = [(line.split(None, 1) + [""])[:2]
                 for line in spec.read().splitlines()
                 if line.strip() and not line.startswith("#")]
    steps = [(word, text.rstrip("\n")) for word, text in steps]
    told = dict(steps[:2])
    columns, rows = map(int, told["size"].split())
    film = animate(told["title"], columns, rows, shoot(steps))
    with open(sys.argv[2] + ".new", "w") as out:
        print(film, file=out)
    os.replace(sys.argv[2] + ".new", sys.argv[2])


if __name__ == "__main__":
    main()
