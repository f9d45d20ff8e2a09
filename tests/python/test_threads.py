# SPDX-License-Identifier: Apache-2.0
"""Many threads use one object at once, and switch at every step that the
interpreter allows: each gets what one thread alone gets. The machine's clock is
stopped."""

import pytest

from conftest import GPUKIT
from python_package import check_built, program_on_machine

check_built()
program = program_on_machine

MACHINE = ("--frozen", "--gpus", "h100-80gb-hbm3:1,a100-sxm4-80gb:1",
           "--mig", "1=3g.40gb+2g.20gb", "--load", "train:0",
           "--load", "infer:1:0")

THREADS = """
import sys, threading
import gpukit
sys.setswitchinterval(1e-6)
wrong = []
def all_at_once(work, count=8, rounds=50):
    ready = threading.Barrier(count)
    def run():
        try:
            ready.wait()
            for _ in range(rounds):
                work()
        except BaseException as error:
            wrong.append(repr(error))
    threads = [threading.Thread(target=run) for _ in range(count)]
    for t in threads: t.start()
    for t in threads: t.join()
    print(wrong[:3], flush=True)
    wrong.clear()
def same(value, expected):
    if value != expected:
        wrong.append((value, expected))
"""


def test_one_device_serves_all(program):
    out = program(THREADS + """
d = gpukit.Device(0)
def values():
    return (d.memory_info(), d.clock_infos(), d.power_usage(), d.fan_speed(),
            d.reason("fan_speed"), d.name(), d.utilization_rates())
expected = values()
all_at_once(lambda: same(values(), expected))
def shot():
    with d.oneshot():
        same(values(), expected)
        with d.oneshot():
            same(d.memory_used(), expected[0].used)
all_at_once(shot)
print(d._cache is None)
items = {k: v for k, v in dict(d.as_snapshot()).items()}
all_at_once(lambda: same(dict(d.as_snapshot()), items))
""", *MACHINE)
    assert out.split() == ["[]", "[]", "True", "[]"]


def test_first_uses_at_once_are_one(program):
    """What is imported, opened and made at the first use."""
    out = program(THREADS + """
def first():
    same(gpukit.Device.UUID_PATTERN.match("x"), None)
    same(gpukit.Device.GPU_PROCESS_CLASS, gpukit.GpuProcess)
    same(gpukit.host.pid_exists(1), True)
    same(gpukit.HostProcess().pid > 0, True)
    same(gpukit.utils.SIZE_PATTERN.match("x"), None)
    same(gpukit.libnvml.NVMLError_NotFound().value, 6)
    same(len(gpukit.Device.all()), 2)
    same(gpukit.Device(0).energy_joules() > 0, True)
all_at_once(first, rounds=3)
""", *MACHINE)
    assert out.split() == ["[]"]


def test_snapshots_at_once_are_whole(program):
    out = program(THREADS + """
def told(shots):
    return ([(s.index, s.memory_used, s.name) for s in shots.devices],
            [(p.pid, p.gpu_memory, p.device.index, p.command)
             for p in shots.gpu_processes])
expected = told(gpukit.take_snapshots())
print(len(expected[0]), len(expected[1]))
last = threading.local()
def take():
    shots = gpukit.take_snapshots()
    same(told(shots), expected)
    now = shots.devices[0].timestamp
    same(now >= getattr(last, "time", 0), True)
    last.time = now
all_at_once(take)
shots = gpukit.take_snapshots()
def fill():
    for shot in (*shots.devices, *shots.gpu_processes):
        same(len(repr(shot)) > 100, True)
    same(told(shots), expected)
all_at_once(fill, rounds=5)
""", *MACHINE)
    assert out.split() == ["4", "2", "[]", "[]"]


def test_a_process_is_one_object_for_all(program):
    out = program(THREADS + """
d = gpukit.Device(0)
pid, held = next(iter(d.processes().items()))
host = held.host
memory = held.gpu_memory()
def ask():
    found = d.processes()[pid]
    same(found is held, True)
    same(gpukit.HostProcess(pid) is host, True)
    same((found.gpu_memory(), found.type), (memory, "C"))
all_at_once(ask)
del held, host
all_at_once(lambda: same(d.processes()[pid].gpu_memory(), memory))
""", *MACHINE)
    assert out.split() == ["[]"] * 2


