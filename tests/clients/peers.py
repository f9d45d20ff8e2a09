# SPDX-License-Identifier: Apache-2.0
"""Runs the peers as a user does, and returns what each reports, in one form:

    {gpu index: {"name", "uuid", "used", "total", "temperature", "power",
                 "processes": {pid: bytes}}}

Units are bytes, degrees Celsius and milliwatts; a value that a peer cannot
report is absent.
"""

import json
import os
import subprocess
import sys

from conftest import GPUKIT, clean_env

BIN = os.path.dirname(sys.executable)
NVITOP = os.path.join(BIN, "nvitop")
GPUSTAT = os.path.join(BIN, "gpustat")
HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
# Python puts checked marks around every block of its heap, which finds
# libraries that write past a struct.
CHECKED = {"PYTHONMALLOC": "debug", "PYTHONFAULTHANDLER": "1"}


def run(argv, env, status=0):
    """The output of a program that must end with this status."""
    done = subprocess.run(argv, text=True, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120,
                          env=clean_env(**CHECKED, LC_ALL="C.UTF-8", **env))
    assert done.returncode == status, (argv, done.returncode, done.stdout,
                                       done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


PYNVML = """
import json, pynvml as n
n.nvmlInit()
gpus = {}
for i in range(n.nvmlDeviceGetCount()):
    try:
        d = n.nvmlDeviceGetHandleByIndex(i)
        memory = n.nvmlDeviceGetMemoryInfo(d, version=n.nvmlMemory_v2)
        gpus[i] = {
            "name": n.nvmlDeviceGetName(d), "uuid": n.nvmlDeviceGetUUID(d),
            "used": memory.used, "total": memory.total,
            "temperature": n.nvmlDeviceGetTemperature(d, 0),
            "power": n.nvmlDeviceGetPowerUsage(d),
            "processes": {p.pid: p.usedGpuMemory for p in
                          n.nvmlDeviceGetComputeRunningProcesses(d)}}
    except n.NVMLError_GpuIsLost:
        gpus[i] = None
print(json.dumps(gpus))
"""

NVITOP_API = """
import json, nvitop
gpus = {}
for d in nvitop.Device.all():
    if d.name().startswith("ERROR"):
        gpus[d.index] = None
        continue
    gpus[d.index] = {
        "name": d.name(), "uuid": d.uuid(), "used": d.memory_used(),
        "total": d.memory_total(), "temperature": d.temperature(),
        "power": d.power_usage(),
        "processes": {p.pid: p.gpu_memory()
                      for p in d.processes().values()}}
print(json.dumps(gpus))
"""


def from_python(code, env):
    """The output of a script, with its keys converted to integers."""
    told = json.loads(run([sys.executable, "-c", code], env))
    for gpu in told.values():
        if gpu:
            gpu["processes"] = {int(pid): used for pid, used
                                in gpu["processes"].items()}
    return {int(index): gpu for index, gpu in told.items()}


def of_pynvml(env):
    return from_python(PYNVML, env)


def of_nvitop(env):
    return from_python(NVITOP_API, env)


def of_gpustat(env):
    """gpustat reports MiB and watts."""
    gpus = {}
    for gpu in json.loads(run([GPUSTAT, "--json"], env))["gpus"]:
        if "lost" in gpu["name"]:
            gpus[gpu["index"]] = None
            continue
        gpus[gpu["index"]] = {
            "name": gpu["name"], "uuid": gpu["uuid"],
            "used": gpu["memory.used"] * MIB,
            "total": gpu["memory.total"] * MIB,
            "temperature": gpu["temperature.gpu"],
            "processes": {p["pid"]: p["gpu_memory_usage"] * MIB
                          for p in gpu["processes"]}}
    return gpus


def of_stat(env):
    """gpukit's own."""
    told = json.loads(run([GPUKIT, "stat", "--json"], env))
    gpus = {}
    for gpu in told["devices"]:
        if gpu["health"] != "ok":
            gpus[gpu["index"]] = None
            continue
        gpus[gpu["index"]] = {
            "name": gpu["name"], "uuid": gpu["uuid"],
            "used": gpu["memory_used_bytes"],
            "total": gpu["memory_total_bytes"],
            "temperature": gpu["temperature_celsius"],
            "power": round(gpu["power_watts"] * 1000),
            "processes": {p["pid"]: p["gpu_memory_bytes"]
                          for p in gpu["processes"]}}
    return gpus


def loads(launcher):
    """The load processes of a launcher, read from /proc alone:
    {gpu index: {pid: bytes}}."""
    found = {}
    with open(f"/proc/{launcher}/task/{launcher}/children",
              encoding="ascii") as children:
        for pid in map(int, children.read().split()):
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().decode().split("\0")
            if words[0] != "gpukit-load":
                continue
            told = dict(w.split("=", 1) for w in words if "=" in w)
            held = int(told["mem"].removesuffix("GiB")) << 30
            found.setdefault(int(told["gpu"]), {})[pid] = held
    return found
