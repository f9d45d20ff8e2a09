# SPDX-License-Identifier: Apache-2.0
"""What tests start, even in the background of a shell under nohup, must end on
SIGINT, SIGQUIT and SIGHUP as anywhere else."""

import os
import signal
import subprocess
import sys

from conftest import ROOT, clean_env

# Bits of the signal masks in /proc/PID/status; a shell makes its background
# jobs ignore INT and QUIT, and nohup makes them ignore HUP.
HUP, INT, QUIT = (1 << number - 1 for number in (
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT))
IGNORED = "sed -n 's/^SigIgn:[^0-9a-f]*/ignored /p' /proc/self/status"


def in_the_background(*words, **env):
    """The output of a command that was started like that."""
    def ignore():
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
    done = subprocess.run(words, preexec_fn=ignore, text=True, check=False,
                          stdin=subprocess.DEVNULL, cwd=ROOT,
                          capture_output=True, timeout=60,
                          env=clean_env(**env))
    assert done.returncode == 0, done.stdout + done.stderr
    mask, = (line.split()[1] for line in done.stdout.splitlines()
             if line.startswith("ignored "))
    return int(mask, 16) & (HUP | INT | QUIT)


def test_a_shell_passes_it_on():
    assert in_the_background("sh", "-c", IGNORED) == HUP | INT | QUIT


def test_what_tests_in_python_start_heeds_them(tmp_path):
    (tmp_path / "test_one.py").write_text(
        f"import subprocess\ndef test_one():\n"
        f"    subprocess.run({IGNORED!r}, shell=True, check=True)\n")
    assert in_the_background(
        sys.executable, "-m", "pytest", "-qs", "-p", "no:cacheprovider", "-p",
        "conftest", tmp_path, PYTHONPATH=os.path.join(ROOT, "tests")) == 0


def test_tests_in_c_heed_the_keys_of_a_terminal():
    """nohup's setting stays: the tests are to outlive the terminal."""
    assert in_the_background(
        "sh", "-euc", ". tools/run/test.sh; minding_signals sh -c \"$1\"", "-",
        IGNORED) == HUP
