# SPDX-License-Identifier: Apache-2.0
"""`gpukit top` in a terminal: keys are typed into a pty, and pyte reads the
screens."""

import os
import re
import signal
import time

import pytest

import can
from conftest import GPUKIT, clean_env
from screen import Terminal, state_of

LOADS = ("--gpus", "a100:4", "--load", "train:0,mem=1GiB,util=20",
         "--load", "train:1,mem=3GiB,util=50",
         "--load", "infer:2,n=3,mem=2GiB,util=30")
PROCESS = re.compile(r"^│[= ]+(\d+)\s+(\d+) (\S+)\s+(\S+)\s+(\S+)\s+(\S+)"
                     r"\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)", re.M)
GPU = re.compile(r"^│ +(\d+)  A100.*\n│.*?(\d+)C .*?(\d+)W / (\d+)W │ +(\S+) / "
                 r"(\S+) │ +(\d+)%", re.M)
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
DOWN = b"\x1bOB"
F2 = b"\x1bOQ"


def size(text):
    number, unit = re.fullmatch(r"([\d.]+)(\D+)", text).groups()
    return float(number) * UNITS[unit]


def share(text):
    return -1.0 if text == "N/A" else float(text)


def seconds(text):
    total = 0
    for part in text.split(":"):
        total = 60 * total + int(part)
    return total


def rows(text):
    return [match.groups() for match in PROCESS.finditer(text)]


def configure(tmp_path, text):
    """Writes a config file that nobody else can write to."""
    (tmp_path / "gpukit").mkdir(exist_ok=True, mode=0o700)
    path = tmp_path / "gpukit" / "top.yaml"
    path.write_text(text)
    path.chmod(0o600)


@pytest.fixture
def top(gpukit, machine, tmp_path):
    """top(OPTION..., **how) in a terminal of 120x60, on a machine of four GPUs
    and five processes."""
    made = machine(*LOADS, "--frozen")
    started = []

    def start(*options, columns=120, rows=60, argv=None, wait="Processes:",
              **more):
        started.append(Terminal(
            argv or [GPUKIT, "top", "--look", "nvitop", *options],
            clean_env(XDG_CONFIG_HOME=str(tmp_path), **made.env), columns,
            rows, **more))
        if wait:
            started[-1].wait_for(wait)
        return started[-1]

    start.machine = made
    yield start
    for terminal in started:
        terminal.close()


def leave(terminal, keys=b"q"):
    terminal.send(keys)
    assert terminal.ends(30)
    assert terminal.status == 0
    terminal.left_intact()


def test_numbers_are_those_of_stat(top, gpukit):
    """The machine's clock is stopped, so that both see the same."""
    terminal = top()
    # A GPU without processes may be the last to answer.
    terminal.wait_for(lambda text: len(rows(text)) == 5 and
                      len(GPU.findall(text)) == 4)
    report = gpukit.json("stat", "--json", env=top.machine.env)
    seen = {int(m[1]): m.groups()[1:] for m in GPU.finditer(terminal.text)}
    assert len(seen) == 4
    for device in report["devices"]:
        temperature, power, limit, used, total, util = seen[device["index"]]
        assert int(temperature) == device["temperature_celsius"]
        assert int(power) == round(device["power_watts"])
        assert int(limit) == round(device["power_limit_watts"])
        assert size(used) == pytest.approx(device["memory_used_bytes"],
                                           rel=0.01, abs=1)
        assert size(total) == device["memory_total_bytes"]
        assert int(util) == device["gpu_utilization_percent"]
    processes = {p["pid"]: (d["index"], p) for d in report["devices"]
                 for p in d["processes"]}
    assert len(processes) == 5
    for gpu, pid, kind, user, memory, sm, bandwidth, *_ in rows(terminal.text):
        index, process = processes[int(pid)]
        assert int(gpu) == index
        assert kind == "C"
        assert user == process["user"][:7]
        assert size(memory) == process["gpu_memory_bytes"]
        assert int(sm) == process["sm_utilization_percent"]
        assert int(bandwidth) == process["memory_utilization_percent"]
    leave(terminal)


# Second key, column, how it is parsed, and whether the largest comes first.
ORDERS = [(b"p", 1, int, False), (b"g", 4, size, True), (b"s", 5, int, True),
          (b"b", 6, int, True), (b"c", 7, share, True), (b"m", 8, share, True),
          (b"t", 9, seconds, True)]


@pytest.mark.parametrize("key, column, value, descending", ORDERS)
def test_order(top, key, column, value, descending):
    """Each order sorts by its column, and its capital letter reverses it."""
    terminal = top()
    terminal.wait_for(lambda text: len(rows(text)) == 5)

    def ordered(down):
        def check(text):
            values = [value(row[column]) for row in rows(text)]
            return (("▼" if down else "▲") in text
                    and values == sorted(values, reverse=down))
        return check

    terminal.send(b"o" + key)
    terminal.wait_for(ordered(descending))
    terminal.send(b"o" + key.upper())
    terminal.wait_for(ordered(not descending))
    terminal.send(b"/")
    terminal.wait_for(ordered(descending))
    leave(terminal)


