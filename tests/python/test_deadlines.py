# SPDX-License-Identifier: Apache-2.0
"""When a GPU hangs, every call continues at its deadline, says what is late,
and neither hides nor delays any other GPU."""

import pytest

from conftest import GPUKIT
from python_package import check_built, program_on_machine

check_built()
program = program_on_machine


BEGIN = """
import os, subprocess, sys, threading, time
import gpukit
from gpukit import Device, libnvml
def ctl(*args):
    subprocess.run(["COMMAND", "fake", "ctl", *args], check=True,
                   capture_output=True)
def timed(call):
    began = time.monotonic()
    told = call()
    seconds = time.monotonic() - began
    assert seconds < 4, (call, seconds)
    return told
def threads():
    return len(os.listdir("/proc/self/task"))
gpukit.set_deadline(0.5)
""".replace("COMMAND", GPUKIT)
MACHINE = ("--gpus", "h100:3", "--load", "train:0,mem=3GiB", "--load",
           "train:1,mem=3GiB")


@pytest.fixture(name="hung")
def program_with_a_gpu_that_hangs(program):
    """hung(CODE): GPU 0 hangs, or the code makes it hang."""
    return lambda code: program(BEGIN + code, *MACHINE)


# Each runs in a new process, whose first question hangs.
FRESH = {
    "Device.all": "[d.index for d in Device.all()] == [0, 1, 2]",
    "Device.count": "Device.count() == 3",
    "Device": "Device(0).temperature() == 'N/A' "
              "and Device(0).reason('temperature').startswith('no answer for')",
    "is_available": "Device.is_available()",
    "from_indices": "len(Device.from_indices()) == 3",
    "MigDevice.all": "gpukit.MigDevice.all() == []",
    "uuid": "Device(uuid=Device(1).uuid()).index == 1",
    "cuda.all": "[d.index for d in Device.cuda.all()] == [0, 1, 2]",
    "parse": "gpukit.parse_cuda_visible_devices('1') == [1]",
    "take_snapshots":
        "[s.stale for s in gpukit.take_snapshots().devices] == "
        "[True, False, False]",
    "take_snapshots of devices":
        "[s.stale for s in gpukit.take_snapshots(Device.all()).devices] == "
        "[True, False, False]",
    "as_snapshot": "Device(0).as_snapshot().stale",
    "collector": "gpukit.ResourceMetricCollector().activate('x').collect()"
                 "['x/gpu:1/memory_total (MiB)/last'] > 0",
    "processes": "Device(0).processes() == {} and len(Device(1).processes())",
    "links": "Device(0).nvlink_link_count() == 0",
    "select_devices": "gpukit.select_devices(min_count=1) == [2, 1]",
    "handle": "Device(0).handle is None and Device(1).handle",
    "nvmlQuery": "libnvml.nvmlQuery('nvmlDeviceGetHandleByIndex', 0) == 'N/A'",
    "summary": "gpukit.__main__.main([]) == 0",
}


@pytest.mark.parametrize("what", FRESH)
def test_a_fresh_process_goes_on(hung, what):
    if what == "nvmlQuery":
        pytest.importorskip("pynvml")
    more = "import gpukit.__main__\n" if what == "summary" else ""
    out = hung(more + "import warnings; warnings.simplefilter('ignore')\n"
               f"ctl('fail', '0', 'hang')\n"
               f"print(bool(timed(lambda: {FRESH[what]})))")
    assert out.splitlines()[-1] == "True"


def test_values_of_before_are_not_those_of_now(hung):
    """Late values are NA, with a reason and an age, beside the rest of the
    machine."""
    out = hung("""
gpukit.take_snapshots()
ctl("fail", "0", "hang")
first = timed(gpukit.take_snapshots)
time.sleep(1.5)
shot = timed(gpukit.take_snapshots)
late, well = shot.devices[:2]
print(late.temperature, late.memory_used, late.stale, 1.5 < late.age < 60)
print(late.name == well.name, late.timestamp == well.timestamp)
print(well.temperature != "N/A", well.stale, well.age < 0.5)
for process in shot.gpu_processes:
    print(process.stale, process.gpu_memory != "N/A", process.pid > 0)
words = late.real.reason("temperature").split()
print(words[:3], 1 <= int(words[3]) < 60, words[4])
print(late.max_sm_clock, Device(1).reason("temperature") == "")
""")
    assert out.splitlines() == [
        "N/A N/A True True", "True True", "True False True",
        "True False True", "False True True",
        "['no', 'answer', 'for'] True s", "N/A True"]


def test_a_collector_waits_no_longer_than_its_interval(hung):
    out = hung("""
c = gpukit.ResourceMetricCollector(interval=1.0)
c.activate("a")
c.collect()
ctl("fail", "0", "hang")
ctl("set", "0", "temperature=91")
ctl("set", "1", "temperature=91")
time.sleep(1.2)
for _ in range(3):
    m = timed(c.collect)
    time.sleep(1.0)
print(m["a/gpu:0/temperature (C)/last"], m["a/gpu:1/temperature (C)/last"])
""")
    assert out.split() == ["nan", "91.0"]


