# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes `gpukit export`: the dashboard's queries return
data, and each alert fires for its fault."""

import json
import os
import random
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from conftest import ROOT, clean_env
from exporter import Exporter

PACKAGING = os.path.join(ROOT, "packaging")
RULES = os.path.join(PACKAGING, "prometheus", "gpukit.rules.yml")
LOCAL = os.path.join(ROOT, "build", "prometheus", "usr", "bin")


def program(name):
    found = shutil.which(name, path=LOCAL) or shutil.which(name)
    if not found:
        if os.environ.get("CI"):
            pytest.fail(f"no {name}: ./run test gets it")
        pytest.skip(f"cannot:prometheus: no {name}")
    return found


def promtool(*words, text=None):
    done = subprocess.run([program("promtool"), *words], text=True,
                          input=text, capture_output=True, check=False,
                          timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def dashboard():
    with open(os.path.join(PACKAGING, "grafana", "gpukit.json"),
              encoding="utf-8") as f:
        return json.load(f)


def queries():
    """(panel, query as Grafana sends it) for each query."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            text = target["expr"].replace("$__rate_interval", "4s")
            for variable in ("instance", "gpu"):
                text = text.replace(f"${variable}", ".*")
            assert "$" not in text, text
            yield panel["title"], text


def free_port():
    """A free port below those that the kernel assigns: another test might be
    assigned one of those before it is used."""
    with open("/proc/sys/net/ipv4/ip_local_port_range",
              encoding="ascii") as f:
        first = int(f.read().split()[0])
    while True:
        port = random.randrange(max(first // 2, 1024), first)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            pass  # taken


class Prometheus:
    def __init__(self, directory, port, rules):
        self.port = free_port()
        config = directory / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "500ms",
                       "evaluation_interval": "500ms"},
            "rule_files": [str(rules)],
            "scrape_configs": [{
                "job_name": "gpukit",
                "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}]}))
        self.log = open(  # noqa: SIM115 - until stop()
            directory / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [program("prometheus"), f"--config.file={config}",
             f"--storage.tsdb.path={directory}/data",
             f"--web.listen-address=127.0.0.1:{self.port}"],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
            env=clean_env(GOMAXPROCS="1"))

    def ask(self, path, **how):
        url = (f"http://127.0.0.1:{self.port}/api/v1/{path}?" +
               urllib.parse.urlencode(how))
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it is still starting
                raise ConnectionError(how) from None
            raise AssertionError(f"{how}: {error.read().decode()}") from None

    def query(self, text):
        return self.ask("query", query=text)["result"]

    def until(self, what, seconds=120):
        end = time.monotonic() + seconds
        while True:
            try:
                if what():
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            if time.monotonic() > end or self.process.poll() is not None:
                self.log.seek(0)
                raise AssertionError(self.log.read()[-3000:])
            time.sleep(0.2)

    def stop(self):
        self.process.kill()
        self.process.wait(timeout=20)
        self.log.close()


@pytest.fixture
def scraped(machine, tmp_path):
    """scraped(machine options, export options) starts a machine, an exporter
    and a Prometheus that scrapes it; alerts fire without delay. Without machine
    options there is no machine."""
    stack = []

    def start(made, *options):
        m = machine(*made) if made else None
        exporter = Exporter(m.env if m else {}, "-i", "0.2", *options,
                            ready=m is not None)
        stack.append(exporter)
        with open(RULES, encoding="utf-8") as f:
            text = re.sub(r"^( +for: ).*", r"\g<1>0s", f.read(), flags=re.M)
        rules = tmp_path / "rules.yml"
        rules.write_text(text)
        prometheus = Prometheus(tmp_path, exporter.port, rules)
        stack.append(prometheus)
        prometheus.until(lambda: prometheus.query("up{job='gpukit'} == 1"))
        return m, exporter, prometheus

    yield start
    for one in reversed(stack):
        one.stop()


def test_the_rules_are_valid():
    assert "16 rules found" in promtool("check", "rules", RULES)


@pytest.mark.parametrize("options", [[], ["--processes", "--all", "--pcie"]])
def test_promtool_finds_no_fault_in_the_metrics(machine, options):
    e = Exporter(machine("--gpus", "h100:2,t4:1", "--load",
                         "train:0,mem=20GiB").env, "-i", "0.1", *options)
    try:
        time.sleep(0.5)
        text = e.next_metrics().text
        if "--all" in options:  # a bus width is in bits
            text = re.sub(".*gpukit_memory_bus_width_bits.*\n", "", text)
        assert promtool("check", "metrics", text=text) == ""
    finally:
        assert e.stop() == (0, "")


# Panels without data on the healthy machine below.
EMPTY = {"Reasons now"}


@pytest.mark.slow
def test_every_query_of_the_dashboard_returns_data(scraped):
    m, _, prometheus = scraped(
        ["--gpus", "h100:2", "--load", "train:0,mem=30GiB"], "--processes",
        "--pcie")
    # Counters need some readings of the slowest values.
    prometheus.until(lambda: prometheus.query(
        "count_over_time(gpukit_nvlink_transmit_bytes_total[1m]) > 5"))
    asked = list(queries())
    assert len(asked) > 35
    # A rate needs two scrapes in its range, which a busy host may miss once.
    wanted = [text for title, text in asked if title not in EMPTY]
    while wanted:
        prometheus.until(lambda: prometheus.query(wanted[-1]))
        wanted.pop()
    # Every metric that the dashboard names exists.
    known = set(prometheus.ask("label/__name__/values"))
    for _, text in asked:
        assert set(re.findall("gpukit_[a-z0-9_]+", text)) <= known
    # The queries return the state of the machine.
    prometheus.until(lambda: {
        r["metric"]["gpu"]: float(r["value"][1])
        for r in prometheus.query("gpukit_memory_used_bytes")
    } == {"0": 30 << 30, "1": 0})
    # It has asked for OpenMetrics, which names families like this.
    meta = prometheus.ask("metadata", metric="gpukit_energy_joules")
    assert meta["gpukit_energy_joules"][0]["type"] == "counter"
    assert meta["gpukit_energy_joules"][0]["unit"] == "joules"
    m.ctl("set", "1", "power=300W")
    prometheus.until(lambda: prometheus.query(
        'gpukit_power_watts{gpu="1"} == 300'))


def panels_of(name):
    """{title: queries} and {variable: metric, label} of another exporter's
    dashboard."""
    panels, variables = {}, {}
    with open(os.path.join(ROOT, "tests", "data", "dashboards", name + ".txt"),
              encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                continue
            title, query = line.rstrip("\n").split("\t")
            if title.startswith("$"):
                variables[title] = query.split()
            else:
                panels.setdefault(title, []).append(query)
    return panels, variables


def values_of(prometheus, metric, label):
    """What Grafana's label_values(metric, label) gives."""
    return {r["metric"][label] for r in prometheus.query(metric)}


def empty_panels(prometheus, panels, values):
    """The titles of panels with a query that gives nothing."""
    def fill(query):
        for variable, value in {
                "<gpu>": 'uuid="$gpu", <host>',
                "<host>": 'instance="$node", job="$job"',
                "$__rate_interval": "4s", **values}.items():
            query = query.replace(variable, value)
        return query

    return {title for title, queries in panels.items()
            if not all(prometheus.query(fill(q)) for q in queries)}


# What a board lacks: the field of nvidia-smi that is N/A, or what the panels
# are about.
MIG_PANELS = {"MIG Memory Used", "MIG SM Activity", "MIG Tensor Activity"}
LACKS = {
    "rtx-4090": MIG_PANELS | {
        "Fabric State",              # fabric.state
        "ECC Errors (uncorrected)",  # ecc.errors.*, as ecc.mode is off
        "ECC Uncorrected (detail)"},
    "h100": MIG_PANELS | {"Fan Speed %"},  # fan.speed
    "h100 split": {"Fan Speed %", "GPU Utilization %",
                   "Memory Utilization %"},  # utilization.*
}


@pytest.mark.slow
def test_the_dashboard_of_nvidia_gpu_exporter(scraped):
    """Grafana's 14574: all panels that a board can answer have a value."""
    panels, variables = panels_of("nvidia_smi")
    assert len(panels) == 40
    machine, _, prometheus = scraped(
        ["--gpus", "rtx-4090,h100:2", "--driver", "580", "--mig",
         "2=3g.40gb(2c+1c)+2g.20gb", "--load", "train:0-1,mem=8GiB",
         "--load", "train:2:0,mem=4GiB"],
        "--names", "nvidia_smi", "--processes", "--pcie")
    for gpu in range(3):
        assert machine.ctl("fail", gpu, "xid=31").returncode == 0
    prometheus.until(lambda: len(prometheus.query(
        "nvidia_smi_mig_tensor_activity_ratio")) == 2)
    fixed = {variable: values_of(prometheus, *variables[variable]).pop()
             for variable in ("$node", "$job")}
    for row in prometheus.query("nvidia_smi_index"):
        board = list(LACKS)[int(row["value"][1])]
        values = {"$gpu": row["metric"]["uuid"], **fixed}
        prometheus.until(
            lambda b=board, v=values: empty_panels(prometheus, panels, v) ==
            LACKS[b])
        print(f"{board}: {len(panels) - len(LACKS[board])} of {len(panels)}")


@pytest.mark.slow
def test_the_dashboard_of_dcgm_exporter(scraped):
    """Grafana's 12239, of two GPUs, one of which is split."""
    panels, variables = panels_of("dcgm")
    assert len(panels) == 8
    _, _, prometheus = scraped(
        ["--gpus", "h100:2", "--mig", "1=3g.40gb+2g.20gb", "--load",
         "train:0,mem=8GiB", "--load", "train:1:0,mem=4GiB"],
        "--names", "dcgm")
    prometheus.until(lambda: len(prometheus.query(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE")) == 3)
    values = {variable: "|".join(values_of(prometheus, *wanted))
              for variable, wanted in variables.items()}
    empty = empty_panels(prometheus, panels, values)
    print(f"{len(panels) - len(empty)} of {len(panels)}")
    assert empty == set()
    for title, instances in (("GPU Utilization", 3),
                             ("GPU Framebuffer Mem Used", 3),
                             ("GPU Temperature", 2)):
        query = panels[title][0].replace("$Hostname", ".*").replace(
            "$gpu", ".*")
        assert len(prometheus.query(query)) == instances, title


def firing(prometheus):
    return {(a["labels"]["alertname"], a["labels"].get("gpu"))
            for a in prometheus.ask("alerts")["alerts"]
            if a["state"] == "firing"}


# A scrape or a reading that takes too long.
LATE = {"GpukitExportDown", "GpukitGpuDown"}
FAULTS = {
    "GpukitXid": ("1", ["fail", "1", "xid=31"]),
    "GpukitHot": ("2", ["set", "2", "temperature=99"]),
    "GpukitPcieNarrow": ("3", ["fail", "3", "pcie=1x4"]),
    "GpukitEccUncorrected": ("4", ["ecc", "4", "parity", "l2", "3"]),
    "GpukitGpuDown": ("0", ["fail", "0", "lost"]),
}


@pytest.mark.slow
def test_alerts_fire_for_what_they_are_for(scraped):
    m, exporter, prometheus = scraped(["--gpus", "a100-sxm4-80gb:6"])
    prometheus.until(lambda: prometheus.query(
        "count_over_time(gpukit_xid_errors_total[1m]) > 3"))
    rules = prometheus.ask("rules")["groups"][0]["rules"]
    assert len(rules) == 16
    prometheus.until(lambda: all(
        rule["health"] == "ok" for rule in
        prometheus.ask("rules")["groups"][0]["rules"]))
    # Nothing fires except for delays on a busy host, and those end.
    assert {name for name, _ in firing(prometheus)} <= LATE
    prometheus.until(lambda: firing(prometheus) == set())
    for name, (gpu, words) in FAULTS.items():
        done = m.ctl(*words)
        assert done.returncode == 0, done.stderr
        prometheus.until(lambda n=name, g=gpu: (n, g) in firing(prometheus))
    # Nothing is reported for GPU 5, which has no fault.
    assert {name for name, gpu in firing(prometheus) if gpu == "5"} <= LATE
    prometheus.until(
        lambda: not [1 for _, gpu in firing(prometheus) if gpu == "5"])
    exporter.stop()
    prometheus.until(
        lambda: ("GpukitExportDown", None) in firing(prometheus))


def test_an_alert_fires_without_a_driver(scraped, tmp_path):
    _, _, prometheus = scraped(None, "--nvml", tmp_path / "none.so")
    prometheus.until(
        lambda: ("GpukitNoDriver", None) in firing(prometheus))
