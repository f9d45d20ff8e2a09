# SPDX-License-Identifier: Apache-2.0
"""`gpukit web --peer` shows several machines on one page."""

import http.server
import json
import subprocess
import threading

import pytest

from conftest import clean_env
from exporter import BUILT, certificates, tls
from tools import wait_until
from web import Web, web

pytestmark = BUILT
assert web and certificates  # the fixtures

FAST = ("-i", "0.2")


class Site:
    """A hub and its peers, each on a machine of its own."""

    def __init__(self, machine, *kinds, hub=("--gpus", "t4:1"), options=()):
        self.machines = [machine(*kind) for kind in kinds]
        self.peers = [Web(made.env, *FAST) for made in self.machines]
        self.hub = Web(machine(*hub).env, *FAST, *options,
                       *sum((["--peer", p.url] for p in self.peers), []))

    def stop(self):
        for one in (*self.peers, self.hub):
            if one.process.poll() is None:
                assert one.stop() == (0, "")


@pytest.fixture
def site(machine):
    made = []

    def start(*kinds, **how):
        made.append(Site(machine, *kinds, **how))
        return made[-1]

    yield start
    for one in made:
        one.stop()


def hosts_of(web, what):
    """The list of hosts once what(list) is true."""
    with web.stream() as s:
        return s.until("hosts", lambda e: what(e.data["hosts"])).data["hosts"]


def all_heard(hosts):
    return all(not host["why"] and host["gpus"] for host in hosts)


def test_eight_peers(site):
    kinds = [["--gpus", f"{model}:{count}"] for model, count in zip(
        ["t4", "l4", "a100-sxm4-80gb", "h100-80gb-hbm3"] * 2, range(1, 9))]
    s = site(*kinds)
    hosts = hosts_of(s.hub, lambda list_: len(list_) == 9 and all_heard(list_))
    assert [len(host["gpus"]) for host in hosts] == [1, *range(1, 9)]
    for host, peer in zip(hosts[1:], s.peers):
        assert host["memory_total_bytes"] == sum(
            d["memory_total_bytes"] for d in peer.json()["devices"])
        assert host["name"] == f"127.0.0.1:{peer.port}"
    names = {host["name"] for host in hosts}
    assert len(names) == 9


def test_a_peer_is_told_as_it_tells_itself(site):
    s = site(["--gpus", "a100-sxm4-80gb:2", "--load", "train:0"])
    hosts_of(s.hub, all_heard)
    peer = s.peers[0]
    with s.hub.stream(f"/api/v1/events/127.0.0.1:{peer.port}") as there, \
            peer.stream() as here:
        for kind in ("hello", "frame", "processes"):
            of_hub, own = there.until(kind).data, here.until(kind).data
            if kind == "frame":
                # If they begin with different frames, the older one reads on to
                # the newer frame.
                last = max(of_hub["time"], own["time"])
                if of_hub["time"] < last:
                    of_hub = there.until(
                        kind, lambda e: e.data["time"] == last).data
                elif own["time"] < last:
                    own = here.until(
                        kind, lambda e: e.data["time"] == last).data
            of_hub.pop("history", None)
            own.pop("history", None)
            if kind == "processes":
                of_hub.pop("time")
                own.pop("time")
                for p in of_hub["processes"] + own["processes"]:
                    for moving in ("running_seconds", "cpu_percent",
                                   "sm_utilization_percent",
                                   "memory_utilization_percent"):
                        p.pop(moving, None)
            assert of_hub == own, kind


def test_a_peer_goes_away_and_comes_back(site):
    s = site(["--gpus", "t4:2"])
    hosts_of(s.hub, all_heard)
    peer, name = s.peers[0], f"127.0.0.1:{s.peers[0].port}"
    with s.hub.stream(f"/api/v1/events/{name}") as there:
        there.until("frame")
        assert peer.stop() == (0, "")
        away = there.until("hosts", lambda e: e.data["hosts"][1]["why"]).data
        assert "ended" in away["hosts"][1]["why"] or \
            "connect" in away["hosts"][1]["why"]
        # Its last values are kept, and grow old.
        assert away["hosts"][1]["gpus"]
        there.until("hosts", lambda e: e.data["hosts"][1]["age_seconds"] > 1)
        s.peers[0] = Web(s.machines[0].env, *FAST, "--port", peer.port)
        there.until("hello")
        there.until("frame")
        there.until("hosts", lambda e: not e.data["hosts"][1]["why"])


def test_what_was_missed_of_a_peer_is_in_the_history(site):
    s = site(["--gpus", "t4:1"])
    hosts_of(s.hub, all_heard)
    own = s.peers[0]
    with own.stream() as here:
        for _ in range(10):
            here.until("frame")
    with s.hub.stream(f"/api/v1/events/127.0.0.1:{own.port}") as there:
        hello = there.until("hello").data
    with own.stream() as here:
        of_peer = here.until("hello").data
    [of_hub] = hello["history"]["devices"].values()
    [itself] = of_peer["history"]["devices"].values()
    count = hello["history"]["steps"] - 2
    assert count >= 8
    late = of_peer["history"]["steps"] - hello["history"]["steps"]
    power = itself["power_watts"][:len(itself["power_watts"]) - late]
    assert of_hub["power_watts"][-count:] == power[-count:]


