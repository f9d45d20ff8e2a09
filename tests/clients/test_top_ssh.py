# SPDX-License-Identifier: Apache-2.0
"""`gpukit top --host` uses the real ssh to a server on loopback."""

import os
import re
import signal
import socket

import pytest

from conftest import FAKE_DIR, GPUKIT, clean_env
from screen import Terminal, state_of
from sshd import NEEDS_SSHD, Sshd

pytestmark = NEEDS_SSHD

BIN = f"{os.path.dirname(GPUKIT)}:/usr/bin:/bin"


@pytest.fixture
def atlas(tmp_path, machine):
    """A server with a machine of four GPUs; serve() restarts it."""
    at = tmp_path / "ssh"
    at.mkdir()
    server = Sshd(at)
    made = machine("--gpus", "a100:4", "--load", "train:0", "--frozen",
                   name="atlas")

    def serve(path=BIN, **how):
        server.start(PATH=path, GPUKIT_MACHINE=made.path,
                     LD_LIBRARY_PATH=FAKE_DIR, **how)

    server.serve = serve
    serve()
    yield server
    server.close()


@pytest.fixture
def once(atlas, gpukit):
    """Its report, and its output on stderr."""
    def run(*options):
        done = gpukit("top", "--host", "atlas", "--once", *options,
                      env={**atlas.env, "LC_ALL": "C.UTF-8"})
        assert "\033" not in done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def show(atlas, tmp_path):
    started = []

    def start(*options, hosts="atlas,http://127.0.0.1:1"):
        started.append(Terminal(
            [GPUKIT, "top", "--host", hosts, *options],
            clean_env(XDG_CONFIG_HOME=str(tmp_path), **atlas.env), 160, 20))
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


def row(text, name="atlas"):
    return re.search(rf"^ (\S) {name} +(.*?) *$", text, re.M).groups()


def test_a_machine_by_ssh(once, gpukit, atlas):
    done = once()
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.count("A100") >= 4 and "gpukit-load" in done.stdout


@pytest.mark.parametrize("does, says", [
    (lambda s: s.configure(key="stranger"), "Permission denied (publickey"),
    (lambda s: s.know(None), "Host key verification failed"),
    (lambda s: s.know("stranger"), "Host key verification failed"),
    (lambda s: s.serve(password="yes", more="PubkeyAuthentication no"),
     "Permission denied (password"),
    (lambda s: s.stop(), "Connection refused"),
    (lambda s: s.serve(path="/usr/bin:/bin"),
     "gpukit is not in its PATH: "),
    (lambda s: s.serve(more="ForceCommand exit 3"),
     "the command ended with status 3"),
    (lambda s: s.serve(more="ForceCommand echo Only with a ticket >&2; exit 1"),
     "Only with a ticket"),
    (lambda s: s.serve(more="ForceCommand echo Welcome"),
     "unexpected output: 'Welcome'"),
], ids=("key", "unknown", "changed", "password", "refused", "missing",
        "status", "said", "other"))
def test_why_a_machine_is_away(atlas, once, does, says):
    """Nothing is asked, since that would wait for ever."""
    does(atlas)
    done = once()
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("gpukit top: atlas: ")
    assert says in done.stderr and done.stderr.count("\n") == 1


def test_a_command_of_ones_own_is_not_asked_either(atlas, once):
    """It has no terminal, whatever its options are."""
    words = "--remote-command", "ssh {} gpukit"
    assert once(*words).returncode == 0
    atlas.know(None)
    assert "Host key verification failed" in once(*words).stderr
    atlas.know("host")
    atlas.serve(password="yes", more="PubkeyAuthentication no")
    assert "Permission denied (password" in once(*words).stderr


@pytest.mark.parametrize("shell", [
    "echo Welcome to atlas; echo; echo mail >&2; eval $SSH_ORIGINAL_COMMAND",
    "printf '\\033]0;atlas\\007{'; echo; eval $SSH_ORIGINAL_COMMAND",
])
def test_a_login_that_greets(atlas, once, shell):
    (atlas.at / "motd").write_text("No trespassing.\n")
    atlas.serve(more=f"Banner {atlas.at}/motd\nForceCommand {shell}")
    done = once()
    assert done.returncode == 0 and done.stdout.count("A100") >= 4


def test_nothing_is_asked_at_the_terminal(atlas, show):
    """Keys go to the viewer while ssh is asked for a password."""
    atlas.serve(password="yes", more="PubkeyAuthentication no")
    terminal = show()
    terminal.wait_for(lambda text: "Permission denied" in
                      row(text)[1])
    assert "assword:" not in terminal.text
    terminal.send(b"h")
    terminal.wait_for("any other key goes back")
    terminal.send(b"\x1b")
    terminal.wait_for("0 of 2 hosts")
    terminal.send(b"q")
    assert terminal.ends(30) and terminal.status == 0
    terminal.left_intact()


def test_ssh_is_killed_and_comes_again(atlas, show):
    terminal = show("--interval", "0.2")
    terminal.wait_for("1 of 2 hosts · 4 GPUs")
    pid = atlas.sessions()[-1]
    os.kill(pid, signal.SIGKILL)
    terminal.wait_for(lambda text: "Killed" in row(text)[1])
    terminal.wait_for("1 of 2 hosts · 4 GPUs")
    # The server ends, and the machine with it.
    os.killpg(atlas.process.pid, signal.SIGKILL)
    atlas.process.wait()
    for one in atlas.sessions():
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass
    terminal.wait_for(lambda text: "Connection refused" in row(text)[1])
    atlas.serve()
    terminal.wait_for("1 of 2 hosts · 4 GPUs")
    terminal.send(b"q")
    assert terminal.ends(30) and terminal.status == 0
    assert all(state_of(one) == "X" for one in atlas.sessions())


@pytest.mark.slow
def test_who_is_there_and_says_nothing(atlas, once):
    """A port that accepts connections and does nothing more."""
    atlas.stop()
    with socket.create_server(("127.0.0.1", atlas.port)):
        done = once()
    assert done.returncode == 1
    assert re.search(r"timed out", done.stderr), done.stderr
