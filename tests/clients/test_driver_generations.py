# SPDX-License-Identifier: Apache-2.0
"""Clients of old and new drivers run on machines of old and new drivers."""

import json
import os
import sys

import pytest

from conftest import GPUKIT
from generations import (BY_NAME, GENERATIONS, STRUCTS, binding_dir, bound,
                         directory, exported, symbols)
from peers import (GPUSTAT, HERE, NVITOP, NVITOP_API, from_python, loads,
                   run)

OLDEST, NEWEST = GENERATIONS[0], GENERATIONS[-1]
CLIENT = os.path.join(HERE, "old_client.py")
BUSY = ["--gpus", "a100-sxm4-80gb:2", "--load", "train:0,n=2,mem=2GiB",
        "--load", "infer:1,mem=1GiB"]
each = pytest.mark.parametrize("generation", GENERATIONS,
                               ids=[g.name for g in GENERATIONS])
# Valid answers of a board without MIG, vGPU or fabric.
REFUSALS = {"NVMLError_NotSupported", "NVMLError_NotFound",
            "NVMLError_InvalidArgument", "NVMLError_NoPermission",
            "NVMLError_NotReady"}


@pytest.fixture
def busy(machine):
    """Makes a machine of a driver; returns it and its environment."""
    def make(generation, version=None):
        one = machine(*BUSY, "--driver", version or generation.name)
        return one, {**one.env,
                     "LD_LIBRARY_PATH": directory(generation.name)}
    return make


LISTS = {"nvmlDeviceGetComputeRunningProcesses" + suffix
         for suffix in ("", "_v2", "_v3")}


def pids(told):
    """Converts JSON's keys to integers."""
    return {int(gpu): {int(pid): used for pid, used in held.items()}
            for gpu, held in told.items()}


def pairs():
    """Pairs each binding with its own driver, the oldest and the newest; those
    of 535.43 to 535.86 agree with no other driver about the _v3 lists."""
    for own in GENERATIONS:
        others = [] if own.record == 32 else [OLDEST, NEWEST]
        for on in dict.fromkeys([own, *others]):
            yield pytest.param(own, on, id=f"{own.binding}-on-{on.name}")


@pytest.mark.parametrize("own, on", pairs())
def test_a_binding_works_on_a_driver(busy, own, on):
    one, env = busy(on)
    told = json.loads(run([sys.executable, CLIENT],
                          {**env, "PYTHONPATH": binding_dir(own.binding)}))
    assert told["driver"] == on.driver
    assert told["nvml"] == f"{on.cuda // 1000}.{on.driver}"
    assert told["cuda"] == on.cuda
    if LISTS & exported(on.name) & bound(own.binding):
        assert pids(told["processes"]) == loads(one.process.pid)
    else:  # it binds only the _v3 lists
        assert own.name in ("515", "525", "535") and on is OLDEST
        assert set(told["processes"].values()) == {None}
    there, done, missing = exported(on.name), 0, set()
    for name, (outcome, looked_up) in told["outcomes"].items():
        assert outcome in REFUSALS | {"ok", "NVMLError_FunctionNotFound"}, name
        if outcome == "NVMLError_FunctionNotFound":
            missing.add(name)
        if len(looked_up) == 1:
            assert ((outcome == "NVMLError_FunctionNotFound")
                    == (looked_up[0] not in there)), name
        done += outcome == "ok"
    assert done >= 35
    assert bool(missing) == (own.level > on.level)


@each
def test_nvitop_and_stat_agree_with_the_machine(busy, generation):
    one, env = busy(generation)
    held = loads(one.process.pid)
    # The clock is paused, because the GPU grows warmer between two readings.
    assert one.ctl("clock", "pause").returncode == 0
    seen = from_python(NVITOP_API, env)
    told = stat(env)
    assert {gpu: d["processes"] for gpu, d in seen.items()} == held
    assert told["driver_version"] == generation.driver
    for d in told["devices"]:
        gpu = seen[d["index"]]
        assert d["name"] == "NVIDIA A100-SXM4-80GB"
        assert {p["pid"]: p["gpu_memory_bytes"]
                for p in d["processes"]} == held[d["index"]]
        # Before 510 the total leaves out the reserve, then a figure tells it.
        assert d["memory_used_bytes"] == sum(held[d["index"]].values())
        assert d["memory_used_bytes"] == gpu["used"]
        assert d["temperature_celsius"] == gpu["temperature"]
        assert d["power_watts"] > 40
    text = run([NVITOP, "--once"], env)
    assert all(str(pid) in text for pids in held.values() for pid in pids)
    assert generation.driver in text


# gpustat misreads the long records of 535.43 to 535.86, and says so.
@pytest.mark.parametrize("generation",
                         [g for g in GENERATIONS if g.record == 24],
                         ids=lambda g: g.name)
def test_gpustat(busy, generation):
    one, env = busy(generation)
    held = loads(one.process.pid)
    told = json.loads(run([GPUSTAT, "--json"], env))
    assert told["driver_version"] == generation.driver
    assert {g["index"]: {p["pid"]: p["gpu_memory_usage"] << 20
                         for p in g["processes"]}
            for g in told["gpus"]} == held


def stat(env):
    return json.loads(run([GPUKIT, "stat", "--json"], env))


@pytest.mark.parametrize("version", ["535.54.03", "535.43.02", "535.86.10"])
def test_long_records_are_told_from_short_ones(busy, version):
    """On an exact version, with records as drivers 535.43 to 535.86 wrote them.
    """
    one, env = busy(BY_NAME["535.86"], version)
    held = loads(one.process.pid)
    assert len(held[0]) == 2
    told = stat(env)
    assert told["driver_version"] == version
    assert {d["index"]: {p["pid"]: p["gpu_memory_bytes"]
                         for p in d["processes"]}
            for d in told["devices"]} == held
    assert {gpu: d["processes"]
            for gpu, d in from_python(NVITOP_API, env).items()} == held


