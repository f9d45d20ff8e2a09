"""What the tests of `gpukit fake` share."""

import time


def one_line(done, code, *parts):
    """Failed with that code, and told it in one line that holds the parts."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("gpukit fake: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr
    return done.stderr


def alive(pid):
    """Runs, and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def cmdline(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read().decode().split("\0")[:-1]


def wait_until(what, seconds=20):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "never happened"
        time.sleep(0.01)
