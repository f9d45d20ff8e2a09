# SPDX-License-Identifier: Apache-2.0
"""Malicious peers of `gpukit web` send much, fast, or what no machine says, and
the hub stays small, idle and correct."""

import json
import os
import socket
import threading
import time

import pytest

from conftest import sanitized
from exporter import BUILT
from web import Web, web

pytestmark = BUILT
assert web  # the fixture

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
MOST_MIB = 40
GPUS = 256
SERIES = ("gpu_utilization_percent", "memory_percent", "power_watts",
          "temperature_celsius", "held")


def event(kind, data):
    text = data if isinstance(data, str) else json.dumps(
        data, separators=(",", ":"))
    return f"event: {kind}\ndata: {text}\n\n".encode()


def hello(steps=0, gpus=GPUS, name="evil", **more):
    made = {"hostname": name, "interval_seconds": 1, **more,
            "devices": [{"uuid": f"GPU-{i}", "label": str(i)}
                        for i in range(gpus)]}
    if steps:
        made["history"] = {"steps": steps, "time": 1, "devices": {
            f"GPU-{i}": {s: [3e38] * steps for s in SERIES}
            for i in range(gpus)}}
    return event("hello", made)


def frame(time_, gpus=GPUS, **more):
    return event("frame", {"time": time_, **more, "devices": [
        {"uuid": f"GPU-{i}", "gpu_utilization_percent": 3e38,
         "power_watts": -3e38, "temperature_celsius": -3e38,
         "memory_used_bytes": 1e300, "memory_total_bytes": -1}
        for i in range(gpus)]})


def again(*pieces):
    while True:
        yield from pieces


def numbered():
    n = 0
    yield hello()
    while True:
        n += 1
        yield frame(n)


SAYS = {
    "hellos with a history": lambda: again(hello(300)),
    "hellos that just fit": lambda: again(hello(100)),
    "hellos without": lambda: again(hello()),
    "frames": numbered,
    "frames of 4 MiB": lambda: again(hello(), frame(1, pad="x" * 4_000_000)),
    "frames that just fit":
        lambda: again(hello(), frame(1, pad="x" * 900_000)),
    "small frames": lambda: again(
        hello(), event("frame", {"time": 5, "devices": []}) * 1000),
    "processes": lambda: again(hello(), event(
        "processes", {"processes": [{"pid": 1}] * 40_000})),
    "alerts of nothing": lambda: again(hello(), event(
        "alert", '{"alerts":[' + ",".join(["{}"] * 200_000) + "]}")),
    "deep alerts": lambda: again(hello(), event(
        "alert", '{"alerts":' + "[" * 1900 + "]" * 1900 + "}") * 100),
    "comments": lambda: again(b":\n" * 100_000),
    "lines of nothing": lambda: again(b"\n" * 100_000),
    "a line without an end": lambda: again(b"data: " + b"x" * 100_000),
    "fields without an end": lambda: again(b"data: x\n" * 10_000),
    "events of unknown kinds": lambda: again(event("more", "{}") * 1000),
    "ids": lambda: again(b"id: " + b"7" * 60 + b"\n" * 1 + b"\n"),
    "one that hangs up": lambda: iter([hello(100)]),
}


class Peer:
    """Sends its data to each client as fast as that reads."""

    def __init__(self, says):
        self.says = says
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.sent, self.asked = 0, threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                one, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(one,),
                             daemon=True).start()

    def talk(self, one):
        try:
            with one:
                one.recv(4096)
                self.asked.set()
                one.sendall(HEAD)
                for piece in self.says():
                    one.sendall(piece)
                    self.sent += len(piece)
        except OSError:
            pass

    def close(self):
        self.socket.close()


@pytest.fixture
def hub(machine):
    made = []

    def start(says, *options):
        peer = Peer(says)
        one = Web(machine("--gpus", "t4:1").env, *options, "--peer",
                  f"http://127.0.0.1:{peer.port}")
        made.append((peer, one))
        return peer, one

    yield start
    for peer, one in made:
        peer.close()
        assert one.stop() == (0, "")


