# SPDX-License-Identifier: Apache-2.0
"""Defects of nvitop that gpukit must not have, on the fake machine."""

import pytest

import can
from conftest import GPUKIT
from python_package import check_built, program_on_machine

check_built()
program = program_on_machine

COLLECT = """
import os, subprocess, sys, threading, time
import gpukit
from gpukit import ResourceMetricCollector
from gpukit.collector import timer
"""


def test_a_snapshot_does_not_pay_for_pcie_unless_asked(program):
    out = program("""
import gpukit
with gpukit.timings() as t:
    shot = gpukit.Device(0).as_snapshot()
    before = [r.name for r in t.rows]
    shot.pcie_throughput
    asked = [r.name for r in t.rows]
print("nvmlDeviceGetPcieThroughput" in before,
      "nvmlDeviceGetPcieThroughput" in asked, len(gpukit.Device(0).as_snapshot(
      pcie=True)))
""", "--gpus", "h100:1")
    assert out.split() == ["False", "True", "43"]


def test_snapshots_with_na_cross_processes(program):
    out = program("""
import gpukit, pickle
shot = pickle.loads(pickle.dumps(gpukit.Device(0).as_snapshot()))
print(shot.fan_speed is gpukit.NA, shot.real == gpukit.Device(0))
""", "--gpus", "h100:1")
    assert out.split() == ["True", "True"]


def test_every_absence_has_a_reason(program):
    out = program("""
import gpukit
d = gpukit.Device(0)
print(d.fan_speed(), bool(d.reason("fan_speed")),
      repr(d.reason("temperature")))
""", "--gpus", "h100:1")
    assert out.split() == ["N/A", "True", "''"]


def test_the_sampler_starts_again_with_a_new_tag(program):
    out = program(COLLECT + """
c = ResourceMetricCollector(interval=0.05, root_pids=())
for tag in "ab":
    seen = threading.Event()
    with c(tag=tag):
        c._lock.acquire(); real = c._sample
        c._sample = lambda real=real, seen=seen: (real(), seen.set())[0]
        c._lock.release()
        print(seen.wait(30))
        thread = c._thread
    thread.join(30)
    print(thread.is_alive())
""", "--gpus", "h100:1")
    assert out.split() == ["True", "False"] * 2


def test_the_default_root_is_this_process_and_its_children(program):
    out = program("""
import os, gpukit
from gpukit import ResourceMetricCollector
pid = int(list(gpukit.Device(0).processes())[0])
parent = gpukit.host.ppid_map()[pid]
for roots in ({parent}, {pid}, {os.getpid()}, set(), None):
    c = ResourceMetricCollector(root_pids=roots)
    with c(tag="t"):
        print(sum(f"pid:{pid}/" in key for key in c.collect()))
c = ResourceMetricCollector()
print(c.root_pids == {os.getpid()})
""", "--gpus", "h100:1", "--load", "train:0").split()
    # 8 metrics with 4 numbers, a running time with 2
    assert out == ["30", "30", "0", "0", "0", "True"]


def test_a_running_time_is_exact(program):
    """Compared with the kernel's own clock, to its hundredths."""
    out = program("""
import gpukit
def uptime():
    with open("/proc/uptime") as f:
        return float(f.read().split()[0])
before = uptime()
shot = gpukit.take_snapshots().gpu_processes[0]
after = uptime()
with open(f"/proc/{shot.pid}/stat", "rb") as f:
    began = int(f.read().rpartition(b")")[2].split()[19]) / 100
told = shot.running_time_in_seconds
print(before - began - 0.02 <= told <= after - began + 0.02)
""", "--gpus", "h100:1", "--load", "idle:0")
    assert out.strip() == "True"


