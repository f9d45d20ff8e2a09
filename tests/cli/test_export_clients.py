"""Clients of `gpukit export`: who may ask, who misbehaves."""

import http.client
import os
import random
import select
import socket
import ssl
import subprocess
import threading
import time

import pytest

from conftest import GPUKIT
from exporter import BUILT, EIGHT, Metrics, export

pytestmark = BUILT
assert export  # the fixture


# ---- who may ask ----

@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """ca, server and client: PEM files of throw-away keys."""
    at = tmp_path_factory.mktemp("pki")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=at, check=True,
                       capture_output=True, stdin=subprocess.DEVNULL)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
           "-nodes"]
    for ca in ("ca", "other-ca"):
        openssl("req", "-x509", *key, "-keyout", f"{ca}.key", "-out",
                f"{ca}.pem", "-subj", f"/CN={ca}", "-days", "2")
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


def test_tls(export, certificates):
    e = export(["--gpus", "t4:1"], *tls(certificates))
    assert e.scheme == "https"
    context = trusting(certificates)
    assert e.get("/metrics", context=context)[0] == 200
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        e.get("/metrics", context=old)
    # Plain HTTP is not answered, and hurts nobody.
    with socket.create_connection((e.host, e.port), timeout=20) as plain:
        plain.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"gpukit" not in plain.recv(1000)
    assert e.get("/metrics", context=context)[0] == 200


def test_client_certificates(export, certificates):
    e = export(["--gpus", "t4:1"], *tls(certificates), "--tls-client-ca",
               certificates / "ca.pem", ready=False)
    client = trusting(certificates, "client")
    e.await_status("/metrics", 200, context=client)
    assert e.get("/metrics", context=trusting(certificates))[0] == 403
    try:
        status = e.get("/metrics",
                       context=trusting(certificates, "stranger"))[0]
    except (ssl.SSLError, ConnectionError):
        status = 403
    assert status == 403


def test_passwords(export, tmp_path):
    users = tmp_path / "users"
    users.write_text("# who\nann:se:cret\nbob:pass\n")
    users.chmod(0o600)
    e = export(["--gpus", "t4:1"], "--auth", users, ready=False)
    e.await_status("/healthz", 200, user=("bob", "pass"))
    assert e.get("/metrics", user=("ann", "se:cret"))[0] == 200
    for user in (None, ("ann", "secret"), ("ann", ""), ("", ""),
                 ("ann", "pass"), ("bob", "pas"), ("bob", "passs"),
                 ("bo", "pass"), ("eve", "pass"), ("ann", "x" * 3000)):
        status, headers, body = e.get("/metrics", user=user)
        assert status == 401 and "gpukit_" not in body, user
        assert headers["WWW-Authenticate"].startswith("Basic realm=")
    for word in ("Basic", "Basic !!!", "Basic " + "A" * 3001, "Bearer x"):
        assert e.get("/metrics", {"Authorization": word})[0] == 401
    with open(f"/proc/{e.process.pid}/cmdline", encoding="ascii") as f:
        assert "se:cret" not in f.read()


# ---- clients of all sorts ----

def sanitized():
    """Then memory is not what it is."""
    with open(GPUKIT, "rb") as f:
        return b"__asan_init" in f.read()


def quick(e, limit=7.0, **how):
    """Answered before the ten seconds are over after which those that hold
    things up are cut off."""
    begun = time.monotonic()
    assert e.get("/metrics", **how)[0] == 200
    took = time.monotonic() - begun
    assert took < limit, took
    return took


def connect(e, count, first=b""):
    sockets = []
    for _ in range(count):
        one = socket.create_connection((e.host, e.port), timeout=20)
        if first:
            try:
                one.sendall(first)
            except OSError:
                pass  # it had to go already
        sockets.append(one)
    return sockets


@pytest.mark.parametrize("first", [
    b"", b"G", b"GET /metrics HTTP/1.1\r\nHost: x\r\n",
    b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 4])
def test_five_hundred_connections_block_nobody(export, first):
    """Idle, half a request, one that never ends, answers never read."""
    e = export(EIGHT)
    before = e.memory()
    sockets = connect(e, 500, first)
    for _ in range(20):
        quick(e)
    assert e.memory() - before < 16 << 20 or sanitized()
    for one in sockets:
        one.close()
    quick(e)