def test_it_answers_again(hung):
    out = hung("""
ctl("fail", "0", "hang")
d = Device(0)
print(d.temperature(), d.name())
ctl("clear", "0")
while Device(0).temperature() == "N/A":
    time.sleep(0.01)
while gpukit.take_snapshots().devices[0].stale:
    time.sleep(0.01)
while Device(0).reason("temperature") or Device(0).name().startswith("ERROR"):
    time.sleep(0.01)  # a busy host is late, too
print(Device(0).name())
""")
    assert out.splitlines() == ["N/A ERROR: Unknown",
                                "NVIDIA H100 80GB HBM3"]


def test_one_thread_stays_in_a_gpu_that_hangs(hung):
    """However often it is asked, and by whatever call."""
    out = hung("""
asks = [Device(0).temperature, Device(0).as_snapshot, Device(0).processes,
        Device.all, Device.cuda.all, gpukit.take_snapshots,
        lambda: gpukit.select_devices([Device(1)])]
for ask in asks:
    ask()
before = threads()
ctl("fail", "0", "hang")
for ask in asks * 2:
    timed(ask)
print(threads() - before)
timed(lambda: [asks[0]() for _ in range(10000)])
for ask in asks * 20:
    timed(ask)
print(threads() - before)
""")
    one_a_gpu = 3
    assert all(int(more) <= one_a_gpu for more in out.split()), out


def test_other_threads_go_on_meanwhile(hung):
    """The GIL is released during a wait."""
    out = hung("""
gpukit.set_deadline(2.0)
ctl("fail", "0", "hang")
told = []
waiting = threading.Thread(target=lambda: told.append(
    Device(0).temperature()))
waiting.start()
turns = 0
while not told and turns < 1000:
    assert Device(1).temperature() != "N/A"
    turns += 1
waiting.join()
print(turns > 100, told)
""")
    assert out.split() == ["True", "['N/A']"]


def test_a_forked_child_has_threads_of_its_own(hung):
    out = hung("""
import warnings
warnings.simplefilter("ignore")
gpukit.take_snapshots(), Device(1).temperature()
ctl("fail", "0", "hang")
Device(0).temperature(), gpukit.take_snapshots()
pid = os.fork()
if not pid:
    well = timed(Device(0).temperature) == "N/A" \\
        and Device(1).temperature() != "N/A" \\
        and timed(gpukit.take_snapshots).devices[0].stale
    os._exit(0 if well else 1)
print(os.waitpid(pid, 0)[1])
""")
    assert out.split() == ["0"]


def test_the_start_of_the_driver_has_a_deadline(hung):
    out = hung("""
gpukit.set_deadline(0.2)
ctl("fail", "all", "nvmlDeviceGetCount_v2=hang")
for _ in range(3):
    try:
        timed(Device.count)
    except gpukit.NVMLError as error:
        print(error.value)
print(timed(Device.all))
ctl("clear", "all")
while not Device.all():
    time.sleep(0.01)
print(Device.count())
""")
    assert out.split() == ["10", "10", "10", "[]", "3"]


def test_functions_of_nvidia_ml_py_have_it_too(hung):
    pytest.importorskip("pynvml")
    out = hung("""
h = libnvml.nvmlDeviceGetHandleByIndex(0)
well = libnvml.nvmlDeviceGetHandleByIndex(1)
ctl("fail", "0", "hang")
print(libnvml.nvmlQuery("nvmlDeviceGetName", h))
print(timed(lambda: libnvml.nvmlQuery("nvmlDeviceGetName", well)))
try:
    timed(lambda: libnvml.nvmlDeviceGetTemperature(h, 0))
except libnvml.NVMLError_Timeout as error:
    print(error.value)
before = threads()
timed(lambda: [libnvml.nvmlQuery("nvmlDeviceGetName", h)
               for _ in range(1000)])
print(threads() == before)
""")
    assert out.splitlines() == ["N/A", "NVIDIA H100 80GB HBM3", "10", "True"]


def test_functions_of_libcuda_have_it_too(hung):
    """With a library that is slow for one device, and fast for the others."""
    out = hung("""
from gpukit import libcuda
class Slow:
    def cuAsk(self, device):
        return time.sleep(60) if device == 0 else 0
libcuda._driver._opened = Slow()
for _ in range(3):
    try:
        timed(lambda: libcuda._driver.call("cuAsk", 0))
    except libcuda.CUDAError_Timeout as error:
        print(error.value)
timed(lambda: libcuda._driver.call("cuAsk", 1))
""")
    assert out.split() == ["909"] * 3


@pytest.mark.parametrize("value", ["0", "-1", "float('nan')", "1e12",
                                   "float('inf')"])
