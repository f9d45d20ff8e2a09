# SPDX-License-Identifier: Apache-2.0
"""Clients of `gpukit export` are tested here: who may ask, and who misbehaves.
"""

import http.client
import os
import random
import re
import resource
import select
import socket
import ssl
import threading
import time

import pytest

from conftest import sanitized
from exporter import (BUILT, EIGHT, Exporter, Metrics, certificates, export, tls,
                      trusting)

pytestmark = BUILT
assert export and certificates  # the fixtures


# ---- who may ask ----

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
    # Plain HTTP gets no answer and does no harm.
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


def test_passwords_in_the_clear_are_warned_of(machine, certificates,
                                              tmp_path):
    users = tmp_path / "users"
    users.write_text("ann:secret\n")
    users.chmod(0o600)
    env = machine("--gpus", "t4:1").env
    auth = ["--auth", users]
    for options, warned in [
            (["--listen", "0.0.0.0", *auth], True),
            (["--listen", "127.0.0.2", *auth], False),
            (["--listen", "localhost", *auth], False),
            (["--listen", "0.0.0.0"], False),
            (["--listen", "0.0.0.0", *auth, *tls(certificates)], False)]:
        status, said = Exporter(env, *options, ready=False).stop()
        assert status == 0, said
        assert ("warning" in said and "--tls-cert" in said) == warned, options
        assert said.count("\n") == warned, options


# ---- host names ----

def asked_as(e, *lines):
    """The status line of a request with these header lines."""
    request = "\r\n".join(["GET /metrics HTTP/1.0", *lines, "", ""])
    return e.say(request.encode())[0][0]


AT_HOME = ["localhost", "LocalHost:9834", "localhost.", "127.0.0.1",
           "127.0.0.1:1", "127.9.8.7:80", "[::1]", "[::1]:9834"]
ELSEWHERE = ["evil.example", "evil.example:9834", "localhost.evil.example",
             "127.0.0.1.evil.example", "10.0.0.1", "[::2]:9834", "[::1",
             "[::1]x", "localhost:x", "::1", "x" * 300, "127.0.0.1 evil",
             "evil@127.0.0.1", ":9834", "0.0.0.0", "2130706433"]


def test_a_page_of_the_web_cannot_read_what_is_at_home(export):
    """A name may resolve to 127.0.0.1 (DNS rebinding), but the Host header
    keeps it."""
    e = export(["--gpus", "t4:1"])
    for host in AT_HOME:
        assert " 200 " in asked_as(e, f"Host: {host}"), host
    assert " 200 " in asked_as(e)
    for host in ELSEWHERE:
        assert " 421 " in asked_as(e, f"Host: {host}"), host
    for path in ("/metrics", "/api/v1/snapshot", "/healthz", "/"):
        status, _, body = e.get(path, {"Host": "evil.example"})
        assert status == 421 and "gpukit_" not in body
        assert "Host" in body and "--allow-host" in body


def test_names_can_be_allowed(export):
    made = ["--gpus", "t4:1"]
    names = ["--allow-host", "gpu.example", "--allow-host", "fd00::7"]
    for listen, known in (("127.0.0.1", False), ("0.0.0.0", False)):
        e = export(made, "--listen", listen, *names)
        for host in (*AT_HOME, "gpu.example", "GPU.Example.:9834",
                     "[fd00::7]:9834"):
            assert " 200 " in asked_as(e, f"Host: {host}"), host
        for host in ("evil.example", "gpu.example.org", "[fd00::8]"):
            assert (" 200 " in asked_as(e, f"Host: {host}")) == known, host
    # A server that listens everywhere has names that it does not know.
    e = export(made, "--listen", "0.0.0.0")
    assert " 200 " in asked_as(e, "Host: gpu.example")


@pytest.mark.parametrize("name", ["", "a:80", "http://a", "[::1]", "a b",
                                  "a."])
def test_an_allowed_name_is_one(gpukit, name):
    done = gpukit("export", "--allow-host", name)
    assert done.returncode == 2 and "without a port" in done.stderr


# ---- one port, one server ----

@pytest.mark.parametrize("first, second", [
    ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"),
    ("127.0.0.1", "0.0.0.0"), ("localhost", "localhost")])
