# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake ctl fail`, `clear`, `reset-gpu` and `coverage --by-caller`:
faults are reported consistently, can be cleared, and hang nobody."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import clean_env, needed
from tools import one_line, wait_until

A100 = "a100-sxm4-80gb:2"
LOOP = """
import sys
import pynvml as n
import ctypes
n.nvmlInit()
d = [n.nvmlDeviceGetHandleByIndex(i) for i in range(n.nvmlDeviceGetCount())]
def raw(function, *args):
    return n._nvmlGetFunctionPointer(function)(*args)
def registered(gpu=0, types=n.nvmlEventTypeXidCriticalError):
    s = n.nvmlEventSetCreate()
    n.nvmlDeviceRegisterEvents(d[gpu], types, s)
    return s
def events(s, timeout=200):
    found = []
    try:
        while True:
            e = n.nvmlEventSetWait_v2(s, timeout)
            found.append((e.eventType, e.eventData))
    except n.NVMLError as error:
        return found
def field(gpu, number):
    v = n.nvmlDeviceGetFieldValues(d[gpu], [number])[0]
    return v.value.uiVal if v.nvmlReturn == 0 else -v.nvmlReturn
print("ready", flush=True)
for line in sys.stdin:
    try:
        print(repr(eval(line)), flush=True)
    except n.NVMLError as error:
        print(repr(type(error).__name__.removeprefix("NVMLError_")),
              flush=True)
    except SyntaxError:
        exec(line)
        print("None", flush=True)
"""


