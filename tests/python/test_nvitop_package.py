# SPDX-License-Identifier: Apache-2.0
"""Programs for nvitop run unchanged on gpukit-nvitop, which has an environment
of its own: they print what they print on nvitop, on one made-up machine whose
clock is stopped."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

import wheels
from conftest import GPUKIT, ROOT, Machine, clean_env, needed
from python_package import check_built

check_built()
needed("pip", "the test of wheels")
needed("nvitop", "the test of programs for nvitop")
needed("pynvml", "the test of programs for nvitop")
pytestmark = wheels.GROUP

# Each is written as programs for nvitop are; it prints nothing that changes
# while the machine's clock stands still.
PROGRAMS = {
    "a list of GPUs": """
from nvitop import Device

devices = Device.all()
for device in devices:
    processes = device.processes()
    print(device)
    print(f"  - Fan speed:       {device.fan_speed()}%")
    print(f"  - Temperature:     {device.temperature()}C")
    print(f"  - GPU utilization: {device.gpu_utilization()}%")
    print(f"  - Total memory:    {device.memory_total_human()}")
    print(f"  - Used memory:     {device.memory_used_human()}")
    print(f"  - Processes:       {len(processes)} {sorted(processes)}")
""",
    "colours": """
from nvitop import (NA, Device, GpuProcess, colored, bytes2human, set_color,
                    timedelta2human)
set_color(True)
print(colored("GPUs", color="red", attrs=("bold",)))
for device in Device.from_indices([0, (1, 0)]):
    with device.oneshot():
        text = f"{device.name()} {device.memory_usage()} {device.power_status()}"
    print(colored(text, color="green"))
    for process in GpuProcess.take_snapshots(device.processes().values(),
                                             failsafe=True):
        print(colored(process.pid, "yellow"), process.type,
              process.gpu_memory_human, process.username, process.command,
              process.gpu_memory is NA)
print(bytes2human(NA), timedelta2human(3661), str(NA), float(NA))
""",
    "nvitop.api": """
from nvitop.api import (NA, Device, GpuProcess, HostProcess, bytes2human,
                        libnvml, take_snapshots)
from nvitop.api.device import MigDevice, PhysicalDevice
from nvitop.api.process import command_join
from nvitop.api.utils import GiB, Snapshot, human2bytes
for device in Device.all():
    assert isinstance(device, PhysicalDevice)
    for leaf in device.to_leaf_devices():
        info = leaf.memory_info()
        print(leaf.index, isinstance(leaf, MigDevice), leaf.uuid(),
              bytes2human(info.used), round(info.total / GiB, 2))
shots = take_snapshots()
assert all(isinstance(shot, Snapshot) for shot in shots.devices)
print([(shot.uuid, shot.memory_used) for shot in shots.devices])
print([(shot.pid, shot.gpu_memory) for shot in shots.gpu_processes])
print(human2bytes("2GiB"), command_join(["python", "a b"]))
print(libnvml.nvmlQuery("nvmlDeviceGetCount"), libnvml.NVML_CLOCK_SM)
""",
    "the collector": """
import os
from nvitop import Device, ResourceMetricCollector, collect_in_background
collector = ResourceMetricCollector(Device.all(), root_pids=None, interval=5)
with collector(tag="train"):
    with collector(tag="epoch"):
        metrics = collector.collect()
gpu = {key: value for key, value in metrics.items() if "/gpu:" in key
       and "pid:" not in key}
for key in sorted(gpu):
    print(key, round(gpu[key], 3))
print([device.index for device in collector.devices])
print(sorted(key for key in metrics if key.startswith("train/epoch/host/")))
seen = []
def on_collect(metrics):
    seen.append(sorted(key for key in metrics if "gpu:0/" in key))
    return False
daemon = collect_in_background(on_collect, ResourceMetricCollector(
    Device.all(), interval=0.1), tag="daemon")
daemon.join()
print(seen)
""",
    "choosing devices": """
import os
from nvitop.select import select_devices
os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(
    select_devices(format="uuid", min_count=1, min_free_memory="10GiB"))
print(os.environ["CUDA_VISIBLE_DEVICES"])
print(select_devices(max_gpu_utilization=50), select_devices(max_count=1))
print([str(each) for each in select_devices(format="device", max_count=1)])
""",
    "CUDA's order": """