RECORDS = """
import ctypes, json
nvml = ctypes.CDLL("libnvidia-ml.so.1")
assert nvml.nvmlInit_v2() == 0
device, count = ctypes.c_void_p(), ctypes.c_uint(2)
assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0
room = (ctypes.c_ubyte * 96)(*[0xa5] * 96)
assert nvml.nvmlDeviceGetComputeRunningProcesses_v3(
    device, ctypes.byref(count), room) == 0
print(json.dumps([count.value, bytes(room).rstrip(bytes([0xa5])).hex()]))
"""


@pytest.mark.parametrize("generation", GENERATIONS[1:],
                         ids=[g.name for g in GENERATIONS[1:]])
def test_the_length_of_a_process_record(busy, generation):
    one, env = busy(generation)
    count, written = json.loads(run([sys.executable, "-c", RECORDS], env))
    written = bytes.fromhex(written)
    assert (count, len(written)) == (2, 2 * generation.record)
    assert {int.from_bytes(written[at:at + 4], sys.byteorder)
            for at in (0, generation.record)} == set(loads(one.process.pid)[0])


FIELDS = """
import json, sys, pynvml as n
n.nvmlInit()
device = n.nvmlDeviceGetHandleByIndex(0)
values = n.nvmlDeviceGetFieldValues(device, json.loads(sys.argv[1]))
print(json.dumps([v.nvmlReturn for v in values]))
"""


@each
def test_a_field_is_of_its_time(busy, generation):
    env = busy(generation)[1]
    last = generation.field_max - 1
    said = json.loads(run([sys.executable, "-c", FIELDS,
                           json.dumps([1, last, last + 1, 0])], env))
    ok, not_supported, invalid = 0, 3, 2
    assert said[0] == ok
    assert said[1] in (ok, not_supported)
    assert said[2:] == [invalid, invalid]


EVENTS = """
import json, sys, pynvml as n
n.nvmlInit()
device, events = n.nvmlDeviceGetHandleByIndex(0), n.nvmlEventSetCreate()
try:
    n.nvmlDeviceRegisterEvents(device, int(sys.argv[1]), events)
    print("ok")
except n.NVMLError as error:
    print(type(error).__name__)
"""


@each
def test_an_event_is_of_its_time(busy, generation):
    env = busy(generation)[1]
    newest = 0x8000 # GPU recovery action
    said = run([sys.executable, "-c", EVENTS, str(newest)], env).strip()
    assert (said == "NVMLError_InvalidArgument") == (
        not generation.events & newest)


# Functions whose struct later had a newer version: the macro, its value, the
# arguments before the struct.
GREW = {"nvmlDeviceGetGpuFabricInfoV":
            ("nvmlGpuFabricInfo_v3", 0x3000028, []),
        "nvmlDeviceGetGpuInstanceProfileInfoV":
            ("nvmlGpuInstanceProfileInfo_v3", 0x3000098, [0])}
STRUCTS_CALLED = """
import ctypes, json, sys, pynvml as n
n.nvmlInit()
device, said = n.nvmlDeviceGetHandleByIndex(0), {}
for function, (_, version, before) in json.loads(sys.argv[1]).items():
    room = (ctypes.c_uint * 1024)(version)
    said[function] = n._nvmlGetFunctionPointer(function)(
        device, *before, ctypes.byref(room))
print(json.dumps(said))
"""


@each
def test_a_struct_is_of_its_time(busy, generation):
    there = symbols(generation.name)
    calls = {function: call for function, call in GREW.items()
             if there.get(function) == "T"}
    said = json.loads(run([sys.executable, "-c", STRUCTS_CALLED,
                           json.dumps(calls)], busy(generation)[1]))
    mismatch = 25
    for function, (macro, *_) in calls.items():
        assert ((said[function] == mismatch)
                == (STRUCTS[macro] > generation.level)), function


INIT = """
import pynvml as n
try:
    n.nvmlInit()
    print("ok")
except n.NVMLError as error:
    print(type(error).__name__)
"""


@each
def test_another_drivers_library_refuses(busy, generation):
    one = busy(generation)[0]
    for other in GENERATIONS:
        env = {**one.env, "LD_LIBRARY_PATH": directory(other.name)}
        assert run([sys.executable, "-c", INIT], env).strip() == (
            "ok" if other is generation else
            "NVMLError_LibRmVersionMismatch")


@pytest.mark.parametrize("driver", [g.name for g in GENERATIONS]
                         + ["535.54.03", "580.142", "470.82.01",
                            "615.71.09"])
def test_the_launcher_chooses_the_library(driver, tmp_path, gpukit):
    told = gpukit.ok("fake", "--gpus", "t4", "--name", tmp_path / "m",
                     "--driver", driver, "--", GPUKIT, "stat", "--json")
    version = json.loads(told)["driver_version"]
    assert version == (BY_NAME[driver].driver if driver in BY_NAME
                       else driver)


@pytest.mark.parametrize("driver", ["390", "", "535.", "535.x",
                                    "new", " 535", "535.54.03.1", "5350"])
def test_a_driver_that_we_do_not_stand_in_for(driver, gpukit):
    told = gpukit("fake", "--gpus", "t4", "--driver", driver, "--", "true")
    assert told.returncode == 2
    assert all(g.name in told.stderr for g in GENERATIONS)
