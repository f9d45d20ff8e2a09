# SPDX-License-Identifier: Apache-2.0
"""`gpukit record` is tested when it is killed, and when there is no room."""

import json
import random
import resource
import shutil
import signal
import subprocess
import time

import pytest

import can
from conftest import GPUKIT, clean_env
from test_record import (HEADER, one_line, record,  # noqa: F401 (a fixture)
                         rows)
from tools import wait_until

KILLS = 200


def time_to_write(record, path, *args):  # noqa: F811
    """Seconds until a recorder's file has some samples: a recorder that is
    killed within twice that time may be at any step."""
    began = time.monotonic()
    process = record.start("-i", "0.01", *args)
    wait_until(lambda: path.exists() and path.stat().st_size > 2000)
    took = time.monotonic() - began
    process.terminate()
    process.wait()
    process.stderr.close()
    return took


@pytest.mark.slow
@pytest.mark.parametrize("form, name", [("csv", "gpu_log.csv"),
                                        ("jsonl", "gpu_log.jsonl")])
def test_kill_9_leaves_whole_rows(record, form, name):  # noqa: F811
    """It is killed at any moment: of the start, of an append, of a rotation."""
    path = record.place / name
    args = ["--append", "--format", form, "--rotate", "40K"]
    patience = 2 * time_to_write(record, path, *args)
    seen = 0
    for turn in range(KILLS // 2):
        process = record.start("-i", "0.01", *args)
        time.sleep(random.uniform(0, patience))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        for file in record.place.iterdir():
            if file.name.endswith(".tmp"):
                file.unlink()  # it has no name yet
                continue
            # A write under way completes although its process was killed.
            wait_until(lambda one=file: not one.stat().st_size
                       or one.read_bytes().endswith(b"\n"))
            text = file.read_text()
            if form == "csv":
                assert text.startswith(HEADER + "\n"), (turn, file)
                assert all(line.count(",") == 6 for line in
                           text.splitlines()), (turn, file)
            else:
                for line in text.splitlines():
                    json.loads(line)
            assert text == "" or text.endswith("\n"), (turn, file)
            seen += text.count("\n")
    assert path.exists() and seen > 1000


def test_a_limit_of_file_sizes(record):  # noqa: F811
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))

    done = record("-i", "0.01", preexec_fn=limit)
    one_line(done, 1, "gpu_log.csv", "File too large")
    got = rows(record.log)
    assert len(got) > 50 and len(got) % 4 == 0
    assert 9000 < record.log.stat().st_size <= 10000


FULL = """
mkdir disk
mount -t tmpfs -o size=32k none disk
echo precious > disk/old.csv
cd disk
"$G" record -i 0.01 -o log.csv || echo "exit $?" >&2
head -c 100000 /dev/zero > filler 2>/dev/null || true
"$G" record -i 0.01 -o old.csv 2>/dev/null || echo "exit $?" >&2
cat old.csv >&2
ls >&2
cp log.csv ..
"""


def test_a_full_disk(record):  # noqa: F811
    can.need("mounts-of-its-own")
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec",
         FULL], text=True, capture_output=True, cwd=record.place, check=False,
        timeout=60, env=clean_env(G=GPUKIT, **record.machine.env))
    lines = done.stderr.splitlines()
    assert "No space left on device" in lines[0] and "log.csv" in lines[0]
    assert lines[1:] == ["exit 1", "exit 1", "precious", "filler", "log.csv",
                         "old.csv"]
    got = rows(record.place / "log.csv")
    assert len(got) > 50 and len(got) % 4 == 0


def test_the_directory_goes(record):  # noqa: F811
    gone = record.place / "gone"
    gone.mkdir()
    process = record.start("-i", "0.01", "-o", gone / "x.csv")
    wait_until(lambda: (gone / "x.csv").exists())
    shutil.rmtree(gone)
    assert process.wait(timeout=30) == 1
    text = process.stderr.read()
    assert text.count("\n") == 1 and "removed" in text and "x.csv" in text


def test_the_directory_goes_before_a_rotation(record):  # noqa: F811
    gone = record.place / "gone"
    gone.mkdir()
    process = record.start("-i", "0.01", "-o", gone / "x.csv", "--rotate",
                           "2K")
    wait_until(lambda: (gone / "x.2.csv").exists())
    gone.rename(record.place / "away")
    assert process.wait(timeout=30) == 1
    assert process.stderr.read().count("\n") == 1
    for path in (record.place / "away").iterdir():
        assert len(rows(path)) % 4 == 0


def test_a_hanging_gpu_is_left_out(record):  # noqa: F811
    record.machine.ctl("fail", "1", "hang")
    began = time.monotonic()
    done = record("--count", 2, "-i", "0.1", "--timeout", "0.2")
    assert done.returncode == 0 and time.monotonic() - began < 30
    assert {row["gpu_index"] for row in rows(record.log)} == {"0"}


def test_no_file_is_for_others(record):  # noqa: F811
    """Command lines may contain secrets: nobody else can read any file."""
    process = record.start("-i", "0.01", "--rotate", "2K", umask=0)
    wait_until(lambda: (record.place / "gpu_log.2.csv").exists())
    process.terminate()
    assert process.wait(timeout=30) == 0
    for path in record.place.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600
