"""Snapshots of everything at one moment, and statistics over time."""

import math
import os
import time

from gpukit import _core
from gpukit._device_values import (
    NUMBERS, SNAPSHOT_METRICS, TOTAL_AT, _named, percent)
from gpukit._forked import is_orphaned, mend_when_forked
from gpukit._metrics import Buffer
from gpukit.device import CudaDevice, Device, MigDevice, PhysicalDevice
from gpukit.process import NUMBERS as NUMBERS_OF
from gpukit.process import GpuProcess, from_core, numbers_of
from gpukit.utils import GiB, MiB

timer = time.monotonic

__all__ = ["take_snapshots", "collect_in_background",
           "ResourceMetricCollector"]

SnapshotResult = _named("SnapshotResult", "devices gpu_processes",
                        "Snapshots of devices, and of processes on them.",
                        module=__name__)


def take_snapshots(devices=None, *, gpu_processes=None):
    """Snapshots of devices and of the processes on them.

    devices: one or some; all GPUs, each followed by its MIG devices, without
    any. gpu_processes: one or some, whose devices are then taken; False or
    none of them for devices alone. Raises NVMLError without a driver.
    """
    if devices is None and gpu_processes in (None, True):
        return _take_all()
    listed = None
    if gpu_processes is not None and not isinstance(gpu_processes, bool):
        listed = [gpu_processes] if isinstance(gpu_processes, GpuProcess) \
            else list(gpu_processes)
    if isinstance(devices, Device):
        devices = [devices]
    if devices is None:
        devices = _all_devices() if not listed else _devices_of(listed)
    devices = list(devices)
    if listed is None and gpu_processes is not False:
        listed = [process for device in _leaves(devices)
                  for process in device.processes().values()]
    elif listed:
        for process in listed:
            process.update_gpu_status()
    return SnapshotResult([device.as_snapshot() for device in devices],
                          GpuProcess.take_snapshots(listed or (),
                                                    failsafe=True))


def _all_devices():
    return [each for device in Device.all()
            for each in (device, *device.mig_devices())]


def _devices_of(processes):
    return list(dict.fromkeys(process.device for process in processes))


def _leaves(devices):
    leaves = [leaf for device in devices for leaf in device.to_leaf_devices()]
    return list(dict.fromkeys(leaves))


def _take_all():
    """All at one moment, by one call of the core."""
    shot = _core.snapshot(0, SNAPSHOT_METRICS)
    timestamp, total = shot.wall_ns / 1e9, shot.host.mem_total
    devices = [_device_of(facts) for facts in shot.devices]
    for device, values in zip(devices, shot.values):
        device._memory_total = values[TOTAL_AT] or None
    taken = [device._snapshot_of(values, timestamp)
             for device, values in zip(devices, shot.values)]
    told = {}
    return SnapshotResult(taken, [
        from_core(row, devices[row.device], timestamp, total, told)
        for row in shot.processes])


def _device_of(facts):
    if facts.mig_index < 0:
        return PhysicalDevice._of_facts(facts, facts.index)
    return MigDevice._of_facts(facts, (facts.index, facts.mig_index))


