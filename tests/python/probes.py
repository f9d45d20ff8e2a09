# SPDX-License-Identifier: Apache-2.0
"""Runs once for each of two packages and shows what a package does. Its
argument is the package; it prints question -> answer as JSON, with answers as
text.

The machine's clock is stopped: H100, A100 with two MIG devices, a process on
the H100 and one on a MIG device."""

import copy
import datetime
import importlib
import importlib.util
import itertools
import json
import os
import pickle
import re
import subprocess
import sys
import threading

PACKAGE = sys.argv[1]
n = importlib.import_module(PACKAGE)
u = importlib.import_module(PACKAGE + ".utils")
NA, nan = n.NA, float("nan")
ROWS = {}


def plain(value):
    """The value without what differs between runs or packages."""
    text = re.sub(r"pid=[0-9]+", "pid=N", repr(value))
    return re.sub(r"\b(nvitop|gpukit)\.[\w.]*\.|_(?=CacheInfo)", "", text)


def ask(key, question):
    try:
        ROWS[key] = plain(question())
    except BaseException as error:
        ROWS[key] = "raises " + type(error).__name__


def ask_all(text, function, values):
    for value in values:
        ask(f"{text}({value!r})", lambda: function(value))


# ---- values

ask_all("bytes2human", n.bytes2human, [
    0, 1, 1023, 1024, 10239, 1 << 20, (1 << 20) - 1, 100 << 20, 999 << 20,
    1000 << 20, 20 << 30, (20 << 30) - 1, 100 << 30, 1000 << 30, 100 << 40,
    1000 << 40, 1 << 50, 100 << 50, 1 << 60, -1, -(1 << 30), 1.5, 1e12, "12",
    "x", NA, nan, None, [], True, float("inf")])
for unit, size in itertools.product((1, n.KiB, n.MiB, n.GiB), (
        0, 5, 5 << 10, 5 << 20, 5 << 30, 5 << 40)):
    ask(f"bytes2human({size}, min_unit={unit})",
        lambda: n.bytes2human(size, min_unit=unit))
ask_all("human2bytes", n.human2bytes, [
    "0", "1", "1k", "1K", "1kb", "1ki", "1KiB", "1m", "1.5GiB", "+2", " 3 TiB ",
    "4 pb", "-1", "1e3", "", "k", "1.", ".5", "1.2.3", "1 kk", "1b", "1B", 0, 5,
    -1, 1.5, None, NA, True, "\u0661"])
for value, rounded in itertools.product((
        0, 1, 59, 60, 61.9, 3599, 3600, 86399, 86400, 345599, 345600, 1e9, -5,
        NA, None, nan, "5", datetime.timedelta(minutes=5),
        datetime.timedelta(days=9)), (False, True)):
    ask(f"timedelta2human({value!r}, round={rounded})",
        lambda: n.timedelta2human(value, round=rounded))
ask_all("utilization2string", n.utilization2string,
        [0, 3, 3.14159, 100, 250, -1, NA, None, nan, "3", True])
for text, default in itertools.product((
        "true", "True", "YES", "on", "enabled", "1", "false", "no", "off",
        "disabled", "0", "", "maybe", "2"), (None, True, False, 0, "x")):
    ask(f"boolify({text!r}, {default!r})", lambda: n.boolify(text, default))
ask("boolify(None)", lambda: n.boolify(None))
for on, args in itertools.product((False, True), (
        ("x",), ("x", "red"), ("x", "light_blue", "on_black"),
        ("x", None, None, ["bold", "blink"]), (5, "white", None, ("dark",)),
        ("x", "pink"), ("x", "red", "red"), ("x", "red", None, ["big"]), (),
        (NA, "grey"), ("", "dark_grey"))):
    u.COLOR = on
    ask(f"colored{args} {on}", lambda: n.colored(*args))
    ask(f"termcolor.colored{args} {on}", lambda: importlib.import_module(
        PACKAGE + ".termcolor").colored(*args, force_color=on))
for value in (True, False):
    n.set_color(value)
    ask(f"set_color({value})", lambda: (
        n.colored("x", "red"), os.environ.get("FORCE_COLOR"),
        os.environ.get("NO_COLOR")))
