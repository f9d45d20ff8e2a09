# SPDX-License-Identifier: Apache-2.0
"""Monitors of PyPI show the figures that `gpukit stat` shows of the same moment:
the machine's time stands still. Those that read nvidia-smi run on each of its
forms."""

import pytest

from real_program import Program

MONITORS = Program("monitors")

# GPU 0 is busy, GPU 1 only holds memory, GPU 2 is unused.
MACHINE = ["--frozen", "--gpus", "a100-sxm4-80gb:1,rtx3090:2",
           "--load", "train:0,n=2,mem=5GiB", "--load", "idle:1,mem=3GiB"]

GPUTIL = """
import GPUtil

for gpu, one in zip(GPUtil.getGPUs(), OURS, strict=True):
    assert (gpu.id, gpu.uuid, gpu.name) == (
        one["index"], one["uuid"], one["name"])
    assert round(gpu.load * 100) == one["gpu_utilization_percent"]
    assert (gpu.memoryTotal, gpu.memoryUsed, gpu.memoryFree) == (
        mib(one, "total"), mib(one, "used"), mib(one, "free"))
    assert gpu.temperature == one["temperature_celsius"]
    assert (gpu.driver, gpu.display_active) == (DRIVER, "Disabled")
    assert gpu.serial == (one["serial"] or "[N/A]")
assert GPUtil.getAvailable(limit=9, maxMemory=0.1, maxLoad=0.1) == [2]
"""

NVSMI = """
import nvsmi

for gpu, one in zip(nvsmi.get_gpus(), OURS, strict=True):
    assert (int(gpu.id), gpu.uuid, gpu.name) == (
        one["index"], one["uuid"], one["name"])
    assert (gpu.gpu_util, gpu.temperature) == (
        one["gpu_utilization_percent"], one["temperature_celsius"])
    assert (gpu.mem_total, gpu.mem_used, gpu.mem_free) == (
        mib(one, "total"), mib(one, "used"), mib(one, "free"))
assert sorted((int(one.gpu_id), one.pid, one.process_name, one.used_memory)
              for one in nvsmi.get_gpu_processes()) == [
    (gpu, pid, "gpukit-load", held) for gpu, pid, held in PROCESSES]
"""

NVGPU = """
import nvgpu
from nvgpu.list_gpus import device_statuses

for gpu, one in zip(nvgpu.gpu_info(), OURS, strict=True):
    assert (int(gpu["index"]), gpu["type"], gpu["uuid"]) == (
        one["index"], one["name"], one["uuid"])
    assert (gpu["mem_used"], gpu["mem_total"]) == (
        mib(one, "used"), mib(one, "total"))
assert nvgpu.available_gpus(5) == ["2"]
for gpu, one in zip(device_statuses(), OURS, strict=True):
    assert (gpu["type"], gpu["utilization"], gpu["temperature"]) == (
        one["name"], one["gpu_utilization_percent"],
        one["temperature_celsius"])
    assert gpu["clock_mhz"] * 1000000 == one["sm_clock_hertz"]
    assert {pid for pid in gpu["pids"].split(",") if pid} == {
        str(pid) for index, pid, _ in PROCESSES if index == one["index"]}
    assert gpu["memory"].total == one["memory_total_bytes"]
    assert gpu["memory"].free == one["memory_free_bytes"]
"""

NVIDIA_HTOP = """
told = run(os.path.join(BIN, "nvidia-htop.py"), "-l", "200").splitlines()
rows = [line.split() for line in told if "gpukit-load" in line]
assert sorted((int(row[1]), int(row[2]), row[4]) for row in rows) == [
    (gpu, pid, f"{held}MiB") for gpu, pid, held in PROCESSES], told
for row in rows:
    assert row[3] == "root" if os.getuid() == 0 else row[3] != "root"
    assert f"gpu={row[1]}" in row, row
# A meter is as long as what is left of its cell: 20 signs, and 9 or 14.
meters = re.findall(r"\\[(\\|* *)\\]", run(
    os.path.join(BIN, "nvidia-htop.py"), "-m"))
for one, memory, work in zip(OURS, meters[::2], meters[1::2], strict=True):
    share = one["memory_used_bytes"] / one["memory_total_bytes"]
    assert memory.count("|") == round(share * len(memory)), meters
    share = one["gpu_utilization_percent"] / 100
    assert work.count("|") == round(share * len(work)), meters
"""

