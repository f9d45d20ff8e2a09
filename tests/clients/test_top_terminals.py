# SPDX-License-Identifier: Apache-2.0
"""`gpukit top` on terminals of all kinds, and what users do to them."""

import re
import shutil
import subprocess
import time

import pytest

from conftest import clean_env
from screen import Terminal
from test_top_screen import GPU, leave, rows, top  # noqa: F401

SGR = re.compile(rb"\x1b\[([\d;:]*)m")

# Kinds that not every system has a description of.
KINDS = r"""
gpukit-16|sixteen colours,
	colors#16, pairs#256, op=\E[39;49m,
	setaf=\E[%?%p1%{8}%<%t3%p1%d%e9%p1%{8}%-%d%;m,
	setab=\E[%?%p1%{8}%<%t4%p1%d%e10%p1%{8}%-%d%;m, use=xterm,
gpukit-direct|any red green and blue,
	RGB, colors#0x1000000, pairs#0x7FFF, op=\E[39;49m,
	setaf=\E[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
	setab=\E[%?%p1%{8}%<%t4%p1%d%e48;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
	use=xterm-256color,
"""


@pytest.fixture(scope="session")
def terminfo(tmp_path_factory):
    """A directory of descriptions for TERMINFO."""
    place = tmp_path_factory.mktemp("terminfo")
    (place / "kinds").write_text(KINDS)
    subprocess.run(["tic", "-x", "-o", place, place / "kinds"], check=True)
    return str(place)


def colors(raw):
    """The colours in the output, in SGR's notation."""
    found = set()
    for match in SGR.finditer(bytes(raw)):
        numbers = match[1].decode().replace(":", ";").split(";")
        while numbers:
            number = numbers.pop(0)
            if number in ("38", "48"):
                count = 2 if numbers[0] == "5" else 4
                found.add((number, *numbers[:count]))
                numbers = numbers[count:]
            elif re.fullmatch("[349][0-7]|10[0-7]", number):
                found.add((number,))
    return found


@pytest.mark.parametrize("term", ["vt100", "linux", "screen", "xterm",
                                  "xterm-256color", "tmux-256color"])
def test_kinds(top, term):  # noqa: F811
    """Each terminal shows the same, works, and is restored."""
    terminal = top("--colorful", TERM=term)
    terminal.wait_for(lambda text: len(rows(text)) == 5)
    terminal.send(b"op")
    terminal.wait_for("PID▲")
    leave(terminal)
    if term == "vt100":
        assert not colors(terminal.raw)


def is_green(parts):
    red, green, blue = map(int, parts)
    return green > red and green > blue


@pytest.mark.parametrize("term, allowed", [
    ("xterm", r"3[0-7]"), ("linux", r"3[0-7]"), ("gpukit-16", r"[39][0-7]"),
    ("xterm-256color", r"[39][0-7]|38 5 \d+"),
    ("gpukit-direct", r"3[0-7]|38 2 \d+ \d+ \d+")])
def test_bars_in_colours(top, terminfo, term, allowed):  # noqa: F811
    """The gradient of a value near 0 is green, however many colours there are,
    and no gradient has a background."""
    terminal = top("--colorful", TERM=term, TERMINFO=terminfo)
    # The bars appear with the GPUs' answers.
    terminal.wait_for(lambda text: len(rows(text)) == 5 and
                      len(GPU.findall(text)) == 4)
    leave(terminal)
    # Not every terminal has a screen to restore.
    end = terminal.raw.rfind(b"\x1b[?1049l")
    end = end if end >= 0 else len(terminal.raw)
    viewer, report = terminal.raw[:end], terminal.raw[end:]
    found = {" ".join(color) for color in colors(viewer)}
    assert found and all(re.fullmatch(allowed, color) for color in found)
    more = [color.split()[2:] for color in found if color.startswith("38 ")]
    assert bool(more) == ("256" in term or "direct" in term)
    if "direct" in term:
        assert any(is_green(shade) for shade in more)
        assert all(max(map(int, shade)) > 60 for shade in more)
    if "256" not in term:
        assert "32" in found
    if not more:
        assert all(re.fullmatch("[39][0-7]", " ".join(color))
                   for color in colors(report))


def test_sizes_of_the_environment(top):  # noqa: F811
    """The variables belong to another terminal: the window size counts."""
    terminal = top(LINES="10", COLUMNS="50")
    terminal.wait_for(lambda text: len(rows(text)) == 5)
    assert max(len(line.rstrip()) for line in terminal.screen.display) == 120
    leave(terminal)
    assert b"\x1b[1;10r" not in terminal.raw
    assert terminal.text.rstrip().count("\n") > 20


def test_a_window_of_one_cell(top):  # noqa: F811
    terminal = top("--interval", "0.1")
    for columns, lines in ((1, 1), (2, 1), (1, 2), (3, 3), (500, 2), (2, 200),
                           (1, 1), (120, 60)):
        terminal.resize(columns, lines)
        terminal.settle(0.05)
        terminal.send(b"h\x1b\x1btud\x1b\x1b\x1b")
        terminal.settle(0.05)
        assert terminal.process.poll() is None
    terminal.wait_for(lambda text: len(rows(text)) == 5)
    leave(terminal)


def test_what_is_pasted_are_no_keys(top):  # noqa: F811
    """Pastes a text with q, K and Enter in it, as a clipboard may have."""
    terminal = top()
    assert b"\x1b[?2004h" in terminal.raw
    terminal.send(b"\x1bOB")
    text = (b"quit Kill Tx\rqK\r" * 700)[:10000]
    for at in range(0, len(text), 1000):
        terminal.send((b"\x1b[200~" if not at else b"") + text[at:at + 1000])
        terminal.draw(0.05)
    terminal.send(b"\x1b[201~")
    terminal.wait_for("Pasted text is ignored here")
    assert "SIGKILL" not in terminal.text
    terminal.send(b"op")
    terminal.wait_for("PID▲")
    leave(terminal)
    assert terminal.raw.rindex(b"\x1b[?2004l") > \
        terminal.raw.rindex(b"\x1b[?2004h")


