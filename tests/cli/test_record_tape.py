# SPDX-License-Identifier: Apache-2.0
"""`gpukit record --snapshots` writes tapes that are killed, cut, continued and
rotated here."""

import json
import random
import re
import resource
import signal
import subprocess
import time

import pytest

from test_record_durable import time_to_write
from test_record import ok, one_line, record  # noqa: F401 (a fixture)
from tools import wait_until

HEADER = b"GKTAPE\r\n\1" + bytes(7)
KILLS = 100


def blocks(path):
    """(complete blocks, key blocks, bytes after them), from the block heads
    alone."""
    data, at, count, keys = path.read_bytes(), 16, 0, 0
    assert data[:16] == HEADER
    while data[at:at + 4] == b"GKTB" and len(data) >= at + 32:
        end = at + 32 + int.from_bytes(data[at + 8:at + 12], "little")
        if end > len(data):
            break
        keys += data[at + 4] & 1
        at, count = end, count + 1
    return count, keys, len(data) - at


def report(gpukit, path):
    done = gpukit("top", "--replay", path, env={"LC_ALL": "C.UTF-8",
                                                    "COLUMNS": "200"})
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_it_holds_what_stat_shows(record, gpukit):  # noqa: F811
    record.machine.ctl("set", "1", "temperature=67")
    ok(record("--snapshots", "--count", 3, "-i", "0.1"))
    tape = record.place / "gpu_log.tape"
    assert blocks(tape) == (3, 1, 0)
    assert tape.stat().st_mode & 0o777 == 0o600
    text, _ = report(gpukit, tape)
    assert re.search(r"\b67C\b", text) and text.count("gpukit-load") == 4
    assert text.count("1024MiB") >= 4


@pytest.mark.slow
def test_kill_9_leaves_a_readable_tape(record, gpukit):  # noqa: F811
    tape, before, turn = record.place / "x.tape", 0, 0
    args = ["--snapshots", "--append", "-o", tape]
    patience = 2 * time_to_write(record, tape, *args)
    while turn < KILLS or before <= KILLS:
        assert turn < 10 * KILLS, "nothing is written"
        process = record.start("-i", "0.01", *args)
        time.sleep(random.uniform(0, patience))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        # A write under way completes although its process was killed.
        wait_until(lambda: blocks(tape)[2] == 0)
        count, keys, _ = blocks(tape)
        assert count >= before and keys <= turn + 2 + count // 64
        # On a host that has become busier everything takes longer.
        patience *= 0.98 if count > before else 1.1
        before, turn = count, turn + 1
    _, errors = report(gpukit, tape)
    assert errors == ""


def test_a_torn_end_is_cut_when_it_goes_on(record, gpukit):  # noqa: F811
    tape = record.place / "x.tape"
    ok(record("--snapshots", "--count", 5, "-i", "0.01", "-o", tape))
    data = tape.read_bytes()
    tape.write_bytes(data[:-50])
    assert blocks(tape)[0] == 4
    ok(record("--snapshots", "--count", 2, "-i", "0.01", "-o", tape,
              "--append"))
    assert blocks(tape) == (6, 2, 0)
    _, errors = report(gpukit, tape)
    assert errors == ""


def test_what_is_not_appended_to(record):  # noqa: F811
    tape, table = record.place / "x.tape", record.place / "x.csv"
    ok(record("--snapshots", "--count", 1, "-o", tape))
    ok(record("--count", 1, "-o", table))
    for args in (["-o", tape], ["--snapshots", "-o", table]):
        before = args[-1].read_bytes()
        one_line(record("--append", "--count", 1, *args), 1, "another header")
        assert args[-1].read_bytes() == before


def test_one_recorder_a_tape(record):  # noqa: F811
    tape = record.place / "x.tape"
    ok(record("--snapshots", "--count", 1, "-o", tape))
    first = record.start("--snapshots", "--append", "-i", "0.05", "-o", tape)
    wait_until(lambda: blocks(tape)[0] > 2)
    one_line(record("--snapshots", "--append", "--count", 1, "-o", tape), 1,
             "another process")
    first.terminate()
    assert first.wait(timeout=30) == 0
    first.stderr.close()


def test_each_file_of_a_rotation_is_a_tape(record, gpukit):  # noqa: F811
    ok(record("--snapshots", "-i", "0.01", "--count", 150, "--rotate", "8K",
              "-o", record.place / "x.tape"))
    files = list(record.place.iterdir())
    assert len(files) > 2
    assert sum(blocks(path)[0] for path in files) == 150
    for path in files:
        assert path.stat().st_size <= 8 << 10
        text, errors = report(gpukit, path)
        assert errors == "" and "gpukit-load" in text


def test_command_lines_may_be_left_out(record, gpukit):  # noqa: F811
    ok(record("--snapshots", "--count", 1, "--cmd", "name", "-o", "x.tape"))
    text, _ = report(gpukit, record.place / "x.tape")
    assert "period=30s" not in text
    ok(record("--snapshots", "--count", 1, "-o", "x.tape"))
    text, _ = report(gpukit, record.place / "x.tape")
    assert "gpukit-load train" in text


def test_no_room(record, gpukit):  # noqa: F811
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (12000, 12000))

    tape = record.place / "x.tape"
    done = record("--snapshots", "-i", "0.01", "-o", tape, preexec_fn=limit)
    one_line(done, 1, "File too large")
    count, _, rest = blocks(tape)
    assert count > 3 and rest == 0
    report(gpukit, tape)


def test_a_machine_plays_what_another_recorded(record):  # noqa: F811
    """The figures stay the same through record, fake --replay and record."""
    from conftest import GPUKIT, clean_env

    ok(record("--snapshots", "--count", 1, "-o", "x.tape"))
    ok(record("--count", 1, "-o", "a.csv", "--format", "jsonl"))
    subprocess.run([GPUKIT, "fake", "--replay", "x.tape", "--", GPUKIT,
                    "record", "--count", "1", "--format", "jsonl", "-o",
                    "b.csv"], check=True, cwd=record.place, env=clean_env(),
                   timeout=60)

    def memory(name):
        return sorted((row["gpu_index"], row["cmd"], row["gpu_mem_mib"])
                      for row in map(json.loads, (record.place / name)
                                     .read_text().splitlines()))

    assert memory("a.csv") == memory("b.csv") and len(memory("a.csv")) == 4