def test_a_mig_slot_without_a_device_is_passed_over(program):
    pytest.importorskip("pynvml")
    can.need("rights-of-root")
    out = program("""
import gpukit, pynvml as n
gpu = gpukit.Device(0)
last = gpu.mig_devices()[-1]
first = gpu.mig_devices()[0]
n.nvmlInit()
handle = n.nvmlDeviceGetHandleByIndex(0)
gi = n.nvmlDeviceGetGpuInstanceById(handle, first.gpu_instance_id())
n.nvmlComputeInstanceDestroy(n.nvmlGpuInstanceGetComputeInstanceById(
    gi, first.compute_instance_id()))
n.nvmlGpuInstanceDestroy(gi)
left = gpukit.Device(0).mig_devices()
print(len(left), [d.uuid() for d in left] == [last.uuid()],
      [d.index for d in left], [d.index for d in gpukit.MigDevice.all()],
      gpukit.MigDevice.count(), sep="|")
""", "--gpus", "a100-sxm4-80gb:1", "--mig", "0=3g.40gb+2g.20gb")
    assert out.strip() == "1|True|[(0, 1)]|[(0, 1)]|1"


def collected(samples, now):
    """name -> number, for a value with these samples since 0.0."""
    from test_values import utils  # noqa: F401  (finds the package)
    from gpukit._metrics import Buffer

    buffer = Buffer("tag", "tag", 0.0, 0.0)
    for value, when in samples:
        buffer.add(("a",) if value is not None else (),
                   [value] if value is not None else [], when, when)
    return {key[len("tag/a/"):]: number for key, number in
            buffer.collect(now, now).items() if key.startswith("tag/a/")}


def test_a_lost_gpu_hides_no_other(program):
    out = program("""
import gpukit, subprocess
whole = gpukit.Device(1)
uuid, bus = whole.uuid(), whole.bus_id()
subprocess.run(["COMMAND", "fake", "ctl", "fail", "1", "lost"], check=True)
lost = gpukit.Device(1)
print(len(gpukit.Device.all()), gpukit.Device.all()[2].name() != lost.name(),
      gpukit.select_devices(), sep="|")
print(lost, lost.uuid(), lost.handle, lost.processes(), lost.mig_devices(),
      lost.max_mig_device_count(), lost.nvlink_throughput(),
      lost.memory_info().total, lost.as_snapshot().temperature, sep="|")
print([d.real.name()[:5] for d in gpukit.take_snapshots().devices],
      len(gpukit.MigDevice.all()), sep="|")
for named in ({"uuid": uuid}, {"bus_id": bus}):
    try:
        print(gpukit.Device(**named).index)
    except gpukit.NVMLError as error:
        print(repr(error), error.name)
""".replace("COMMAND", GPUKIT), "--gpus", "h100:3", "--frozen")
    assert out.splitlines() == [
        "3|True|[2, 0]",
        "PhysicalDevice(index=1, name='ERROR: GPU is Lost', total_memory=N/A)"
        "|N/A|None|{}|[]|0|[]|N/A|N/A",
        "['NVIDI', 'ERROR', 'NVIDI']|0"] + [
        "NVMLError_GpuIsLost(15) NVML_ERROR_GPU_IS_LOST"] * 2


def test_a_mean_is_of_time():
    """10 for 2 s before the first sample, rising to 20 within 2 s, then 20 for
    1 s."""
    assert collected([(10.0, 2.0), (20.0, 4.0)], 5.0) == {
        "mean": (20 + 30 + 20) / 5, "min": 10.0, "max": 20.0, "last": 20.0}


@pytest.mark.parametrize("missed", [float("nan"), None])
def test_time_without_a_value_does_not_count(missed):
    found = collected([(10.0, 0.0), (10.0, 1.0), (missed, 2.0), (40.0, 9.0),
                       (40.0, 10.0)], 10.0)
    assert found["mean"] == (10 * 1 + 40 * 1) / 2
    assert (found["min"], found["max"], found["last"]) == (10.0, 40.0, 40.0)


