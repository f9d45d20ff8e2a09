# SPDX-License-Identifier: Apache-2.0
"""Every NVML client sees the work of a CUDA program: the same bytes, its
utilization and heat, and nothing when it has ended."""

import csv
import json
import re
import signal
import subprocess
import sys
import time

import pytest

import cuda_programs
import peers
from conftest import GPUKIT, clean_env
from screen import Terminal
from test_agreement import agree
from test_nvitop import processes as of_nvitop, used as used_in_nvitop
from test_top_screen import rows as of_top, size

MIB = 1 << 20
BLOCK = 2 * MIB
SIZES = (1, 3 * BLOCK, 20 * (1 << 30) + 1)

UTILIZATION = """
import json, pynvml as n
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(1)
try:
    shares = {s.pid: s.smUtil
              for s in n.nvmlDeviceGetProcessUtilization(d, 0)}
except n.NVMLError_NotFound:
    shares = {}
print(json.dumps([n.nvmlDeviceGetUtilizationRates(d).gpu, shares]))
"""


class Steps:
    """Runs steps_driver on GPU 1: call it with a step, and `used` is what NVML
    must report for that GPU."""

    def __init__(self, env, empty):
        self.process = subprocess.Popen(
            [cuda_programs.driver("steps_driver"), "1"], text=True,
            env=clean_env(**env), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.empty = empty
        self.left = 0
        self.read()

    def read(self):
        self.left, self.total = map(int,
                                    self.process.stdout.readline().split())

    def __call__(self, step):
        self.process.stdin.write(f"{step}\n")
        self.process.stdin.flush()
        before = self.left
        self.read()
        return before - self.left

    @property
    def used(self):
        return self.empty - self.left

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def watched(machine):
    one = machine("--gpus", "a100-sxm4-80gb:2")
    told = json.loads(peers.run([GPUKIT, "stat", "--json"], one.env))
    gpu = told["devices"][1]
    steps = Steps(one.env, gpu["memory_free_bytes"])
    steps.env = one.env
    steps.uuid = gpu["uuid"]
    yield steps
    steps.close()


def smi(env, *args):
    text = peers.run([GPUKIT, "smi", *args, "--format=csv,noheader,nounits"],
                     env)
    return [row for row in csv.reader(text.splitlines(),
                                      skipinitialspace=True) if row]


def all_say(one):
    """All clients agree: exactly where they report bytes, rounded where they
    report MiB and GiB."""
    held = {one.pid: one.used} if one.used else {}
    gpu = agree(one)[1]
    assert (gpu["used"], gpu["processes"]) == (one.used, held)
    assert smi(one.env, "--query-gpu=memory.used", "-i", "1") == \
        [[str(one.used // MIB)]]
    assert smi(one.env,
               "--query-compute-apps=gpu_uuid,pid,used_memory") == \
        [[one.uuid, str(pid), str(size // MIB)]
         for pid, size in held.items()]
    text = peers.run([peers.NVITOP, "--once"], one.env)
    shown = of_nvitop(text).get(1, {})
    assert shown.keys() == held.keys()
    for size_ in (*shown.values(), used_in_nvitop(text)[1]):
        assert size_ == pytest.approx(one.used, rel=0.01)


def wait_for(what, patience=60):
    """Calls what() until it returns something true; returns that."""
    end = time.monotonic() + patience
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < end, "never happened"


def gone(one):
    """Its memory is free again; a reader finds a dead process within moments.
    """
    wait_for(lambda: not peers.of_pynvml(one.env)[1]["processes"])
    one.left = one.empty
    all_say(one)


def test_the_same_bytes_at_each_step(watched):
    assert watched.left < watched.empty  # a context costs something
    all_say(watched)
    for number in SIZES:
        took = watched(number)
        assert took == 0 if number == 1 else took >= number
        assert took % BLOCK == 0
        all_say(watched)
    for number in reversed(SIZES[1:]):
        assert -watched("free") >= number
    all_say(watched)


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_gone_with_the_process(watched, end):
    watched(5 << 30)
    watched("spin")
    assert agree(watched)[1]["processes"] == {watched.pid: watched.used}
    if end == "kill":
        watched.process.send_signal(signal.SIGKILL)
    else:
        watched("rest")
        watched.process.stdin.close()
    assert watched.process.wait(20) == (0 if end == "exit" else -9)
    if end == "exit":
        watched.left = watched.empty
        all_say(watched)
    else:
        gone(watched)
    wait_for(lambda: utilization(watched) == [0, {}])


def test_a_frame_of_the_viewer(watched, tmp_path):
    watched(7 << 30)
    watched("spin")
    top = Terminal([GPUKIT, "top", "--look", "nvitop"],
                  clean_env(XDG_CONFIG_HOME=str(tmp_path),
                                              **watched.env), 120, 60)

    def seen(text):
        row = [row for row in of_top(text) if int(row[1]) == watched.pid]
        return row and int(row[0][0]) == 1 and int(row[0][5]) > 30

    try:
        row, = of_top(top.wait_for(seen))
        assert size(row[4]) == pytest.approx(watched.used, rel=0.01)
        watched("rest")
        watched("free")
        top.wait_for(lambda text: [size(row[4]) < 1 << 30
                                   for row in of_top(text)] == [True])
        watched.process.send_signal(signal.SIGKILL)
        watched.process.wait()
        top.wait_for(lambda text: not of_top(text))
    finally:
        top.close()


def utilization(one):
    """The utilization of GPU 1 and of its processes, as nvidia-ml-py reports
    it."""
    total, shares = json.loads(peers.run([sys.executable, "-c", UTILIZATION],
                                         one.env))
    return [total, {int(pid): share for pid, share in shares.items()
                    if share}]


def at_work(one):
    """Checks that all clients see the kernel, both for the device and for the
    process."""
    total, shares = utilization(one)
    gpu = json.loads(peers.run([GPUKIT, "stat", "--json"],
                               one.env))["devices"][1]
    mine, = gpu["processes"]
    line = [line.split() for line in peers.run(
        [GPUKIT, "smi", "pmon", "-c", "1"], one.env).splitlines()
        if f" {one.pid} " in line]
    peer = re.findall(r"│ +(\d+)% +Default │",
                      peers.run([peers.NVITOP, "--once"], one.env))
    stat = json.loads(peers.run([peers.GPUSTAT, "--json"], one.env))
    return (total > 30 and shares.get(one.pid, 0) > 30
            and gpu["gpu_utilization_percent"] > 30
            and (mine["sm_utilization_percent"] or 0) > 30
            and line and int(line[0][3].replace("-", "0")) > 30
            and int(peer[1]) > 30
            and stat["gpus"][1]["utilization.gpu"] > 30)


def test_work_is_seen_and_makes_warm(watched):
    cold = peers.of_stat(watched.env)
    idle = utilization(watched)
    assert idle == [0, {}]
    watched("spin")
    wait_for(lambda: at_work(watched))
    # For a moment a busy host may give it no time.
    wait_for(lambda: utilization(watched)[1].keys() == {watched.pid})

    def warm():
        told = peers.of_pynvml(watched.env)[1]["power"]
        return told if told > cold[1]["power"] * 1.3 else None

    power = wait_for(warm)
    wait_for(lambda: peers.of_pynvml(watched.env)[1]["temperature"] >
             cold[1]["temperature"])
    # The other GPU is unaffected.
    assert peers.of_stat(watched.env)[0]["power"] < cold[0]["power"] * 1.1
    watched("rest")
    wait_for(lambda: utilization(watched) == [0, {}])
    wait_for(lambda: peers.of_pynvml(watched.env)[1]["power"] < power)
