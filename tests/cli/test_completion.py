# SPDX-License-Identifier: Apache-2.0
"""Completion: what the command answers, and that real shells offer it."""

import os
import pty
import re
import select
import signal
import subprocess

import pytest

import can
from conftest import BUILD, GPUKIT, ROOT, clean_env

SCRIPTS = os.path.join(ROOT, "packaging", "completion")
VERBS = re.findall(r"^  (\w+) ", subprocess.run(
    [GPUKIT, "help"], text=True, capture_output=True, check=True).stdout, re.M)


def ask(line, **env):
    """{word: description} for the end of a command line; words are separated by
    one blank."""
    told = subprocess.run([GPUKIT, "--complete", *line.split(" ")], text=True,
                          capture_output=True, check=True,
                          env=clean_env(**env))
    assert told.stderr == ""
    rows = [row.split("\t") for row in told.stdout.splitlines()]
    return {row[0]: row[1] if row[1:] else None for row in rows}


# ---- what the command answers ----

@pytest.mark.parametrize("line, words", [
    ("gpukit st", ["stat"]),
    ("gpukit ver", ["version"]),
    ("gpukit --v", ["--version"]),
    ("gpukit help li", ["limit"]),
    ("gpukit help fake d", ["doctor"]),
    ("/usr/bin/gpukit fake ctl s", ["show", "set"]),
    ("gpukit fake ctl clock st", ["step"]),
    ("gpukit fake ctl --json cov", ["coverage"]),
    ("gpukit fake ctl set 0 temp", ["temperature="]),
    ("gpukit fake ctl fail 0 los", ["lost"]),
    ("gpukit fake scenario ch", ["check"]),
    ("gpukit fake scenario show dy", ["dying-gpu"]),
    ("gpukit fake --scenario dy", ["dying-gpu"]),
    ("gpukit fake --scenario=dy", ["--scenario=dying-gpu"]),
    ("gpukit fake -s dy", ["dying-gpu"]),
    ("gpukit fake --gpus t4,rtx-2080", ["t4,rtx-2080-ti"]),
    ("gpukit fake --driver 58", ["580"]),
    ("gpukit fake --topology h", ["hgx"]),
    ("gpukit fake --gpus t4 --refusals ", ["tell", "error"]),
    ("gpukit fake load tr", ["train"]),
    ("gpukit limit su", ["suspend", ":command 2"]),
    ("gpukit limit --policy e", ["elastic"]),
    ("gpukit limit set team --oversubscribe=", ["--oversubscribe=yes",
                                               "--oversubscribe=no"]),
    ("gpukit stat --csv=d", ["--csv=devices"]),
    ("gpukit stat --csv d", ["devices"]),
    ("gpukit stat -e", []),
    ("gpukit stat --show-codec=enc,d", ["--show-codec=enc,dec"]),
    ("gpukit stat --timings-sort c", ["cumulative"]),
    ("gpukit top --theme color-", ["color-blind"]),
    ("gpukit top --user", ["--user"]),
    ("gpukit smi pm", ["pmon"]),
    ("gpukit smi --query-gpu=name,memory.tot", [
        "--query-gpu=name,memory.total"]),
    ("gpukit smi --query-gpu name,memory.tot", ["name,memory.total"]),
    ("gpukit smi -d MEMORY,EC", ["MEMORY,ECC"]),
    ("gpukit smi --format=csv,noh", ["--format=csv,noheader"]),
    ("gpukit smi dmon --sel", ["--select"]),
    ("gpukit plot --column busy,tem", ["busy,temperature"]),
    ("gpukit export --names d", ["dcgm"]),
    ("nvitop --loo", ["--look"]),
    ("/opt/bin/nvidia-smi --list-g", ["--list-gpus"]),
    ("nvisel --format u", ["uuid"]),
    ("gpukit none ", []),
    ("gpukit stat --none ", None),
])
def test_words(line, words):
    found = ask(line)
    if words is None:
        assert "--json" in found
    else:
        assert list(found) == words or set(found) == set(words)


@pytest.mark.parametrize("line, asked", [
    ("gpukit plot ", ":files"), ("gpukit plot --output=", ":files"),
    ("gpukit plot -o ", ":files"), ("gpukit fake doctor ./a", ":files"),
    ("gpukit top --replay ", ":files"), ("gpukit stat --timings=", ":files"),
    ("gpukit top --user ", ":users"), ("gpukit top -u ", ":users"),
    ("gpukit fake scenario check ", ":files"),
    ("gpukit fake -- ls -", ":command 3"),
    ("gpukit fake --gpus t4 nvcc -", ":command 4"),
    ("gpukit fake --gpus t4 ", ":command 4"),
    ("gpukit fake join lab -- ls", ":command 5"),
    ("gpukit limit --memory 4GiB -- python tr", ":command 5"),
    ("gpukit record --devices -- ./x", ":command 4"),
    ("gpukit select --reserve ./x ", ":command 3")])
def test_what_the_shell_knows(line, asked):
    assert asked in ask(line)


def test_there_is_no_command_without_dashes():
    assert not any(word.startswith(":") for word in ask("gpukit record "))


@pytest.mark.parametrize("args", [
    *([verb] for verb in VERBS if verb != "smi"),
    *(["fake", word] for word in ("ctl", "load", "join", "doctor")),
    *(["limit", word] for word in ("ls", "set", "audit", "verify"))])
