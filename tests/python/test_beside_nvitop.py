# SPDX-License-Identifier: Apache-2.0
"""Every public name and every value of devices is compared between nvitop and
gpukit on one fake machine whose clock is stopped. What is left out is a row of
KNOWN; test_differences.py has the other names."""

import json

import pytest

from python_package import check_built, run

check_built()
pytest.importorskip("nvitop")

# Values that are not compared: other object, other text.
KNOWN = {
    "reason": "gpukit's own",
    "cuda_version": "gpukit's own; nvitop has it in text only",
    "UUID_PATTERN": "a pattern; gpukit has a function",
    "handle": "each has an object of its own",
    "as_snapshot": "test_a_snapshot_is_nvitops",
    "processes": "test_processes_are_nvitops",
    "oneshot": "a context", "cuda": "a class", "GPU_PROCESS_CLASS": "a class",
    "mig_device": "takes an argument", "from_indices": "takes an argument",
}

VALUES = """
import sys, json, importlib
n = importlib.import_module(sys.argv[1])
known = json.loads(sys.argv[2])
def told(f):
    try:
        value = f()
        return repr(value() if callable(value) else value)
    except Exception as error:
        return "raises " + type(error).__name__
devices = [n.Device(0), n.Device(1), n.Device((1, 0)), n.CudaDevice(0)]
names = set()
for cls in (n.PhysicalDevice, n.MigDevice):
    names |= {x for x in dir(cls) if x[0] != "_"} - set(known)
out = {}
for i, d in enumerate(devices):
    out[f"{i} repr"] = repr(d)
    for name in sorted(names):
        owner = type(d)
        if hasattr(owner, name):
            out[f"{i} {name}"] = told(lambda: getattr(d, name))
u, m = devices[0].uuid(), devices[2].uuid()
for value in (None, "", "1,0", "1", "0", "0,1", " 0 ", "-1", "0,0", "abc", u,
              u[:10], m, "0,5", "5", "NoDevFiles"):
    out[f"parse {value}"] = told(lambda: n.parse_cuda_visible_devices(value))
    out[f"normal {value}"] = told(
        lambda: n.normalize_cuda_visible_devices(value))
for args in ((0,), ((1, 0),), ("0",), ([0],), (9,), ((1, 5),), (u,), (m,), (),
             ("GPU-abc",)):
    out[f"Device{args}"] = told(lambda: n.Device(*args))
for named in ({"uuid": u}, {"bus_id": devices[0].bus_id()},
              {"uuid": "GPU-abc"}, {"index": 0, "uuid": u}):
    out[f"Device{named}"] = told(lambda: n.Device(**named))
for wish in ({}, {"max_count": 1}, {"format": "uuid"}, {"min_count": 2},
             {"min_free_memory": "30GiB"}, {"force_index": True},
             {"max_gpu_utilization": 50}, {"sort": False},
             {"free_accounts": ["root"]}, {"min_free_memory": "90GiB"},
             {"min_free_memory": "33GiB", "tolerance": 10}):
    out[f"select {wish}"] = told(lambda: n.select_devices(**wish))
print(json.dumps(out))
"""

SNAPSHOT = """
import sys, json, importlib
n = importlib.import_module(sys.argv[1])
out = []
for index in (0, 1, (1, 0)):
    shot = n.Device(index).as_snapshot()
    out.append({key: repr(shot[key]) for key in n.Device(index).SNAPSHOT_KEYS})
for shot in n.take_snapshots().gpu_processes:
    shot.host
    out.append({key: repr(shot[key]) for key in sorted(shot.keys())
                if key in ("pid", "cmdline", "command", "device", "type",
                "gpu_memory", "gpu_memory_human", "gpu_memory_percent", "name",
                "gpu_instance_id", "compute_instance_id", "status",
                "username", "is_running")})
print(json.dumps(out))
"""


@pytest.fixture(scope="module", name="made_up")
def made_up_machine(tmp_path_factory):
    from conftest import Machine

    machine = Machine(tmp_path_factory.mktemp("machine") / "m", "--frozen",
                      "--gpus", "h100-80gb-hbm3:1,a100-sxm4-80gb:1",
                      "--mig", "1=3g.40gb+2g.20gb",
                      "--load", "train:0", "--load", "infer:1:0")
    yield machine
    machine.stop()


def both(machine, code, *args):
    return [json.loads(run(code, package, *args, **machine.env))
            for package in ("nvitop", "gpukit")]


def test_every_value_is_nvitops(made_up):
    theirs, ours = both(made_up, VALUES, json.dumps(list(KNOWN)))
    wrong = {key: (value, ours.get(key)) for key, value in theirs.items()
             if ours.get(key) != value}
    assert not wrong and len(theirs) > 400


def test_a_snapshot_is_nvitops(made_up):
    theirs, ours = both(made_up, SNAPSHOT)
    assert theirs == ours and len(ours) == 5
