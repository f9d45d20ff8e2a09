# SPDX-License-Identifier: Apache-2.0
"""GpuProcess and HostProcess are compared member by member between nvitop and
gpukit on one fake machine whose clock is stopped."""

import json

import pytest

from conftest import Machine
from python_package import check_built, run

check_built()
pytest.importorskip("nvitop")

# Members that differ between two calls, or are objects of each package.
KNOWN = {
    "cpu_percent": "since the last call", "cpu_times": "goes on",
    "num_ctx_switches": "goes on", "running_time": "goes on",
    "running_time_human": "goes on", "running_time_in_seconds": "goes on",
    "elapsed_time": "goes on", "elapsed_time_human": "goes on",
    "elapsed_time_in_seconds": "goes on", "as_snapshot": "has those",
    "host_snapshot": "has those", "as_dict": "has those",
    "io_counters": "goes on", "cpu_num": "moves",
    "INSTANCES": "a table", "INSTANCE_LOCK": "a lock", "oneshot": "a context",
    "failsafe": "a context", "update_gpu_status": "asked below",
    "wait": "waits", "kill": "ends it", "terminate": "ends it",
    "suspend": "stops it", "resume": "continues it", "threads": "goes on",
    "memory_full_info": "shares change", "memory_maps": "shares change",
    "memory_info_ex": "psutil has given it up",
    "take_snapshots": "takes arguments", "send_signal": "takes arguments",
    "set_gpu_memory": "takes arguments",
    "set_gpu_utilization": "takes arguments", "rlimit": "takes arguments",
}

VALUES = """
import sys, json, importlib, re
n = importlib.import_module(sys.argv[1])
known = json.loads(sys.argv[2])
ended = int(sys.argv[3])
def told(f):
    try:
        value = f()
        value = value() if callable(value) else value
    except Exception as error:
        return "raises " + type(error).__name__
    text = repr(value).replace(sys.argv[1] + ".api.", "").replace(
        sys.argv[1] + ".", "")
    # A parent, such as pytest, may sleep or run.
    return re.sub("status='(running|sleeping|disk-sleep)'", "alive", text)
def members(cls):
    return sorted(x for x in dir(cls) if x[0] != "_" and x not in known)
out = {}
def tell(what, thing, names):
    out[what + " repr"] = told(lambda: thing)
    for name in names:
        out[f"{what} {name}"] = told(lambda: getattr(thing, name))
names = members(n.GpuProcess)
for i in (0, (1, 0)):
    d = n.Device(i)
    for pid, p in sorted(d.processes().items()):
        tell(f"gpu {i}", p, names)
        tell(f"host {i}", p.host, members(n.HostProcess))
        out[f"{i} same"] = told(lambda: d.processes()[pid] is p)
        out[f"{i} update"] = told(p.update_gpu_status)
        for args in ((1, 2), (None, 3, 4), ()):
            p.set_gpu_utilization(*args)
            tell(f"set {i} {args}", p, [x for x in names if "utili" in x])
        p.set_gpu_memory(5)
        out[f"{i} memory"] = told(p.gpu_memory_human)
        for kind in ("C", "G", "C+G"):
            p.type = kind
            out[f"{i} type {kind}"] = p.type
        out[f"{i} hash"] = told(lambda: hash(p) == hash(n.GpuProcess(pid, d)))
        out[f"{i} equal"] = told(lambda: p == n.GpuProcess(pid, d))
made = n.GpuProcess(ended, n.Device(0), gpu_memory=7, type="G")
tell("ended", made, [x for x in names if x not in ("parents", "children")])
with n.GpuProcess.failsafe():
    tell("failsafe", made, [x for x in names if x != "host"])
for args in ((), (1,), (None, None)):
    out[f"GpuProcess{args}"] = told(lambda: n.GpuProcess(*args))
out["HostProcess"] = told(lambda: n.HostProcess(ended))
print(json.dumps(out))
"""


@pytest.fixture(scope="module", name="made_up")
def made_up_machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("machine") / "m", "--frozen",
                      "--gpus", "h100-80gb-hbm3:1,a100-sxm4-80gb:1",
                      "--mig", "1=3g.40gb+2g.20gb",
                      "--load", "train:0", "--load", "infer:1:0")
    yield machine
    machine.stop()


# Rows of docs/PYTHON.md: a share that the driver does not report is NA; a
# process that does not exist is an error.
def is_known(key, value, ours):
    if "_utilization" in key:
        return key.split(" ", 1)[1].startswith("(1, 0)") \
            and (value, ours) == ("0", "'N/A'")
    return key in ("ended host", "HostProcess", "GpuProcess(None, None)")


def test_every_member_is_nvitops(made_up):
    theirs, ours = [json.loads(run(VALUES, package, json.dumps(list(KNOWN)),
                                   "4194303", **made_up.env))
                    for package in ("nvitop", "gpukit")]
    wrong = {key: (value, ours.get(key)) for key, value in theirs.items()
             if ours.get(key) != value
             and not is_known(key, value, ours.get(key))}
    assert not wrong and len(theirs) > 150