class ResourceMetricCollector:
    """Means, extremes and last values of host, devices and processes while
    tags are active.

        collector = ResourceMetricCollector(interval=1.0)
        with collector(tag="train"):
            ...
            metrics = collector.collect()

    devices: all of the machine without any. root_pids: processes are those of
    these ids and all below them; this process's without any, none for an
    empty set. interval: seconds between samples. A key is
    tag/scope/metric (unit)/mean, and so on. Raises ValueError for an interval
    that is not positive.
    """

    DEVICE_METRICS = [
        ("memory_used", "memory_used (MiB)", MiB),
        ("memory_free", "memory_free (MiB)", MiB),
        ("memory_total", "memory_total (MiB)", MiB),
        ("memory_percent", "memory_percent (%)", 1.0),
        ("gpu_utilization", "gpu_utilization (%)", 1.0),
        ("memory_utilization", "memory_utilization (%)", 1.0),
        ("fan_speed", "fan_speed (%)", 1.0),
        ("temperature", "temperature (C)", 1.0),
        ("power_usage", "power_usage (W)", 1000.0),
        ("power_limit", "power_limit (W)", 1000.0)]
    PROCESS_METRICS = [
        ("cpu_percent", "host", "cpu_percent (%)", 1.0),
        ("host_memory", "host", "host_memory (MiB)", MiB),
        ("host_memory_percent", "host", "host_memory_percent (%)", 1.0),
        ("running_time_in_seconds", "host", "running_time (min)", 60.0),
        ("gpu_memory", None, "gpu_memory (MiB)", MiB),
        ("gpu_memory_percent", None, "gpu_memory_percent (%)", 1.0),
        ("gpu_memory_utilization", None, "gpu_memory_utilization (%)", 1.0),
        ("gpu_sm_utilization", None, "gpu_sm_utilization (%)", 1.0)]

    def __init__(self, devices=None, *, root_pids=None, interval=1.0):
        import threading

        if interval <= 0:
            raise ValueError(f"an interval is positive: {interval!r}")
        self.interval = float(interval)
        self.devices = _all_devices() if devices is None else (
            [devices] if isinstance(devices, Device) else list(devices))
        self.root_pids = {os.getpid()} if root_pids is None else set(root_pids)
        self._wake = threading.Condition()
        self._lock = self._wake
        self._buffers, self._last, self._thread = [], -math.inf, None
        self._cpu, self._what, self._keys = _NAN, None, ()
        mend_when_forked(self)

    def __del__(self):
        """Nothing: the thread holds the collector while a tag is active."""

    def _mend_locks(self):
        if is_orphaned(self._wake):
            self._wake = self._lock = type(self._wake)()

    def activate(self, tag):
        """Begins a tag within those that are active. RuntimeError if it is
        active already."""
        with self._lock:
            if any(buffer.tag == tag for buffer in self._buffers):
                raise RuntimeError(f"the tag is active already: {tag!r}")
            prefix = "/".join([b.tag for b in self._buffers] + [tag])
            self._buffers.append(Buffer(tag, prefix, timer(), time.time()))
            self._last = -math.inf
            self._start_thread()
        return self

    start = activate

    def deactivate(self, tag=None):
        """Ends a tag and those within it; the innermost one without any.
        RuntimeError if it is not active."""
        with self._lock:
            if tag is None and not self._buffers:
                return self
            del self._buffers[self._find(tag):]
            self._wake.notify_all()
        return self

    stop = deactivate

    def _find(self, tag):
        if tag is None:
            return len(self._buffers) - 1
        for at, buffer in enumerate(self._buffers):
            if buffer.tag == tag:
                return at
        raise RuntimeError(f"the tag is not active: {tag!r}")

    def context(self, tag):
        """`with collector.context("tag"):` the tag is active within it."""
        return _Context(self, tag)

    __call__ = context

    def clear(self, tag=None):
        """Begins the statistics of a tag and of those within it anew; of the
        innermost one without any."""
        with self._lock:
            if tag is None and not self._buffers:
                return
            for buffer in self._buffers[self._find(tag):]:
                buffer.clear(timer(), time.time())
            self._last = -math.inf

    reset = clear

    def collect(self):
        """Key -> number of the innermost tag. A new sample is taken when the
        last one is older than half an interval. RuntimeError without a
        tag."""
        with self._lock:
            if not self._buffers:
                raise RuntimeError("no tag is active: call activate first")
            if timer() - self._last > self.interval / 2:
                self._sample()
            return self._buffers[-1].collect(timer(), time.time())

    def daemonize(self, on_collect, interval=None, *, on_start=None,
                  on_stop=None, tag="metrics-daemon", start=True):
        """collect_in_background with this collector."""
        return collect_in_background(
            on_collect, collector=self, interval=interval, on_start=on_start,
            on_stop=on_stop, tag=tag, start=start)

    def take_snapshots(self):
        """Takes one sample now; the snapshots that it is made of."""
        with self._lock:
            return self._sample(told=True)

    # ---- sampling

    def _start_thread(self):
        """A thread ends with the last tag, and the next tag gets a new one;
        so does a forked child."""
        import threading

        if self._thread is not None and self._thread.is_alive():
            return
        self._thread = threading.Thread(target=self._run, daemon=True,
                                        name="gpukit-collector")
        self._thread.start()

    def _run(self):
        with self._wake:
            while self._buffers:
                if timer() - self._last >= self.interval:
                    self._sample()
                self._wake.wait(max(self._last + self.interval - timer(),
                                    0.001))
            self._thread = None

    def _sample(self, told=False):
        """Adds a sample; told: gives the snapshots that it is made of."""
        # Without facts of boards: shares of CPU are since our last sample,
        # not since somebody else's snapshot, who asks with them.
        shot = _core.snapshot(_core.WITHOUT_BOARD if self.root_pids else
                              _WITHOUT_PROCESSES, SNAPSHOT_METRICS)
        devices = self._own_devices(shot)
        rows = self._own_rows(shot)
        keys = self._keys_of([device for device, _ in devices], rows)
        values = [*self._host_numbers(shot.host),
                  *self._device_numbers(devices),
                  *self._process_numbers(rows, shot.host.mem_total)]
        now, wall = timer(), time.time()
        for buffer in self._buffers:
            buffer.add(keys, values, now, wall)
        self._last = now
        return self._snapshots(shot, devices, rows) if told else None

    def _own_devices(self, shot):
        at = {facts[:2]: values
              for facts, values in zip(shot.devices, shot.values)}
        devices = [(device, at.get(device._at)) for device in self.devices]
        return [(device, device._read(SNAPSHOT_METRICS)
                 if values is None else values) for device, values in devices]

    def _host_numbers(self, told):
        """In the order of _HOST_KEYS."""
        if told.cpu_centipercent is not None:
            self._cpu = round(told.cpu_centipercent / 100, 1)
        used = _used(told.mem_total, told.mem_available)
        swapped = _used(told.swap_total, told.swap_free)
        return [self._cpu, float(percent(used, told.mem_total)),
                float(percent(swapped, told.swap_total))
                if told.swap_total else swapped,
                float(used) / GiB,
                *(load / 100 for load in told.load_centi or _NO_LOAD)]

    def _device_numbers(self, devices):
        plan = [(NUMBERS.get(name), name, divisor)
                for name, _, divisor in self.DEVICE_METRICS]
        for device, values in devices:
            total = device._memory_total = values[TOTAL_AT] or None
            shot = None
            for number, name, divisor in plan:
                if number is None or total is None:
                    shot = shot or device._snapshot_of(values, 0.0)
                    value = shot[name]
                else:
                    value = number(values)
                yield _NAN if value is None else float(value) / divisor

    def _process_numbers(self, rows, total):
        known = [NUMBERS_OF.index(name) if name in NUMBERS_OF else None
                 for name, *_ in self.PROCESS_METRICS]
        plan = [(at, metric[0], metric[3])
                for at, metric in zip(known, self.PROCESS_METRICS)]
        values = []
        for row, device in rows:
            numbers = numbers_of(row, device.memory_total(), total)
            values += [
                (from_core(row, device, 0.0, total, {})[name] if at is None
                 else numbers[at]) / divisor for at, name, divisor in plan]
        return values

    def _keys_of(self, devices, rows):
        """The same tuple as long as devices and processes are the same."""
        what = devices, [(row.pid, device._at) for row, device in rows]
        if what != self._what:
            self._what, self._keys = what, tuple(self._name_all(devices, rows))
        return self._keys

    def _name_all(self, devices, rows):
        yield from _HOST_KEYS
        for device in devices:
            scope = _scope(device)
            for _, key, _ in self.DEVICE_METRICS:
                yield f"{scope}/{key}"
        for row, device in rows:
            gpu = _scope(device)
            for _, scope, key, _ in self.PROCESS_METRICS:
                yield f"pid:{row.pid}/{scope or gpu}/{key}"

    def _snapshots(self, shot, devices, rows):
        timestamp, told = shot.wall_ns / 1e9, {}
        return SnapshotResult(
            [device._snapshot_of(values, timestamp)
             for device, values in devices],
            [from_core(row, device, timestamp, shot.host.mem_total, told)
             for row, device in rows])

    def _own_rows(self, shot):
        """The processes below root_pids, each with its device."""
        if not self.root_pids or not shot.processes:
            return []
        leaves = {device._at: device for device in _leaves(self.devices)}
        parents = {row.pid: row.parent for row in shot.processes}
        on = [leaves.get(facts[:2]) for facts in shot.devices]
        return [(row, on[row.device]) for row in shot.processes
                if on[row.device] is not None
                and self._is_below(row.pid, parents)]

    def _is_below(self, pid, parents):
        while pid:
            if pid in self.root_pids:
                return True
            if pid not in parents:
                parents[pid] = _parent_of(pid)
            pid = parents[pid]
        return False