def test_a_change_of_cuda_device_order_is_seen(program):
    out = program("""
import os, gpukit
print(gpukit.parse_cuda_visible_devices("0,00"),
      gpukit.parse_cuda_visible_devices("+1,0"))
os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
print(gpukit.parse_cuda_visible_devices("0"))
os.environ["CUDA_DEVICE_ORDER"] = "FASTEST_FIRST"
print(gpukit.parse_cuda_visible_devices("0"))
""", "--gpus", "t4:1,h100:1")
    # CUDA refuses a GPU given twice, however it is written; strtol accepts a
    # sign.
    assert out.splitlines() == ["[] [0, 1]", "[0]", "[1]"]


def test_an_ordinal_and_another_index_are_refused(program):
    out = program("""
import gpukit
try:
    gpukit.CudaDevice(0, nvml_index=1)
except RuntimeError as error:
    print("refused")
""", "--gpus", "h100:2")
    assert out.strip() == "refused"


def test_wrong_wishes_are_errors_without_asserts(program):
    out = program("""
import gpukit
for wish in ({"format": "x"}, {"tolerance": -1}, {"min_count": -1}):
    try:
        gpukit.select_devices(**wish)
    except ValueError:
        print("refused")
""", "--gpus", "h100:1")
    assert out.split() == ["refused"] * 3


def test_a_shell_reads_a_command_line_back(program):
    """Each character alone, at either end, and in the middle."""
    out = program("""
import subprocess
from gpukit import command_join
signs = [chr(code) for code in range(1, 128)] + ["\\u00e9", "'\\"", "$'\\""]
words = ["", *signs] + [word for sign in signs for word in (
    sign + "b", "a" + sign, "a" + sign + "b", "a " + sign)]
line = command_join(["printf", "%s\\\\0", *words])
read = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
print([each for each in zip(words, read.stdout.decode().split("\\0"))
       if each[0] != each[1]], len(words), command_join(["--lr=0.1", "a/b:c@d"]))
""", "--gpus", "none")
    assert out.splitlines() == ["[] 651 --lr=0.1 a/b:c@d"]


def test_importing_loads_nothing_heavy(program):
    out = program("""
import subprocess, sys
code = "import sys; a = set(sys.modules); import gpukit; gpukit.Device; " \\
       "gpukit.GpuProcess; gpukit.take_snapshots(); gpukit.host; " \\
       "gpukit.select_devices; print(*set(sys.modules) - a)"
print(subprocess.run([sys.executable, "-S", "-c", code], text=True,
                     capture_output=True).stdout)
""", "--gpus", "none").split()
    assert set(out) >= {"gpukit", "gpukit.device"}
    assert not set(out) & {"re", "typing", "inspect", "logging", "psutil",
                           "ctypes", "threading", "collections", "datetime"}


def test_a_change_of_mig_devices_is_seen(program):
    """nvitop caches what a value of CUDA_VISIBLE_DEVICES meant."""
    out = program("""
import gpukit, subprocess
ctl = ["COMMAND", "fake", "ctl", "mig", "0"]
print(gpukit.parse_cuda_visible_devices("0"))
subprocess.run([*ctl, "destroy", "1"], check=True)
subprocess.run([*ctl, "destroy", "2"], check=True)
subprocess.run([*ctl, "off"], check=True)
print(gpukit.parse_cuda_visible_devices("0"))
""".replace("COMMAND", GPUKIT), "--gpus", "a100-sxm4-80gb:1",
                  "--mig", "0=3g.40gb+3g.40gb")
    assert out.splitlines() == ["[(0, 0)]", "[0]"]


def test_a_count_of_links_of_a_lost_gpu_does_not_stay(program):
    out = program("""
import gpukit, subprocess
ctl = ["COMMAND", "fake", "ctl"]
d = gpukit.Device(0)
before = d.nvlink_link_count()
subprocess.run([*ctl, "fail", "0", "lost"], check=True)
lost = gpukit.Device(0)
print(d.nvlink_link_count(), lost.nvlink_link_count())
subprocess.run([*ctl, "clear", "0", "lost"], check=True)
print(before > 0, d.nvlink_link_count() == before,
      lost.nvlink_link_count() == before)
""".replace("COMMAND", GPUKIT), "--gpus", "h100:8")
    assert out.splitlines() == ["0 0", "True True True"]