def selected(screen):
    """The process that is shown in reverse, or None."""
    for row, line in enumerate(screen.display):
        if "gpukit-load" in line and screen.buffer[row][60].reverse:
            return line
    return None


@pytest.mark.parametrize("term", ["screen-256color", "tmux-256color", "xterm"])
def test_wheel_with_control(top, term):  # noqa: F811
    """The wheel moves by five, in the mouse protocol that reports Ctrl."""
    terminal = top(TERM=term)
    assert b"\x1b[?1006" in terminal.raw
    terminal.wait_for(lambda text: len(rows(text)) == 5)
    last = rows(terminal.text)[-1][1]
    terminal.send(b"\x1b[<65;10;5M")
    terminal.wait_for(lambda _: selected(terminal.screen))
    first = selected(terminal.screen)
    terminal.send(b"\x1b[<81;10;5M")
    terminal.wait_for(
        lambda _: selected(terminal.screen) not in (None, first))
    assert f" {last} " in selected(terminal.screen)
    leave(terminal)
    asked = re.findall(rb"\x1b\[\?1006[;0-9]*([hl])", terminal.raw)
    assert asked[0] == b"h" and asked[-1] == b"l"


def test_a_filter_may_be_pasted(top):  # noqa: F811
    terminal = top()
    terminal.send(b"\\\x1b[200~gpu:2\r\x1b[201~\r")
    terminal.wait_for(lambda text: len(rows(text)) == 3)
    leave(terminal)


def test_a_paste_without_an_end(top):  # noqa: F811
    terminal = top()
    terminal.send(b"\x1b[200~qqq")
    terminal.wait_for("Pasted text")
    time.sleep(0.7)
    leave(terminal)


def test_ten_kilobytes_of_nonsense(top):  # noqa: F811
    """All bytes except those that leave, signal or stop."""
    terminal = top("--readonly")
    noise = bytes(b for b in range(256) if b not in b"qQ\x1a")
    for _ in range(40):
        terminal.send(noise)
        terminal.draw_for(0.02)
        assert terminal.process.poll() is None
    for keys in (b"\r\x1b" + b"\x1b" * 20, b"\x1b\x1b\x1b", b"\x1b"):
        terminal.send(keys)
        terminal.settle()
    leave(terminal)


@pytest.mark.parametrize("redirect", ["</dev/null", "| cat", "<&-", ">&-"])
def test_half_a_terminal(top, gpukit, redirect):  # noqa: F811
    """One report is printed where no keys can be read, or without a screen."""
    terminal = top(argv=["sh", "-c", f"{gpukit.path} top --look nvitop "
                         f"{redirect}; echo DONE $?"], wait=None)
    assert terminal.ends(30)
    assert "DONE" in terminal.text
    assert not terminal.screen.alternate
    assert ("Processes:" in terminal.text) == (redirect != ">&-")


def test_a_background_job_waits(top, gpukit):  # noqa: F811
    """It stops until the shell gives it the terminal, as other programs do."""
    terminal = top(argv=["sh", "-c", f"set -m; {gpukit.path} top --look nvitop & sleep 1; "
                         "echo HERE; read line; fg >/dev/null"], wait="HERE")
    assert not terminal.screen.alternate
    terminal.send(b"\n")
    terminal.wait_for("Processes:")
    terminal.send(b"q")
    assert terminal.ends(30)
    terminal.left_intact()


def test_over_script(top, gpukit, tmp_path):  # noqa: F811
    terminal = top(argv=["script", "-qec", f"{gpukit.path} top --look nvitop",
                         str(tmp_path / "typescript")])
    terminal.wait_for(lambda text: len(rows(text)) == 5)
    leave(terminal)


@pytest.mark.parametrize("driver, lacks", [("470", True), ("610", False)])
def test_functions_that_the_driver_lacks(gpukit, tmp_path, driver, lacks):
    """They are named at the end and only on request; a missing version of an
    existing function is not, nor is anything with a complete driver."""
    usual = f"{gpukit.path} top --look nvitop"
    for command in (usual, f"{usual} --verbose"):
        terminal = Terminal(
            [gpukit.path, "fake", "--gpus", "a100", "--driver", driver, "--",
             "sh", "-c", command],
            clean_env(XDG_CONFIG_HOME=str(tmp_path)), 100, 60)
        try:
            terminal.wait_for("No running processes")
            leave(terminal)
            hint = ("nvmlDeviceGetDefaultEccMode\n" in re.sub(
                " +\n", "\n", terminal.text))
            assert hint == (lacks and "--verbose" in command)
            assert ("lacks NVML functions" in terminal.text) == hint
            for name in ("RunningProcesses", "nvmlDeviceGetMemoryInfo",
                         "ClocksEventReasons", "GetTemperatureV"):
                assert name not in terminal.text
        finally:
            terminal.close()


@pytest.mark.parametrize("options", [["-t", "-n1"], ["-t", "-x", "-n1"]])
def test_watch_is_not_needed(top, gpukit, options):  # noqa: F811
    if not shutil.which("watch"):
        pytest.skip("no watch(1) here")
    terminal = top(argv=["watch", *options, gpukit.path, "top", "--look", "nvitop"],
                   wait="watch(1) is not needed")
    assert len(rows(terminal.text)) == 5 or "Processes" in terminal.text
    plain = gpukit("top", env=top.machine.env)
    assert plain.stderr == ""