def test_a_port_has_one_server(machine, gpukit, first, second):
    """Two servers on one port would each get some of the clients."""
    env = machine("--gpus", "t4:1").env
    e = Exporter(env, "--listen", first)
    done = gpukit("export", "--listen", second, "--port", e.port, env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        f"gpukit export: cannot listen at {second} port {e.port}: "
        "Address already in use"), done.stderr
    assert "--port" in done.stderr and done.stderr.count("\n") == 1
    assert e.get("/healthz")[0] == 200
    # Connections of its recent clients do not block the port.
    kept = e.connection()
    kept.request("GET", "/healthz")
    assert kept.getresponse().read() == b"ok\n"
    assert e.stop() == (0, "")
    port = str(e.port)
    e = Exporter(env, "--listen", first, "--port", port)
    assert str(e.port) == port
    assert e.stop() == (0, "")


# ---- clients of all sorts ----

def quick(e, limit=7.0, **how):
    """The answer comes before the ten seconds after which slow clients are
    disconnected."""
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
                pass  # it was already disconnected
        sockets.append(one)
    return sockets


@pytest.mark.parametrize("first", [
    b"", b"G", b"GET /metrics HTTP/1.1\r\nHost: x\r\n",
    b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4])
def test_five_hundred_connections_block_nobody(export, first):
    """Idle connections, half requests, endless requests and unread answers
    block nobody."""
    e = export(EIGHT)
    before = e.memory()
    sockets = connect(e, 500, first)
    for _ in range(20):
        quick(e)
    assert e.memory() - before < 16 << 20 or sanitized()
    for one in sockets:
        one.close()
    quick(e)


def open_files(e):
    return len(os.listdir(f"/proc/{e.process.pid}/fd"))


@pytest.mark.parametrize("first", [
    b"", b"GET /metrics HTTP/1.1\r\nHost: x\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"])
@pytest.mark.parametrize("files", [64, 128])
def test_clients_leave_descriptors_for_the_readings(machine, files, first):
    """Hung connections, and idle ones that have had an answer."""
    e = Exporter(machine(*EIGHT).env, "-i", "0.05", "--processes",
                 preexec_fn=lambda: resource.setrlimit(
                     resource.RLIMIT_NOFILE, (files, files)))
    sockets = connect(e, 3 * files, first)
    for _ in range(10):
        quick(e)
        assert open_files(e) <= files - 16
    # /proc can still be read.
    m = e.next_metrics()
    found = m["gpukit_process_info"]
    assert len(found) >= 8
    assert all(have["process"] == "gpukit-load" and have["user"]
               for have, _ in found), found
    for one in sockets:
        one.close()
    assert e.stop() == (0, "")


def test_too_few_descriptors_are_told_at_once(gpukit, machine):
    env = machine("--gpus", "t4:1").env
    done = gpukit("export", "--port", "0", env=env,
                  preexec_fn=lambda: resource.setrlimit(
                      resource.RLIMIT_NOFILE, (40, 40)))
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "40 files" in done.stderr and "ulimit -n" in done.stderr


def test_a_low_limit_is_raised_as_far_as_allowed(machine):
    made = machine("--gpus", "t4:1")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    e = Exporter(made.env, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_NOFILE, (40, hard)))
    with open(f"/proc/{e.process.pid}/limits", encoding="ascii") as f:
        soft = [int(line.split()[3]) for line in f
                if line.startswith("Max open files")][0]
    assert soft >= 150
    assert e.stop() == (0, "")


REQUEST = b"GET /metrics%s HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize("request_, status", [
    (REQUEST % b"" + b"Content-Length: 5\r\n\r\nhello", 200),
    (REQUEST % b"" + b"Content-Length: 65536\r\n\r\n" + b"x" * 65536, 200),
    (REQUEST % b"" + b"Content-Length: 65537\r\n\r\n", 413),
    (REQUEST % b"" + b"Content-Length: 99999999999\r\n\r\n", 413),
    (REQUEST % b"" + b"Transfer-Encoding: chunked\r\n\r\n", 411),
    (REQUEST % (b"?" + b"&".join([b"match[]=x"] * 500)) + b"\r\n", 200),
    (REQUEST % (b"?" + b"&" * 5000) + b"\r\n", 200),
    (REQUEST % b"?" + b"\r\n", 200), (REQUEST % b"??a=b?c" + b"\r\n", 200),
    (REQUEST % (b"?" + b"a" * 9000) + b"\r\n", 414),
    (REQUEST % b"" + b"a: b\r\n" * 500 + b"\r\n", 431)])