GPU_TRACKER = """
import time
from gpu_tracker.tracker import Tracker

tracker = Tracker(sleep_time=0.2, gpu_ram_unit="megabytes", disable_logs=True)
with tracker:
    time.sleep(3)
used = tracker.resource_usage.max_gpu_ram
assert used.unit == "megabytes"
total = sum(one["memory_total_bytes"] // MIB for one in OURS)
held = sum(mib(one, "used") for one in OURS)
assert abs(used.system_capacity - total) < 1, (used, total)
assert abs(used.system - held) < 1, (used, held)
assert used.main == used.descendants == 0
percent = tracker.resource_usage.gpu_utilization.gpu_percentages
assert percent.max_sum_percent == sum(
    one["gpu_utilization_percent"] for one in OURS), percent
"""


DRIVERS = [470, 535, 580, 610]


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("script", [GPUTIL, NVSMI, NVIDIA_HTOP, GPU_TRACKER],
                         ids=["GPUtil", "nvsmi", "nvidia-htop", "gpu-tracker"])
def test_of_nvidia_smi(script, driver):
    MONITORS.compare(script, *MACHINE, "--driver", str(driver))


# It searches the table for "CUDA Version: ", which 610 no longer has, and calls
# a function that 470 has not yet.
@pytest.mark.parametrize("driver", DRIVERS[1:-1])
def test_nvgpu(driver):
    MONITORS.compare(NVGPU, *MACHINE, "--driver", str(driver))


PY3NVML = """
import py3nvml.py3nvml as nvml

nvml.nvmlInit()
assert nvml.nvmlSystemGetDriverVersion() == DRIVER
assert nvml.nvmlDeviceGetCount() == len(OURS)
for index, one in enumerate(OURS):
    gpu = nvml.nvmlDeviceGetHandleByIndex(index)
    assert nvml.nvmlDeviceGetName(gpu) == one["name"]
    assert nvml.nvmlDeviceGetUUID(gpu) == one["uuid"]
    # It has the struct of 16 bytes for the address, as drivers before 2017.
    assert nvml.nvmlDeviceGetPciInfo(gpu).busId == one["bus_id"][4:].encode()
    memory = nvml.nvmlDeviceGetMemoryInfo(gpu)
    assert (memory.total, memory.free, memory.used) == (
        one["memory_total_bytes"], one["memory_free_bytes"],
        in_use(one))
    assert nvml.nvmlDeviceGetPowerUsage(gpu) == round(
        one["power_watts"] * 1000)
    assert nvml.nvmlDeviceGetUtilizationRates(gpu).gpu == one[
        "gpu_utilization_percent"]
    assert nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU
                                         ) == one["temperature_celsius"]
    try:
        fan = nvml.nvmlDeviceGetFanSpeed(gpu)
    except nvml.NVMLError as error:
        assert error.value == nvml.NVML_ERROR_NOT_SUPPORTED
        fan = None
    assert fan == one["fan_speed_percent"]
    assert sorted((one["index"], process.pid, process.usedGpuMemory // MIB)
                  for process in nvml.nvmlDeviceGetComputeRunningProcesses(gpu)
                  ) == [row for row in PROCESSES if row[0] == index]
nvml.nvmlShutdown()

rows = re.findall(r"([0-9]+)MiB / +([0-9]+)MiB \\| +([0-9]+)%",
                  run(os.path.join(BIN, "py3smi")))
assert [tuple(map(int, row)) for row in rows] == [
    (in_use(one) // MIB, mib(one, "total"), one["gpu_utilization_percent"])
    for one in OURS], rows
"""