def _parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            return int(f.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


class _Context:
    def __init__(self, collector, tag):
        self._collector, self._tag = collector, tag

    def __enter__(self):
        return self._collector.activate(self._tag)

    def __exit__(self, *exc):
        self._collector.deactivate(self._tag)
        return False


def _scope(device):
    if isinstance(device, CudaDevice):
        return f"cuda:{device.cuda_index} (gpu:{device.index})"
    return f"gpu:{device.index}"


def _used(total, free):
    """What is not free; nan where that is not known."""
    return _NAN if None in (total, free) else float(total - free)


_HOST_KEYS = ("host/cpu_percent (%)", "host/memory_percent (%)",
              "host/swap_percent (%)", "host/memory_used (GiB)",
              "host/load_average (%) (1 min)", "host/load_average (%) (5 min)",
              "host/load_average (%) (15 min)")
_NAN = float("nan")
_WITHOUT_PROCESSES = _core.WITHOUT_BOARD | _core.WITHOUT_PROCESSES
_NO_LOAD = (_NAN, _NAN, _NAN)


def collect_in_background(on_collect, collector=None, interval=None, *,
                          on_start=None, on_stop=None, tag="metrics-daemon",
                          start=True):
    """A thread that gives metrics to on_collect every `interval` seconds until
    that answers false. on_start and on_stop get the collector, before and, in
    any case, after. The metrics are of all time since the start of the tag.

    Returns the daemon thread, with the collector as `.collector`; start=False:
    to be started by you. Raises ValueError for a wrong interval.
    """
    import threading

    if interval is not None and interval <= 0:
        raise ValueError(f"an interval is positive: {interval!r}")
    if collector is None:
        collector = ResourceMetricCollector(interval=interval or 1.0)
    thread = threading.Thread(
        target=_run_in_background, name=tag, daemon=True,
        args=(collector, interval or collector.interval, tag, on_collect,
              on_start, on_stop))
    thread.collector = collector
    if start:
        thread.start()
    return thread


def _run_in_background(collector, interval, tag, on_collect, on_start,
                       on_stop):
    if on_start is not None:
        on_start(collector)
    try:
        with collector(tag):
            due = timer() + interval
            while on_collect(collector.collect()):
                time.sleep(max(due - timer(), 0))
                due += interval
    finally:
        if on_stop is not None:
            on_stop(collector)