class Client:
    """A monitor that keeps NVML open and evaluates expressions."""

    def __init__(self, machine):
        needed("pynvml", "a monitor")
        self.process = subprocess.Popen(
            [sys.executable, "-c", LOOP], env=clean_env(**machine.env),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def hear(self):
        # pylint: disable-next=eval-used
        return eval(self.process.stdout.readline())

    def __call__(self, text):
        self.ask(text)
        return self.hear()

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


@pytest.fixture
def client(request):
    clients = []

    def start(machine):
        clients.append(Client(machine))
        request.addfinalizer(clients[-1].stop)
        return clients[-1]

    return start


def ctl(machine, *args):
    done = machine.ctl(*args)
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout


def faults(gpukit):
    """The names of a GPU's faults, of the machine's, and the numbers of Xids.
    """
    first, second, third = gpukit.ok("fake", "ctl", "faults").split("\n\n")
    return ([line.split()[0] for line in first.splitlines()],
            [line.split()[0] for line in second.splitlines()[1:]],
            [int(n) for n in re.findall(r"^xid=(\d+)", third, re.M)])


def test_every_fault_is_shown_survived_and_cleared(gpukit, machine):
    """Each fault is tried on the first GPU that can have it; `stat` never
    hangs."""
    m = machine("--gpus", "h100-80gb-hbm3,rtx-4090")
    names = faults(gpukit)[0]
    assert len(names) >= 18
    for name in names:
        gpu = 1 if name == "fan-failure" else 0
        ctl(m, "fail", gpu, name)
        shown = m.show(gpu)["gpus"][0]["faults"]
        assert any(f.split("=")[0] == name for f in shown), (name, shown)
        began = time.monotonic()
        stat = gpukit("stat", "--json", env=m.env, timeout=30)
        assert stat.returncode == 0, (name, stat.stderr)
        assert time.monotonic() - began < 15, name
        ctl(m, "clear", gpu)
        assert m.show(gpu)["gpus"][0]["faults"] == []


@pytest.mark.parametrize("fault,said", [
    ("lost", "GPU is lost"), ("fallen", "GPU is lost"),
    ("unknown", "Unknown Error"), ("timeout=10ms", "Timeout"),
    ("reset-required", "GPU requires restart"),
    ("hang", "no answer"), ("no-permission", "Insufficient Permissions")])
def test_stat_says_what_is_wrong(gpukit, machine, fault, said):
    m = machine("--gpus", A100)
    ctl(m, "fail", 0, fault)
    text = gpukit.ok("stat", env=m.env, timeout=30)
    line = [line for line in text.splitlines() if "[0]" in line][0]
    assert said in line
    assert "A100" in [line for line in text.splitlines() if "[1]" in line][0]


SLOWDOWNS = [("thermal", 0x48), ("power-brake", 0x88), ("slowdown", 0x8)]


@pytest.mark.parametrize("fault,reasons", SLOWDOWNS)
def test_slowdowns_are_told_by_all(machine, client, fault, reasons):
    m = machine("--gpus", A100)
    ask = client(m)
    ctl(m, "set", 0, "utilization=100")
    clock = "n.nvmlDeviceGetClockInfo(d[0], n.NVML_CLOCK_SM)"
    told = "n.nvmlDeviceGetCurrentClocksEventReasons(d[0])"
    same = "n.nvmlDeviceGetCurrentClocksThrottleReasons(d[0])"
    power = "n.nvmlDeviceGetPowerUsage(d[0])"
    wait_until(lambda: ask(clock) > 1000)
    fast, hungry = ask(clock), ask(power)
    assert not ask(told) & 0xc8
    ctl(m, "fail", 0, fault)
    wait_until(lambda: ask(told) & 0xc8 == reasons)
    assert ask(same) & 0xc8 == reasons
    wait_until(lambda: ask(clock) <= fast // 2)
    wait_until(lambda: ask(power) < hungry)
    assert not ask("n.nvmlDeviceGetCurrentClocksEventReasons(d[1])") & 0xc8
    ctl(m, "clear", 0, fault)
    wait_until(lambda: ask(clock) > 1000)
    assert not ask(told) & 0xc8


def test_a_thermal_slowdown_is_counted(machine, client):
    """The violation time grows during the slowdown and stops after it."""
    m = machine("--gpus", A100)
    ask = client(m)
    ctl(m, "set", 0, "utilization=100")
    spent = ("n.nvmlDeviceGetViolationStatus(d[0], "
             "n.NVML_PERF_POLICY_THERMAL).violationTime")
    before = ask(spent)
    ctl(m, "fail", 0, "thermal")
    wait_until(lambda: ask(spent) > before)
    ctl(m, "clear", 0, "thermal")
    time.sleep(0.5)
    after = ask(spent)
    time.sleep(0.5)
    assert ask(spent) == after


def test_a_pcie_link_is_trained_down(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    ctl(m, "set", 0, "utilization=100")
    link = ("n.nvmlDeviceGetCurrPcieLinkGeneration(d[0]), "
            "n.nvmlDeviceGetCurrPcieLinkWidth(d[0])")
    replays = "n.nvmlDeviceGetPcieReplayCounter(d[0])"
    wait_until(lambda: ask(link) == (4, 16))
    speed = ask("n.nvmlDeviceGetPcieSpeed(d[0])")
    assert ask(replays) == 0
    ctl(m, "fail", 0, "pcie=1x4")
    assert ask(link) == (1, 4)
    assert ask("n.nvmlDeviceGetMaxPcieLinkWidth(d[0])") == 16
    assert ask("n.nvmlDeviceGetPcieSpeed(d[0])") < speed
    wait_until(lambda: ask(replays) > 3)
    ctl(m, "clear", 0, "pcie")
    assert ask(link) == (4, 16)
    count = ask(replays)
    assert count > 3
    time.sleep(0.3)
    assert ask(replays) == count
    one_line(m.ctl("fail", 0, "pcie=6x16"), 1, "GPU 0", "this fault")
    one_line(m.ctl("fail", 0, "pcie=1"), 2, "such as 1x4")


ADVICE = "field(0, n.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION)"


def test_memory_errors_are_repaired_by_a_reset(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    count = ("n.nvmlDeviceGetTotalEccErrors(d[0], "
             "n.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, n.NVML_{}_ECC)")
    rows = "tuple(n.nvmlDeviceGetRemappedRows(d[0]))"
    ask("s = registered()")
    assert (ask(count.format("VOLATILE")), ask(ADVICE)) == (0, 0)
    ctl(m, "fail", 0, "ecc-uncorrectable=3")
    assert ask(count.format("VOLATILE")) == 3
    assert ask(count.format("AGGREGATE")) == 3
    assert ask(rows)[1:] == (3, 1, 0)
    assert ask(ADVICE) == 1  # reset
    assert [data for _, data in ask("events(s)")] == [48, 63]
    ctl(m, "reset-gpu", 0)
    assert ask(count.format("VOLATILE")) == 0
    assert ask(count.format("AGGREGATE")) == 3
    assert ask(rows)[1:] == (3, 0, 0)
    assert ask(ADVICE) == 0
    assert m.show(0)["gpus"][0]["faults"] == []


def test_a_row_that_cannot_be_replaced(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    failed = "tuple(n.nvmlDeviceGetRemappedRows(d[0]))[3]"
    assert ask(failed) == 0
    ctl(m, "fail", 0, "row-remap-failure")
    assert (ask(failed), ask(ADVICE)) == (1, 4)  # drain and reset
    ctl(m, "reset-gpu", 0)
    assert ask(failed) == 1
    ctl(m, "clear", 0, "row-remap-failure")
    assert (ask(failed), ask(ADVICE)) == (0, 0)


def test_an_nvlink_is_down_at_both_ends(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    up = "[n.nvmlDeviceGetNvLinkState({}, i) for i in range(12)]"
    assert ask(up.format("d[0]")) == [1] * 12
    ctl(m, "fail", 0, "nvlink=3")
    ctl(m, "fail", 0, "nvlink=5")
    wanted = [0 if i in (3, 5) else 1 for i in range(12)]
    assert ask(up.format("d[0]")) == wanted
    assert m.show(0)["gpus"][0]["faults"] == ["nvlink=3,5"]
    assert ask("n.nvmlDeviceGetNvLinkErrorCounter(d[0], 3, "
               "n.NVML_NVLINK_ERROR_DL_RECOVERY)") == 1
    ctl(m, "clear", 0, "nvlink")
    assert ask(up.format("d[0]")) == [1] * 12
    one_line(m.ctl("fail", 0, "nvlink=40"), 1, "cannot have this fault")


def test_a_fan_stands_still(machine, client):
    m = machine("--gpus", "rtx-4090,t4")
    ask = client(m)
    ctl(m, "set", 0, "temperature=70")
    fan = "n.nvmlDeviceGetFanSpeed(d[0])"
    wait_until(lambda: ask(fan) > 0)
    ctl(m, "fail", 0, "fan-failure")
    wait_until(lambda: ask(fan) == 0)
    ctl(m, "clear", 0, "fan-failure")
    wait_until(lambda: ask(fan) > 0)
    one_line(m.ctl("fail", 1, "fan-failure"), 1, "GPU 1", "this fault")


def test_a_corrupted_inforom(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    assert ask("n.nvmlDeviceValidateInforom(d[0])") is None
    ctl(m, "fail", 0, "inforom")
    assert ask("n.nvmlDeviceValidateInforom(d[0])") == "CorruptedInforom"
    assert ask("n.nvmlDeviceGetInforomConfigurationChecksum(d[0])") == \
        "CorruptedInforom"
    assert ask("n.nvmlDeviceValidateInforom(d[1])") is None
    ctl(m, "clear", 0)
    assert ask("n.nvmlDeviceValidateInforom(d[0])") is None


def test_every_xid_is_told(gpukit, machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    ask("s = registered()")
    xids = faults(gpukit)[2]
    assert {13, 31, 32, 38, 43, 45, 48, 61, 62, 63, 64, 74, 79, 92, 94, 95,
            119, 120} <= set(xids)
    for xid in xids:
        ctl(m, "fail", 0, f"xid={xid}")
        told = [data for _, data in ask("events(s, 20)")]
        assert xid in told, (xid, told)
        assert m.show(0)["gpus"][0]["last_xid"] in told
        ctl(m, "clear", 0)
        assert ask("n.nvmlDeviceGetName(d[0])")
    one_line(m.ctl("fail", 0, "xid=7"), 2, "one of 8, 11, 13")


def test_an_xid_of_a_mig_instance(machine, client):
    m = machine("--gpus", A100)
    ctl(m, "mig", 0, "on")
    ctl(m, "mig", 0, "create", "3g.40gb,3g.40gb")
    ask = client(m)
    ask("s = registered()")
    gis = ("sorted(n.nvmlDeviceGetGpuInstanceId("
           "n.nvmlDeviceGetMigDeviceHandleByIndex(d[0], i))"
           " for i in range(2))")
    gi = ask(gis)[1]
    ctl(m, "fail", 0, f"xid=31@{gi}/0")
    ask("e = n.nvmlEventSetWait_v2(s, 1000)")
    assert ask("e.eventData, e.gpuInstanceId, e.computeInstanceId") == \
        (31, gi, 0)
    one_line(m.ctl("fail", 0, "xid=31@9/0"), 1, "no such MIG instance")
    one_line(m.ctl("fail", 0, "xid=48@1/0"), 2, "program in an instance")


def test_xid_79_is_a_gpu_that_fell_off_the_bus(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    pci = ask("n.nvmlDeviceGetPciInfo(d[0]).busId")
    by_pci = f"n.nvmlDeviceGetHandleByPciBusId({pci!r}) and 0"
    assert ask(by_pci) == 0
    ctl(m, "fail", 0, "xid=79")
    assert ask("n.nvmlDeviceGetPowerUsage(d[0])") == "GpuIsLost"
    assert ask("n.nvmlDeviceGetHandleByIndex(0)") == "GpuIsLost"
    assert ask(by_pci) == "NotFound"
    one_line(m.ctl("reset-gpu", 0), 1, "fallen off the bus")
    ctl(m, "clear", 0, "fallen")
    assert ask(by_pci) == 0


def test_a_gpu_in_use_is_not_reset(machine):
    m = machine("--gpus", A100, "--load", "idle:0")
    ctl(m, "fail", "all", "reset-required")
    one_line(m.ctl("reset-gpu", 0), 1, "in use by 1 process")
    ctl(m, "reset-gpu", 1)
    shown = m.show()["gpus"]
    assert [gpu["faults"] for gpu in shown] == [["reset-required"], []]


def test_a_client_that_hangs_goes_on_when_it_is_cleared(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    ctl(m, "fail", 0, "hang")
    ask.ask("n.nvmlDeviceGetPowerUsage(d[0])")
    time.sleep(0.3)
    assert ask.process.poll() is None
    ctl(m, "clear", 0, "hang")
    assert ask.hear() > 0


def test_a_client_that_hangs_can_be_ended(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    ctl(m, "fail", 0, "hang")
    ask.ask("n.nvmlDeviceGetPowerUsage(d[0])")
    time.sleep(0.2)
    ask.process.terminate()
    assert ask.process.wait(timeout=30) == -signal.SIGTERM


def test_the_machine_cannot_be_initialised(gpukit, machine):
    m = machine("--gpus", A100)
    for fault in faults(gpukit)[1]:
        ctl(m, "fail", fault)
        assert fault in m.show()["failures"]
        done = gpukit("stat", env=m.env, timeout=30)
        assert done.returncode == 1 or "[0] ((" in done.stdout, (fault, done)
        ctl(m, "clear", fault)
        assert "A100" in gpukit.ok("stat", env=m.env)


def test_a_function_fails_after_some_calls(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    power = "n.nvmlDeviceGetPowerUsage(d[0])"
    ctl(m, "fail", 0, "nvmlDeviceGetPowerUsage=NVML_ERROR_UNKNOWN", "after=2",
        "times=3")
    told = [ask(power) == "Unknown" for _ in range(8)]
    assert told == [False] * 2 + [True] * 3 + [False] * 3
    assert ask("n.nvmlDeviceGetPowerUsage(d[1])") > 0
    rule = m.show()["failures"][0]
    assert "nvmlDeviceGetPowerUsage=NVML_ERROR_UNKNOWN" in rule
    assert "3 of 8 calls failed" in rule
    ctl(m, "clear", "nvmlDeviceGetPowerUsage")
    assert m.show()["failures"] == []


def test_chance_repeats_itself(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    patterns = []
    for seed in (5, 6, 5):
        ctl(m, "fail", "nvmlDeviceGetName=UNKNOWN", "probability=40%",
            f"seed={seed}")
        patterns.append([ask("n.nvmlDeviceGetName(d[0])") == "Unknown"
                         for _ in range(40)])
    assert patterns[0] == patterns[2] != patterns[1]
    assert 4 < sum(patterns[0]) < 30
    ctl(m, "reset")
    assert ask("n.nvmlDeviceGetName(d[0])") != "Unknown"


@pytest.mark.parametrize("args,parts", [
    (("fail", "0", "broken"), ("'broken' is not a fault", "lost")),
    (("fail", "lost"), ("ctl fail: no GPU",)),
    (("fail", "0"), ("usage",)),
    (("fail", "9", "lost"), ("no GPU 9",)),
    (("fail", "0", "lost=3"), ("no argument",)),
    (("fail", "0", "timeout=2h"), ("up to 1h",)),
    (("fail", "0", "nvmlNothing=UNKNOWN"), ("no function",)),
    (("fail", "0", "nvmlDeviceGetName=SUCCESS"), ("NVML_ERROR_UNKNOWN",)),
    (("fail", "0", "nvmlDeviceGetName=UNKNOWN", "probability=2"),
     ("0 to 1",)),
    (("fail", "0", "lost", "after=2"), ("FUNCTION=ANSWER",)),
    (("clear", "lost"), ("ctl clear: no GPU",)),
    (("clear", "0", "nothing"), ("no value",)),
])
def test_what_is_wrong_is_said(machine, args, parts):
    m = machine("--gpus", A100)
    one_line(m.ctl(*args), 2, *parts)
    assert [gpu["faults"] for gpu in m.show()["gpus"]] == [[], []]


REFUSED = "raw('nvmlDeviceGetVgpuMetadata', d[0], None, None)"


def test_refusals_are_counted_by_caller(machine, client):
    m = machine("--gpus", A100)
    ask = client(m)
    for _ in range(3):
        assert ask(REFUSED) == 3
    lines = [line.split() for line in
             ctl(m, "coverage", "--by-caller").splitlines()]
    assert lines[0] == ["CALLER", "REFUSED", "FUNCTION"]
    caller = [line for line in lines
              if line[2:] == ["nvmlDeviceGetVgpuMetadata"]][0]
    assert caller[0].startswith("python") and caller[1] == "3"
    told = json.loads(ctl(m, "coverage", "--json"))
    assert [row["callers"] for row in told
            if row["function"] == "nvmlDeviceGetVgpuMetadata"] == \
        [{caller[0]: 3}]
    told = json.loads(ctl(m, "coverage", "--by-caller", "--json"))
    assert {"caller": caller[0], "function": "nvmlDeviceGetVgpuMetadata",
            "library": "libnvidia-ml", "refused": 3} in told
    ctl(m, "reset")
    assert "no calls" in ctl(m, "coverage", "--by-caller")
