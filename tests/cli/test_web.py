# SPDX-License-Identifier: Apache-2.0
"""`gpukit web` is tested here: its pages, its events, who may look, wrong
usage."""

import os
import re

import pytest

from conftest import ROOT, sanitized
from exporter import BUILT
from tools import wait_until
from web import EIGHT, Web, web

pytestmark = BUILT
assert web  # the fixture

PAGE = os.path.join(ROOT, "src/web/page")
SILENT = ["lost", "hung", "stale"]


# ---- pages ----

def test_the_page_is_in_the_command(web):
    w = web(["--gpus", "t4:1"])
    for name in os.listdir(PAGE):
        path = "/" if name == "page.html" else f"/{name}"
        with open(os.path.join(PAGE, name), encoding="utf-8") as f:
            text = f.read()
        status, headers, body = w.get(path)
        assert (status, body) == (200, text), path
        assert text.count("\n") < 500, path
        assert headers["X-Content-Type-Options"] == "nosniff"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
    for path in ("/nope", "/%00", "/page.js%00x", "/%ff", "/page.html", "/../page.c", "/api/v1/events/nope",
                 "/api/v1/eventsx"):
        assert w.get(path)[0] == 404, path
    for method in ("POST", "PUT", "DELETE"):
        assert w.get("/", method=method)[0] == 405
    assert w.get("/api/v1/events", method="HEAD")[::2] == (200, "")
    assert w.get("/api/v1/events/nope", method="HEAD")[0] == 404


def test_nothing_is_from_outside():
    for name in os.listdir(PAGE):
        with open(os.path.join(PAGE, name), encoding="utf-8") as f:
            text = f.read()
        found = re.findall(r"(?:https?:)?//[a-z][\w.]*\.[a-z]+[^\s\"']*", text)
        assert not [url for url in found if "www.w3.org/2000/svg" not in url]


# ---- values ----

def same_values(device, of_stat):
    """The names that differ, and the names that both have."""
    shared = set(device) & set(of_stat) - {"age_seconds"}
    return {name for name in shared if device[name] != of_stat[name]}, shared


def test_values_are_those_of_stat(web, gpukit):
    """The machine's clock is paused, so that both read the same."""
    w = web(EIGHT)
    assert web.made.ctl("clock", "pause").returncode == 0
    by_uuid = {}

    def are_the_same():
        stat = gpukit.json("stat", "--json", env=web.made.env)
        by_uuid.update({d["uuid"]: d for d in stat["devices"]})
        with w.stream() as s:
            frame = s.until("frame").data
        return all(not same_values(d, by_uuid[d["uuid"]])[0]
                   for d in frame["devices"])

    wait_until(are_the_same)
    with w.stream() as s:
        hello = s.until("hello").data
        frame = s.until("frame").data
        processes = s.until("processes").data
        details = s.until("details").data
    assert [d["label"] for d in hello["devices"]] == list("01234567")
    for event, least in ((hello, 5), (frame, 12), (details, 40)):
        for device in event["devices"]:
            differ, shared = same_values(device, by_uuid[device["uuid"]])
            assert len(shared) >= least
            assert not differ - {"energy_joules"}, differ
    listed = {(d["label"], p["pid"]): p for d in by_uuid.values()
              for p in d["processes"]}
    assert len(processes["processes"]) == len(listed) == 8
    for process in processes["processes"]:
        of_stat = listed[process["label"], process["pid"]]
        assert process["gpu_memory_bytes"] == of_stat["gpu_memory_bytes"]
        assert process["user"] == of_stat["user"]


def test_memory_is_told_by_owner(web):
    w = web(EIGHT)
    with w.stream() as s:
        frame = s.until("frame", lambda e: e.data["devices"][4]["owners"])
        device = frame.data["devices"][4]
    assert [o["bytes"] for o in device["owners"]][:2] == [16 << 30] * 2
    assert len({o["owner"] for o in device["owners"]}) == len(device["owners"])
    assert sum(o["bytes"] for o in device["owners"]) == \
        device["memory_used_bytes"]


