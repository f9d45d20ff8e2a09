# SPDX-License-Identifier: Apache-2.0
"""Recordings of strangers: whatever is in them, no reader takes more than 256
MiB, takes long, or ends without a message."""

import os
import signal
import subprocess
import sys

import pytest

from conftest import GPUKIT, clean_env, sanitized
from hostile_tapes import (DEVICE, NO_PLACES, ONE_GPU, TAPES, number, schema,
                           tape)

MOST_KIB = 256 << 10
PATIENCE = 60
READERS = {
    "top": ("top", "--once", "--replay"),
    "summary": ("plot", "--summary"),
    "fake": ("fake", "--replay"),
    "record": ("fake", "--gpus", "t4:1", "--", GPUKIT, "record", "--snapshots",
               "--append", "--count", "1", "-o"),
}
TITLES = b"timestamp,gpu_index,pid,cmd,gpu_mem_mib\n"
OBJECT = b'{"timestamp":"2026-11-28T10:00:00","gpu_index":"0","gpu_mem_mib":1'
ROWS = {
    "a line without an end": lambda: TITLES + b"x" * (40 << 20),
    "a quote without an end": lambda:
        TITLES + b'2026-11-28T10:00:00,"' + b"\n" * (8 << 20),
    "a million fields": lambda: TITLES + b"," * 1_000_000 + b"\n",
    "a million titles": lambda:
        b"timestamp" + b",gpu_mem_mib" * 1_000_000 + b"\n",
    "a deep object": lambda: OBJECT + b',"a":' + b'{"a":' * 200_000 + b"\n",
    "a deep array": lambda: OBJECT + b',"a":' + b"[" * (4 << 20) + b"\n",
    "a million keys": lambda: OBJECT + b',"a":1' * 1_000_000 + b"}\n",
    "a long key": lambda: OBJECT + b',"' + b"a" * (40 << 20) + b'":1}\n',
    "keys that change": lambda: b"".join(
        OBJECT + b',"k%d":1}\n' % i for i in range(50_000)),
}

# A process inherits the peak of its parent, so this one is small.
MEASURE = """
import os, sys
pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
with open("usage", "w") as out:
    out.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss}")
"""


def run(*args, cwd):
    """(code, stderr, KiB) of the whole command."""
    with open(cwd / "out", "wb") as out, open(cwd / "err", "wb") as err:
        child = subprocess.Popen(
            [sys.executable, "-Sc", MEASURE, GPUKIT, *map(str, args)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd,
            start_new_session=True, env=clean_env(
                LC_ALL="C.UTF-8", GPUKIT_MACHINE=str(cwd / "machine")))
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            pytest.fail("it takes for ever")
    code, kib = map(int, (cwd / "usage").read_text().split())
    return code, (cwd / "err").read_text(errors="replace"), kib


def in_words(done):
    code, errors, kib = done
    assert code in (0, 1), (code, errors)
    assert errors.count("\n") <= 3, errors
    assert code == 0 or errors.startswith("gpukit "), errors
    if not sanitized():
        assert kib < MOST_KIB, f"{kib >> 10} MiB"


@pytest.mark.parametrize("name", TAPES)
def test_a_tape_of_a_stranger_takes_little(tmp_path, name):
    made = TAPES[name]()
    for reader, args in READERS.items():
        path = tmp_path / f"{reader}.tape"
        path.write_bytes(made)
        more = ("--", "true") if reader == "fake" else ()
        in_words(run(*args, path, *more, cwd=tmp_path))


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_a_stranger_take_little(tmp_path, name):
    path = tmp_path / "x.csv"
    path.write_bytes(ROWS[name]())
    in_words(run("plot", "--summary", path, cwd=tmp_path))


def test_more_processes_than_a_machine_plays_are_told(tmp_path):
    path = tmp_path / "x.tape"
    columns = (("i", "pid"), ("s", "name"))
    body = b"".join(bytes([(i << 1 & 127) | 128, i >> 6, 1]) + b"p"
                    for i in range(600))
    path.write_bytes(tape(schema(device=DEVICE, process=columns), ONE_GPU,
                          number(600), body, NO_PLACES))
    code, errors, _ = run("fake", "--replay", path, "--", "sh", "-c",
                          f"{GPUKIT} stat --json | grep -c '\"pid\"'",
                          cwd=tmp_path)
    assert code == 0, errors
    assert "only 512 processes" in errors
    assert 0 < int((tmp_path / "out").read_text()) <= 512


def test_a_pipe_in_place_of_a_tape_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for reader in ("top", "fake"):
        more = ("--", "true") if reader == "fake" else ()
        code, errors, _ = run(*READERS[reader], tmp_path / "pipe", *more,
                              cwd=tmp_path)
        assert code == 1 and "not a recording" in errors
