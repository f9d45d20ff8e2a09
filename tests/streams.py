# SPDX-License-Identifier: Apache-2.0
"""Many clients of one `gpukit web` at once, each with its own behaviour."""

import random
import re
import selectors
import socket
import time

from web import source

REQUEST = ("GET {path} HTTP/1.1\r\nHost: localhost\r\n"
           "Last-Event-ID: {last}\r\n\r\n")
FRAME = re.compile(rb"id: (\w+-(\d+))\nevent: frame\n")
LONGEST = 80  # bytes that FRAME matches, which may come in two pieces


class Looker:
    """One stream: what it has received, and how it reads."""

    receive = None  # size of its receive buffer
    most = 1 << 20  # bytes read at once

    def __init__(self, crowd):
        self.crowd, self.number, self.last, self.frames = crowd, 0, "", 0
        self.begin()

    def begin(self):
        self.rest = b""
        self.socket = socket.socket()
        if self.receive:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                   self.receive)
        self.socket.settimeout(20)
        self.socket.bind(source())
        self.socket.connect(self.crowd.address)
        self.socket.sendall(REQUEST.format(
            path="/api/v1/events", last=self.last).encode())
        self.socket.setblocking(False)
        self.crowd.selector.register(self.socket, selectors.EVENT_READ, self)

    def end(self, rudely=False):
        self.crowd.selector.unregister(self.socket)
        if rudely:  # the other side gets a reset
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                   b"\1\0\0\0\0\0\0\0")
        self.socket.close()

    def hear(self):
        got = self.socket.recv(self.most)
        assert got, f"hung up on a {type(self).__name__} after {self.frames}"
        data = self.rest + got
        assert b" 503 " not in data[:20], data
        found = FRAME.findall(data)
        if found:
            self.last, self.number = found[-1][0].decode(), int(found[-1][1])
            self.frames += len(found)
        self.rest = data[-LONGEST:] if not found else b""

    def turn(self, _):
        pass


class Slow(Looker):
    """Takes a little at a time, less than is sent."""

    receive, most = 8192, 2000

    def __init__(self, crowd):
        self.next = 0
        super().__init__(crowd)

    def hear(self):
        now = time.monotonic()
        if now >= self.next:
            self.next = now + self.crowd.chance.uniform(0, 0.4)
            super().hear()


class Mortal(Looker):
    """Disconnects in the middle of something, and comes back."""

    def begin(self):
        super().begin()
        self.dies = time.monotonic() + self.crowd.chance.expovariate(2)

    def turn(self, now):
        if now < self.dies:
            return
        self.end(rudely=self.crowd.chance.random() < 0.5)
        if self.crowd.chance.random() < 0.3:
            self.last = ""
        self.begin()


class Crowd:
    """Reads them all; call close() afterwards."""

    def __init__(self, web, count, seed=1):
        self.address = (web.host, web.port)
        self.chance = random.Random(seed)
        self.selector = selectors.DefaultSelector()
        kinds = [Looker] * (count * 6 // 10) + [Slow] * (count // 5)
        kinds += [Mortal] * (count - len(kinds))
        self.all = [kind(self) for kind in kinds]

    def turn(self):
        for key, _ in self.selector.select(0.02):
            try:
                key.data.hear()
            except BlockingIOError:
                pass
        now = time.monotonic()
        for one in self.all:
            one.turn(now)

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.turn()

    def behind(self):
        """The clients that within a minute do not get a frame which others
        have."""
        told = max(one.number for one in self.all)
        late, end = self.all, time.monotonic() + 60
        while late and time.monotonic() < end:
            self.turn()
            late = [one for one in late if one.number < told]
        return late

    def close(self):
        for one in self.all:
            one.end()
        self.selector.close()
