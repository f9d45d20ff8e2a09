# SPDX-License-Identifier: Apache-2.0
"""The classic use for minutes: nvitop in full screen on the default machine,
with four libraries preloaded, while CUDA programs come and go. Then each way of
leaving. It runs in a /dev/shm of its own, so that the default machine is new.

    ./run soak             300 s

It checks that nvitop keeps running, that each program and its memory is on the
screen, and that the terminal is restored.
"""

import argparse
import os
import signal
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name) for name in ("", "clients")]

from classic import Classic  # noqa: E402


def leave_by_q(classic):
    for _ in range(6):
        classic.terminal.send(b"q")
        if classic.terminal.ends(4):
            break
    assert classic.terminal.status == 0, classic.terminal.text


def leave_by_ctrl_c(classic):
    """For nvitop ^C is a key, which acts on the selected process."""
    classic.terminal.send(b"\x03")
    if not classic.terminal.ends(2):
        classic.check()
        leave_by_q(classic)


def leave_by_kill(classic):
    classic.terminal.process.send_signal(signal.SIGTERM)
    assert classic.terminal.ends(20), classic.terminal.text


def one_run(seconds, leave):
    with tempfile.TemporaryDirectory(prefix="gpukit-soak-") as directory:
        classic = Classic(directory)
        try:
            classic.run(seconds)
            leave(classic)
            classic.terminal.left_intact()
            # The programs that remain still hold their memory.
            assert sum(map(len, classic.held().values())) == len(
                classic.programs)
        finally:
            classic.close()
    print(f"{leave.__name__} after {seconds:g} s: {classic.ended} programs "
          f"ended, seen on the screen {classic.seen} times", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--inside", action="store_true",
                        help="this /dev/shm is our own")
    options = parser.parse_args()
    if not options.inside:
        os.execvp("unshare", [
            "unshare", "--user", "--map-root-user", "--mount", "sh", "-ec",
            'mount -t tmpfs -o size=64m none /dev/shm; exec "$@"', "sh",
            sys.executable, os.path.abspath(__file__), "--inside",
            "--seconds", str(options.seconds)])
    one_run(options.seconds, leave_by_q)
    one_run(2, leave_by_ctrl_c)
    one_run(2, leave_by_kill)


if __name__ == "__main__":
    main()