for line in ([], [""], ["a"], ["a b"], ["/bin/sh"], ["/bin/sh", "-c", "a b"],
             ["a", "b c", ""], ["it's", "x"], ['say "x"', "y"],
             ["$HOME", "x"], ["a\tb", "x"], ["a;b", "x"], ["*", "x"],
             ["a\\b", "x"], ["`x`", "y"], ["a'\"b", "x"], ["\u00e9", "x"]):
    ask(f"command_join({line})", lambda: n.command_join(line))
    if line:
        ask(f"add_quotes({line[0]!r})", lambda: importlib.import_module(
            PACKAGE + ".process").add_quotes(line[0]))
ask_all("is_mig_device_uuid", importlib.import_module(
    PACKAGE + ".device").is_mig_device_uuid, [
        None, "", "MIG-", "MIG-12345678-1234-1234-1234-123456789abc",
        "GPU-12345678-1234-1234-1234-123456789abc", 5,
        "MIG-GPU-12345678-1234-1234-1234-123456789abc/1/2"])
ask_all("UUID_PATTERN", lambda text: n.Device.UUID_PATTERN.match(
    text).groupdict(), [
        "GPU-12345678-1234-1234-1234-123456789abc", "", "GPU-",
        "MIG-12345678-1234-1234-1234-123456789abc",
        "MIG-GPU-12345678-1234-1234-1234-123456789abc/1/2",
        "12345678-1234-1234-1234-123456789abc", "mig-x"])
ask_all("SIZE_PATTERN", lambda text: u.SIZE_PATTERN.match(text).groupdict(),
        ["1k", "1KiB", " + 1.5 gib ", "7", "x", "-1", "1e3", "1.k", "1ki "])

# ---- NA

BINARY = "+ - * / // % ** < <= > >= == !=".split()
OTHERS = [0, 1, -2.5, True, nan, NA, "x", "N/A", "", None, 1j, [], (),
          float("inf")]
for op, other in itertools.product(BINARY, OTHERS):
    ask(f"NA {op} {other!r}", lambda: eval(f"NA {op} other", {
        "NA": NA, "other": other}))
    ask(f"{other!r} {op} NA", lambda: eval(f"other {op} NA", {
        "NA": NA, "other": other}))
for other in OTHERS:
    ask(f"divmod(NA, {other!r})", lambda: divmod(NA, other))
    ask(f"divmod({other!r}, NA)", lambda: divmod(other, NA))
for function in (bool, int, float, str, repr, abs, round, len, list,
                 complex, sum, type):
    ask(f"{function.__name__}(NA)", lambda: function(NA))
for spec in ("", ">5", "5", ".1f", "d", "s", "<6", "5.2f", "x", "%", ","):
    ask(f"format(NA, {spec!r})", lambda: format(NA, spec))
for text, function in {
        "-": lambda: -NA, "+": lambda: +NA, "round 2": lambda: round(NA, 2),
        "sorted": lambda: sorted([3, NA, 1, nan]), "max": lambda: max(1, NA),
        "min": lambda: min(NA, 1), "is": lambda: type(NA)() is NA,
        "new": lambda: n.NaType("x"), "names": lambda: (
            n.NotApplicable is NA, n.NotApplicableType is n.NaType),
        "in": lambda: {"N/A": 1}[NA], "pickle": lambda: pickle.loads(
            pickle.dumps(NA)) is NA, "deepcopy": lambda: copy.deepcopy(NA),
        "copy": lambda: copy.copy(NA) is NA, "float": lambda: float(NA),
        "hash": lambda: hash(NA) == hash("N/A"), "json": lambda: json.dumps([NA]), "bases": lambda: [
            base.__name__ for base in n.NaType.__mro__]}.items():
    ask(f"NA {text}", function)

# ---- ttl_cache

calls = []


def cached(**options):
    calls.clear()
    return n.ttl_cache(**options)(lambda *a, **k: calls.append(1) or (a, k))


def called(function, *arguments):
    for argument in arguments:
        function(argument)
    return len(calls), function.cache_info()


now = [0.0]
ask("ttl_cache hit", lambda: called(cached(), 1, 1, 2))
ask("ttl_cache typed", lambda: called(cached(typed=True), 1, 1.0, True))
ask("ttl_cache untyped", lambda: called(cached(), 1, 1.0, True))
ask("ttl_cache full", lambda: called(cached(maxsize=2), 1, 2, 3, 1))
ask("ttl_cache used", lambda: called(cached(maxsize=2), 1, 2, 1, 3, 1))
ask("ttl_cache parameters", lambda: cached(
    maxsize=3, ttl=5.0, timer=float).cache_parameters())
