# SPDX-License-Identifier: Apache-2.0
"""The cost of `gpukit web`: a core's share with nobody, one and fifty that
look, memory, how long a frame takes to come."""

import os
import re
import selectors
import socket
import statistics
import subprocess
import time

SECONDS = 10
MOST_ONE, MOST_FIFTY = 0.5, 3  # percent of a core
MOST_MIB = 16
MOST_LATE_MS = 20
TICK_NS = 1e9

REQUEST = (b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n"
           b"Accept: text/event-stream\r\n\r\n")


class Server:
    def __init__(self, gpukit, env, *options):
        self.process = subprocess.Popen(
            [gpukit, "web", "--port", "0", *options], env=env, text=True,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        line = self.process.stderr.readline()
        found = re.search(r":(\d+)/$", line.strip())
        if not found:
            raise RuntimeError(f"gpukit web: {line}")
        self.port = int(found[1])

    def cpu(self):
        """Seconds on a CPU of all threads that there are, to the
        nanosecond."""
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/schedstat",
                      encoding="ascii") as f:
                total += int(f.read().split()[0])
        return total / TICK_NS

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) / 1024

    def look(self):
        one = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        one.sendall(REQUEST)
        one.setblocking(False)
        return one

    def stop(self):
        self.process.terminate()
        if self.process.wait(timeout=20):
            raise RuntimeError("gpukit web did not end well")


class Lookers:
    """Connections that read all that comes."""

    def __init__(self, server, count):
        self.selector = selectors.DefaultSelector()
        self.streams = [server.look() for _ in range(count)]
        for one in self.streams:
            self.selector.register(one, selectors.EVENT_READ)
        self.bytes = 0
        self.late = []

    def read(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                got = key.fileobj.recv(1 << 20)
                now = time.time()
                if not got:
                    raise RuntimeError("gpukit web hung up")
                self.bytes += len(got)
                told = re.search(rb'event: frame\ndata: {"time":([\d.]+)', got)
                if told:
                    self.late.append(1e3 * (now - float(told[1])))

    def close(self):
        for one in self.streams:
            one.close()


def share(server, lookers, seconds=SECONDS):
    """Percent of a core while they look; what it cost to come is not in it."""
    if lookers:
        lookers.read(2)
        lookers.bytes, lookers.late = 0, []
    begun, cpu = time.monotonic(), server.cpu()
    if lookers:
        lookers.read(seconds)
    else:
        time.sleep(seconds)
    return 100 * (server.cpu() - cpu) / (time.monotonic() - begun)


def rows(table, latency, gpukit, env):
    """Adds the figures to the table; returns them."""
    server = Server(gpukit, env)
    shares, late, kib = {}, [], 0
    try:
        time.sleep(2)
        shares[0] = share(server, None)
        for count in (1, 50):
            lookers = Lookers(server, count)
            shares[count] = share(server, lookers)
            late = lookers.late
            kib = lookers.bytes / count / SECONDS / 1024
            lookers.close()
        memory = server.memory()
    finally:
        server.stop()
    end = f", latency {latency}"
    table.add("web: CPU share, nobody looks" + end, shares[0], "%")
    table.add("web: CPU share, one looks" + end, shares[1], "%",
              most=MOST_ONE)
    table.add("web: CPU share, fifty look" + end, shares[50], "%",
              most=MOST_FIFTY)
    table.add("web: a second of a stream" + end, kib, "KiB")
    table.add("web: from the reading to the last of fifty" + end,
              statistics.quantiles(late, n=20)[-1], "ms", most=MOST_LATE_MS)
    table.add("web: peak memory" + end, memory, "MiB", most=MOST_MIB)
    return {"shares": shares, "memory_mib": memory, "kib": kib}