def test_every_request_is_answered(export, request_, status):
    e = export(["--gpus", "t4:1"])
    (line, body), = e.say(request_)
    assert f" {status} " in line and len(body) > 20, line
    # The next request of an answered connection begins after it.
    if status == 200:
        assert [line for line, _ in e.say(request_ * 2, 2)] == [line] * 2


AT = b"Host: localhost\r\n"


@pytest.mark.parametrize("headers", [
    AT * 2, AT + b"Host: 127.0.0.1\r\n", AT + b"host:\r\n",
    b"HOST: evil.example\r\n" + AT, b"", b"X-Host: localhost\r\n",
    AT + b"Content-Length: 5\r\nContent-Length: 6\r\n",
    AT + b"Content-Length: 5\r\ncontent-length: 5\r\n",
    AT + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    AT + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    AT + b"Content-Length: 5, 5\r\n", AT + b"Content-Length: 0x5\r\n",
    AT + b"Content-Length: -5\r\n", AT + b"Content-Length: +5\r\n",
    AT + b"Content-Length: +3\r\n\r\nabc", AT + b"Content-Length: \r\n",
    AT + b"Content-Length: 5 5\r\n", AT + b"Content-Length: 1e1\r\n",
    AT + b"Content-Length: 5.\r\n", AT + b"Content-Length: five\r\n",
    AT + b"Content-Length: 18446744073709551617\r\n",
    AT + b"Content-Length: 9223372036854775808\r\n",
    AT + b"Content-Length : 5\r\n", AT + b"Transfer-Encoding\t: chunked\r\n",
    AT + b"Content-Length:\r\n 5\r\n", AT + b"Content-Length: 0\r\n 5\r\n",
    AT + b"Transfer-Encoding:\r\n chunked\r\n", AT + b"Host : evil\r\n"])
@pytest.mark.parametrize("path", [b"/metrics", b"/nope"])
def test_a_request_of_two_meanings_is_refused(export, path, headers):
    """A proxy in front may have read the request differently: it is refused,
    and nothing after it gets an answer."""
    e = export(["--gpus", "t4:1"])
    request = b"GET " + path + b" HTTP/1.1\r\n"
    with socket.create_connection((e.host, e.port), timeout=30) as one:
        one.sendall(request + headers + b"\r\n" + request + AT + b"\r\n")
        said = b"".join(iter(lambda: one.recv(65536), b""))
    codes = re.findall(rb"HTTP/1\.1 (\d+)", said)
    assert codes in ([b"400"], [b"413"] if b"775808" in headers else []), said
    assert b"gpukit_" not in said


def test_http_before_hosts_had_names(export):
    """HTTP/1.0 needs no Host header, but accepts at most one."""
    e = export(["--gpus", "t4:1"])
    assert " 200 " in asked_as(e)
    assert " 400 " in asked_as(e, "Host: localhost", "Host: localhost")


@pytest.mark.parametrize("count", [1, 3])
def test_one_that_has_no_more_to_ask_is_not_kept_waiting(export, count):
    """A client like `nc -N`, which shuts down its side at once, gets its
    answers and then EOF."""
    e = export(["--gpus", "t4:1"])
    with socket.create_connection((e.host, e.port), timeout=30) as one:
        one.sendall((REQUEST % b"" + b"\r\n") * count)
        one.shutdown(socket.SHUT_WR)
        answers = b"".join(iter(lambda: one.recv(65536), b""))
    assert answers.count(b"HTTP/1.1 200 OK\r\n") == count


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
    """A client that sends a byte now and then is disconnected after ten
    seconds."""
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
         b"Host: x", b"Host: localhost", b"Accept: ",
         b"application/openmetrics-text",
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
        request = bytearray(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
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
