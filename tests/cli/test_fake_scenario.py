# SPDX-License-Identifier: Apache-2.0
"""Scenarios and machine time are tested here: `gpukit fake --scenario`, `ctl
clock`."""

import glob
import json
import os
import subprocess
import sys
import time

import pytest

from conftest import GPUKIT, NVML, ROOT, Machine, clean_env
from tools import one_line, wait_until

SHIPPED = sorted(os.path.basename(path)[:-5] for path in
                 glob.glob(os.path.join(ROOT, "scenarios", "*.yaml")))

# Everything that can happen in one minute.
MINUTE = """
description: a minute in which much happens
seed: 11
gpus: h100-80gb-hbm3:2,t4:1
duration: 60s
loads:
  base: train:0,mem=20GiB,util=80,period=9s
steps:
  - at: 2s
    note: a second one
    load: {start: more, spec: "infer:0+2,mem=3GiB,util=60,n=2"}
  - at: 5s
    gpu: 0
    ramp: {key: temperature, from: 50, to: 80, over: 20s}
  - at: 7s
    gpu: 2
    set: {sm-clock: 900}
  - at: 12s
    gpu: 1
    every: 3s
    times: 10
    ecc: {corrected: 2}
  - at: 20s
    gpu: 0
    fail: [thermal, "pcie=1x4", "nvlink=3"]
    load: {change: base, mem: 40GiB, over: 10s}
  - at: 31s
    gpu: 0
    clear: [thermal, temperature]
    load: {stop: more}
  - at: 33s
    gpu: 1
    xid: 63
    mig: {enable: true, create: 3g.40gb+2g.20gb}
  - at: 35s
    load: {start: split, spec: "train:1:0,mem=9GiB,util=70"}
  - at: 50s
    gpu: 2
    fail: lost
"""

NVML_VALUES = """
class Value(ctypes.Structure):
    _fields_ = [("fieldId", ctypes.c_uint), ("scope", ctypes.c_uint),
                ("timestamp", ctypes.c_longlong), ("latency", ctypes.c_longlong),
                ("type", ctypes.c_int), ("ret", ctypes.c_int),
                ("value", ctypes.c_ulonglong)]
class Sample(ctypes.Structure):
    _fields_ = [("time", ctypes.c_ulonglong), ("value", ctypes.c_ulonglong)]
out = []
for i in range(count()):
    d = device(i)
    if isinstance(d, int):
        out.append(d)
        continue
    e = ctypes.c_ulonglong()
    out.append((nvml.nvmlDeviceGetTotalEnergyConsumption(d, ctypes.byref(e)),
                e.value))
    fields = (Value * 10)(*[Value(fieldId=74 + k) for k in range(10)])
    nvml.nvmlDeviceGetFieldValues(d, 10, fields)
    out.append([(f.ret, f.value if not f.ret else 0) for f in fields])
    for kind in 0, 1, 2:
        n, t = ctypes.c_uint(200), ctypes.c_int()
        got = (Sample * 200)()
        r = nvml.nvmlDeviceGetSamples(d, kind, ctypes.c_ulonglong(0),
                                      ctypes.byref(t), ctypes.byref(n), got)
        out.append((r, [s.value for s in got[:n.value]] if not r else []))
print(out)
"""

# These facts of a process come from the machine; all others are the host's.
OF_MACHINE = {"types", "command", "gpu_memory_bytes",
              "sm_utilization_percent", "memory_utilization_percent",
              "encoder_utilization_percent", "decoder_utilization_percent"}
OF_HOST = {"time", "unix_seconds", "monotonic_seconds", "host", "age_seconds",
           "machine"}


def without_host(what):
    if isinstance(what, list):
        return [without_host(one) for one in what]
    if not isinstance(what, dict):
        return what
    if "command" in what:
        return {k: v for k, v in what.items() if k in OF_MACHINE}
    return {k: without_host(v) for k, v in what.items() if k not in OF_HOST}


def stat(one):
    done = subprocess.run([GPUKIT, "stat", "--json"], text=True,
                          capture_output=True, check=False, timeout=60,
                          env=clean_env(**one.env))
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def snapshot(one):
    return json.dumps([without_host(stat(one)), without_host(one.show())],
                      indent=1)