def test_keys_typed_ahead_all_count(top, tmp_path):
    """Twenty keys in one write, each of which changes something."""
    terminal = top()
    terminal.send(F2 + b"\r" * 4 + DOWN + b"\r" * 8 + DOWN + b"\r" * 3
                  + DOWN * 4 + b"\r" + b"ss")
    terminal.wait_for("saved in")
    written = (tmp_path / "gpukit" / "top.yaml").read_text()
    for line in ("mode: full", "theme: mono", "colorful: true",
                 "ascii: false", "mouse: false"):
        assert f"\n{line}\n" in written
    leave(terminal, b"qq")


def test_settings_are_there_again(top, tmp_path):
    """Saved settings apply at the next start; the file is private."""
    terminal = top()
    terminal.send(F2 + DOWN * 3 + b"\r" + b"s")
    terminal.wait_for("saved in")
    leave(terminal, b"qq")
    path = tmp_path / "gpukit" / "top.yaml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path / "gpukit") == ["top.yaml"]
    again = top()
    again.wait_for("Processes:")
    assert again.text.isascii()
    leave(again)


def test_keys_of_the_config_file(top, tmp_path):
    configure(tmp_path, "keys:\n  quit: F7\n  settings: q\n")
    terminal = top()
    terminal.send(b"q")
    terminal.wait_for("Settings")
    terminal.send(b"q")
    terminal.wait_for("Processes:")
    leave(terminal, b"\x1b[18~")


def test_leaving_prints_the_report(top):
    """The report is about the part that was shown."""
    terminal = top("-o", "2")
    terminal.wait_for(lambda text: len(rows(text)) == 3)
    assert not re.search(r"^│ +0  A100", terminal.text, re.M)
    leave(terminal)
    assert len(rows(terminal.text)) == 3
    assert re.search(r"^│ +2  A100", terminal.text, re.M)
    assert not re.search(r"^│ +0  A100", terminal.text, re.M)


def test_a_filter_holds_for_all_frames(top):
    terminal = top("--interval", "0.05", "-u", "nobody")
    terminal.wait_for(lambda text: len(GPU.findall(text)) == 4)
    seen = []
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        terminal.draw(0.05)
        seen += rows(terminal.text)
    assert not seen
    leave(terminal)


def test_a_window_of_another_size(top):
    terminal = top()
    for columns, lines in ((80, 24), (40, 10), (200, 70), (120, 60)):
        terminal.resize(columns, lines)
        terminal.settle()
        assert terminal.process.poll() is None
    terminal.wait_for(lambda text: len(rows(text)) == 5)
    leave(terminal)


def test_ctrl_z_and_fg(top):
    """As a job of a shell, which has the terminal while it is stopped."""
    shell = (f"set -m; {GPUKIT} top --look nvitop; echo STOPPED; read line; "
             "fg >/dev/null; echo ENDED $?")
    for stop in (lambda t: t.send(b"\x1a"),
                 lambda t: os.kill(child_of(t), signal.SIGTSTP)):
        terminal = top(argv=["sh", "-c", shell])
        stop(terminal)
        terminal.wait_for("STOPPED")
        assert not terminal.screen.alternate
        assert not terminal.screen.cursor.hidden
        assert state_of(child_of(terminal)) == "T"
        terminal.send(b"\n")
        terminal.wait_for("Processes:")
        assert terminal.screen.alternate
        terminal.send(b"q")
        assert terminal.ends(30)
        assert "ENDED 0" in terminal.text
        terminal.left_intact()


def test_a_window_of_another_size_after_fg(top):
    terminal = top(argv=["sh", "-c", f"set -m; {GPUKIT} top; echo STOPPED; "
                         "read line; fg >/dev/null"], wait="processes by")
    terminal.send(b"\x1a")
    terminal.wait_for("STOPPED")
    terminal.resize(60, 20)
    terminal.send(b"\n")

    def is_whole(text):
        drawn = text.split("\n")
        return drawn[0].startswith(" gpukit") and "help" in drawn[19]

    terminal.wait_for(is_whole)
    leave(terminal)


def test_what_others_wrote_is_drawn_over(top):
    terminal = top()
    os.write(terminal.line, b"\x1b[5;5HGARBAGE")
    terminal.wait_for("GARBAGE")
    terminal.send(b"\x0c")
    terminal.wait_for(lambda text: "GARBAGE" not in text)
    leave(terminal)


def child_of(terminal):
    pid = terminal.process.pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return int(f.read().split()[0])


@pytest.mark.parametrize("number, status", [
    (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131),
    (signal.SIGSEGV, -signal.SIGSEGV), (signal.SIGABRT, -signal.SIGABRT),
    (signal.SIGBUS, -signal.SIGBUS), (signal.SIGFPE, -signal.SIGFPE),
    (signal.SIGILL, -signal.SIGILL)])
def test_the_terminal_is_given_back(top, number, status):
    """After signals that end it, and after a crash."""
    terminal = top()
    assert terminal.screen.alternate
    terminal.process.send_signal(number)
    assert terminal.ends(30)
    assert terminal.status == status
    terminal.left_intact()


