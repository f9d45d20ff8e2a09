# SPDX-License-Identifier: Apache-2.0
"""The released nvitop-exporter runs unchanged on gpukit under nvitop's name:
its collector class reports the same as on nvitop, on a machine whose clock is
stopped, and its command serves that."""

import re
import socket
import subprocess
import sys
import urllib.request

import pytest

from conftest import Machine, clean_env, needed
from python_package import PACKAGE, check_built, run

check_built()
needed("nvitop_exporter", "the test of the exporter")

NAMED = """
import sys, importlib
package = sys.argv[1]
sys.argv[1:2] = []
if package != "nvitop":
    sys.modules["nvitop"] = importlib.import_module(package)
"""

COLLECT = NAMED + """
import prometheus_client as p
from nvitop import Device
from nvitop_exporter import PrometheusExporter
registry = p.CollectorRegistry()
gpus = Device.all()
devices = [leaf for gpu in gpus for leaf in gpu.to_leaf_devices()]
exporter = PrometheusExporter(devices, hostname="h", registry=registry)
for _ in range(2):
    exporter.update_host()
    for device in devices:
        exporter.update_device(device)
print(p.generate_latest(registry).decode())
assert ("nvitop.api" in sys.modules) == (package == "nvitop")
"""

# Metrics that differ in any two runs, by the end of their names.
MOVES = re.compile(r"host_(?!.*_total)|running_time|cpu_percent|rss_memory|"
                   r"process_memory_percent|_created")


@pytest.fixture(scope="module", name="made_up")
def made_up_machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("machine") / "m", "--frozen",
                      "--gpus", "h100-80gb-hbm3:1,a100-sxm4-80gb:1",
                      "--mig", "1=3g.40gb+2g.20gb",
                      "--load", "train:0", "--load", "infer:1:0")
    yield machine
    machine.stop()


def series(text):
    """series -> value."""
    return dict(line.rsplit(" ", 1) for line in text.splitlines()
                if line and line[0] != "#")


def families(text):
    return {line for line in text.splitlines() if line.startswith("# ")}


def test_the_collector_tells_what_it_tells_on_nvitop(made_up):
    theirs, ours = (run(COLLECT, package, **made_up.env)
                    for package in ("nvitop", "gpukit"))
    assert families(theirs) == families(ours)
    theirs, ours = series(theirs), series(ours)
    assert theirs.keys() == ours.keys() and len(ours) > 120
    wrong = {key: (value, ours[key]) for key, value in theirs.items()
             if value != ours[key] and not MOVES.search(key)}
    # A share that the driver does not report is NA, not 0: a row of PYTHON.md.
    shares = {key for key, values in wrong.items()
              if "_utilization" in key and key.startswith("process_")
              and values == ("0.0", "NaN")}
    assert {key: wrong[key] for key in wrong.keys() - shares} == {}


def test_its_command_serves(made_up):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    command = subprocess.Popen(
        [sys.executable, "-c", NAMED + "from nvitop_exporter.cli import main\n"
         "sys.exit(main())", "gpukit", "--port", str(port), "--interval",
         "0.25"], text=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=clean_env(PYTHONPATH=PACKAGE, **made_up.env))
    try:
        for line in command.stderr:
            if "Start the exporter" in line or "http" in line:
                break
        served = {}
        while sum(key.startswith("gpu_memory_used_MiB{")
                  for key in served) < 3:  # it fills them in one after another
            assert command.poll() is None
            with urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
                served = series(answer.read().decode())
    finally:
        command.kill()
        command.communicate()