def test_a_deadline_is_a_time(program, value):
    out = program(f"""
import gpukit
try:
    gpukit.set_deadline({value})
except ValueError as error:
    print(error)
gpukit.set_deadline(2)
print(core.deadline())
""", "--gpus", "h100:1")
    assert out.splitlines() == ["deadline must be a millisecond to a year", "2.0"]


def test_one_thread_waits_whatever_is_asked_for(hung):
    """The sets of metrics asked for last are kept."""
    out = hung("""
core = gpukit._core
gpukit.set_deadline(0.2)
ctl("fail", "0", "hang")
def ask(first):
    for metric in range(first, first + 20):
        assert core.snapshot(core.WITHOUT_BOARD, (metric, 0)).healths[0] == 2
ask(1)
before = threads()
ask(21)
ask(41)
print(threads() - before)
""")
    assert int(out) <= 0


def test_all_threads_have_the_whole_machine(hung):
    """One thread waits for the GPU; the others wait for that thread."""
    out = hung("""
gpukit.take_snapshots()
ctl("fail", "0", "hang")
counts = []
def shoot():
    for _ in range(5):
        counts.append(len(gpukit.take_snapshots().devices))
threads = [threading.Thread(target=shoot) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(counts), set(counts))
""")
    assert out == "80 {3}\n"


def test_an_interrupted_call_harms_no_later_one(program):
    out = program(BEGIN + """
import signal
from gpukit._deadline import call_within
armed = stop = False
def interrupt(*_):
    if armed:
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)
def poke():
    while not stop:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.0005)
poker = threading.Thread(target=poke)
poker.start()
interrupted = 0
while interrupted < 2000:
    try:
        armed = True
        while True:
            call_within(os.getpid, (), {})
    except KeyboardInterrupt:
        armed = False
        interrupted += 1
stop = True
poker.join()
print(call_within(os.getpid, (), {}) == os.getpid())
""", "--gpus", "h100:1")
    assert out == "True\n"


def test_what_starts_the_driver_may_take_longer(program):
    """Other calls may not: each call's own limit counts."""
    out = program(BEGIN + """
from gpukit._deadline import STARTS_SLOWER, call_within
gpukit.set_deadline(0.2)
def tell(slower):
    try:
        return call_within(lambda: time.sleep(0.5) or "ready", (), {},
                           slower=slower)
    except gpukit.NVMLError as error:
        return error.value
print(tell(1))
time.sleep(1)
print(tell(50 * STARTS_SLOWER))
""", "--gpus", "h100:1")
    assert out.splitlines() == ["10", "ready"]


def test_who_waits_for_an_event_says_how_long(program):
    """The event is not lost in a thread that nobody waits for any more."""
    pytest.importorskip("pynvml")
    out = program(BEGIN + """
gpukit.set_deadline(0.1)
events = libnvml.nvmlEventSetCreate()
libnvml.nvmlDeviceRegisterEvents(libnvml.nvmlDeviceGetHandleByIndex(0),
                                 libnvml.nvmlEventTypeXidCriticalError, events)
for wait in (libnvml.nvmlEventSetWait_v2, lambda *args: libnvml.nvmlQuery(
        "nvmlEventSetWait_v2", *args, ignore_errors=False)):
    threading.Timer(0.5, ctl, ("fail", "0", "xid=31")).start()
    print(wait(events, 60000).eventData)
""", "--gpus", "h100:1")
    assert out.splitlines() == ["31", "31"]


def test_a_collector_rests_while_there_is_no_answer(program):
    out = program("""
import time
import gpukit
from gpukit import collector
calls = []
def late(*args):
    calls.append(args)
    raise gpukit.NVMLError(10)
collector._core.snapshot = late
with gpukit.ResourceMetricCollector(interval=0.2).context("a"):
    while len(calls) < 3:
        time.sleep(0.05)
    time.sleep(0.4)
print(len(calls) < 10)
""", "--gpus", "h100:1")
    assert out == "True\n"


# ---- one GPU that is unusable

@pytest.mark.parametrize("fault", ["no-permission", "lost", "unknown",
                                   "reset-required"])
def test_one_sick_gpu_hides_no_other(program, fault):
    out = program(BEGIN + f"""
ctl("fail", "1", "{fault}")
devices = Device.all()
print(Device.count(), [d.index for d in devices],
      [d.index for d in Device.from_indices()])
print([d.index for d in gpukit.take_snapshots().devices],
      [d.index for d in gpukit.take_snapshots(devices).devices])
print(sorted(gpukit.select_devices()),
      sorted(gpukit.select_devices(devices)))
print([d.index for d in Device.cuda.all()])
print([len(d.processes()) for d in devices], devices[2].temperature() != "N/A")
""", *MACHINE)
    # CUDA does not list a GPU that is lost when a program starts.
    cuda = [0, 2] if fault == "lost" else [0, 1, 2]
    assert out.splitlines()[:4] == [
        "3 [0, 1, 2] [0, 1, 2]", "[0, 1, 2] [0, 1, 2]", "[0, 2] [0, 2]",
        str(cuda)]
    assert out.splitlines()[4].endswith("True")
