# SPDX-License-Identifier: Apache-2.0
"""What schedulers of Python programs tell of GPUs is what `gpukit stat` shows of
the same moment: the machine's time stands still."""

import pytest

from real_program import Program

CLUSTERS = Program("clusters")

MACHINE = ["--frozen", "--gpus", "h100:2", "--load", "train:all,mem=5GiB",
           "--load", "idle:1,mem=3GiB"]

# A scheduler and a worker, in this process.
DISTRIBUTED = """
from distributed import Client, LocalCluster

with LocalCluster(n_workers=1, threads_per_worker=1, processes=False,
                  dashboard_address=None) as cluster, Client(cluster) as client:
    worker, = cluster.workers.values()
    told = worker.monitor.update()
    metrics = client.run(lambda dask_worker: dask_worker.monitor.recent())
one = OURS[0]  # a worker has one GPU, the first that it may see
assert worker.monitor.gpu_name == one["name"]
assert told["gpu-memory-total"] == one["memory_total_bytes"]
assert told["gpu_utilization"] == one["gpu_utilization_percent"]
assert told["gpu_memory_used"] == in_use(one)
recent, = metrics.values()
assert recent["gpu_memory_used"] == in_use(one)

from distributed.diagnostics import nvml
assert nvml.device_get_count() == len(OURS)
assert nvml.get_device_index_and_uuid(1).uuid == OURS[1]["uuid"]
assert nvml.has_cuda_context().has_context is False
"""

# The handlers of JupyterLab's dashboard, without its web server.
NVDASHBOARD = """
from jupyterlab_nvdashboard.apps import gpu as dashboard

def told(name):
    class Handler(getattr(dashboard, name)):
        def __init__(self):
            self.told = []
        def write_message(self, message):
            self.told.append(json.loads(message))
    handler = Handler()
    handler.send_data()
    return handler

assert told("GPUUtilizationWebSocketHandler").told == [
    {"gpu_utilization": [one["gpu_utilization_percent"] for one in OURS]}]
assert told("GPUUsageWebSocketHandler").told == [
    {"memory_usage": [in_use(one) for one in OURS],
     "total_memory": [one["memory_total_bytes"] for one in OURS]}]
pci, = told("PCIStatsWebSocketHandler").told
rows = run("nvidia-smi", "-q")
assert list(zip(pci["pci_rx"], pci["pci_tx"])) == [
    (int(rx) * 1024, int(tx) * 1024) for tx, rx in zip(
        re.findall(r"Tx Throughput +: (\\d+) KB/s", rows),
        re.findall(r"Rx Throughput +: (\\d+) KB/s", rows), strict=True)]
assert pci["max_rxtx_tp"] == 16 * 3938 * MIB  # PCIe 5, 16 lanes
resource, = told("GPUResourceWebSocketHandler").told
assert resource["gpu_memory_individual"] == [in_use(one) for one in OURS]
assert resource["gpu_utilization_total"] == sum(
    one["gpu_utilization_percent"] for one in OURS) / len(OURS)

# It wants the bytes between two calls, of all links.
def link_bytes(way):
    told = run("nvidia-smi", "nvlink", "-gt", "d")
    return [1024 * sum(map(int, re.findall(f"Data {way}: (\\d+) KiB", gpu)))
            for gpu in told.split("GPU ")[1:]]

links = told("NVLinkThroughputWebSocketHandler")
before = link_bytes("Rx"), link_bytes("Tx")
run(os.environ["GPUKIT_COMMAND"], "fake", "ctl", "clock", "step", "10s")
links.send_data()
moved = [[b - a for a, b in zip(*pair)]
         for pair in zip(before, (link_bytes("Rx"), link_bytes("Tx")))]
first, then = links.told
assert first["nvlink_rx"] == first["nvlink_tx"] == [0, 0]
assert [then["nvlink_rx"], then["nvlink_tx"]] == moved, (then, moved)
assert min(moved[0]) > 1 << 30, moved
# Half the sum of the speeds; it asks for 12 of the 18 links.
speed, = set(re.findall(r"Link \\d+: ([0-9.]+) GB/s",
                        run("nvidia-smi", "nvlink", "-s")))
assert first["max_rxtx_bw"] == 12 * round(float(speed) * 1000) * MIB / 2
"""

RAY = """
from ray._private.accelerators.nvidia_gpu import NvidiaGPUAcceleratorManager
from ray.dashboard.modules.reporter.gpu_providers import NvidiaGpuProvider

assert NvidiaGPUAcceleratorManager.get_current_node_num_accelerators() == 2
assert (NvidiaGPUAcceleratorManager.get_current_node_accelerator_type()
        == "H100")
provider = NvidiaGpuProvider()
assert provider.is_available()
for gpu, one in zip(provider.get_gpu_utilization(), OURS, strict=True):
    assert (gpu["index"], gpu["name"], gpu["uuid"]) == (
        one["index"], one["name"], one["uuid"])
    assert gpu["utilization_gpu"] == one["gpu_utilization_percent"]
    assert (gpu["memory_used"], gpu["memory_total"]) == (
        in_use(one) // MIB, mib(one, "total"))
    assert gpu["power_mw"] == round(one["power_watts"] * 1000)
    assert gpu["temperature_c"] == one["temperature_celsius"]
    assert {(pid, process["gpu_memory_usage"])
            for pid, process in gpu["processes_pids"].items()} == {
        (pid, held) for index, pid, held in PROCESSES if index == one["index"]}
"""

RAY_MIG = """
from ray.dashboard.modules.reporter.gpu_providers import NvidiaGpuProvider

parts = [one for one in OURS if one["mig_index"] is not None]
told = NvidiaGpuProvider().get_gpu_utilization()
assert len(told) == 3
for gpu, one in zip(told[:2], parts, strict=True):
    assert (gpu["index"], gpu["uuid"]) == (one["mig_index"], one["uuid"])
    assert gpu["memory_total"] == mib(one, "total")
    assert gpu["memory_used"] == in_use(one) // MIB
assert told[2]["name"] == OURS[-1]["name"]
"""


@pytest.mark.parametrize("driver", [535, 580, 610])
@pytest.mark.parametrize("script", [DISTRIBUTED, NVDASHBOARD, RAY], ids=[
    "distributed", "nvdashboard", "ray"])
def test_clusters(script, driver):
    CLUSTERS.compare(script, *MACHINE, "--driver", str(driver))


def test_ray_knows_mig_devices():
    CLUSTERS.compare(RAY_MIG, "--frozen", "--gpus", "a100-sxm4-80gb:2",
                     "--mig", "0=3g.40gb+2g.20gb", "--load",
                     "train:0:0,mem=5GiB")
