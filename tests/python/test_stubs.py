# SPDX-License-Identifier: Apache-2.0
"""Types are checked: mypy.stubtest compares the stubs with the modules, and
mypy --strict reads a user's program with mistakes that it must find."""

import glob
import os
import re
import subprocess
import sys

from conftest import clean_env, needed
from python_package import PACKAGE, check_built

check_built()
needed("mypy", "the test of the stubs")

CONFIG = """[mypy]
cache_dir = {cache}

[mypy-psutil.*,pynvml.*,keras.*,lightning.*,pytorch_lightning.*,torchgen.*]
ignore_missing_imports = True
"""

# Internal names, names that need a framework, and names of psutil and
# nvidia-ml-py, for which a module's __getattr__ stands.
ALLOWED = r"""
gpukit\.(.*\.)?_\w+(\..*)?
gpukit\.__main__(\..*)?
gpukit\.callbacks\.(keras|lightning|pytorch_lightning)(\..*)?
gpukit\.fake\.torch(\..*)?
gpukit\.host\.(?!getuser|hostname|load_|uptime|memory_p|swap_p|.*ppid_map).*
gpukit\.termcolor\.(Attribute|Color|Highlight)
gpukit\.libcuda\.CUDA(_|Error_).*
gpukit\.libcudart\.cuda(Success|Error.+)
gpukit\.libnvml\.(NVML|nvml(?!Init|Query|Check|Shutdown)).*
"""


def inner_modules():
    """Modules without stubs, and without types."""
    top = os.path.join(PACKAGE, "gpukit")
    for path in glob.glob(f"{top}/**/*.py", recursive=True):
        name = os.path.relpath(path, PACKAGE)[:-3].replace("/", ".")
        name = name.removesuffix(".__init__")
        if re.search(r"\._|^gpukit\.fake\.torch", name):
            yield name


def run_mypy(*arguments, cwd):
    return subprocess.run([sys.executable, "-m", *arguments], text=True,
                          capture_output=True, check=False, timeout=300,
                          cwd=cwd, env=clean_env(MYPYPATH=PACKAGE,
                                                 PYTHONPATH=PACKAGE))


def test_the_stubs_are_those_of_the_modules(tmp_path):
    config = CONFIG.format(cache=tmp_path / "cache")
    for name in inner_modules():
        config += f"\n[mypy-{name}]\nignore_errors = True\n"
    (tmp_path / "mypy.ini").write_text(config)
    (tmp_path / "allowed").write_text(ALLOWED)
    done = run_mypy("mypy.stubtest", "gpukit", "--mypy-config-file",
                    "mypy.ini", "--allowlist", "allowed", "--concise",
                    "--ignore-unused-allowlist", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


PROGRAM = '''
import datetime
from typing import assert_type

import gpukit
from gpukit import (CudaDevice, Device, GpuProcess, HostProcess, MigDevice,
                    NaType, PhysicalDevice, Snapshot, fake, take_snapshots)
from gpukit.callbacks.tensorboard import add_scalar_dict
from gpukit.device import ClockInfos, MemoryInfo
from gpukit.libcuda import CUDAError, cuDeviceGetCount
from gpukit.libnvml import nvmlQuery


def used(gpu: Device) -> int:
    value = gpu.memory_used()
    assert_type(value, int | NaType)
    assert_type(value / 2, float)
    return 0 if isinstance(value, NaType) else value


def report() -> None:
    for gpu in PhysicalDevice.all():
        assert_type(gpu, PhysicalDevice)
        assert_type(gpu.memory_info(), MemoryInfo)
        assert_type(gpu.clock_speed_infos().max, ClockInfos)
        assert_type(gpu.mig_devices(), list[MigDevice])
        assert_type(gpu.processes(), dict[int, GpuProcess])
        assert_type(gpu.reason("fan_speed"), str)
        with gpu.oneshot():
            print(used(gpu), gpu.nvlink_total_throughput(interval=0.1).tx)
    assert_type(CudaDevice(0).cuda_index, int)
    assert_type(MigDevice((0, 1)).index, tuple[int, int])
    assert_type(take_snapshots().devices, list[Snapshot])
    assert_type(gpukit.select_devices(format="uuid"), list[str])
    assert_type(gpukit.select_devices(format="device"), list[Device])
    assert_type(HostProcess().running_time(), datetime.timedelta)
    assert_type(gpukit.bytes2human(1), str)
    assert_type(gpukit.host.ppid_map(), dict[int, int])
    assert_type(gpukit.NVMLError(3).name, str)
    assert_type(cuDeviceGetCount(), int)
    print(nvmlQuery("nvmlDeviceGetCount"), CUDAError(1).value)


@gpukit.ttl_cache(maxsize=8, ttl=1.0)
def doubled(number: int) -> int:
    return number * 2


assert_type(doubled(2), int)
assert_type(doubled.cache_info().hits, int)
collector = gpukit.ResourceMetricCollector(interval=1.0)
with collector(tag="x"):
    assert_type(collector.collect(), dict[str, float])
    add_scalar_dict(None, "gpu", collector.collect(), global_step=1)
thread = gpukit.collect_in_background(lambda metrics: len(metrics) > 1)
assert_type(thread.collector, gpukit.ResourceMetricCollector)
with gpukit.timings() as t:
    assert_type(t["nvmlInit_v2"].own, float)
assert_type(fake.use("h100:2").ctl("show", 0), str)
'''

MISTAKES = {
    "Device(bus=5)": "call-overload|call-arg",
    "Device(1.5)": "arg-type",
    "Device(0).memory_used().upper() + 1": "union-attr|operator",
    "gpukit.ResourceMetricCollector(None, None, 1.0)": "call-arg|misc",
    "gpukit.select_devices(format='x')": "call-overload",
    "GpuProcess(1)": "call-arg", "gpukit.human2bytes(None)": "arg-type",
    "gpukit.colored('x', 'pink')": "arg-type",
    "x: str = Device.count()": "assignment",
    "doubled('x')": "arg-type", "gpukit.nothing": "attr-defined",
}


def test_a_program_of_a_user_has_types(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = run_mypy("mypy", "--strict", "--python-version", "3.11",
                    str(program), cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_mistakes_of_a_user_are_found(tmp_path):
    first = PROGRAM.count("\n") + 1
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + "\n".join(MISTAKES) + "\n")
    out = run_mypy("mypy", "--strict", "--python-version", "3.11",
                   str(program), cwd=tmp_path).stdout
    for number, (line, kinds) in enumerate(MISTAKES.items(), first):
        assert re.search(rf"program\.py:{number}: error: .*\[({kinds})\]",
                         out), (line, out)
