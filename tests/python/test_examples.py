# SPDX-License-Identifier: Apache-2.0
"""Every example of docs/PYTHON-EXAMPLES.md runs as printed: sessions are
compared with the page, programs with the settings of the machine."""

import csv
import json
import math
import os
import re
import subprocess
import sys

import pytest

from conftest import GPUKIT, ROOT, clean_env, needed
from python_package import PACKAGE, check_built, run

check_built()

MACHINE = ("--frozen", "--gpus", "rtx4090:2", "--load", "train:0,mem=6GiB",
           "--load", "infer:1,mem=2GiB")


def examples(page="PYTHON-EXAMPLES.md"):
    """heading -> its example."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as f:
        text = f.read()
    parts = re.split(r"^#+ (.*)\n", text, flags=re.M)
    found = {}
    for heading, body in zip(parts[1::2], parts[2::2]):
        blocks = re.findall(r"^```python\n(.*?)^```$", body, re.M | re.S)
        assert len(blocks) <= 1, heading
        found.update((heading, block) for block in blocks)
    return found


EXAMPLES = examples()
SESSIONS = [name for name, code in EXAMPLES.items() if code[:3] == ">>>"]

SESSION = """
import doctest, sys
test = doctest.DocTestParser().get_doctest(sys.argv[1], {}, "page", "page", 0)
runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
runner.run(test, clear_globs=False)
assert runner.tries > 3
sys.exit(runner.failures > 0)
"""


@pytest.mark.parametrize("psutil", [True, False],
                         ids=["with psutil", "without psutil"])
@pytest.mark.parametrize("name", SESSIONS)
def test_a_session(machine, name, psutil):
    begin = "" if psutil else "import sys; sys.modules['psutil'] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", begin + SESSION, EXAMPLES[name]], text=True,
        capture_output=True, check=False, timeout=120,
        env=clean_env(PYTHONPATH=PACKAGE, **machine(*MACHINE).env))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_shows_what_it_should():
    """A program without a test of its own would never run."""
    programs = set(EXAMPLES) - set(SESSIONS)
    assert programs == {
        "All GPUs at a glance", "A table in colours", "To TensorBoard",
        "To a CSV file, with pandas", "In the background",
        "A made-up machine in a notebook"}
    assert len(SESSIONS) >= 8


@pytest.fixture(name="example")
def run_example(machine, tmp_path, monkeypatch):
    """example(HEADING) returns what the example prints; it runs in a directory
    of its own."""
    monkeypatch.chdir(tmp_path)

    def start(name, **env):
        start.on = machine(*MACHINE)
        start.shown = start.on.show()["gpus"]
        return run(EXAMPLES[name], **start.on.env, **env)

    return start


def shown(example, gpu, name):
    return example.shown[gpu]["values"][name]["value"]


def test_all_gpus(example):
    lines = example("All GPUs at a glance").splitlines()
    assert len(lines) == 8
    for gpu, used, free in (0, "6144MiB", "18066MiB"), (1, "2048MiB",
                                                        "21.64GiB"):
        head, memory, busy, process = lines[4 * gpu:4 * gpu + 4]
        assert head == (f"PhysicalDevice(index={gpu}, name='NVIDIA GeForce "
                        "RTX 4090', total_memory=23.99GiB)")
        assert memory == f"  {used} of 23.99GiB used, {free} free"
        watts = round(shown(example, gpu, "power-average") / 1000)
        assert busy == (
            f"  {shown(example, gpu, 'utilization')} % busy, "
            f"{shown(example, gpu, 'temperature')} C, "
            f"fan {shown(example, gpu, 'fan')} %, {watts}W / 450W")
        assert re.fullmatch(rf"  \d+ C {used} gpukit-load \w+ gpu={gpu} .*",
                            process)


def test_the_table(example):
    plain = example("A table in colours", NO_COLOR="1")
    assert "\033" not in plain
    lines = plain.splitlines()
    assert lines[0] == ("NVIDIA GeForce RTX 4090 "
                        f"{shown(example, 0, 'utilization')} % "
                        "6144MiB / 23.99GiB")
    assert lines[1].split() == ["PID", "USER", "CPU", "%", "MEMORY", "GPU",
                                "SM", "%", "COMMAND"]
    pid, _, cpu, _, memory, share, *command = lines[2].split()
    assert (float(cpu), memory, command[:2]) == (0, "6144MiB", [
        "gpukit-load", "train"])
    assert int(pid) > 1 and 80 <= int(share) <= 100
    assert len(lines) == 6 and " 2048MiB " in lines[5]
    colored = example("A table in colours", FORCE_COLOR="1")
    assert "\033[31m93 %" in colored and "\033[32m55 %" in colored
    assert re.sub(r"\033\[\d+m", "", colored).splitlines()[0] == lines[0]


def test_to_tensorboard(example):
    needed("tensorboard", "this test")  # and tensorboardX, which comes with it
    example("To TensorBoard")
    events = json.loads(run("""