def test_one_collector_serves_all(program):
    out = program(THREADS + """
c = gpukit.ResourceMetricCollector(interval=0.001)
key = "main/gpu:0/memory_used (MiB)"
with c(tag="main"):
    names = set(c.collect())
    used = c.collect()[key + "/last"]
    def ask():
        metrics = c.collect()
        same(names <= set(metrics), True)
        same([round(metrics[f"{key}/{s}"], 6) for s in (
            "mean", "min", "max", "last")], [round(used, 6)] * 4)
        c.take_snapshots()
    all_at_once(ask, rounds=20)
tags = threading.local()
def nest():
    tag = f"{threading.get_ident()}"
    c.activate(tag)
    try:
        c.collect()
    except RuntimeError:
        pass       # an outer tag of another thread ended, and this within it
    try:
        c.deactivate(tag)
    except RuntimeError:
        pass
all_at_once(nest, rounds=20)
print(c._buffers)
""", *MACHINE)
    assert out.split() == ["[]", "[]", "[]"]


def test_a_cache_at_once_calls_little(program):
    out = program(THREADS + """
calls = []
@gpukit.ttl_cache(maxsize=4, ttl=1e9)
def slow(x):
    calls.append(x)
    return x * 2
all_at_once(lambda: [same(slow(x), 2 * x) for x in range(4)])
info = slow.cache_info()
print(info.currsize, info.hits + info.misses == 8 * 50 * 4,
      info.misses == len(calls) <= 8 * 4)
""", *MACHINE)
    assert out.split() == ["[]", "4", "True", "True"]


POOL = """
import gpukit, multiprocessing
def ask(device):
    return (device.name(), device.memory_used(), device.as_snapshot(),
            len(device.processes()))
if __name__ == "__main__":
    devices = [gpukit.Device(0), gpukit.Device((1, 0)), gpukit.CudaDevice(0)]
    expected = list(map(ask, devices))
    gpukit.take_snapshots()
    with multiprocessing.get_context(METHOD).Pool(2) as pool:
        told = pool.map(ask, devices * 4)
    print(all(a[:2] == b[:2] and a[3] == b[3] and dict(a[2]) == dict(b[2])
              and a[2].real == b[2].real
              for a, b in zip(told, expected * 4)), len(told))
"""


def test_pools_of_processes_give_and_take_devices(program, tmp_path):
    for method in ("fork", "spawn", "forkserver"):
        path = tmp_path / "pool.py"
        path.write_text(POOL.replace("METHOD", repr(method)))
        out = program("import runpy, sys\n"
                      f"sys.path.insert(0, {str(tmp_path)!r})\n"
                      f"sys.argv = [{str(path)!r}]\n"
                      "import subprocess\n"
                      "print(subprocess.run([sys.executable, *sys.argv], "
                      "text=True, capture_output=True, check=True).stdout)",
                      *MACHINE)
        assert out.split() == ["True", "12"], method


def test_an_error_has_the_code_and_the_name(program):
    pytest.importorskip("pynvml")
    out = program("""
import gpukit, subprocess
from gpukit import libnvml
ctl = ["COMMAND", "fake", "ctl"]
for code in (3, 4, 6, 15, 17):
    name = gpukit.NVMLError(code).name
    subprocess.run([*ctl, "fail", f"nvmlDeviceGetHandleByPciBusId_v2={name}"],
                   check=True)
    try:
        libnvml.nvmlDeviceGetHandleByPciBusId(b"0000:07:00.0")
    except gpukit.NVMLError as error:
        print(error.value == code, error.name == name, str(error) != "",
              type(error) is libnvml.nvmlExceptionClass(code),
              isinstance(error, Exception))
try:
    gpukit.Device(7)
except libnvml.NVMLError_InvalidArgument as error:
    print(error.value, error.name, repr(error))
""".replace("COMMAND", GPUKIT), "--gpus", "h100:1")
    assert out.splitlines() == ["True True True True True"] * 5 + [
        "2 NVML_ERROR_INVALID_ARGUMENT NVMLError_InvalidArgument(2)"]
