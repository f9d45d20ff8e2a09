# SPDX-License-Identifier: Apache-2.0
"""A running `gpukit export` for tests, and its metrics as Python."""

import base64
import http.client
import itertools
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import time

import pytest

from conftest import BUILD, GPUKIT, clean_env

EIGHT = ["--gpus", "a100-sxm4-80gb:8", "--load", "train:0-3,mem=30GiB",
         "--load", "infer:4-5,n=2,mem=8GiB"]

SAMPLE = re.compile(
    r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(,|$)')


def labels(text):
    found, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, text[at:]
        assert match[1] not in found, text
        found[match[1]] = match[2].replace('\\"', '"').replace("\\\\", "\\")
        at = match.end()
    return found


class Metrics(dict):
    """{name: [(labels, value)]}; types and helps by family."""

    def __init__(self, text):
        super().__init__()
        self.text, self.types, self.helps, self.units = text, {}, {}, {}
        seen, last = set(), None
        for line in text.splitlines():
            if line == "# EOF":
                continue
            if line.startswith("# "):
                kind, name, rest = line[2:].split(" ", 2)
                table = {"TYPE": self.types, "HELP": self.helps,
                         "UNIT": self.units}[kind]
                assert name not in table, f"{name} twice"
                table[name] = rest
                continue
            match = SAMPLE.match(line)
            assert match, line
            name = match[1]
            # All samples of a family must be adjacent.
            if name != last:
                assert name not in seen, f"{name} in two places"
                seen.add(name)
            last = name
            series = self.setdefault(name, [])
            series.append((labels(match[2] or ""), float(match[3])))
        for name, series in self.items():
            keys = [tuple(sorted(pair[0].items())) for pair in series]
            assert len(set(keys)) == len(keys), f"{name}: a series twice"

    def of(self, name, **wanted):
        """The only value of a metric with these labels."""
        found = [value for have, value in self[name]
                 if wanted.items() <= have.items()]
        assert len(found) == 1, (name, wanted, found)
        return found[0]


class Exporter:
    """A running `gpukit export`; call stop() afterwards."""

    verb, path, ready_path = "export", "/metrics", "/healthz"

    def __init__(self, env, *options, ready=True, **how):
        self.process = subprocess.Popen(
            [GPUKIT, self.verb, "--port", "0", *map(str, options)], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, env=clean_env(**env), **how)
        line = self.process.stderr.readline()
        match = re.fullmatch(
            rf"gpukit {self.verb}: (https?)://\[?(.*?)\]?:(\d+)(/.*)\n", line)
        assert match and match[4] == self.path, line
        self.scheme, self.host, self.port = match[1], match[2], int(match[3])
        if ready:
            self.await_status(self.ready_path, 200)

    def say(self, request, answers=1):
        """The status lines and bodies of the answers to bytes; fewer than
        requested if the connection is closed first."""
        found = []
        with socket.create_connection((self.host, self.port),
                                      timeout=30) as one:
            one.sendall(request)
            reader = one.makefile("rb")
            while len(found) < answers:
                try:
                    head = list(itertools.takewhile(bytes.strip, reader))
                except ConnectionResetError:
                    head = []
                if not head:
                    break
                length = [int(line.split(b":")[1]) for line in head
                          if line.lower().startswith(b"content-length:")]
                found.append((head[0].decode(), reader.read(*length)))
        return found

    def connection(self, timeout=20, context=None):
        if self.scheme == "https":
            return http.client.HTTPSConnection(
                self.host, self.port, timeout=timeout,
                context=context or ssl._create_unverified_context())
        return http.client.HTTPConnection(self.host, self.port,
                                          timeout=timeout)

    def get(self, path, headers=None, user=None, method="GET", **how):
        """Status, headers and body."""
        headers = dict(headers or {})
        if user:
            word = base64.b64encode(":".join(user).encode()).decode()
            headers["Authorization"] = f"Basic {word}"
        connection = self.connection(**how)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def await_status(self, path, status, seconds=60, **how):
        end = time.monotonic() + seconds
        while self.get(path, **how)[0] != status:
            assert time.monotonic() < end, f"{path} is never {status}"
            time.sleep(0.02)

    def metrics(self, path="/metrics", **how):
        status, _, body = self.get(path, **how)
        assert status == 200, body
        return Metrics(body)

    def next_metrics(self):
        """The metrics of a frame that began after this call."""
        def frame():
            found = self.metrics()
            return found.of("gpukit_frames_total"), found
        first, end = frame()[0], time.monotonic() + 60
        while True:
            number, found = frame()
            if number >= first + 2:
                return found
            assert time.monotonic() < end, "no new frame"
            time.sleep(0.01)

    def until(self, what, seconds=60):
        """The first metrics for which what(metrics) is true; metrics that are
        still missing are not a failure."""
        end = time.monotonic() + seconds
        while True:
            found = self.metrics()
            try:
                if what(found):
                    return found
            except (LookupError, AssertionError):
                pass
            assert time.monotonic() < end, f"never happened:\n{found.text}"
            time.sleep(0.02)

    def await_whole(self, asked=False, seconds=60):
        """Waits until everything of every device has been read at least once.
        A driver that is slow to start counts as none at first."""
        end = time.monotonic() + seconds
        while True:
            status, _, body = self.get("/api/v1/snapshot")
            ages = [device["age_seconds"]
                    for device in json.loads(body)["devices"]
                    ] if status == 200 else None
            if ages is not None and not any(
                    age is None for device in ages
                    for what, age in device.items()
                    if asked or what != "asked"):
                return
            assert time.monotonic() < end, ages
            time.sleep(0.02)

    def json(self):
        status, headers, body = self.get("/api/v1/snapshot")
        assert (status, headers["Content-Type"]) == (200, "application/json")
        return json.loads(body)

    def memory(self, key="VmRSS"):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            for line in f:
                if line.startswith(key + ":"):
                    return int(line.split()[1]) * 1024
        raise AssertionError(key)

    def stop(self, number=signal.SIGTERM):
        """Stops it; returns its exit status and its output besides its address.
        """
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(timeout=20)
        # Some of it may have been read along with the address.
        return status, self.process.stderr.read()


BUILT = pytest.mark.skipif(
    not os.path.exists(os.path.join(BUILD, "lib/gpukit/libgpukit-http.so"))
    and not os.environ.get("CI"), reason="built without libmicrohttpd")


@pytest.fixture
def export(machine):
    """export(machine options, export options) starts one; export.made is its
    machine. Unless ready=False, it has read everything that it reads."""
    started = []

    def start(made, *options, ready=True):
        start.made = machine(*made)
        started.append(Exporter(start.made.env, "-i", "0.1", *options,
                                ready=ready))
        if ready:
            started[-1].await_whole(asked="--pcie" in options)
        return started[-1]

    yield start
    for one in started:
        status, said = one.stop()
        assert (status, said) == (0, ""), (status, said)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """ca, server and client: PEM files with throw-away keys."""
    at = tmp_path_factory.mktemp("pki")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=at, check=True,
                       capture_output=True, stdin=subprocess.DEVNULL)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
           "-nodes"]
    for ca in ("ca", "other-ca"):
        openssl("req", "-x509", *key, "-keyout", f"{ca}.key", "-out",
                f"{ca}.pem", "-subj", f"/CN={ca}", "-days", "2",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    for name, ca in (("server", "ca"), ("client", "ca"),
                     ("stranger", "other-ca")):
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr",
                "-subj", f"/CN={name}", "-addext",
                "subjectAltName=IP:127.0.0.1")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem",
                "-CAkey", f"{ca}.key", "-CAcreateserial", "-out",
                f"{name}.pem", "-days", "2", "-copy_extensions", "copy")
    for path in at.glob("*.key"):
        path.chmod(0o600)
    return at


def tls(certificates):
    return ["--tls-cert", certificates / "server.pem",
            "--tls-key", certificates / "server.key"]


def trusting(certificates, client=None):
    context = ssl.create_default_context(cafile=certificates / "ca.pem")
    if client:
        context.load_cert_chain(certificates / f"{client}.pem",
                                certificates / f"{client}.key")
    return context