def test_all_options_of_help_are_offered(args, gpukit):
    told = gpukit.ok(*args, "--help")
    options = set(re.findall(r"^ +(?:-.*, )?(--[\w-]+)", told, re.M))
    letters = set(re.findall(r"^  (-\S),", told, re.M))
    found = ask(" ".join(["gpukit", *args, "-"]))
    assert len(options) > 3
    assert options | letters <= set(found)
    assert all(found[option] for option in options)


def test_groups_and_machines_are_offered(machine):
    made = machine("--gpus", "t4:1", "--name", "tender")
    assert made
    assert "tender" in ask("gpukit fake join ten")
    assert "tender" in ask("gpukit fake ctl --name ten")


def test_names_that_a_shell_would_misread_are_left_out(tmp_path):
    for name in ("good", "new\nline", "a blank", "tab\tulator"):
        (tmp_path / f"{name}.yaml").write_text("")
    found = ask("gpukit fake --gpus ", GPUKIT_PROFILES=str(tmp_path))
    assert set(found) == {"none", "good"}


# ---- real shells ----

ENVIRONMENT = {"PATH": f"{BUILD}/bin:{os.environ['PATH']}", "TERM": "dumb",
               "PS1": "", "PS2": "", "HISTFILE": "/dev/null"}
CASES = [
    ("gpukit sel", ["gpukit", "select"]),
    ("gpukit fake ctl cov", ["gpukit", "fake", "ctl", "coverage"]),
    ("gpukit stat --show-ful", ["gpukit", "stat", "--show-full-cmd"]),
    ("gpukit stat --csv=dev", ["gpukit", "stat", "--csv=devices"]),
    ("gpukit export --names nvit", ["gpukit", "export", "--names", "nvitop"]),
    ("gpukit smi --query-gpu=name,memory.tot", [
        "gpukit", "smi", "--query-gpu=name,memory.total"]),
    ("gpukit fake --gpus h100:2,rtx-2080", [
        "gpukit", "fake", "--gpus", "h100:2,rtx-2080-ti"]),
    ("gpukit plot night", ["gpukit", "plot", "nightly.csv"]),
    ("gpukit plot --output=night", ["gpukit", "plot", "--output=nightly.csv"]),
    ("gpukit fake -- plot-th", ["gpukit", "fake", "--", "plot-this"]),
    ("gpukit fake -- plot-this night", ["gpukit", "fake", "--", "plot-this",
                                        "nightly.csv"]),
]


@pytest.fixture(name="home")
def home_with_files(tmp_path):
    (tmp_path / "nightly.csv").write_text("")
    program = tmp_path / "bin" / "plot-this"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


def type_into(words, text, end, cwd, env):
    """What a shell on a terminal prints until a text."""
    pid, fd = pty.fork()
    if not pid:
        os.chdir(cwd)
        os.execvpe(words[0], words, env)
    got = b""
    try:
        os.write(fd, text.encode())
        while end not in got:
            ready, _, _ = select.select([fd], [], [], 60)
            assert ready, got
            got += os.read(fd, 65536)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(fd)
        os.waitpid(pid, 0)
    return got.decode()


def completed(words, setup, line, home):
    """The words of a line after Tab: they become arguments of printf."""
    env = clean_env(**ENVIRONMENT)
    env["PATH"] = f"{home}/bin:{env['PATH']}"
    env["HOME"] = env["ZDOTDIR"] = str(home)
    text = f"{setup}\n{line}\t\x01printf '<%s>' \x05; echo E''ND\n"
    got = type_into(words, text, b"END\r", home, env)
    return re.findall(r"<([^<>]*)>", got.split("printf '<%s>'")[-1])


def same(found, wanted):
    return [word.strip() for word in found] == wanted


@can.needed("bash")
@pytest.mark.parametrize("line, words", CASES)
def test_bash(line, words, home):
    found = completed(["bash", "--norc", "--noprofile", "-i"],
                      f"bind 'set bell-style none'; . {SCRIPTS}/gpukit.bash",
                      line, home)
    assert same(found, words), found


@can.needed("bash")
def test_bash_completes_a_link_by_its_name(home):
    (home / "nvitop").symlink_to(f"{SCRIPTS}/gpukit.bash")
    (home / "bin/nvitop").symlink_to(GPUKIT)
    found = completed(["bash", "--norc", "--noprofile", "-i"],
                      f". {home}/nvitop", "nvitop --loo", home)
    assert same(found, ["nvitop", "--look"]), found


@can.needed("zsh")
@pytest.mark.parametrize("line, words", CASES)
def test_zsh(line, words, home):
    setup = (f"fpath=({SCRIPTS} $fpath); autoload -U compinit; "
             "compinit -u -D; bindkey -e; bindkey '^I' complete-word; "
             "unsetopt beep prompt_cr prompt_sp")
    found = completed(["zsh", "-f", "-i"], setup, line, home)
    assert same(found, words), found


@can.needed("fish")
@pytest.mark.parametrize("line, words", CASES)
def test_fish(line, words, home):
    """`complete -C` prints what Tab would offer for the last word."""
    env = clean_env(**ENVIRONMENT, HOME=str(home))
    env["PATH"] = f"{home}/bin:{env['PATH']}"
    done = subprocess.run(
        ["fish", "--no-config", "-c",
         f'source {SCRIPTS}/gpukit.fish; complete -C "{line}"'],
        text=True, capture_output=True, check=False, cwd=home, env=env)
    assert done.stderr == ""
    offered = [row.split("\t")[0] for row in done.stdout.splitlines()]
    assert words[-1] in offered, done.stdout