# The module of pynvml that looks like nvidia-smi.
PYNVML_SMI = """
from pynvml.smi import nvidia_smi

told = nvidia_smi.getInstance().DeviceQuery(
    "index,name,uuid,pci.bus_id,driver_version,memory.total,memory.free,"
    "memory.used,utilization.gpu,utilization.memory,temperature.gpu,"
    "power.draw,pstate,clocks.current.sm,clocks.current.memory,clocks.gr,"
    "clocks.mem,fan.speed")
for gpu, one in zip(told["gpu"], OURS, strict=True):
    assert (gpu["product_name"], gpu["uuid"]) == (one["name"], one["uuid"])
    assert gpu["pci"]["pci_bus_id"] == one["bus_id"]
    assert [gpu["fb_memory_usage"][key] * MIB
            for key in ("total", "free", "used")] == [
        one["memory_total_bytes"], one["memory_free_bytes"], in_use(one)]
    assert gpu["utilization"]["gpu_util"] == one["gpu_utilization_percent"]
    assert gpu["utilization"]["memory_util"] == one[
        "memory_utilization_percent"]
    assert gpu["temperature"]["gpu_temp"] == one["temperature_celsius"]
    assert gpu["power_readings"]["power_draw"] == one["power_watts"]
    assert gpu["clocks"]["sm_clock"] * 1000000 == one["sm_clock_hertz"]
    assert gpu["clocks"]["mem_clock"] * 1000000 == one["memory_clock_hertz"]
    fan = one["fan_speed_percent"]
    assert gpu["fan_speed"] == ("N/A" if fan is None else fan)
    assert gpu["performance_state"] == f"P{one['performance_state']}"
"""

# NVIDIA's own program in Python that writes what `nvidia-smi -q -x` does: each
# element that both have is the same. It knows other names for ECC's.
PYNVML_XML = """
from xml.etree import ElementTree
from pynvml.smi import nvidia_smi

def leaves(element, path=""):
    found, count = {}, {}
    for child in element:
        count[child.tag] = count.get(child.tag, 0) + 1
        at = f"{path}/{child.tag}[{count[child.tag]}]"
        if len(child):
            found.update(leaves(child, at))
        else:
            found[at] = (child.text or "").strip().replace(".0 MiB", " MiB")
    return found

theirs = leaves(ElementTree.fromstring(
    nvidia_smi.getInstance().XmlDeviceQuery()))
ours = leaves(ElementTree.fromstring(run("nvidia-smi", "-q", "-x")))
both = sorted(set(theirs) & set(ours))
assert len(both) > 700, len(both)
# It has the time in another form, lists no accounted processes, and those that
# run in NVML's order.
APART = ["timestamp", "accounted_processes", "processes"]
if int(DRIVER.split(".")[0]) >= 580:
    APART.append("display_mode")  # nvidia-smi calls it deprecated
if DRIVER.startswith("610"):
    APART.append("driver_version")  # and says so here
for index, one in enumerate(OURS, 1):
    # It counts the driver's own memory as used, as NVML's first function does.
    at = f"/gpu[{index}]/fb_memory_usage[1]/used[1]"
    assert theirs.pop(at) == f"{in_use(one) // MIB} MiB"
    assert ours[at] == f"{mib(one, 'used')} MiB"
    both.remove(at)
different = [(at, theirs[at], ours[at]) for at in both
             if theirs[at] != ours[at]
             and not any(f"/{name}[" in at for name in APART)]
assert not different, different
"""

GPUVIEW = """
from gpuview.core import my_gpustat

told = my_gpustat()
for gpu, one in zip(told["gpus"], OURS, strict=True):
    assert (gpu["index"], gpu["name"]) == (one["index"], one["name"])
    assert gpu["temperature.gpu"] == one["temperature_celsius"]
    assert gpu["utilization.gpu"] == one["gpu_utilization_percent"]
    assert gpu["memory.total"] == mib(one, "total")
    assert int(gpu["user_processes"].split("/")[1]) == len(one["processes"])
"""