ask("ttl_cache negative", lambda: cached(ttl=-1))
ask("ttl_cache text", lambda: n.ttl_cache(maxsize="x"))
ask("ttl_cache bare", lambda: n.ttl_cache(len)("abc"))
ask("ttl_cache wraps", lambda: n.ttl_cache(len).__wrapped__ is len)
ask("ttl_cache list", lambda: called(cached(), [1]))


def expired(**options):
    function = cached(ttl=10.0, timer=lambda: now[0], **options)
    out = []
    for now[0] in (0.0, 9.9, 10.1):
        function(1)
        out.append(len(calls))
    return out


ask("ttl_cache expires", expired)
ask("ttl_cache None", lambda: expired(maxsize=None))
ask("ttl_cache 0", lambda: (called(cached(maxsize=0), 1, 1)[0]))
ask("ttl_cache clear", lambda: [
    (f(1), f.cache_clear(), f.cache_info()) for f in [cached()]])

# ---- Snapshot


class Thing:
    asked = 0

    def later(self):
        self.asked += 1
        return self.asked

    def __repr__(self):
        return "Thing()"


shot = n.Snapshot(Thing(), b=1, a=NA)
for text, function in {
        "repr": lambda: repr(shot), "keys": lambda: list(shot.keys()),
        "iter": lambda: list(shot), "dict": lambda: dict(shot),
        "item": lambda: (shot["a"], shot["b"]), "no item": lambda: shot["x"],
        "no attribute": lambda: shot.x, "later": lambda: (
            shot.later, shot.later, shot["later"]),
        "set": lambda: shot.__setitem__("c", 3), "set one": lambda: (
            setattr(shot, "d", 4), shot["d"], shot.c),
        "real": lambda: shot.real, "hash": lambda: hash(shot) == hash(shot),
        "equal": lambda: shot == n.Snapshot(Thing(), b=1, a=NA),
        "bare": lambda: list(n.Snapshot(Thing())), "nested": lambda: repr(
            n.Snapshot(Thing(), x=n.Snapshot(Thing(), y=[1])))}.items():
    ask(f"Snapshot {text}", function)

# ---- devices

devices = [n.Device(0), n.Device(1), n.Device((1, 0)), n.CudaDevice(0)]
h100, a100, mig, cuda = devices
uuid = h100.uuid()
for text, function in {
        "index True": lambda: n.Device(True).index,
        "equal": lambda: [[a == b for a in devices] for b in devices],
        "hash": lambda: hash(h100) == hash(n.Device(0)),
        "same": lambda: n.Device(0) is n.Device(0),
        "classes": lambda: [[
            base.__name__ for base in type(d).__mro__
            if base.__name__[0] != "_"] for d in devices],
        "MigDevice(bus_id)": lambda: n.MigDevice(bus_id=h100.bus_id()),
        "PhysicalDevice((1, 0))": lambda: n.PhysicalDevice((1, 0)),
        "MigDevice(0)": lambda: n.MigDevice(0),
        "MigDevice": lambda: n.MigDevice(uuid=mig.uuid()),
        "CudaDevice()": lambda: n.CudaDevice(),
        "CudaDevice(9)": lambda: n.CudaDevice(9),
        "CudaDevice(-1)": lambda: n.CudaDevice(-1),
        "CudaDevice(both)": lambda: n.CudaDevice(nvml_index=0, uuid=uuid),
        "CudaDevice(wrong)": lambda: n.CudaDevice(0, nvml_index=1),
        "CudaDevice(uuid)": lambda: n.CudaDevice(uuid=uuid),
        "CudaDevice(nvml)": lambda: n.CudaDevice(nvml_index=0),
        "from_indices": lambda: (n.Device.from_indices(1),
                                 n.Device.from_indices([0, (1, 1)])),
        "from_indices(9)": lambda: n.Device.from_indices([9]),
        "from_cuda_indices": lambda: n.Device.from_cuda_indices(0),
        "from_cuda_indices(9)": lambda: n.Device.from_cuda_indices([9]),
        "from_cuda": lambda: n.Device.from_cuda_visible_devices(),
        "mig from_indices": lambda: n.MigDevice.from_indices([(1, 1)]),
        "mig of h100": lambda: h100.mig_device(0),
        "mig 7": lambda: a100.mig_device(7), "mig 0": lambda: (
            a100.mig_device(0), a100.mig_device(0) == mig),
        "parent": lambda: (mig.parent, mig.mig_index, mig.physical_index),
        "pickle": lambda: [pickle.loads(pickle.dumps(d)) == d
                           for d in devices],
        "cuda of mig": lambda: mig.cuda_index,
        "unknown": lambda: h100.no_such_value,
        "cuda_version": lambda: h100.cuda_version(),
        "brand": lambda: (h100.brand(), h100.architecture()),
        "oneshot": lambda: h100.oneshot().__enter__(),
        "set": lambda: setattr(h100, "note", 1),
        "GPU_PROCESS_CLASS": lambda: n.Device.GPU_PROCESS_CLASS
        is n.GpuProcess, "negative interval":
        lambda: h100.nvlink_throughput(interval=-1)}.items():
    ask(f"Device {text}", function)


