# SPDX-License-Identifier: Apache-2.0
"""A burst of Xids (`ctl fail 0 xid=94` sends three within milliseconds): every
verb that waits for Xids gets all of them, in order."""

import json
import subprocess
import time

import pytest

from conftest import GPUKIT, clean_env
from exporter import BUILT, Exporter
from tools import wait_until
from web import Web

BURST = [48, 94, 63]


@pytest.fixture
def made(machine):
    return machine("--gpus", "h100:1")


def start(made, *args, **how):
    return subprocess.Popen([GPUKIT, *map(str, args)], text=True,
                            stdin=subprocess.DEVNULL, env=clean_env(
                                LC_ALL="C.UTF-8", **made.env), **how)


def numbers(device):
    return [xid["number"] for xid in device.get("xids", [])]


def test_a_stream_of_stat_tells_all_in_order(made):
    child = start(made, "stat", "--json-lines", "-i", "0.1",
                  stdout=subprocess.PIPE)
    begun = time.time()
    first = json.loads(child.stdout.readline())["devices"][0]
    while "xids" not in first:
        first = json.loads(child.stdout.readline())["devices"][0]
    assert first["xids"] == [] and first["xid_counts"] == {}
    made.ctl("fail", "0", "xid=94")
    device = first
    while len(numbers(device)) < 3:
        device = json.loads(child.stdout.readline())["devices"][0]
    assert numbers(device) == BURST
    assert [xid["at"] for xid in device["xids"]] == [1, 2, 3]
    times = [xid["unix_seconds"] for xid in device["xids"]]
    assert times == sorted(times)
    assert begun - 1 < times[0] <= times[-1] < time.time() + 1
    assert device["xid_counts"] == {"48": 1, "63": 1, "94": 1}
    made.ctl("fail", "0", "xid=94")
    while len(numbers(device)) < 6:
        device = json.loads(child.stdout.readline())["devices"][0]
    assert numbers(device) == BURST * 2
    assert device["xid_counts"] == {"48": 2, "63": 2, "94": 2}
    child.kill()
    child.wait()
    child.stdout.close()


@BUILT
def test_export_counts_each_number(made):
    e = Exporter(made.env, "-i", "0.1")
    try:
        wait_until(lambda: "gpukit_xid_errors_total{" in
                   e.get("/metrics")[2])
        assert "by_number" not in e.get("/metrics")[2]
        made.ctl("fail", "0", "xid=94")
        made.ctl("fail", "0", "xid=94")

        def counted():
            text = e.get("/metrics")[2]
            return all(any(
                line.startswith("gpukit_xid_errors_by_number_total{") and
                f'xid="{number}"' in line and line.endswith(" 2")
                for line in text.splitlines()) for number in BURST)
        wait_until(counted)
    finally:
        assert e.stop() == (0, "")


@BUILT
def test_web_tells_all(made):
    w = Web(made.env, "-i", "0.2")
    with w.stream() as s:
        s.until("frame")
        wait_until(lambda: "xid_errors_total" in
                   w.json()["devices"][0], seconds=30)
        made.ctl("fail", "0", "xid=94")
        frame = s.until("frame", lambda e: len(numbers(
            e.data["devices"][0])) == 3)
    assert numbers(frame.data["devices"][0]) == BURST
    # A frame in which a busy machine was late has no list.
    wait_until(lambda: numbers(w.json()["devices"][0]) == BURST, seconds=30)
    assert w.stop() == (0, "")


@pytest.mark.parametrize("how", ["csv", "jsonl"])
def test_rows_of_devices_have_all(made, tmp_path, how):
    path = tmp_path / "x.rec"
    child = start(made, "record", "--devices", "--format", how, "-i", "0.1",
                  "-o", path, stderr=subprocess.PIPE)
    wait_until(lambda: path.exists() and path.stat().st_size > 5000)
    made.ctl("fail", "0", "xid=94")
    wait_until(lambda: "48 94 63" in path.read_text())
    child.terminate()
    child.communicate()


def test_a_tape_has_all(made, gpukit, tmp_path):
    path = tmp_path / "x.tape"
    child = start(made, "record", "--snapshots", "-i", "0.1", "-o", path,
                  stderr=subprocess.PIPE)
    wait_until(lambda: path.exists() and path.stat().st_size > 2000)
    made.ctl("fail", "0", "xid=94")
    size = path.stat().st_size
    wait_until(lambda: path.stat().st_size > size + 1500)
    child.terminate()
    child.communicate()
    svg = tmp_path / "x.svg"
    done = gpukit("plot", path, "--output", svg)
    if done.returncode and "gnuplot" in done.stderr:
        pytest.skip("gnuplot is not installed")
    assert done.returncode == 0, done.stderr
    text = svg.read_text()
    for number in BURST:
        assert str(number) in text
