# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian 12, unpacked and not installed, show the figures that
`gpukit stat` shows of the same moment: the machine's time stands still."""

import os
import sys

import pytest

from conftest import BUILD
from real_program import Program

ROOT = os.path.join(BUILD, "real", "debian")
LIBRARIES = [os.path.join(ROOT, "usr/lib"),
             os.path.join(ROOT, "usr/lib/x86_64-linux-gnu"),
             os.path.join(BUILD, "cuda/nvidia/cu13/lib")]  # NVRTC, for hashcat

MACHINE = ["--frozen", "--gpus", "a100-sxm4-80gb:1,rtx3090:1",
           "--load", "train:0,n=2,mem=5GiB", "--load", "idle:1,mem=3GiB"]


class Debian(Program):
    """The unpacked packages; scripts run in the tests' own Python."""

    def __init__(self):
        super().__init__("debian")
        self.python = sys.executable

    def compare(self, script, *options):
        assert os.path.isdir(ROOT), "missing: ./run real debian"
        return super().compare(BEGIN + script, *options, DEBIAN=ROOT,
                               LIBRARIES=":".join(LIBRARIES))


DEBIAN = Debian()

BEGIN = """
import shutil, tempfile

ROOT = os.environ["DEBIAN"]
WITH = {"LD_LIBRARY_PATH": os.environ["LD_LIBRARY_PATH"] + ":" +
        os.environ["LIBRARIES"]}
os.chdir(tempfile.mkdtemp())
CORES = {"NVIDIA A100-SXM4-80GB": 108, "NVIDIA GeForce RTX 3090": 82}
# CUDA's clocks, in MHz, are not the greatest of NVML's.
CLOCKS = {"NVIDIA A100-SXM4-80GB": 1410, "NVIDIA GeForce RTX 3090": 1695}
# CUDA sorts GPUs by speed: the fastest is first.
BY_SPEED = sorted(OURS, key=lambda one: -CLOCKS[one["name"]] *
                  CORES[one["name"]] * (2 if "RTX" in one["name"] else 1))

def mhz(gpu, clock):
    return gpu[f"{clock}_clock_hertz"] // 1000000
"""

# Performance Co-Pilot's agent for NVML, loaded by pminfo itself. Its agent
# switches accounting on.
PCP = """
with open(f"{ROOT}/etc/pcp.conf") as given, open("pcp.conf", "w") as file:
    file.write(re.sub("=/", f"={ROOT}/", given.read()))
AGENT = f"{ROOT}/usr/lib/pcp/pmdas/nvidia"
with open(f"{AGENT}/pmns") as given, open("names", "w") as file:
    file.write("root { nvidia }\\n" + given.read().replace("NVML:", "120:"))

def metrics(name):
    told = run(f"{ROOT}/usr/bin/pminfo", "-f", "-L", "-K", "clear", "-K",
               f"add,120,{AGENT}/pmda_nvidia.so,nvidia_init", "-n", "names",
               f"nvidia.{name}", PCP_CONF=os.path.abspath("pcp.conf"), **WITH)
    return [json.loads(value) for value in re.findall("value (.*)", told)]

assert metrics("numcards") == [len(OURS)]
for name, wanted in {
        "gpuid": [one["index"] for one in OURS],
        "cardname": [one["name"] for one in OURS],
        "carduuid": [one["uuid"] for one in OURS],
        "temperature": [one["temperature_celsius"] for one in OURS],
        "perfstate": [one["performance_state"] for one in OURS],
        "gpuactive": [one["gpu_utilization_percent"] for one in OURS],
        "memactive": [one["memory_utilization_percent"] for one in OURS],
        "memused": [in_use(one) for one in OURS],
        "memtotal": [one["memory_total_bytes"] for one in OURS],
        "memfree": [one["memory_free_bytes"] for one in OURS],
        "energy": [round(one["energy_joules"] * 1000) for one in OURS],
        "power": [round(one["power_watts"] * 1000) for one in OURS],
        "nprocs": [len(one["processes"]) for one in OURS]}.items():
    assert metrics(name) == wanted, (name, metrics(name), wanted)
assert sorted(metrics("proc.memused")) == sorted(
    held * MIB for _, _, held in PROCESSES)
assert metrics("proc.running") == [1] * len(PROCESSES)
assert sorted(metrics("proc.compute.memused")) == sorted(
    held * MIB for _, _, held in PROCESSES)
"""