GPULINK = """
from gpulink import DeviceCtx
from gpulink.devices.nvml_defines import ClockType, TemperatureSensorType

with DeviceCtx() as devices:
    def values(results):
        return [result.value for result in results]
    assert [one.name for one in devices.gpus] == [one["name"] for one in OURS]
    assert [(one.total, one.free) for one in devices.get_memory_info()] == [
        (one["memory_total_bytes"], one["memory_free_bytes"]) for one in OURS]
    assert values(devices.get_temperature(TemperatureSensorType.GPU)) == [
        one["temperature_celsius"] for one in OURS]
    assert values(devices.get_power_usage(None)) == [
        round(one["power_watts"] * 1000) for one in OURS]
    assert [hertz * 1000000 for hertz in values(
        devices.get_clock(ClockType.CLOCK_MEM))] == [
        one["memory_clock_hertz"] for one in OURS]
    assert values(devices.get_fan_speed(gpus=[1, 2])) == [
        one["fan_speed_percent"] for one in OURS[1:]]
"""

GLANCES = """
told = run(os.path.join(BIN, "glances"), "--stdout-json", "gpu",
           "--stop-after", "1", "--disable-check-update")
for gpu, one in zip(json.loads(told)["gpu"], OURS, strict=True):
    assert (gpu["gpu_id"], gpu["name"]) == (
        f"nvidia{one['index']}", one["name"])
    assert gpu["proc"] == one["gpu_utilization_percent"]
    assert gpu["temperature"] == one["temperature_celsius"]
    assert gpu["fan_speed"] == one["fan_speed_percent"]
    assert gpu["mem"] == in_use(one) * 100 / one["memory_total_bytes"]
"""


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("script", [
    PY3NVML, PYNVML_SMI, GPUVIEW, GPULINK, GLANCES], ids=[
    "py3nvml", "pynvml.smi", "gpuview", "gpulink", "glances"])
def test_of_nvml(script, driver):
    MONITORS.compare(script, *MACHINE, "--driver", str(driver))


@pytest.mark.parametrize("driver", [535, 550, 580, 610])
def test_the_xml_of_pynvml(driver):
    MONITORS.compare(PYNVML_XML, "--frozen", "--gpus", "h100:1,t4:1,rtx3090:1",
                     "--load", "train:0,n=2,mem=5GiB", "--load",
                     "idle:1,mem=3GiB", "--driver", str(driver))


# A GPU that is split tells no utilization; its memory is that of its parts.
SPLIT = """
import math
import GPUtil, nvsmi

gpus = [one for one in OURS if one["mig_index"] is None]
parts = [one for one in OURS if one["mig_index"] is not None]
assert len(gpus) == 2 and len(parts) == 2
assert in_use(gpus[0]) > sum(one["memory_used_bytes"] for one in parts) > 0
for gpu, other, one in zip(GPUtil.getGPUs(), nvsmi.get_gpus(), gpus,
                           strict=True):
    assert gpu.memoryUsed == other.mem_used == -(
        -one["memory_used_bytes"] // MIB)
    load = one["gpu_utilization_percent"]
    assert math.isnan(gpu.load) if load is None else gpu.load * 100 == load
assert gpus[0]["gpu_utilization_percent"] is None
assert [(int(one.gpu_id), one.pid, one.used_memory)
        for one in nvsmi.get_gpu_processes()] == [
    (gpus[0]["index"], one["pid"], one["gpu_memory_bytes"] // MIB)
    for one in parts[0]["processes"]]
told = json.loads(run(os.path.join(BIN, "glances"), "--stdout-json", "gpu",
                      "--stop-after", "1", "--disable-check-update"))["gpu"]
assert [(one["proc"], one["mem"]) for one in told] == [
    (one["gpu_utilization_percent"],
     in_use(one) * 100 / one["memory_total_bytes"]) for one in gpus]
"""


def test_a_gpu_that_is_split():
    MONITORS.compare(SPLIT, "--frozen", "--gpus", "a100-sxm4-80gb:2", "--mig",
                     "0=3g.40gb+2g.20gb", "--load", "train:0:0,mem=5GiB")
