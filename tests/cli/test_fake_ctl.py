# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake ctl` shows and changes a running machine."""

import json
import subprocess
import sys

import pytest

from conftest import NVML, clean_env
from tools import one_line, wait_until

# ---- ctl ----

def test_set_is_seen_at_once_and_clear_takes_it_back(machine):
    one = machine()
    assert one.python("print(temperature(3) == 95)") == "False"
    assert one.ctl("set", 3, "temperature=95", "power=250W",
                   "extra-memory=4GiB").returncode == 0
    values = one.show(3)["gpus"][0]
    assert values["values"]["temperature"] == {"value": 95, "unit": "C",
                                               "set": True}
    assert values["values"]["power"]["value"] == 250000
    assert values["memory_used"] == 4 << 30
    assert one.python("print(temperature(3), temperature(2) == 95)") == \
        "95 False"
    assert "* temperature            95 C" in one.ctl("show", 3).stdout
    assert one.ctl("clear", 3, "temperature").returncode == 0
    values = one.show(3)["gpus"][0]["values"]
    assert not values["temperature"]["set"] and values["power"]["set"]
    wait_until(lambda: one.python("print(temperature(3) < 95)") == "True")
    assert one.ctl("clear", 3).returncode == 0
    assert not any(v["set"] for v in one.show(3)["gpus"][0]["values"].values())


@pytest.mark.parametrize("text, value", [
    ("power=250", 250), ("power=250mW", 250), ("power=0.25kW", 250000),
    ("power=250.5w", 250500), ("utilization=7%", 7), ("sm-clock=1.2GHz", 1200),
    ("pcie-tx=2GB/s", 2000000), ("clocks-event-reasons=0x14", 20),
    ("energy=5J", 5000), ("bar1-used=512MiB", 512 << 20), ("pstate=8", 8)])
def test_units(machine, text, value):
    one = machine()
    assert one.ctl("set", "0", text).returncode == 0
    shown = one.show(0)["gpus"][0]["values"][text.split("=")[0]]
    assert (shown["value"], shown["set"]) == (value, True)


def test_fail_breaks_a_gpu_for_a_running_process(machine):
    one = machine("--gpus", "t4:3")
    program = ("import sys\n"
               "d = device(1)\n"
               "t = ctypes.c_uint()\n"
               "for line in sys.stdin:\n"
               "    print(nvml.nvmlDeviceGetTemperature(d, 0,"
               " ctypes.byref(t)), temperature(0) > 0, flush=True)\n")
    with subprocess.Popen([sys.executable, "-c", NVML + program], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=clean_env(**one.env)) as reader:
        def ask():
            reader.stdin.write("\n")
            reader.stdin.flush()
            return reader.stdout.readline()

        assert ask() == "0 True\n"
        assert one.ctl("fail", 1, "lost").returncode == 0
        assert ask() == "15 True\n"  # NVML_ERROR_GPU_IS_LOST
        assert [gpu["lost"] for gpu in one.show()["gpus"]] == [False, True,
                                                               False]
        assert one.ctl("clear", "0-1", "lost").returncode == 0
        assert ask() == "0 True\n"
        reader.stdin.close()


def test_lists_of_gpus(machine):
    one = machine()
    assert one.ctl("set", "0,2-3+7", "fan=0").returncode == 1  # passive
    assert one.ctl("set", "0,2-3+7", "temperature=77").returncode == 0
    assert [gpu["index"] for gpu in one.show()["gpus"]
            if gpu["values"]["temperature"]["set"]] == [0, 2, 3, 7]
    assert [gpu["index"] for gpu in one.show("5-6")["gpus"]] == [5, 6]


def test_coverage_counts_calls_and_refusals(machine):
    one = machine()
    assert one.ctl("coverage").stdout == "no calls\n"
    one.python("device(0); device(1)\n"
               "for i in range(3): temperature(0)\n"
               "r = nvml.nvmlDeviceGetVgpuMetadata(device(0), None, None)\n"
               "assert r == 3\n")
    rows = [line.split() for line in
            one.ctl("coverage").stdout.splitlines()[1:]]
    assert rows[0][1:] == ["1", "nvmlDeviceGetVgpuMetadata"]
    assert ["3", "0", "nvmlDeviceGetTemperature"] in rows
    assert ["6", "0", "nvmlDeviceGetHandleByIndex_v2"] in rows


REFUSE_CUDA = """
import os
assert cuda.cuInit(0) == 0
for i in range(3):
    assert cuda.cuCheckpointProcessGetState(os.getpid(), None) == 801
core = ctypes.CDLL("libgpukit-fake.so")
opened = ctypes.c_void_p()
assert core.gkf_machine_open(None, ctypes.byref(opened)) == 0
for kind, name in (0, b"cudaBanana"), (1, b"ptx: banana.b32"), (1, b"x\x1b"):
    core.gkf_refuse_named(opened, kind, name)
"""