def clock(one, *args):
    done = one.ctl("clock", *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def minute(tmp_path):
    path = tmp_path / "minute.yaml"
    path.write_text(MINUTE)
    return str(path)


# ---- the same seed, the same values ----

def run_frozen(path, scenario, steps, *options):
    """Returns snapshots of a frozen machine after each of the steps, and NVML's
    own counters at the end."""
    one = Machine(path, "--scenario", scenario, "--frozen", *options)
    try:
        shots = []
        for step in steps:
            clock(one, "step", step)
            shots.append(snapshot(one))
        return shots, one.python(NVML_VALUES)
    finally:
        one.stop()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_minute(tmp_path, minute):
    first = run_frozen(tmp_path / "a", minute, ["1s"] * 60)
    second = run_frozen(tmp_path / "b", minute, ["1s"] * 60)
    for at, (left, right) in enumerate(zip(first[0], second[0])):
        assert left == right, f"after {at + 1} s"
    assert first[1] == second[1]
    assert len(set(first[0])) == 60  # and something happens
    # Different steps lead to the same state.
    widths = ["0.1s"] * 25 + ["17.5s", "3s", "7s", "0.5s", "29.5s"]
    other = run_frozen(tmp_path / "c", minute, widths)
    assert other[0][-1] == first[0][-1]
    assert other[1] == first[1]
    # Another seed does not.
    assert run_frozen(tmp_path / "d", minute, ["60s"],
                      "--seed", 12)[0][-1] != first[0][-1]


@pytest.mark.parametrize("moment", ["20.05s", "31s"])  # then a load ends
def test_a_clock_that_stands_shows_the_same_however_late(tmp_path, minute,
                                                         moment):
    one = Machine(tmp_path / "stands", "--scenario", minute, "--frozen")
    try:
        clock(one, "step", moment)
        at_once = snapshot(one)
        assert '"sm_utilization_percent": null' not in at_once
        time.sleep(1.2)  # longer than the second for which stat reads samples
        assert snapshot(one) == at_once
    finally:
        one.stop()


def test_real_time_leads_to_the_same_values(tmp_path, minute):
    # At a speed that leaves a busy host a second before the end.
    one = Machine(tmp_path / "real", "--scenario", minute, "--speed", 20)
    try:
        while clock(one)["scenario"]["at_ns"] < 40e9:
            stat(one)  # whoever reads advances it
        at = clock(one, "pause")["scenario"]["at_ns"]
        real = snapshot(one), one.python(NVML_VALUES)
    finally:
        one.stop()
    frozen = run_frozen(tmp_path / "frozen", minute, [f"{at / 1e9:.9f}s"])
    assert frozen[0][0] == real[0]
    assert frozen[1] == real[1]


# ---- what happens, when ----

def test_steps_take_effect_at_their_time(machine, minute):
    one = machine("--scenario", minute, "--frozen")

    def temperature():
        return stat(one)["devices"][0]["temperature_celsius"]

    clock(one, "step", "4.9s")
    assert temperature() != 50
    clock(one, "step", "0.1s")
    assert temperature() == 50
    clock(one, "step", "10s")
    assert temperature() == 65
    assert clock(one)["scenario"]["note"] == "a second one"
    clock(one, "step", "5s")
    gpu = stat(one)["devices"][0]
    assert gpu["pcie_link_width"] == 4
    assert gpu["memory_used_bytes"] >> 30 == 26  # 20 GiB and two of 3 GiB
    clock(one, "step", "5s")
    assert stat(one)["devices"][0]["memory_used_bytes"] >> 30 == 36
    clock(one, "step", "10s")
    assert stat(one)["devices"][0]["memory_used_bytes"] >> 30 == 40
    health = [d["health"] for d in stat(one)["devices"]]
    clock(one, "step", "20s")
    assert "lost" in [d["health"] for d in stat(one)["devices"]]
    assert "lost" not in health
    done = clock(one)["scenario"]
    assert (done["done"], done["refused"], done["next_ns"]) == \
        (done["steps"], 0, -1)


def test_faults_come_on_time_for_a_process_that_only_calls(machine, tmp_path):
    """Nothing is computed: a name is read, an event awaited."""
    path = tmp_path / "fault.yaml"
    path.write_text("description: d\ngpus: t4:1\nduration: 10m\nsteps:\n"
                    "  - {at: 100s, gpu: 0, fail: hang}\n"
                    "  - {at: 200s, gpu: 0, clear: hang}\n"
                    "  - {at: 300s, gpu: 0, xid: 31}\n"
                    "  - {at: 400s, gpu: 0, fail: lost}\n")
    one = machine("--scenario", path, "--speed", 100, "--frozen")
    run = [GPUKIT, "fake", "ctl", "--name", one.path, "clock", "run"]
    assert one.python(f"run = {run!r}" + """
import subprocess
d = device(0)
text = ctypes.create_string_buffer(96)
event = (ctypes.c_ubyte * 64)()
sets = ctypes.c_void_p()
assert nvml.nvmlEventSetCreate(ctypes.byref(sets)) == 0
assert nvml.nvmlDeviceRegisterEvents(d, ctypes.c_ulonglong(8), sets) == 0
subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
longest = 0
began = time.monotonic()
while time.monotonic() - began < 2.3:
    s = time.monotonic()
    assert nvml.nvmlDeviceGetName(d, text, 96) == 0
    longest = max(longest, time.monotonic() - s)
assert longest > 0.3, longest
s = time.monotonic()
assert nvml.nvmlEventSetWait_v2(sets, event, 5000) == 0
assert time.monotonic() - s < 3
while nvml.nvmlDeviceGetName(d, text, 96) == 0:
    assert time.monotonic() - began < 9
print(nvml.nvmlDeviceGetName(d, text, 96))
""") == "15"


def test_faults_of_the_machine(machine, tmp_path):
    path = tmp_path / "fault.yaml"
    path.write_text("description: d\ngpus: t4:1\nduration: 10m\nsteps:\n"
                    "  - {at: 10s, fail: driver-mismatch}\n"
                    "  - {at: 20s, clear: driver-mismatch}\n")
    one = machine("--scenario", path, "--frozen")
    # Prints its result whenever that changes.
    program = ("import ctypes, time\n"
               "nvml = ctypes.CDLL('libnvidia-ml.so.1')\n"
               "last, end = None, time.monotonic() + 60\n"
               "while time.monotonic() < end:\n"
               "    r = nvml.nvmlInit_v2()\n"
               "    if not r: nvml.nvmlShutdown()\n"
               "    if r != last: print(r, flush=True)\n"
               "    last = r\n")
    asks = subprocess.Popen([sys.executable, "-c", program], text=True,
                            stdout=subprocess.PIPE,
                            env=clean_env(**one.env))
    try:
        assert asks.stdout.readline() == "0\n"
        clock(one, "step", "10s")
        assert asks.stdout.readline() == "18\n"
        clock(one, "step", "10s")
        assert asks.stdout.readline() == "0\n"
    finally:
        asks.kill()
        asks.communicate()


def test_single_functions_fail(machine, tmp_path):
    path = tmp_path / "rule.yaml"
    path.write_text("description: d\ngpus: t4:2\nduration: 10m\nsteps:\n"
                    "  - at: 10s\n    gpu: 1\n    rule: {function: "
                    "nvmlDeviceGetTemperature, answer: UNKNOWN, times: 2}\n"
                    "  - at: 20s\n    rule: {function: nvmlDeviceGetCount_v2,"
                    " answer: NVML_ERROR_NO_PERMISSION}\n"
                    "  - {at: 30s, clear: nvmlDeviceGetCount_v2}\n")
    one = machine("--scenario", path, "--frozen")

    def ask():
        return one.python(
            "n = ctypes.c_uint()\n"
            "print([temperature(0) > 0, temperature(1) > 0,\n"
            "      nvml.nvmlDeviceGetCount_v2(ctypes.byref(n))])")

    assert ask() == "[True, True, 0]"
    clock(one, "step", "10s")
    assert ask() == "[True, False, 0]"
    assert ask() == "[True, False, 0]"
    assert ask() == "[True, True, 0]"
    clock(one, "step", "10s")
    assert ask() == "[True, True, 4]"
    clock(one, "step", "10s")
    assert ask() == "[True, True, 0]"


def test_many_look_at_once(machine, minute):
    """Steps are applied once each, whoever reads first."""
    one = machine("--scenario", minute, "--speed", 60)
    program = NVML + ("end = time.monotonic() + 1.2\n"
                      "while time.monotonic() < end:\n"
                      "    for i in range(3): temperature(i)\n")
    lookers = [subprocess.Popen([sys.executable, "-c", program],
                                env=clean_env(**one.env)) for _ in range(4)]
    assert [looker.wait(timeout=60) for looker in lookers] == [0] * 4
    done = clock(one)["scenario"]
    assert (done["done"], done["refused"]) == (done["steps"], 0)
    gpu = one.show(1)["gpus"][0]["values"]
    # Ten times two, and two that made a row remap pending, which is Xid 63.
    assert gpu["ecc-corrected"]["value"] == 22


def test_loads_are_processes_for_their_time(machine, minute):
    one = machine("--scenario", minute, "--frozen")

    def names():
        return sorted(word for d in stat(one)["devices"]
                      for p in d["processes"]
                      for word in p["args"] if word.startswith("name="))

    assert names() == ["name=base"]
    clock(one, "step", "3s")
    assert names() == ["name=base"] + ["name=more"] * 4
    clock(one, "step", "29s")
    assert names() == ["name=base"]
    clock(one, "step", "5s")
    assert names() == ["name=base", "name=split"]


def test_a_load_that_is_over_leaves_an_exclusive_gpu(machine, tmp_path):
    """The same before it has begun: nobody is on the GPU then."""
    path = tmp_path / "over.yaml"
    path.write_text("description: x\ngpus: t4:1\nduration: 60s\nseed: 1\n"
                    "loads:\n  one: idle:0,mem=1GiB\n"
                    "steps:\n  - {at: 5s, load: {stop: one}}\n"
                    "  - {at: 50s, load: {start: two, "
                    'spec: "idle:0,mem=1GiB"}}\n')
    one = machine("--scenario", path, "--frozen")
    done = one.ctl("set", "0", "compute-mode=3")
    assert done.returncode == 0, done.stderr
    code = ("import ctypes; c = ctypes.CDLL('libcuda.so.1'); c.cuInit(0); "
            "print(c.cuDevicePrimaryCtxRetain("
            "ctypes.byref(ctypes.c_void_p()), 0))")
    assert one.python(code) == "46"  # CUDA_ERROR_DEVICE_UNAVAILABLE
    clock(one, "step", "5.1s")
    assert one.python(code) == "0"


def test_until_end(gpukit, minute):
    began = time.monotonic()
    done = gpukit("fake", "--scenario", minute, "--speed", 40, "--until-end",
                  "--", "sleep", 100)
    assert done.returncode == 128 + 15
    assert 1 < time.monotonic() - began < 30


# ---- the clock ----

def test_the_clock_can_be_stopped_and_moved(machine):
    one = machine("--gpus", "t4:1", "--frozen", "--warm-up", 0)
    assert clock(one) == {"machine_ns": 0, "speed": 0.0, "run_speed": 1.0}
    assert clock(one, "step", "10s")["machine_ns"] == 10 * 10**9
    assert clock(one, "speed", 500)["run_speed"] == 500
    assert clock(one)["machine_ns"] == 10 * 10**9
    assert clock(one, "run")["speed"] == 500
    wait_until(lambda: clock(one)["machine_ns"] > 60 * 10**9)
    stopped = clock(one, "pause")
    assert stopped["speed"] == 0 and stopped["run_speed"] == 500
    assert clock(one)["machine_ns"] == stopped["machine_ns"]


@pytest.mark.parametrize("args", [
    ("speed", "0"), ("speed", "1001"), ("speed", "x"), ("step", "soon"),
    ("jump",), ("pause", "now")])
def test_wrong_clock(machine, args):
    one_line(machine("--gpus", "none").ctl("clock", *args), 2, "clock")


def test_speed_without_a_scenario(machine):
    one = machine("--gpus", "t4:1", "--speed", 100)
    before = clock(one)["machine_ns"]
    time.sleep(0.2)
    assert clock(one)["machine_ns"] - before > 15 * 10**9


# ---- files ----

def test_shipped_scenarios_are_listed_and_shown(gpukit):
    listed = gpukit.ok("fake", "scenario", "ls").splitlines()
    assert [line.split()[0] for line in listed] == SHIPPED
    assert len(SHIPPED) >= 5
    for name in SHIPPED:
        assert "ok" in gpukit.ok("fake", "scenario", "check", name)
        shown = gpukit.ok("fake", "scenario", "show", name)
        assert "SECONDS" in shown and "-- " in shown


HEAD = "description: d\ngpus: h100:1,t4:1\nduration: 60s\n"


@pytest.mark.parametrize("text, line, parts", [
    ("gpus: t4\n", 1, ["description: key is missing"]),
    (HEAD + "step: []\n", 4, ["did you mean 'steps'"]),
    (HEAD + "steps: 3\n", 4, ["steps: must be a list"]),
    (HEAD + "steps:\n  - {gpu: 0}\n", 5, ["at: key is missing"]),
    (HEAD + "steps:\n  - {at: soon}\n", 5, ["at: 'soon' must be a time"]),
    (HEAD + "steps:\n  - {at: 61s}\n", 5, ["after the end"]),
    (HEAD + "steps:\n  - {at: 2s}\n  - {at: 1s}\n", 6, ["order of time"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 7, xid: 79}\n", 5, ["no GPU 7"]),
    (HEAD + "steps:\n  - {at: 1s, xid: 79}\n", 5, ["gpu: is missing"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 0, xid: 7777}\n", 5, ["xid"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 0, fail: loss}\n", 5,
     ["did you mean 'lost'"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 0, fail: pcie=9x9}\n", 5, ["pcie"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 0, set: {temperature: 900}}\n", 5,
     ["temperature: '900' must be 0 to 150 C"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 0, set: {temprature: 9}}\n", 5,
     ["did you mean 'temperature'"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 1, set: {fan: 9}}\n", 5,
     ["fan: GPU 1 (", "has none"]),
    (HEAD + "steps:\n  - at: 1s\n    gpu: 0\n"
     "    ramp: {key: temperature, to: 9, over: 5s}\n", 5, ["from: key"]),
    (HEAD + "steps:\n  - {at: 1s, load: {stop: x}}\n", 5, ["no load 'x'"]),
    (HEAD + "loads:\n  a: train:0,mem=200GiB\nsteps: []\n", 5,
     ["requested at that time"]),
    (HEAD + "loads:\n  a: trane:0\nsteps: []\n", 5, ["not a kind of load"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 1, mig: {enable: true}}\n", 5,
     ["mig: enable: GPU 1", "the GPU lacks it"]),
    (HEAD + "steps:\n  - at: 1s\n    gpu: 0\n"
     "    mig: {create: 7g.80gb+1g.10gb}\n", 5, ["not enough room"]),
    (HEAD + "steps:\n  - at: 1s\n"
     "    load: {start: a, spec: \"train:0:3,mem=1GiB\"}\n", 5,
     ["no such MIG device"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 0, every: 1s, xid: 13}\n", 5,
     ["times:"]),
    (HEAD + "steps:\n  - {at: 1s, gpu: 0, every: 1s, times: 3,"
     " set: {power: 3}}\n", 5, ["cannot be repeated"]),
    (HEAD + "steps:\n  - at: 1s\n"
     "    rule: {function: nvmlX, answer: UNKNOWN}\n", 6, ["function: 'nvmlX'"]),
    (HEAD + "steps:\n  - at: 1s\n    rule: {function: nvmlDeviceGetName,"
     " answer: SUCCESS}\n", 6, ["answer:"]),
    (HEAD + "speed: 0\nsteps: []\n", 4, ["0.001 to 1000"]),
    (HEAD + "seed: 1\nseed: 2\nsteps: []\n", 5, ["duplicate key"]),
    (HEAD + "steps: []\n---\nx: 1\n", 6, ["second document"]),
    ("description: d\ngpus: h9999\nduration: 1s\nsteps: []\n", 2,
     ["no profile"]),
])
def test_what_is_wrong_is_told_with_its_line(gpukit, tmp_path, text, line,
                                             parts):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    one_line(gpukit("fake", "scenario", "check", path), 2, f"{path}:{line}: ",
             *parts)


def test_options_that_go_together(gpukit, minute):
    one_line(gpukit("fake", "--scenario", "nothing", "--", "true"), 2,
             "no scenario 'nothing'", "training-day")
    one_line(gpukit("fake", "--scenario", minute, "--load", "train", "--",
                    "true"), 2, "--load")
    one_line(gpukit("fake", "--until-end", "--", "true"), 2, "--scenario")
    assert "3090" in gpukit.ok("fake", "--scenario", "thermal-runaway",
                               "--gpus", "rtx-3090:2", "--frozen", "--",
                               GPUKIT, "stat")


# ---- the shipped scenarios: the moments that matter ----

def moments(machine, name, *times):
    """The devices at each of these seconds of a scenario."""
    one = machine("--scenario", name, "--frozen")
    at = 0
    for seconds in times:
        clock(one, "step", f"{seconds - at}s")
        at = seconds
        yield stat(one)["devices"]
    left = clock(one, "step", "8h")["scenario"]
    assert left["done"] == left["steps"] and left["refused"] == 0


def test_training_day(machine):
    seen = list(moments(machine, "training-day", 300, 1100, 9000, 12100,
                        17000, 19000))
    busy = [[d["index"] for d in devices
             if d["gpu_utilization_percent"] > 30] for devices in seen]
    assert busy[0] == []
    assert busy[1] == [0, 1]
    assert len(busy[2]) == 8 and len(busy[4]) == 8
    hot = seen[3][5]
    assert hot["temperature_celsius"] == 87
    assert hot["sm_clock_hertz"] < seen[3][4]["sm_clock_hertz"] * 0.7
    assert seen[4][5]["temperature_celsius"] < 80
    assert busy[5][:4] == [0, 1, 2, 3]


def test_inference_burst(machine):
    seen = list(moments(machine, "inference-burst", 15, 75, 100, 170))
    used = [d[0]["memory_used_bytes"] >> 30 for d in seen]
    assert used == [16, 43, 43, 16]
    assert seen[1][0]["decoder_utilization_percent"] > 30
    assert not seen[1][2]["decoder_utilization_percent"]
    assert seen[2][3]["power_limit_watts"] == 200
    assert seen[3][3]["power_limit_watts"] == 350


def test_thermal_runaway(machine):
    seen = list(moments(machine, "thermal-runaway", 50, 140, 200, 241))
    assert [d[1]["health"] for d in seen] == ["ok", "ok", "ok", "lost"]
    assert seen[0][1]["fan_speed_percent"] > 0
    assert seen[1][1]["fan_speed_percent"] == 0
    assert seen[1][1]["temperature_celsius"] > 85
    assert seen[2][1]["sm_clock_hertz"] < seen[2][0]["sm_clock_hertz"] * 0.7
    assert seen[3][0]["gpu_utilization_percent"] > 50


def test_dying_gpu(machine):
    seen = list(moments(machine, "dying-gpu", 20, 200, 285, 335, 405, 485))
    errors = [d[2]["ecc_errors_corrected_volatile_total"] for d in seen[:3]]
    assert errors[0] == 0 < errors[1] < errors[2]
    assert seen[2][2]["ecc_errors_uncorrected_volatile_total"] == 1
    assert seen[3][2]["ecc_errors_uncorrected_volatile_total"] == 0
    assert seen[4][2]["ecc_errors_uncorrected_volatile_total"] == 6
    assert [d[2]["health"] for d in seen][-2:] == ["ok", "lost"]
    assert seen[5][0]["gpu_utilization_percent"] > 50


def test_mig_reshuffle(machine):
    def split(devices):
        return [(d["label"], d["name"].split()[-1]) for d in devices
                if ":" in d["label"]]

    seen = [split(d) for d in moments(machine, "mig-reshuffle", 1, 10, 80,
                                      140)]
    assert [len(s) for s in seen] == [10, 10, 7, 4]
    assert ("0:0", "3g.40gb") in seen[0] and ("1:6", "1g.10gb") in seen[0]
    assert seen[3] == [("0:0", "4g.40gb"), ("0:1", "3g.40gb"),
                       ("1:0", "4g.40gb"), ("1:1", "3g.40gb")]