class Mine(n.PhysicalDevice):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.note = self.index


ask("subclass", lambda: (Mine(0).note, Mine.all(), Mine(0) == h100))
ask("snapshot pcie", lambda: ("pcie_throughput" in a100.as_snapshot().keys(),  # noqa: SIM118
                              "pcie" in repr(a100.as_snapshot())))
ask("metric", lambda: type(h100.energy_joules()).__name__)
ask("snapshot later", lambda: a100.as_snapshot().pcie_throughput)
ask("snapshot names", lambda: [sorted(
    name for name in d.as_snapshot().keys()  # noqa: SIM118 - no dict
    if not name.startswith("pcie_"))
    for d in devices])
ask("snapshot pickle", lambda: pickle.loads(pickle.dumps(
    h100.as_snapshot())).name)
ask("snapshot classes", lambda: [type(value).__name__ for key, value in sorted(
    dict(h100.as_snapshot()).items()) if not key.startswith("pcie_")])
spawned, popen = [], subprocess.Popen
subprocess.Popen = lambda *a, **k: spawned.append(1) or popen(*a, **k)
n.parse_cuda_visible_devices("0")
ask("parse asks", lambda: len(spawned) > 0)
subprocess.Popen = popen
ask_all("parse", n.parse_cuda_visible_devices, [
    None, "", "0", "1", "0,1", "1,0", "0,0", "0,00", "0,abc", uuid, uuid[:9],
    mig.uuid(), "-1", "NoDevFiles", "0,9", f"0,{uuid}"])

# ---- processes

for device in (h100, mig):
    for process in device.processes().values():
        ask(f"process {device.index}", lambda: process)
        ask(f"process shares {device.index}", lambda: (
            process.gpu_sm_utilization(), process.gpu_memory_utilization()))
        ask(f"process is {device.index}", lambda: isinstance(
            process, n.HostProcess))
        process.type = "G"
        device.processes()
        ask(f"process type again {device.index}", lambda: process.type)
ask("GpuProcess(no device)", lambda: n.GpuProcess(os.getpid()))
ask("GpuProcess(None)", lambda: n.GpuProcess(os.getpid(), None))
ask("HostProcess(ended)", lambda: n.HostProcess(4194303))
ask("HostProcess(-1)", lambda: n.HostProcess(-1))
ask("HostProcess('x')", lambda: n.HostProcess("x"))
ask("HostProcess same", lambda: n.HostProcess() is n.HostProcess(os.getpid()))
first = n.take_snapshots()
ask("take_snapshots", lambda: [[type(x.real).__name__ for x in part]
                               for part in first])
ask("take_snapshots moments", lambda: len({
    x.timestamp for part in first for x in part}))
ask("take_snapshots cpu", lambda: [x.cpu_percent
                                   for x in first.gpu_processes])
ask("take_snapshots type", lambda: (type(first).__name__, first._fields,
                                    len(first)))
ask("take_snapshots(0)", lambda: [len(part) for part in n.take_snapshots(h100)])
ask("take_snapshots([])", lambda: [len(part) for part in n.take_snapshots(
    [h100, a100], gpu_processes=False)])
ask("take_snapshots(processes)", lambda: [len(p) for p in n.take_snapshots(
    gpu_processes=list(h100.processes().values()))])
for shot in first.devices:
    for name in shot.real.SNAPSHOT_KEYS:
        if not name.startswith("pcie_"):
            ask(f"taken {shot.real.index} {name}", lambda: shot[name])
ask("take_snapshots names", lambda: [sorted(x.keys())
                                     for x in first.gpu_processes])

# ---- collector


def roots(pids):
    collector = n.ResourceMetricCollector(root_pids=pids)
    with collector(tag="t"):
        return sorted(collector.collect())