@pytest.mark.parametrize("share", [0, 0.5])
def test_a_machine_that_is_truncated(top, share):
    """The machine's GPUs are lost, but the viewer continues."""
    path = top.machine.path
    terminal = top()
    os.truncate(path, int(os.stat(path).st_size * share))
    terminal.wait_for("GPU is lost")
    terminal.send(b"q")
    assert terminal.ends(30)
    assert terminal.status == 1
    # The line is longer than the terminal is wide.
    assert f"machine{path}wastruncated" in "".join(terminal.text.split())
    terminal.left_intact()


def test_sigcont_draws_anew(top):
    """The viewer was stopped without notice."""
    terminal = top()
    terminal.process.send_signal(signal.SIGSTOP)
    while state_of(terminal.process.pid) != "T":
        time.sleep(0.01)
    terminal.screen.reset()
    terminal.process.send_signal(signal.SIGCONT)
    terminal.wait_for("Processes:")
    leave(terminal)


def test_the_terminal_goes_away(top):
    terminal = top()
    os.close(terminal.master)
    os.close(terminal.line)
    try:
        assert terminal.process.wait(30) == 129
    finally:
        terminal.master, terminal.line = os.openpty()


@pytest.mark.parametrize("more, told", [
    ({"TERM": "dumb"}, False), ({"TERM": None}, False),
    ({"TERM": "no-such-terminal"}, True)])
def test_terminals_that_cannot_be_used(top, more, told):
    """One report is printed. A terminal without a cursor causes no message
    unless the viewer was requested."""
    plain = top(wait=None, **more)
    assert plain.ends(30)
    assert plain.status == 0
    assert "Processes:" in plain.text
    assert ("gpukit top:" in plain.text) == told
    asked = top("-m", wait=None, **more)
    assert asked.ends(30)
    assert asked.status == 1
    assert "gpukit top: -m needs a terminal" in asked.text


def test_a_locale_without_utf_8(top):
    terminal = top(LC_ALL="C")
    assert terminal.text.isascii()
    leave(terminal)
    assert terminal.text.isascii()


def test_modes_of_the_environment(top):
    def lines(**more):
        terminal = top(rows=100, **more)
        terminal.wait_for(lambda text: text.count("gpukit-load") == 5)
        drawn = terminal.text.rstrip().count("\n")
        leave(terminal)
        return drawn

    full = lines()
    assert lines(GPUKIT_MONITOR_MODE="compact") < full
    assert lines(NVITOP_MONITOR_MODE="compact,light") < full
    assert lines(NVITOP_MONITOR_MODE="compact",
                 GPUKIT_MONITOR_MODE="auto") == full
    once = top(wait=None, NVITOP_MONITOR_ALWAYS="false")
    assert once.ends(30) and once.status == 0
    assert not once.screen.alternate


@pytest.mark.parametrize("owner, mode", [(None, 0o666), (12345, 0o600)])
def test_a_command_that_others_can_have_written(top, tmp_path, owner, mode):
    """The alert is shown, its command is not run, and the reason is given."""
    if owner:
        can.need("other-users")
    ran = tmp_path / "ran"
    configure(tmp_path, "alerts:\n  temperature: 90\n  every: 1\n"
              f"  command: [touch, '{ran}']\n")
    path = tmp_path / "gpukit" / "top.yaml"
    path.chmod(mode)
    if owner:
        os.chown(path, owner, owner)
    terminal = top("--interval", "0.1")
    top.machine.ctl("set", "3", "temperature=95")
    # A command starts before a frame shows its alert, or this line.
    terminal.wait_for("alerts.command is not run: ")
    terminal.wait_for("! GPU 3: 95 C (alert from 90 C)")
    leave(terminal)
    assert not ran.exists()
    assert terminal.text.count("gpukit top: alerts.command is not run") == 1


def test_an_alert(top, tmp_path):
    """The alert is shown as long as it lasts, and its command gets its text."""
    told = tmp_path / "told"
    configure(tmp_path, "alerts:\n  temperature: 90\n  command: [sh, -c, "
              f"'echo \"$GPUKIT_ALERT_TEXT\" >>{told}']\n")
    terminal = top("--interval", "0.1")
    assert "alert" not in terminal.text
    done = top.machine.ctl("set", "3", "temperature=95")
    assert done.returncode == 0, done.stderr
    terminal.wait_for("! GPU 3: 95 C (alert from 90 C)")
    end = time.monotonic() + 30
    while not (told.exists() and told.read_text()):
        assert time.monotonic() < end
        time.sleep(0.01)
    top.machine.ctl("set", "3", "temperature=40")
    terminal.wait_for(lambda text: "alert from" not in text)
    assert told.read_text() == "GPU 3: 95 C (alert from 90 C)\n"
    leave(terminal)


def test_a_gpu_that_is_not_there_is_told_at_once(top):
    asked = top("-o", "77", wait=None)
    assert asked.ends(30) and asked.status == 1
    assert "no GPU 77" in asked.text