def test_one_that_scrapes_stays_connected_meanwhile(export):
    e = export(["--gpus", "t4:1"])
    kept = e.connection()
    kept.request("GET", "/metrics")
    assert kept.getresponse().read()
    sockets = connect(e, 300, b"GET")
    mine = kept.sock.getsockname()
    kept.request("GET", "/metrics")
    assert kept.getresponse().read() and kept.sock.getsockname() == mine
    for one in sockets:
        one.close()


@pytest.mark.slow
def test_a_request_has_ten_seconds(export):
    """A client that sends a byte now and then is cut off."""
    e = export(["--gpus", "t4:1"])
    slow = socket.create_connection((e.host, e.port), timeout=20)
    begun = time.monotonic()
    try:
        for byte in b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 1000:
            slow.sendall(bytes([byte]))
            if select.select([slow], [], [], 0.3)[0]:
                break
    except OSError:
        pass
    assert 8 < time.monotonic() - begun < 60
    slow.close()
    quick(e)


def test_half_open_connections_over_tls(export, certificates):
    e = export(["--gpus", "t4:1"], *tls(certificates))
    sockets = connect(e, 400, b"\x16\x03\x01\x02\x00")
    for _ in range(5):
        quick(e, context=trusting(certificates))
    for one in sockets:
        one.close()


PARTS = [b"GET ", b"HEAD ", b"POST ", b"/metrics", b"/", b"%2e%2e/", b"?a=b",
         b" HTTP/1.1", b" HTTP/1.0", b" HTTP/9.9", b"\r\n", b"\n", b"\r",
         b"Host: x", b"Accept: ", b"application/openmetrics-text",
         b"Content-Length: ", b"-1", b"99999999999999999999", b"0", b"5",
         b"Transfer-Encoding: chunked", b"Connection: close", b"\0", b"\xff",
         b"Authorization: Basic ", b"QQ==", b":", b";q=", b",", b"A" * 9000,
         b"X: " + b"y" * 4000, b"Expect: 100-continue", b"ffffffffffff\r\n",
         b"Upgrade: h2c", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]


def garbage(random_):
    shape = random_.random()
    if shape < 0.2:
        return random_.randbytes(random_.randrange(1, 3000))
    if shape < 0.4:
        request = bytearray(b"GET /metrics HTTP/1.1\r\nHost: x\r\n"
                            b"Accept: text/plain\r\n\r\n")
        for _ in range(random_.randrange(1, 6)):
            request[random_.randrange(len(request))] = random_.randrange(256)
        return bytes(request)
    return b"".join(random_.choice(PARTS)
                    for _ in range(random_.randrange(1, 25)))


@pytest.mark.slow
def test_garbage_harms_nobody(export, tmp_path):
    users = tmp_path / "users"
    users.write_text("ann:secret\n")
    users.chmod(0o600)
    e = export(["--gpus", "t4:2"], "--auth", users, "--processes",
               ready=False)
    ann = ("ann", "secret")
    e.await_status("/metrics", 200, user=ann)
    seed = int(os.environ.get("GPUKIT_SEED", "20"))
    random_ = random.Random(seed)
    count = int(os.environ.get("GPUKIT_REQUESTS", "3000"))
    for i in range(count):
        with socket.create_connection((e.host, e.port), timeout=20) as one:
            try:
                one.sendall(garbage(random_))
                if random_.random() < 0.5:
                    one.shutdown(socket.SHUT_WR)
                    one.settimeout(0.05)
                    said = one.recv(2000)
                    assert b"gpukit_" not in said, (seed, i)
            except OSError:
                pass
        assert e.process.poll() is None, (seed, i)
        if i % 500 == 0:
            quick(e, user=ann)
    quick(e, user=ann)
    assert e.memory() < 32 << 20 or sanitized()


def test_many_scrape_at_once(export):
    e = export(EIGHT)
    failed = []

    def scrape():
        try:
            connection = e.connection()
            for _ in range(20):
                connection.request("GET", "/metrics")
                answer = connection.getresponse()
                assert answer.status == 200
                Metrics(answer.read().decode())
        except (AssertionError, OSError, http.client.HTTPException) as error:
            failed.append(error)

    threads = [threading.Thread(target=scrape) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