def test_coverage_counts_what_cuda_programs_are_refused(machine):
    one = machine()
    one.python("cuda = ctypes.CDLL('libcuda.so.1')\n" + REFUSE_CUDA)
    rows = [line.split(None, 2) for line in
            one.ctl("coverage").stdout.splitlines()[1:]]
    assert ["3", "3", "cuCheckpointProcessGetState"] in rows
    assert ["1", "1", "cudaBanana"] in rows
    assert ["1", "1", "in a kernel: ptx: banana.b32"] in rows
    assert ["1", "0", "cuInit"] in rows
    assert "\x1b" not in one.ctl("coverage").stdout
    told = json.loads(one.ctl("coverage", "--json").stdout)
    mine = {row["function"]: row for row in told}
    state = mine["cuCheckpointProcessGetState"]
    assert (state["library"], state["refused"]) == ("libcuda", 3)
    assert list(state["callers"].values()) == [3]
    assert mine["cudaBanana"]["library"] == "libcudart"
    assert mine["ptx: banana.b32"]["library"] == "kernel"
    by_caller = json.loads(
        one.ctl("coverage", "--by-caller", "--json").stdout)
    assert {"caller": list(state["callers"])[0], "library": "libcuda",
            "function": "cuCheckpointProcessGetState",
            "refused": 3} in by_caller
    assert one.ctl("reset").returncode == 0
    assert one.ctl("coverage").stdout == "no calls\n"


def test_a_function_can_be_made_slow(machine):
    one = machine()
    # The fastest of three: a busy host may delay one.
    code = ("d = device(0); t = ctypes.c_uint(); took = []\n"
            "for i in range(3):\n"
            "    s = time.monotonic()\n"
            "    nvml.nvmlDeviceGetTemperature(d, 0, ctypes.byref(t))\n"
            "    took.append(time.monotonic() - s)\n"
            "print(min(took))")
    key = "latency.nvmlDeviceGetTemperature"
    assert float(one.python(code)) < 0.5
    assert one.ctl("set", f"{key}=700ms").returncode == 0
    assert f"* {key} 700 ms" in one.ctl("show").stdout
    assert 0.7 <= float(one.python(code)) < 5
    assert one.ctl("set", f"{key}=0").returncode == 0
    assert float(one.python(code)) < 0.5


def test_the_latency_model_can_be_switched(gpukit, machine):
    one = machine("--latency", "real")
    assert one.show()["latency"] == "real"
    assert one.ctl("set", "latency=none").returncode == 0
    assert one.show()["latency"] == "none"
    assert one.ctl("set", "0", "latency=real").returncode == 0
    assert one.show()["latency"] == "real"


def test_reset_takes_everything_back(machine):
    one = machine()
    one.python("temperature(0)")
    assert one.ctl("set", "all", "temperature=99",
                   "latency.nvmlInit_v2=1ms").returncode == 0
    assert one.ctl("fail", "all", "lost").returncode == 0
    assert one.ctl("reset").returncode == 0
    shown = one.show()
    assert shown["added_latency_ns"] == {}
    for gpu in shown["gpus"]:
        assert not gpu["lost"]
        assert not any(value["set"] for value in gpu["values"].values())
    assert one.ctl("coverage").stdout == "no calls\n"


@pytest.mark.parametrize("args, code, parts", [
    (["dance"], 2, ["'dance' is not a subcommand", "coverage"]),
    (["set", "0"], 2, ["usage: gpukit fake ctl set"]),
    (["set", "8", "fan=1"], 2, ["no GPU 8"]),
    (["set", "-", "fan=1"], 2, ["'-' is not a GPU"]),
    (["set", "0", "temprature=9"], 2, ["no value 'temprature'",
                                       "temperature"]),
    (["set", "0", "temperature=151"], 2, ["temperature=151", "0 to 150 C"]),
    (["set", "0", "temperature=hot"], 2, ["temperature=hot", "0 to 150 C"]),
    (["set", "0", "temperature=-1"], 2, ["0 to 150 C"]),
    (["set", "0", "power=5V"], 2, ["power=5V", "mW"]),
    (["set", "0", "power"], 2, ["'power' is not KEY=VALUE"]),
    (["set", "temperature=9"], 2, ["ctl set: no GPU"]),
    (["set", "latency=slow"], 2, ["latency=slow", "none, real"]),
    (["set", "latency.nvmlFoo=1ms"], 2, ["latency.nvmlFoo",
                                         "no such function"]),
    (["set", "latency.nvmlInit_v2=x"], 2, ["nvmlInit_v2=x", "50ms"]),
    (["set", "0", "fan=50"], 1, ["GPU 0", "has no fan"]),
    (["fail", "0", "bored"], 2, ["'bored'", "lost"]),
    (["fail", "0"], 2, ["usage: gpukit fake ctl fail"]),
    (["clear", "0", "nothing"], 2, ["no value 'nothing'"]),
    (["show", "9"], 2, ["no GPU 9"]),
    (["show", "1", "2"], 2, ["usage: gpukit fake ctl show [GPU]"]),
])
def test_wrong_ctl_is_told_in_one_line(machine, args, code, parts):
    one_line(machine().ctl(*args), code, *parts)


def test_nothing_is_set_when_one_gpu_cannot(machine):
    one = machine("--gpus", "rtx-3090,h100")
    done = one.ctl("set", "all", "temperature=50", "fan=5")
    one_line(done, 1, "GPU 1", "has no fan")
    done = one.ctl("set", "all", "temperature=50", "power-limit=150W")
    one_line(done, 1, "GPU 1", "power-limit must be 200000 to 700000 mW")
    assert not any(value["set"] for gpu in one.show()["gpus"]
                   for value in gpu["values"].values())


def test_nothing_is_set_when_one_of_many_is_wrong(machine):
    one = machine()
    assert one.ctl("set", 0, "temperature=50", "power=x").returncode == 2
    assert not one.show(0)["gpus"][0]["values"]["temperature"]["set"]