def test_an_interval_counts_within_a_oneshot(program):
    out = program("""
import gpukit, time
slept = []
time.sleep = slept.append
d = gpukit.Device(0)
with d.oneshot():
    for interval in (0.5, 0.25):
        d.nvlink_throughput(interval=interval)
print(slept)
""", "--gpus", "h100:2")
    assert out.strip() == "[0.5, 0.25]"


def test_a_type_of_a_process_can_go_back(program):
    out = program("""
import gpukit
p = next(iter(gpukit.Device(0).processes().values()))
p.type = "C+G"
gpukit.Device(0).processes()
print(p.type)
""", "--gpus", "h100:1", "--load", "idle:0")
    assert out.strip() == "C"


def test_cpu_time_is_known_though_nobody_keeps_the_process(program):
    """nvitop forgets it with the last reference, and reports 0 again."""
    out = program("""
import gpukit, os, time
def cpu():
    return gpukit.take_snapshots().gpu_processes[0].cpu_percent
print(cpu())
began = os.times().elapsed
while os.times().elapsed < began + 0.3:
    pass
print(type(cpu()).__name__)
""", "--gpus", "h100:1", "--load", "idle:0")
    assert out.split() == ["N/A", "float"]


def test_a_lost_gpu_is_not_visible_to_cuda(program):
    """CUDA itself, loaded afterwards, confirms it."""
    out = program("""
import gpukit, os, subprocess, sys
uuids = [device.uuid() for device in gpukit.Device.all()]
subprocess.run(["COMMAND", "fake", "ctl", "fail", "1", "lost"], check=True)
for value in "0,1,2,3", "2,0", "1", "3", uuids[1] + "," + uuids[2]:
    parsed = gpukit.parse_cuda_visible_devices(value)
    witness = subprocess.run(
        [sys.executable, "-c", WITNESS], text=True, capture_output=True,
        env=dict(os.environ, CUDA_VISIBLE_DEVICES=value))
    assert witness.stdout.split() == [uuids[i][4:] for i in parsed], (
        value, parsed, witness)
    print(parsed)
""".replace("COMMAND", GPUKIT).replace("WITNESS", repr("""
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
count, uuid = ctypes.c_int(), (ctypes.c_uint8 * 16)()
cuda.cuInit(0)
cuda.cuDeviceGetCount(ctypes.byref(count))
for i in range(count.value):
    cuda.cuDeviceGetUuid_v2(uuid, i)
    text = bytes(uuid).hex()
    print("-".join([text[:8], text[8:12], text[12:16], text[16:20],
                    text[20:]]))
""")), "--gpus", "h100:4", "--frozen")
    assert out.splitlines() == ["[0, 2, 3]", "[3, 0]", "[2]", "[]", "[]"]


def test_a_late_gpu_is_waited_for_and_one_that_hangs_is_told(program):
    out = program("""
import gpukit, subprocess, warnings
def ctl(*words):
    subprocess.run(["COMMAND", "fake", "ctl", *words], check=True)
warnings.simplefilter("error")
ctl("set", "latency.nvmlDeviceGetMemoryInfo=1200ms")
print(gpukit.select_devices(sort=False))
ctl("set", "latency.nvmlDeviceGetMemoryInfo=0ms")
ctl("fail", "1", "hang")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print(gpukit.select_devices())
print(*{str(one.message) for one in told}, [one.filename for one in told])
ctl("clear", "1")
""".replace("COMMAND", GPUKIT), "--gpus", "h100:2")
    assert out.splitlines() == [
        "[0, 1]", "[0]", "GPU 1 does not answer: it is not chosen ['<string>']"]