load = next(iter(h100.processes()))
above = n.host.ppid_map()[load]
ask("collector keys", lambda: roots(set()))
ask("collector of a process", lambda: len(roots({load})))
ask("collector of its parent", lambda: len(roots({above})))
c = n.ResourceMetricCollector(root_pids=set(), interval=3600.0)
for text, function in {
        "interval 0": lambda: n.ResourceMetricCollector(interval=0),
        "interval -1": lambda: n.ResourceMetricCollector(interval=-1),
        "collect without": lambda: c.collect(),
        "deactivate without": lambda: c.deactivate() is c,
        "deactivate x": lambda: c.deactivate("x"),
        "clear without": lambda: c.clear(), "clear x": lambda: c.clear("x"),
        "activate": lambda: c.activate("a") is c,
        "twice": lambda: c.activate("a"),
        "nested": lambda: c.activate("b") is c, "nested keys": lambda: {
            key.rpartition("/host/")[0] for key in c.collect()
            if "/host/" in key},
        "own snapshots": lambda: [len(x) for x in c.take_snapshots()],
        "clear": lambda: c.clear("b"), "stop": lambda: c.stop("a") is c,
        "again": lambda: c.collect(), "context": lambda: sorted(
            key for key in _within(c) if "duration" in key),
        "DEVICE_METRICS": lambda: c.DEVICE_METRICS,
        "PROCESS_METRICS": lambda: c.PROCESS_METRICS,
        "one device": lambda: len(n.ResourceMetricCollector(
            h100, root_pids=set()).devices),
        "background 0": lambda: n.collect_in_background(print, interval=0),
}.items():
    ask(f"collector {text}", function)


def _within(collector):
    with collector.context(tag="x"):
        return collector.collect()


def in_background():
    told, ended = [], threading.Event()
    thread = n.collect_in_background(
        lambda metrics: told.append(sorted(metrics)[0]) or len(told) < 2,
        n.ResourceMetricCollector(root_pids=set()), interval=0.01, tag="bg",
        on_start=lambda c: told.append("start") or told.pop(),
        on_stop=lambda c: ended.set())
    thread.join(60)
    return (told, ended.is_set(), thread.daemon, thread.name,
            type(thread.collector).__name__, type(thread).__name__)


ask("collector in the background", in_background)

# ---- selection

for wish in ({}, {"max_count": 0}, {"max_count": 1}, {"format": "uuid"},
             {"format": "device"}, {"min_count": 2}, {"sort": False},
             {"format": "x"}, {"tolerance": -1}, {"min_count": -1},
             {"max_count": -1}, {"min_free_memory": "x"},
             {"min_free_memory": "1GiB"}, {"min_free_memory": 1 << 40},
             {"max_gpu_utilization": 0}, {"max_memory_utilization": 0},
             {"force_index": True}, {"devices": [h100]}, {"devices": []},
             {"min_total_memory": "70GiB"}, {"free_accounts": ["root"]},
             {"min_count": 2, "max_count": 1}):
    ask(f"select {wish}", lambda: n.select_devices(**wish))
selection = importlib.import_module(PACKAGE + ".select")
for line in ("", "-n 2", "-c 1 -C 3", "-f 1GiB", "-t 1GiB", "-G 10", "-M 10",
             "-O uuid", "-s ;", "--sep ;", "--newline", "-0", "-S", "-i",
             "-i 0,1", "--account-as-free", "--account-as-free root", "--tol 5",
             "-f x", "-O x", "--no-such", "-n x", "-C -1", "-c -1", "-G -1",
             "--tol -1", "x"):
    sys.argv = ["select", *line.split()]
    ask(f"select {line}", lambda: dict(sorted(vars(
        selection.parse_arguments()).items())))
    ask(f"select prints {line}", lambda: selection.main())

# ---- modules

for name in ("callbacks.keras", "callbacks.tensorboard", "version", "termcolor",
             "caching", "utils", "device", "process", "collector", "select"):
    ask(f"module {name}", lambda: importlib.util.find_spec(
        f"{PACKAGE}.{name}") is not None)
ask("libnvml fan", lambda: n.libnvml.nvmlQuery("nvmlDeviceGetFanSpeed",
                                               h100.handle))
ask("libnvml name", lambda: n.libnvml.nvmlQuery("nvmlDeviceGetName",
                                                h100.handle))
ask("libnvml raises", lambda: n.libnvml.nvmlQuery(
    "nvmlDeviceGetFanSpeed", h100.handle, ignore_errors=False))
ask("libnvml default", lambda: n.libnvml.nvmlQuery(
    "nvmlDeviceGetFanSpeed", h100.handle, default=7))