import json
from tensorboard.backend.event_processing import event_accumulator
events = event_accumulator.EventAccumulator("runs")
events.Reload()
print(json.dumps({tag: [(one.step, one.value) for one in events.Scalars(tag)]
                  for tag in events.Tags()["scalars"]}))
"""))

    def values(tag):
        return [tuple(pair) for pair in events[tag]]

    assert values("train/loss") == [
        (step, pytest.approx(1 / (1 + (step - 1) % 3)))
        for step in range(1, 7)]
    gpu = "/cuda_0__gpu_0_/"
    assert values(f"resources/train/batch{gpu}memory_used__MiB_/mean") == [
        (step, 6144) for step in range(1, 7)]
    assert values(f"resources/train{gpu}temperature__C_/max") == [
        (epoch, shown(example, 0, "temperature")) for epoch in range(2)]


def test_to_csv(example):
    needed("pandas", "this test")
    example("To a CSV file, with pandas")
    with open("metrics.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    assert len(rows) == 3
    for row in rows:
        assert float(row["all/gpu:0/memory_used (MiB)/mean"]) == 6144
        assert float(row["all/gpu:1/temperature (C)/last"]) == shown(
            example, 1, "temperature")
        assert re.match(r"20\d\d-\d\d-\d\d ", row["time"])
    times = [float(row["all/duration (s)"]) for row in rows]
    assert 0.2 <= times[0] < times[1] < times[2]
    pids = {key.split("/")[1] for key in rows[0] if "/pid:" in key}
    assert len(pids) == 2


def test_in_the_background(example):
    log, fan = example("In the background").splitlines()
    *watts, closed = eval(log)
    assert closed == "closed" and len(watts) == 3
    for each in watts:
        assert math.isclose(each, shown(example, 0, "power-average") / 1000)
    assert float(fan) == shown(example, 1, "fan")


def test_in_a_notebook(tmp_path):
    """It makes its own machine."""
    out = run(EXAMPLES["A made-up machine in a notebook"],
              GPUKIT_COMMAND=GPUKIT, TMPDIR=str(tmp_path))
    assert out.split() == ["2", "2", "3072MiB", "88"]


# ---- programs for nvitop

PROGRAM = """
import PACKAGE as nvitop

def report(device):
    with device.oneshot():
        used, total = device.memory_used(), device.memory_total()
        yield device.index, device.name(), device.uuid(), device.bus_id()
        yield nvitop.bytes2human(used), 100.0 * used / total
        yield device.gpu_utilization(), device.memory_utilization()
        yield device.fan_speed(), device.temperature(), device.power_status()
        yield device.mig_mode() is nvitop.NA, device.compute_mode()
        yield device.performance_state(), device.max_clock_infos().sm

for device in nvitop.Device.all():
    print(*report(device), sep=" | ")
    for pid, process in device.processes().items():
        print(pid, process.type, process.gpu_memory_human(),
              process.username(), process.command(), process.status())
busiest = max(nvitop.Device.cuda.all(), key=lambda d: d.gpu_utilization())
print(busiest.cuda_index, busiest.physical_index)
print(nvitop.select_devices(format="uuid", sort=True, min_count=1))
print(nvitop.parse_cuda_visible_devices("1,0"))
print(nvitop.normalize_cuda_visible_devices("1"))

snapshots = nvitop.take_snapshots()
for shot in snapshots.devices:
    print(shot.real, shot.memory_usage, shot["memory_info"].total,
          shot.utilization_rates.gpu, shot.temperature)
with nvitop.GpuProcess.failsafe():
    for shot in snapshots.gpu_processes:
        print(shot.pid, shot.gpu_memory, shot.gpu_memory_percent, shot.name,
              shot.command, shot.host.username)

collector = nvitop.ResourceMetricCollector(
    nvitop.Device.cuda.all(), root_pids={1}, interval=1.0)
with collector(tag="train"):
    with collector(tag="step"):
        metrics = collector.collect()
steady = ("memory_used", "memory_free", "gpu_utilization", "temperature",
          "power_usage", "fan_speed")
for key in sorted(metrics):
    if any(name in key for name in steady) and "/pid:" not in key \\
            and not key.startswith("train/step/host"):
        print(key, f"{metrics[key]:.8g}")
this = nvitop.HostProcess()
print(this.pid == nvitop.host.Process().pid, this.is_running(),
      nvitop.command_join(["a b", "c"]), nvitop.human2bytes("3GiB"),
      nvitop.timedelta2human(3661), nvitop.colored("plain"))
try:
    nvitop.Device(99)
except nvitop.NVMLError as error:
    print(type(error).__name__, error)
"""


def test_a_program_for_nvitop_runs_unchanged(machine):
    pytest.importorskip("nvitop")
    env = {**machine(*MACHINE).env, "NO_COLOR": "1"}
    theirs, ours = [
        run(PROGRAM.replace("PACKAGE", package), **env).splitlines()
        for package in ("nvitop", "gpukit")]
    assert ours == theirs and len(ours) > 60
