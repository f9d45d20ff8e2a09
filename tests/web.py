# SPDX-License-Identifier: Apache-2.0
"""A running `gpukit web` for tests, and its events."""

import itertools
import json
import socket
import time

import pytest

from exporter import Exporter

EIGHT = ["--gpus", "h100-80gb-hbm3:8", "--load", "train:0-3,mem=60GiB",
         "--load", "infer:4-5,n=2,mem=16GiB"]


# One address may open only a few streams, so streams come from many.
_hosts = itertools.cycle(range(2, 250))


def source():
    """The address of this machine that the next stream comes from."""
    return (f"127.0.0.{next(_hosts)}", 0)


class Event:
    """One event of a stream."""

    def __init__(self, fields):
        self.kind, self.id = fields.get("event"), fields.get("id")
        self.text = fields.get("data", "")
        self.data = json.loads(self.text) if self.text else None


class Stream:
    """The events of a `gpukit web` as they come; call close() afterwards."""

    def __init__(self, web, path="/api/v1/events", last=None, receive=None,
                 user=None, address=None):
        self.connection = web.connection()
        if web.host == "127.0.0.1":
            self.connection.source_address = address or source()
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
        """The next event; None: there are no more."""
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

    def until(self, kind, what=lambda event: True, seconds=120):
        """The first event of a kind for which what(event) is true."""
        end = time.monotonic() + seconds
        while True:
            event = self.event()
            assert event, f"the stream ended before {kind}"
            assert time.monotonic() < end, f"no such {kind}: {event.text}"
            if event.kind == kind and what(event):
                return event

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Web(Exporter):
    """A running `gpukit web`; call stop() afterwards."""

    verb, path, ready_path = "web", "/", "/api/v1/snapshot"

    @property
    def url(self):
        return f"{self.scheme}://{self.host}:{self.port}"

    def stream(self, path="/api/v1/events", **how):
        return Stream(self, path, **how)


@pytest.fixture
def web(machine):
    """web(machine options, web options) starts one; web.made is its machine."""
    started = []

    def start(made, *options, **how):
        start.made = machine(*made)
        started.append(Web(start.made.env, *options, **how))
        return started[-1]

    yield start
    for one in started:
        status, said = one.stop()
        assert (status, said) == (0, ""), (status, said)