# Netdata's plugin reads `nvidia-smi -q -x -l 1`.
NETDATA = """
import signal, time

AT = f"{ROOT}/usr/lib/netdata"
os.mkdir("conf")
with open(f"{AT}/conf.d/python.d.conf") as given, \\
        open("conf/python.d.conf", "w") as file:
    file.write(re.sub("(?m)^# *nvidia_smi.*", "nvidia_smi: yes", given.read()))
here = os.getcwd()
plugin = subprocess.Popen(
    [sys.executable, f"{AT}/plugins.d/python.d.plugin", "nvidia_smi", "1"],
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    start_new_session=True, env={
        **os.environ, "NETDATA_USER_CONFIG_DIR": f"{here}/conf",
        "NETDATA_STOCK_CONFIG_DIR": f"{AT}/conf.d",
        "NETDATA_PLUGINS_DIR": f"{AT}/plugins.d", "NETDATA_LIB_DIR": here,
        "NETDATA_LOCK_DIR": here, "NETDATA_UPDATE_EVERY": "1",
        "PYTHONPATH": f"{ROOT}/usr/lib/python3/dist-packages"})
found, chart = {}, None
for line in plugin.stdout:
    if line.startswith("BEGIN"):
        chart = line.split()[1]
        # A second round; it also tells of its own runs.
        if chart.startswith("nvidia_smi.") and chart in {
                one[0] for one in found}:
            break
    elif line.startswith("SET"):
        _, name, _, value = line.split()
        found[chart, name.strip("'")] = int(value)
os.killpg(plugin.pid, signal.SIGTERM)
values = {name: value for (_, name), value in found.items()}

for one in OURS:
    told = {name.split("_", 1)[1]: value for name, value in values.items()
            if name.startswith(f"gpu{one['index']}_")}
    wanted = {
        "gpu_util": one["gpu_utilization_percent"],
        "memory_util": one["memory_utilization_percent"],
        "encoder_util": 0, "decoder_util": 0,
        "fb_memory_used": mib(one, "used"), "fb_memory_free": mib(one, "free"),
        "bar1_memory_used": one["bar1_used_bytes"] // MIB,
        "bar1_memory_free":
            (one["bar1_total_bytes"] - one["bar1_used_bytes"]) // MIB,
        "gpu_temp": one["temperature_celsius"],
        "graphics_clock": mhz(one, "graphics"), "sm_clock": mhz(one, "sm"),
        "mem_clock": mhz(one, "memory"), "video_clock": mhz(one, "video"),
        "user_num": 1, **{f"process_mem_{pid}": held
                          for gpu, pid, held in PROCESSES
                          if gpu == one["index"]}}
    if one["fan_speed_percent"] is not None:
        wanted["fan_speed"] = one["fan_speed_percent"]
    # Newer drivers gave the elements of power another name.
    if int(DRIVER.split(".")[0]) < 535:
        wanted["power_draw"] = int(float(f"{one['power_watts']:.2f}") * 100)
        wanted[f"power_state_p{one['performance_state']}"] = 1
    for name, value in wanted.items():
        assert told[name] == value, (one["index"], name, told[name], value)
    assert sum(value for name, value in told.items()
               if name.startswith("user_mem_")) == mib(one, "used")
    assert ("fan_speed" in told) == (one["fan_speed_percent"] is not None)
"""

# BOINC's client asks CUDA what there is.
BOINC = """
from xml.etree import ElementTree

run(f"{ROOT}/usr/bin/boinc", "--detect_gpus", "--dir", os.getcwd(), **WITH)
told = ElementTree.parse("coproc_info.xml").getroot()
driver = DRIVER.split(".")
for gpu, one in zip(told.findall("coproc_cuda"), BY_SPEED, strict=True):
    assert gpu.findtext("name") == one["name"]
    assert int(gpu.findtext("drvVersion")) == (
        100 * int(driver[0]) + min(int(driver[1]), 99))
    major, minor = map(int, TOLD["cuda_version"].split("."))
    assert int(gpu.findtext("cudaVersion")) == major * 1000 + minor * 10
    assert (f"{gpu.findtext('major')}.{gpu.findtext('minor')}"
            == one["compute_capability"])
    assert int(gpu.findtext("multiProcessorCount")) == CORES[one["name"]]
    assert int(gpu.findtext("clockRate")) == 1000 * CLOCKS[one["name"]]
    reserved = one["memory_reserved_bytes"] or 0
    assert float(gpu.findtext("totalGlobalMem")) == (
        one["memory_total_bytes"] - reserved)
    # Its context is there, too.
    free = one["memory_free_bytes"] - float(gpu.findtext("available_ram"))
    assert 64 * MIB < free < 1024 * MIB, free
    bus = int(gpu.findtext("pci_info/bus_id"))
    assert f"{bus:02X}" == one["bus_id"].split(":")[1]
"""

# hashcat compiles nothing here; it looks for its files beside itself.
HASHCAT = """
os.mkdir("bin")
shutil.copy(f"{ROOT}/usr/bin/hashcat", "bin")
for name in os.listdir(f"{ROOT}/usr/share/hashcat"):
    os.symlink(f"{ROOT}/usr/share/hashcat/{name}", f"bin/{name}")
told = run("bin/hashcat", "-I", "--force", **WITH)
assert f"CUDA.Version.: {TOLD['cuda_version']}" in told, told
blocks = [dict(re.findall(r"  (\\S+?)\\.*: (.*)", block))
          for block in told.split("Backend Device ID")[1:]]
for gpu, one in zip(blocks, BY_SPEED, strict=True):
    assert gpu["Name"] == one["name"]
    assert int(gpu["Processor(s)"]) == CORES[one["name"]]
    assert int(gpu["Clock"]) == CLOCKS[one["name"]]
    total = one["memory_total_bytes"] - one["memory_reserved_bytes"]
    assert gpu["Memory.Total"] == f"{total // MIB} MB"
    assert gpu["PCI.Addr.BDFe"].upper() == one["bus_id"][4:]
"""


@pytest.mark.parametrize("driver", [470, 535, 580, 610])
def test_pcp(driver):
    DEBIAN.compare(PCP, *MACHINE, "--driver", str(driver))


@pytest.mark.parametrize("driver", [470, 535, 580, 610])
def test_netdata(driver):
    DEBIAN.compare(NETDATA, *MACHINE, "--driver", str(driver))


@pytest.mark.parametrize("driver", [535, 580])
def test_boinc(driver):
    DEBIAN.compare(BOINC, *MACHINE, "--driver", str(driver))


def test_hashcat():
    DEBIAN.compare(HASHCAT, *MACHINE)
