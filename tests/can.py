# SPDX-License-Identifier: Apache-2.0
"""What a machine or a container may lack: each is tried once, and a test that
needs it is skipped with the reason. tests/may-skip.txt has a row for each,
cannot:NAME; tests in C print the same words (tests/can.h).
"""

import functools
import os
import shutil
import socket
import subprocess

import pytest

NAMESPACE = ["unshare", "--user", "--map-root-user"]
PROCESSES = [*NAMESPACE, "--pid", "--fork", "--mount-proc", "--kill-child"]


def command(*words):
    """A trial: a command that succeeds where the thing is available."""
    def run():
        if not shutil.which(words[0]):
            return f"no {words[0]}"
        done = subprocess.run(words, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            return None
        return (done.stderr.strip().splitlines() or
                [f"{words[0]} ended with {done.returncode}"])[-1]
    return run


def ipv6():
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
    except OSError as error:
        return f"[::1]: {error.strerror}"
    return None


def other_users():
    return None if os.getuid() == 0 else "only root can become another user"


def chromium():
    found = map(shutil.which, ("chromium", "chromium-browser"))
    return None if any(found) else "no chromium"


def rights_of_root():
    return None if os.getuid() == 0 else "the driver lets only root do it"


TRIALS = {
    "user-namespaces": command(*NAMESPACE, "true"),
    "mounts-of-its-own": command(*NAMESPACE, "--mount", "sh", "-ec",
                                 "mount -t tmpfs none /dev/shm"),
    "processes-of-its-own": command(*PROCESSES, "true"),
    "mounts-of-root": command("unshare", "--mount", "true"),
    "processes-of-root": command("unshare", "--pid", "--fork",
                                 "--mount-proc", "true"),
    "ids-of-processes": command(*PROCESSES, "sh", "-ec",
                                ": >/proc/sys/kernel/ns_last_pid"),
    "other-users": other_users,
    "rights-of-root": rights_of_root,
    "ipv6": ipv6,
    "chromium": chromium,
    "systemd-analyze": command("systemd-analyze", "--version"),
    "mandoc": command("mandoc", "-man", "/dev/null"),
    "man": command("man", "--warnings", "--version"),
    "bash": command("bash", "--version"),
    "zsh": command("zsh", "--version"),
    "fish": command("fish", "--version"),
}


@functools.cache
def why_not(name):
    """The reason why it is not available, or None."""
    return TRIALS[name]()


def needed(name):
    """The same as a pytest mark."""
    return pytest.mark.skipif(why_not(name) is not None,
                              reason=f"cannot:{name}: {why_not(name)}")


def need(name):
    """Skips the test that calls it, or whose fixture does."""
    why = why_not(name)
    if why:
        pytest.skip(f"cannot:{name}: {why}")