import os
from nvitop import CudaDevice, Device, parse_cuda_visible_devices
from nvitop import libcuda, libcudart
print(parse_cuda_visible_devices("0"), parse_cuda_visible_devices(""))
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
print(CudaDevice.count(), CudaDevice(0), Device.cuda.all())
libcuda.cuInit()
print(libcuda.cuDriverGetVersion(), libcuda.is_available())
print(libcudart.cudaDriverGetVersion())
""",
    "errors of nvidia-ml-py": """
import pynvml
from nvitop import Device, NVMLError, libnvml
assert NVMLError is pynvml.NVMLError is libnvml.NVMLError
for index in (9, (0, 3)):
    try:
        Device(index)
    except pynvml.NVMLError as error:
        print(error.value, error, type(error).__name__,
              isinstance(error, NVMLError))
try:
    Device(9)
except pynvml.NVMLError_InvalidArgument as error:
    print(repr(error))
pynvml.nvmlInit()
try:
    pynvml.nvmlDeviceGetHandleByIndex(9)
except libnvml.NVMLError_InvalidArgument as error:
    print(repr(error))
try:
    libnvml.nvmlQuery("nvmlDeviceGetHandleByIndex", 9, ignore_errors=False)
except NVMLError as error:
    print(error.value)
print(libnvml.nvmlExceptionClass(15) is pynvml.NVMLError_GpuIsLost)
with libnvml:
    handle = libnvml.nvmlDeviceGetHandleByIndex(0)
    print(libnvml.nvmlDeviceGetName(handle))
""",
    "one module for each name": """
import sys
import nvitop
import nvitop.api.libnvml as by_path
from nvitop import libnvml
from nvitop.api import libnvml as of_api
assert by_path is libnvml is of_api is nvitop.libnvml is nvitop.api.libnvml
import nvitop.device
from importlib import import_module
for name in ("caching", "collector", "device", "host", "libcuda", "libcudart",
             "libnvml", "process", "termcolor", "utils"):
    module = import_module(f"nvitop.{name}")
    below = import_module(f"nvitop.api.{name}")
    print(name, module is below is getattr(nvitop, name)
          is getattr(nvitop.api, name) is sys.modules[f"nvitop.{name}"]
          is sys.modules[f"nvitop.api.{name}"])
print(nvitop.api.device.Device is nvitop.Device is nvitop.device.Device)
print(nvitop.api.libnvml.NVMLError is nvitop.NVMLError)
""",
    "stars": """
import nvitop, nvitop.api
print(sorted(nvitop.__all__), sorted(nvitop.api.__all__))
from nvitop.libnvml import *
from nvitop.api.caching import *
from nvitop.utils import *
from nvitop.api import *
from nvitop import *
print(nvmlQuery("nvmlSystemGetDriverVersion"), NVML_TEMPERATURE_GPU)
@ttl_cache(ttl=60.0)
def name(index):
    return Device(index).name()
print(name(0), name(0), tuple(name.cache_info()), GiB, MiB)
print(nvitop.__version__.split("+")[0], hasattr(nvitop, "no_such_name"))
try:
    from nvitop import no_such_name
except ImportError as error:
    print("ImportError")
""",
    "the host": """
import os
from nvitop import HostProcess, host
from nvitop.api.host import getuser, hostname
process = HostProcess()
print(process.pid == os.getpid(), process.username() == getuser())
print(host.virtual_memory().total, hostname(), sorted(host.ppid_map())[:1])
""",
    "a program in many files": """