def peak_mib(web):
    with open(f"/proc/{web.process.pid}/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    raise AssertionError("no peak")


def cpu_seconds(web):
    with open(f"/proc/{web.process.pid}/stat", encoding="ascii",
              errors="replace") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("name", SAYS)
def test_a_peer_costs_little(hub, name):
    """Measures two seconds; at first the peer may send for six at once."""
    peer, one = hub(SAYS[name])
    assert peer.asked.wait(60)
    time.sleep(2)
    if not sanitized():
        assert peak_mib(one) < MOST_MIB
        assert cpu_seconds(one) < 1.2
    assert peer.sent < 16 << 20
    status, _, body = one.get("/api/v1/snapshot")
    assert status == 200 and json.loads(body)["devices"]


def test_a_peer_is_called_as_it_was_asked_for(hub):
    """A peer that claims to be this machine is not believed."""
    own = socket.gethostname()
    peer, one = hub(lambda: again(hello(gpus=1, name=own), frame(1, gpus=1)),
                    "-i", "0.2")
    with one.stream() as s:
        hosts = s.until("hosts", lambda e: e.data["hosts"][1]["gpus"]).data
    mine, other = hosts["hosts"]
    assert mine["name"] == own and "told" not in mine
    assert other["name"] == f"127.0.0.1:{peer.port}"
    assert other["told"] == own
    with one.stream(f"/api/v1/events/{own}") as s:
        assert len(s.until("hello").data["devices"]) == 1
        assert "GPU-0" not in s.until("frame").text


def test_what_cannot_be_is_not_told(hub):
    peer, one = hub(lambda: iter([hello(3, gpus=2), frame(5, gpus=2),
                                  b"event: frame\ndata: {}\r\n"]),
                    "-i", "0.2")
    with one.stream() as s:
        hosts = s.until("hosts", lambda e: e.data["hosts"][1]["gpus"]).data
    told = hosts["hosts"][1]
    for key in ("power_watts", "memory_total_bytes", "memory_used_bytes"):
        assert key not in told
    assert all("busy" not in gpu for gpu in told["gpus"])
    with one.stream(f"/api/v1/events/127.0.0.1:{peer.port}") as s:
        past = s.until("hello").data["history"]["devices"]["GPU-0"]
        assert {value for series in past.values() for value in series} <= \
            {None, 0}
        assert s.until("frame").data["devices"][0] == {"uuid": "GPU-0"}


@pytest.mark.parametrize("sign", ["\r", "\r\r", "\r\n"])
def test_a_line_end_in_an_event_ends_the_connection(hub, sign):
    _, one = hub(lambda: iter([
        hello(gpus=1), event("frame", f'{{"time":5,{sign}"devices":[]}}'),
        b":\n" * 100]), "-i", "0.2")
    with one.stream() as s:
        s.until("hosts", lambda e: e.data["hosts"][1]["why"] ==
                "does not answer like gpukit web")


def test_an_address_has_a_quarter_of_the_streams(web):
    w = web(["--gpus", "t4:1"])
    here, there = ("127.0.0.1", 0), ("127.0.0.2", 0)
    streams = [w.stream(address=here) for _ in range(30)]
    assert {s.status for s in streams} == {200}
    more = w.stream(address=here)
    assert more.status == 503
    more.close()
    assert w.get("/")[0] == 200
    other = w.stream(address=there)
    assert other.status == 200 and other.until("frame")
    other.close()
    streams.pop().close()
    end = time.monotonic() + 30
    while True:
        again_ = w.stream(address=here)
        status = again_.status
        again_.close()
        if status == 200:
            break
        assert time.monotonic() < end
        time.sleep(0.05)
    for s in streams:
        s.close()
