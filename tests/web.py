"""`gpukit web` for tests: a running one, and its events."""

import json
import socket

import pytest

from exporter import Exporter

EIGHT = ["--gpus", "h100-80gb-hbm3:8", "--load", "train:0-3,mem=60GiB",
         "--load", "infer:4-5,n=2,mem=16GiB"]


class Event:
    """One event of a stream."""

    def __init__(self, fields):
        self.kind, self.id = fields.get("event"), fields.get("id")
        self.text = fields.get("data", "")
        self.data = json.loads(self.text) if self.text else None


class Stream:
    """The events of a `gpukit web`, as they come; close() it."""

    def __init__(self, web, path="/api/v1/events", last=None, receive=None,
                 user=None):
        self.connection = web.connection()
        if receive:
            self.connection.sock = socket.socket()
            self.connection.sock.setsockopt(socket.SOL_SOCKET,
                                            socket.SO_RCVBUF, receive)
            self.connection.sock.settimeout(30)
            self.connection.sock.connect((web.host, web.port))
        headers = {"Last-Event-ID": last} if last else {}
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()
        self.status = self.answer.status

    def event(self):
        """The next one; None: that was the last."""
        fields = {}
        while True:
            line = self.answer.readline().decode()
            if not line:
                return None
            line = line.rstrip("\n")
            if not line and fields.get("event"):
                return Event(fields)
            name, _, value = line.partition(": ")
            if line and name:
                fields[name] = value

    def until(self, kind, what=lambda event: True):
        """The first event of a kind of which what(event) is true."""
        while True:
            event = self.event()
            assert event, f"the stream ended before {kind}"
            if event.kind == kind and what(event):
                return event

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Web(Exporter):
    """A running `gpukit web`; stop() it."""

    verb, path, ready_path = "web", "/", "/api/v1/snapshot"

    @property
    def url(self):
        return f"{self.scheme}://{self.host}:{self.port}"

    def stream(self, path="/api/v1/events", **how):
        return Stream(self, path, **how)


@pytest.fixture
def web(machine):
    """web(machine options, web options) starts one; web.made is its
    machine."""
    started = []

    def start(made, *options, **how):
        start.made = machine(*made)
        started.append(Web(start.made.env, *options, **how))
        return started[-1]

    yield start
    for one in started:
        status, said = one.stop()
        assert (status, said) == (0, ""), (status, said)