import pickle, threading
from nvitop import Device
import nvitop.api.device as device_module
device = pickle.loads(pickle.dumps(Device(0)))
print(device == Device(0), hash(device) == hash(device_module.Device(0)))
found = []
threads = [threading.Thread(target=lambda: found.append(Device(0).name()))
           for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(found)
""",
}


@pytest.fixture(scope="module", name="here")
def environment(tmp_path_factory):
    return wheels.Environment(
        tmp_path_factory.mktemp("nvitop") / "venv",
        [wheels.gpukit_wheel(), wheels.nvitop_wheel()],
        ["pynvml.py", "psutil"])


@pytest.fixture(scope="module", name="made_up")
def made_up_machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("machine") / "m", "--frozen",
                      "--gpus", "h100-80gb-hbm3:1,a100-sxm4-80gb:1",
                      "--mig", "1=3g.40gb+2g.20gb",
                      "--load", "train:0", "--load", "infer:1:0")
    yield machine
    machine.stop()


def run_theirs(made_up, *words):
    return subprocess.run([sys.executable, *words], text=True, check=False,
                          capture_output=True, cwd="/", timeout=120,
                          env=clean_env(**made_up.env))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_it_does_on_nvitop(here, made_up, tmp_path,
                                                 name):
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS[name])
    theirs = run_theirs(made_up, path)
    assert theirs.returncode == 0 and theirs.stdout, theirs.stderr
    assert here.ok("python", path, **made_up.env) == theirs.stdout


def test_a_program_is_started_on_a_machine_of_its_own(here, tmp_path):
    path = tmp_path / "program.py"
    path.write_text("from nvitop.api import Device\nprint(Device.count())")
    assert here.ok("gpukit", "fake", "--gpus", "h100:3", "--", "python",
                   path) == "3\n"


def test_the_modules_are_gpukits(here, made_up):
    out = here.ok("python", "-c", """
import gpukit, gpukit.device, nvitop, nvitop.select, nvitop.callbacks.tensorboard
import gpukit.callbacks.tensorboard
print(nvitop.device is gpukit.device, nvitop.Device is gpukit.Device,
      nvitop.select is gpukit.select,
      nvitop.callbacks.tensorboard is gpukit.callbacks.tensorboard,
      gpukit.device.__spec__.name, nvitop.__version__)
""", **made_up.env)
    words = out.split()
    assert words[:5] == ["True"] * 4 + ["gpukit.device"]
    assert words[5].startswith("1.7.2+gpukit.")


def test_errors_without_nvidia_ml_py(here, tmp_path, made_up):
    """They are gpukit's."""
    bare = wheels.Environment(tmp_path / "venv", [wheels.gpukit_wheel(),
                                                  wheels.nvitop_wheel()])
    out = bare.ok("python", "-c", """
import gpukit, nvitop
try:
    nvitop.Device(9)
except nvitop.libnvml.NVMLError_InvalidArgument as error:
    print(error.value, nvitop.NVMLError is gpukit.NVMLError)
""", **made_up.env)
    assert out == "2 True\n"


CALLBACKS = """
from nvitop import CudaDevice, MiB
from nvitop.callbacks.tensorboard import add_scalar_dict
from nvitop.callbacks.utils import get_devices_by_logical_ids, get_gpu_stats
devices = get_devices_by_logical_ids([0, 0])
assert devices == [CudaDevice(0)]
assert len(get_devices_by_logical_ids([0, 0], unique=False)) == 2
stats = get_gpu_stats(devices, temperature=True)
device = devices[0]
stats = {key.split("/")[1]: value for key, value in stats.items()}
assert stats["memory.used (MiB)"] == device.memory_used() / MiB
assert "temperature.gpu (C)" not in stats  # a MIG device has none
class Writer:
    def add_scalar(self, *args, **kwargs):
        print(args, kwargs)
add_scalar_dict(Writer(), "train", {"loss": 0.5}, global_step=3)
import nvitop.callbacks.lightning
"""


def test_callbacks(here, made_up):
    done = here.run("python", "-c", CALLBACKS, **made_up.env)
    assert "('train/loss', 0.5)" in done.stdout, done.stderr
    assert "3" in done.stdout
    # The framework itself is not here.
    assert done.stderr.splitlines()[-1].startswith("ModuleNotFoundError")
    assert "lightning" in done.stderr.splitlines()[-1]


# ---- the commands ----

@pytest.mark.parametrize("words", [("nvitop",), ("python", "-m", "nvitop"),
                                   ("python", "-m", "nvitop.cli")])
def test_nvitop_is_the_viewer_with_its_look(here, made_up, words):
    look = subprocess.run(
        [GPUKIT, "top", "--look", "nvitop", "-1", "--no-unicode"], text=True,
        capture_output=True, check=True, env=clean_env(**made_up.env),
        stdin=subprocess.DEVNULL).stdout

    def stable(text):
        return [line for line in text.splitlines() if "80GB" in line]

    told = here.ok(*words, "-1", "--no-unicode", **made_up.env)
    assert len(stable(told)) >= 2 and stable(told) == stable(look)


def test_they_tell_their_versions(here):
    assert here.ok("nvitop", "--version").startswith("nvitop 1.7.2+gpukit.")
    assert here.ok("nvisel", "-V").startswith("nvisel 1.7.2+gpukit.")


@pytest.mark.parametrize("options", [
    [], ["-n", "1"], ["-c", "5"], ["-O", "uuid", "--newline"],
    ["-f", "10GiB", "--sep", ";"], ["-i", "0", "-O", "uuid"],
    ["--account-as-free", "root", "nobody", "-C", "1"], ["-S", "-0"]])
def test_nvisel_chooses_as_nvitops_does(here, made_up, options):
    theirs = run_theirs(made_up, "-m", "nvitop.select", *options)
    for words in (("nvisel",), ("python", "-m", "nvitop.select")):
        ours = here.run(*words, *options, **made_up.env)
        assert (ours.stdout, ours.returncode) == (
            theirs.stdout, theirs.returncode), (ours.stderr, theirs.stderr)
        assert "RuntimeWarning" not in ours.stderr


# ---- its source distribution ----

def test_a_source_distribution_makes_the_same_package(tmp_path):
    """Away from this tree, with the version that it had here."""
    python = wheels.python_that_builds()
    wheels.setup(python, os.path.join(ROOT, "python", "nvitop"), "egg_info",
                 "-e", str(tmp_path), "sdist", "-d", str(tmp_path))
    (archive,) = tmp_path.glob("gpukit*nvitop-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "away")
    (folder,) = (tmp_path / "away").iterdir()
    wheels.setup(python, folder, "bdist_wheel", "-d", str(tmp_path / "dist"))
    (made,) = (tmp_path / "dist").glob("*.whl")
    assert made.name == os.path.basename(wheels.nvitop_wheel())

    def read(path):
        with zipfile.ZipFile(path) as whole:
            files = {name: whole.read(name) for name in whole.namelist()
                     if name.startswith("nvitop/")}
            (text,) = [whole.read(name).decode() for name in whole.namelist()
                       if name.endswith("/METADATA")]
        told = re.findall("^(?:Name|Version|Requires-Dist|Requires-Python): .*",
                          text, re.MULTILINE)
        return files, sorted(line.replace(" (==", "==").rstrip(")")
                             for line in told)

    assert read(made) == read(wheels.nvitop_wheel())


# ---- beside nvitop ----

def refused(done):
    last = done.stderr.splitlines()[-1]
    return done.returncode == 1 and "ImportError" in last \
        and "gpukit-nvitop and nvitop" in last and "uninstall" in last


@pytest.mark.parametrize("name", ["nvitop-1.7.2.dist-info",
                                  "nvitop-1.3.egg-info", "nvitop.egg-info"])
def test_beside_nvitop_it_refuses(here, name):
    path = os.path.join(here.packages, name)
    os.mkdir(path)
    try:
        for words in (("python", "-c", "import nvitop"),
                      ("python", "-c", "from nvitop.api import Device"),
                      ("nvitop", "-1"), ("nvisel",),
                      ("python", "-m", "nvitop")):
            done = here.run(*words)
            assert refused(done), (words, done.stderr)
            assert here.path in done.stderr
    finally:
        os.rmdir(path)
    here.ok("python", "-c", "import nvitop")


def test_beside_an_nvitop_elsewhere_it_refuses(here):
    """A later directory of the path has nvitop; it is found nevertheless."""
    import nvitop

    theirs = os.path.dirname(os.path.dirname(nvitop.__file__))
    done = here.run("python", "-c", f"import sys; sys.path.append({theirs!r})\n"
                    "import nvitop")
    assert refused(done) and "nvitop 1.7.2" in done.stderr


def test_an_nvitop_installed_later_is_not_mixed_with_it(tmp_path):
    """What it has replaced is its own; what is left of ours refuses."""
    there = wheels.Environment(tmp_path / "venv", [wheels.gpukit_wheel(),
                                                   wheels.nvitop_wheel()])
    with open(os.path.join(there.packages, "nvitop", "__init__.py"), "w",
              encoding="utf-8") as file:
        file.write("theirs = True\n")
    os.mkdir(os.path.join(there.packages, "nvitop-1.7.2.dist-info"))
    there.ok("python", "-c", "import nvitop; assert nvitop.theirs")
    assert refused(there.run("python", "-c", "import nvitop.callbacks.utils"))


def test_packages_of_similar_names_are_no_matter(here):
    names = ["nvitop_exporter-1.7.2.dist-info", "nvitop-exporter.egg-info"]
    for name in names:
        os.mkdir(os.path.join(here.packages, name))
    try:
        here.ok("python", "-c", "import nvitop")
    finally:
        for name in names:
            os.rmdir(os.path.join(here.packages, name))