ask("libnvml count", lambda: n.libnvml.nvmlQuery("nvmlDeviceGetCount"))
ask("libnvml fields", lambda: [value for value, _ in
                               n.libnvml.nvmlQueryFieldValues(
                                   h100.handle, [1, (3, 0), 82, 999])])
for text, function in {
        "cuda count early": lambda: n.libcuda.cuDeviceGetCount(),
        "cuda init": lambda: n.libcuda.cuInit(),
        "cuda version": lambda: n.libcuda.cuDriverGetVersion(),
        "cuda count": lambda: n.libcuda.cuDeviceGetCount(),
        "cuda device": lambda: n.libcuda.cuDeviceGet(0),
        "cuda device 9": lambda: n.libcuda.cuDeviceGet(9),
        "cuda name": lambda: n.libcuda.cuDeviceGetName(
            n.libcuda.cuDeviceGet(0)),
        "cuda uuid": lambda: (n.libcuda.cuDeviceGetUuid(
            n.libcuda.cuDeviceGet(0)), n.libcuda.cuDeviceGetUuid_v2(
                n.libcuda.cuDeviceGet(0))),
        "cuda memory": lambda: n.libcuda.cuDeviceTotalMem(
            n.libcuda.cuDeviceGet(0)),
        "cuda bus": lambda: n.libcuda.cuDeviceGetPCIBusId(
            n.libcuda.cuDeviceGet(0)),
        "cuda of bus": lambda: n.libcuda.cuDeviceGetName(
            n.libcuda.cuDeviceGetByPCIBusId(h100.bus_id())),
        "cuda is there": lambda: n.libcuda.is_available(),
        "cuda error": lambda: n.libcuda.CUDAError(1),
        "cuda error text": lambda: str(n.libcuda.CUDAError(1)),
        "cuda error class": lambda: (
            n.libcuda.CUDAError_NoDevice().value,
            n.libcuda.CUDAError(100) == n.libcuda.CUDAError(100),
            isinstance(n.libcuda.CUDAError(100),
                       n.libcuda.CUDAError_NoDevice)),
        "cuda error none": lambda: n.libcuda.CUDAError(),
        "cuda error pickle": lambda: pickle.loads(pickle.dumps(
            n.libcuda.CUDAError(1))) == n.libcuda.CUDAError(1),
        "cudart version": lambda: (n.libcudart.cudaRuntimeGetVersion(),
                                   n.libcudart.cudaDriverGetVersion()),
        "cudart is there": lambda: n.libcudart.is_available(),
        "cudart count": lambda: n.libcudart.cudaGetDeviceCount(),
        "cudart bus": lambda: n.libcudart.cudaDeviceGetPCIBusId(0),
        "cudart error": lambda: n.libcudart.cudaError(1),
        "cudart error class": lambda: (
            n.libcudart.cudaError_NoDevice().value,
            str(n.libcudart.cudaError(100)))}.items():
    ask(text, function)
for code in (-5, 0, 1, 100, 12345):
    for name in ("cuGetErrorName", "cuGetErrorString", "cudaExceptionClass"):
        ask(f"{name}({code})", lambda: getattr(n.libcuda, name)(code))
    for name in ("cudaGetErrorName", "cuGetErrorString", "cudaExceptionClass"):
        ask(f"rt {name}({code})", lambda: getattr(n.libcudart, name)(code))
for value, kind in itertools.product((NA, 0, 1.5, "x", None), (
        None, int, (int, str))):
    ask(f"nvmlCheckReturn({value!r}, {kind})",
        lambda: n.nvmlCheckReturn(value, kind))
for code in range(-1, 40):
    ask(f"NVMLError({code})", lambda: n.NVMLError(code))
    ask(f"str(NVMLError({code}))", lambda: str(n.NVMLError(code)))
    ask(f"nvmlExceptionClass({code})", lambda: n.libnvml.nvmlExceptionClass(
        code).__name__)
ask("NVMLError equal", lambda: n.NVMLError(3) == n.NVMLError(3))
ask("NVMLError value", lambda: n.NVMLError(3).value)
ask("NVMLError pickle", lambda: pickle.loads(pickle.dumps(n.NVMLError(3))))
for name in ("getuser", "hostname"):
    ask(f"host.{name}", lambda: getattr(n.host, name)())
for name in ("uptime", "memory_percent", "swap_percent", "load_average", "ppid_map",
             "reverse_ppid_map"):
    ask(f"type(host.{name})", lambda: type(getattr(n.host, name)()))

print("\n" + json.dumps(ROWS))