def test_commands_are_told_only_when_asked_for(web, gpukit):
    made = ["--gpus", "t4:1", "--load", "train:0"]
    for options, wanted in (([], False), (["--commands"], True)):
        w = web(made, *options)
        with w.stream() as s:
            told = s.until("processes", lambda e: e.data["processes"]).data
        assert ("command" in told["processes"][0]) == wanted
        # The page of the snapshot has a reader of its own, which may be late.
        wait_until(lambda: w.json()["devices"][0]["processes"])
        assert (w.json()["devices"][0]["processes"][0]["command"]
                is not None) == wanted


def test_a_lost_gpu_is_told(web):
    w = web(EIGHT)
    with w.stream() as s:
        s.until("frame", lambda e: e.data["devices"][3]["state"] == "busy")
        # An Xid is reported only once the GPU's events are listened to.
        s.until("details",
                lambda e: "xid_errors_total" in e.data["devices"][3])
        assert web.made.ctl("fail", "3", "lost", "xid=79").returncode == 0
        frame = s.until("frame",
                        lambda e: e.data["devices"][3]["state"] == "lost")
        device = frame.data["devices"][3]
        assert device["glyph"] == "✕" and device["words"].startswith("lost")
        assert "power_watts" not in device
        # The Xid may come after the loss.
        alert = s.until("alert", lambda e: e.data["alerts"] and
                        "Xid 79" in e.data["alerts"][0]["why"]
                        ).data["alerts"][0]
    assert (alert["label"], alert["state"], alert["level"]) == (
        "3", "lost", "fail")


def test_gpus_that_were_lost_before(machine):
    """They have reported no UUID yet, and delay nobody."""
    made = machine("--gpus", "t4:3", "--frozen")
    for gpu in ("0", "2"):
        made.ctl("fail", gpu, "lost", "xid=79")
    w = Web(made.env, "-i", "0.2")
    with w.stream() as s:
        hello = s.until("hello").data
        assert [d["label"] for d in hello["devices"]] == ["0", "1", "2"]
        assert len({d["uuid"] for d in hello["devices"]}) == 3
        frame = s.until("frame").data
        assert [d["state"] for d in frame["devices"]] == [
            "lost", "idle", "lost"]
        alerts = s.until("alert", lambda e: e.data["alerts"]).data["alerts"]
        assert [a["label"] for a in alerts] == ["0", "2"]
        made.ctl("clear", "0")
        s.until("hello", lambda e: all(
            d["uuid"].startswith("GPU-") for d in e.data["devices"][:2]))
        s.until("frame", lambda e: e.data["devices"][0]["state"] == "idle")
    assert w.stop() == (0, "")


# ---- the stream ----

def test_who_comes_gets_the_history(web):
    w = web(["--gpus", "t4:2", "--load", "train:0"], "-i", "0.1")
    with w.stream() as s:
        for _ in range(20):
            s.until("frame")
    with w.stream() as s:
        hello = s.until("hello").data
    assert hello["interval_seconds"] == 0.1
    history = hello["history"]
    assert history["steps"] >= 20
    of = history["devices"][hello["devices"][0]["uuid"]]
    for series in ("gpu_utilization_percent", "memory_percent",
                   "power_watts", "temperature_celsius"):
        assert len(of[series]) == history["steps"]
        assert any(value is not None for value in of[series][-10:])


def test_what_was_missed_is_sent_again(web):
    w = web(["--gpus", "t4:1"], "-i", "0.1")
    with w.stream() as s:
        s.until("hello")
        last = s.until("frame").id
        later = [s.until("frame").id for _ in range(5)]
    with w.stream(last=last) as s:
        first = s.event()
        assert first.kind != "hello"
        got = [s.until("frame").id for _ in range(4)]
    # `first` may be the first of them, or something in between.
    assert (([first.id] if first.kind == "frame" else []) + got)[:4] == \
        later[:4]
    token = last.split("-")[0]
    for unknown in ("nonsense", f"{token}-", f"{token}-99999999", "0-1",
                    f"{token}-1x"):
        with w.stream(last=unknown) as s:
            assert s.event().kind == "hello", unknown


def test_a_slow_client_gets_the_newest_only(web):
    w = web(EIGHT, "-i", "0.1")
    with w.stream(receive=32768) as slow, w.stream() as fast:
        slow.until("hello")
        first = slow.until("frame").data["time"]
        fast.until("frame", lambda e: e.data["time"] > first + 8)
        times = [slow.until("frame").data["time"] for _ in range(60)]
        steps = [b - a for a, b in zip(times, times[1:])]
        assert min(steps) > 0
        # At some point most of the eight seconds were left out.
        assert max(steps) > 2, steps
    assert w.memory() < 64 << 20 or sanitized()