def test_peers_with_tls_and_passwords(machine, certificates, tmp_path):
    users = tmp_path / "users"
    users.write_text("ana:pass word\n")
    users.chmod(0o600)
    peer = Web(machine("--gpus", "t4:1").env, *FAST, *tls(certificates),
               "--auth", users, ready=False)
    env = machine("--gpus", "l4:1").env
    ask = ["--peer", peer.url, *FAST]
    for options, why in (
            (["--peer-ca", certificates / "ca.pem"], "password"),
            (["--peer-auth", users], "certificate"),
            (["--peer-auth", users, "--peer-ca",
              certificates / "other-ca.pem"], "certificate"),
            (["--peer-auth", users, "--peer-ca", certificates / "ca.pem"],
             "")):
        hub = Web(env, *ask, *options)
        hosts = hosts_of(hub, lambda list_: list_[1]["why"] != "connecting")
        said = hosts[1]["why"]
        assert why in said and bool(said) == bool(why), hosts
        assert hub.stop() == (0, "")
    assert peer.stop() == (0, "")


def test_follow_prints_snapshots_until_the_peer_ends(gpukit, machine):
    made = machine("--gpus", "t4:2", "--load", "train:0,mem=1GiB", "--frozen")
    peer = Web(made.env, *FAST)
    with subprocess.Popen([gpukit.path, "web", "--follow", peer.url + "/",
                           *FAST], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=clean_env()) as follow:
        seen = [json.loads(follow.stdout.readline()) for _ in range(3)]
        assert len({one["unix_seconds"] for one in seen}) == 3
        stat = gpukit.json("stat", "--json", env=made.env)
        assert [gpu["uuid"] for gpu in seen[2]["devices"]] == \
            [gpu["uuid"] for gpu in stat["devices"]]
        assert seen[2]["devices"][0]["processes"][0]["pid"] == \
            stat["devices"][0]["processes"][0]["pid"]
        assert peer.stop() == (0, "")
        said = follow.stderr.read()
        assert follow.wait(60) == 1 and peer.url in said, said


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers with what its server is told to say."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", self.server.kind)
        self.end_headers()
        try:
            self.wfile.write(self.server.says)
        except OSError:
            pass

    def log_message(self, *_):
        pass


HELLO = (b'event: hello\ndata: {"hostname":"x","interval_seconds":1,'
         b'"devices":[{"uuid":"a"}]}\n\n')


@pytest.mark.parametrize("kind, says", [
    ("text/html", b"<p>hello"),
    ("text/event-stream", b"event: frame\ndata: {}\n\n"),
    ("text/event-stream", b"event: hello\ndata: nonsense\n\n"),
    ("text/event-stream", b"event: hello\ndata: []\n\n"),
    ("text/event-stream", HELLO + b'event: frame\ndata: {"time":"x"}\n\n'),
    ("text/event-stream",
     HELLO + b'event: frame\ndata: {"time":1,"devices":[7]}\n\n'),
    ("text/event-stream", HELLO.replace(b'"interval_seconds":1,', b"")),
    ("text/event-stream", b"event: hello\ndata: " + b"[" * 100000 + b"\n\n"),
], ids=range(8))
def test_a_peer_that_lies(machine, kind, says):
    liar = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    liar.kind, liar.says = kind, says
    threading.Thread(target=liar.serve_forever, daemon=True).start()
    hub = Web(machine("--gpus", "t4:1").env, *FAST, "--peer",
              f"http://127.0.0.1:{liar.server_address[1]}")
    hosts = hosts_of(hub, lambda list_: "like gpukit web" in list_[1]["why"])
    assert hosts[0]["gpus"] and not hosts[0]["why"]
    assert hub.stop() == (0, "")
    liar.shutdown()
    liar.server_close()


def test_a_machine_without_a_driver_shows_others(site, gpukit, tmp_path):
    made = site(["--gpus", "t4:1"])
    hub = Web({}, *FAST, "--nvml", tmp_path / "none.so", "--peer",
              made.peers[0].url, ready=False)
    hosts = hosts_of(hub, lambda list_: not list_[1]["why"])
    assert "no NVIDIA driver" in hosts[0]["why"]
    assert hub.get("/api/v1/snapshot")[0] == 503
    status, said = hub.stop()
    assert status == 0 and said.count("no NVIDIA driver") == 1


def test_a_peer_that_is_not_there(machine):
    hub = Web(machine("--gpus", "t4:1").env, *FAST, "--peer",
              "http://127.0.0.1:1")
    hosts = hosts_of(hub, lambda list_: "connect to" in list_[1]["why"])
    assert hosts[1]["name"] == "127.0.0.1:1" and not hosts[1]["gpus"]
    wait_until(lambda: hosts_of(hub, bool)[0]["gpus"])
    assert hub.stop() == (0, "")
