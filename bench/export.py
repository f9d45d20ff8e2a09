# SPDX-License-Identifier: Apache-2.0
"""The cost of `gpukit export`: a scrape, two hundred of them a second,
memory."""

import os
import re
import socket
import statistics
import subprocess
import time

RATE = 200
SECONDS = 5
MOST_MS = 2
MOST_MIB = 12
TICK = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, gpukit, env, *options):
        self.process = subprocess.Popen(
            [gpukit, "export", "--port", "0", *options], env=env, text=True,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        line = self.process.stderr.readline()
        found = re.search(r":(\d+)/metrics", line)
        if not found:
            raise RuntimeError(f"gpukit export: {line}")
        self.port = int(found[1])

    def cpu(self):
        """Seconds on a CPU, all threads."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) / 1024

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def stop(self):
        self.process.terminate()
        if self.process.wait(timeout=20):
            raise RuntimeError("gpukit export did not end well")


REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"


BUFFER = bytearray(1 << 20)  # for one answer


def scrape(connection, buffer=BUFFER):
    """The body of one answer."""
    connection.sendall(REQUEST)
    have, view = 0, memoryview(buffer)
    while True:
        got = connection.recv_into(view[have:])
        if not got:
            raise RuntimeError("gpukit export hung up")
        have += got
        end = buffer.find(b"\r\n\r\n", 0, have)
        if end > 0:
            break
    length = int(re.search(rb"Content-Length: (\d+)", buffer[:end])[1])
    while have < end + 4 + length:
        have += connection.recv_into(view[have:])
    return bytes(view[end + 4:have])


def fresh_scrapes(server, frames):
    """Milliseconds of the first scrape of a frame, which makes its page."""
    taken, last = [], None
    with server.connect() as connection:
        while len(taken) < frames:
            time.sleep(0.11)
            begun = time.perf_counter()
            body = scrape(connection)
            took = 1e3 * (time.perf_counter() - begun)
            frame = re.search(rb"gpukit_frames_total (\d+)", body)[1]
            if frame != last:
                taken.append(took)
            last = frame
    return taken


def steady_scrapes(server):
    """Each by a connection of its own: CPU share, and how many were made."""
    begun, cpu = time.monotonic(), server.cpu()
    made = 0
    while time.monotonic() < begun + SECONDS:
        with server.connect() as connection:
            scrape(connection)
        made += 1
        pause = begun + made / RATE - time.monotonic()
        if pause > 0:
            time.sleep(pause)
    return 100 * (server.cpu() - cpu) / SECONDS, made / SECONDS


def rows(table, latency, gpukit, env):
    """Adds the figures to the table; returns them."""
    fast = Server(gpukit, env, "--processes", "-i", "0.1")
    try:
        time.sleep(1)
        taken = fresh_scrapes(fast, 50)
    finally:
        fast.stop()
    server = Server(gpukit, env, "--processes")
    try:
        time.sleep(2)
        idle = server.cpu()
        time.sleep(2)
        idle = 50 * (server.cpu() - idle)
        share, rate = steady_scrapes(server)
        memory = server.memory()
    finally:
        server.stop()
    end = f", latency {latency}"
    table.add("export: scrape of a new frame" + end,
              statistics.median(taken), "ms", most=MOST_MS)
    table.add("export: CPU share, nobody asks" + end, idle, "%")
    table.add("export: scrapes a second, a connection each" + end, rate,
              "/s", near=(RATE, RATE / 20))
    table.add("export: CPU share then, of one core" + end, share, "%",
              most=100)
    table.add("export: peak memory" + end, memory, "MiB", most=MOST_MIB)
    return {"scrapes_ms": taken, "share": share, "rate": rate,
            "memory_mib": memory, "idle": idle}