def test_fifty_look_at_once(web):
    w = web(["--gpus", "t4:1"], "-i", "0.2")
    streams = [w.stream() for _ in range(50)]
    for s in streams:
        assert s.until("frame").data["devices"]
    assert w.get("/")[0] == 200
    for s in streams:
        s.close()
    # Pages are still served when the streams are full.
    streams = [w.stream() for _ in range(140)]
    refused = [s for s in streams if s.status == 503]
    assert 20 <= len(refused) <= 70  # some of the fifty may still count
    assert w.get("/")[0] == 200
    assert "too many" in refused[0].answer.read().decode()
    for s in streams:
        s.close()


def test_it_ends_while_somebody_looks(web):
    w = web(["--gpus", "t4:1"])
    with w.stream() as s:
        s.until("frame")
        assert w.stop() == (0, "")
        while s.event():
            pass


def test_the_hello_is_told_anew_when_devices_change(web):
    w = web(["--gpus", "a100-sxm4-80gb:1"], "-i", "0.2")
    with w.stream() as s:
        assert len(s.until("hello").data["devices"]) == 1
        for words in (["on"], ["create", "1g.10gb,1g.10gb"]):
            done = web.made.ctl("mig", "0", *words)
            assert done.returncode == 0, done.stderr
        hello = s.until("hello", lambda e: len(e.data["devices"]) == 3).data
        assert [d["label"] for d in hello["devices"]] == ["0", "0:0", "0:1"]
        frame = s.until("frame", lambda e: len(e.data["devices"]) == 3).data
    assert frame["devices"][0]["words"] == "MIG 2"


# ---- who may look ----

def test_password_and_host(web, tmp_path):
    users = tmp_path / "users"
    users.write_text("ana:pass word\n")
    users.chmod(0o600)
    w = Web(web_machine(web), "--auth", users, ready=False)
    for path in ("/", "/page.js", "/api/v1/events", "/api/v1/snapshot"):
        assert w.get(path)[0] == 401, path
        assert w.get(path, user=("ana", "wrong"))[0] == 401
        assert w.get(path, headers={"Host": "evil.example"})[0] == 421
    assert w.get("/", user=("ana", "pass word"))[0] == 200
    assert w.stop() == (0, "")


def web_machine(web):
    """The environment of a machine with one GPU."""
    web(["--gpus", "t4:1"])
    return web.made.env


def test_a_request_has_one_host_and_one_length(web):
    """Checked for a stream, a page and the snapshot; `w.get` asks correctly."""
    w = web(["--gpus", "t4:1"])
    here = "Host: localhost"
    for path in ("/", "/api/v1/events", "/api/v1/snapshot"):
        for lines in ([], [here, here], [here, "Host: evil.example"],
                      [here, "Content-Length: 1", "Content-Length: 2"],
                      [here, "Content-Length: 1", "Transfer-Encoding: chunked"]):
            request = "\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""])
            (line, _), = w.say(request.encode())
            assert " 400 " in line, (path, lines, line)
    assert w.get("/")[0] == 200


# ---- wrong usage ----

@pytest.mark.parametrize("words, part", [
    (["--peer", "atlas:9835"], "http://HOST:PORT"),
    (["--peer", "http://ana:secret@atlas"], "--peer-auth"),
    (["--peer-auth", "x"], "--peer"), (["--interval", "11"], "10 seconds"),
    (["--tls-cert", "x"], "--tls-key"), (["what"], "unexpected argument")])
def test_wrong_options(gpukit, words, part):
    done = gpukit("web", *words)
    assert done.returncode == 2 and part in done.stderr, done.stderr


def test_listen_takes_the_port_too(machine, gpukit):
    env = machine("--gpus", "t4:1").env
    w = Web(env, "--listen", "127.0.0.1:0")
    assert w.host == "127.0.0.1"
    done = gpukit("web", "--listen", f"127.0.0.1:{w.port}", env=env)
    assert done.returncode == 1 and "Address already in use" in done.stderr
    assert w.stop() == (0, "")
    assert gpukit("web", "--listen", "127.0.0.1:x").returncode == 2
