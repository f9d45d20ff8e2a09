# SPDX-License-Identifier: Apache-2.0
"""While PyTorch trains, the tools show the memory that PyTorch itself reports;
when it is killed, that is free again."""

import json
import os

from conftest import GPUKIT, ROOT
from torch_program import run

TRAINS = """
import torch
model = torch.nn.Linear(2048, 2048).cuda()
optimizer = torch.optim.Adam(model.parameters())
x = torch.ones(256, 2048, device="cuda")
while True:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
    torch.cuda.synchronize()
    print(torch.cuda.memory_reserved(), flush=True)
"""

# What the tools report of the one process, in MiB, and of the GPU.
WATCHES = """
import json, os, signal, subprocess, sys, time
gpukit, nvitop_python, program = sys.argv[1:4]

def answers(*words):
    return subprocess.run(words, text=True, capture_output=True,
                          check=True).stdout

def smi(what):
    return answers("nvidia-smi", what, "--format=csv,noheader,nounits").split(
        "\\n")[0].replace(",", "").split()

def stat():
    return json.loads(answers(gpukit, "stat", "--json"))["devices"][0]

empty = smi("--query-gpu=memory.used")
bare = subprocess.Popen([sys.executable, "-c", "import torch, sys\\n"
    "torch.cuda.synchronize(); print(flush=True); sys.stdin.read()"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
bare.stdout.readline()
context = int(smi("--query-compute-apps=used_memory")[0])
bare.communicate("")

child = subprocess.Popen([sys.executable, "-c", program],
                         stdout=subprocess.PIPE, text=True)
reserved = [int(child.stdout.readline()) for step in range(6)][-1] >> 20
busy = 0
end = time.monotonic() + 100
while not busy and time.monotonic() < end:
    child.stdout.readline()
    busy = int(smi("--query-gpu=utilization.gpu")[0])
one = stat()
(process,) = one["processes"]
told = {
    "expected": [child.pid, reserved + context],
    "smi": [int(word) for word in smi("--query-compute-apps=pid,used_memory")],
    "stat": [process["pid"], process["gpu_memory_bytes"] >> 20],
    "nvitop": json.loads(answers(nvitop_python, "-c",
        "import nvitop, json\\n"
        "((pid, one),) = nvitop.Device(0).processes().items()\\n"
        "print(json.dumps([pid, one.gpu_memory() >> 20]))")),
    "busy": busy,
}
child.send_signal(signal.SIGKILL)
child.wait()
told["freed"] = smi("--query-gpu=memory.used") == empty
told["left"] = stat()["processes"]
print(json.dumps(told))
"""


def test_a_training_is_seen_as_it_is(tmp_path):
    watches = tmp_path / "watches.py"
    watches.write_text(WATCHES, encoding="utf-8")
    nvitop = os.path.join(ROOT, "build", "venv", "bin", "python")
    done = run(f"""
import runpy, sys
sys.argv = {[str(watches), GPUKIT, nvitop, TRAINS]!r}
runpy.run_path(sys.argv[0])
""", gpus="h100:1", OMP_NUM_THREADS="1")
    told = json.loads(done.stdout.splitlines()[-1])
    expected = told.pop("expected")
    assert told.pop("busy") > 0
    assert told == {"smi": expected, "stat": expected, "nvitop": expected,
                    "freed": True, "left": []}
