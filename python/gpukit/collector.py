# SPDX-License-Identifier: Apache-2.0
"""Snapshots of everything at one moment, and statistics over time."""

import math
import os
import time

from gpukit import _core
from gpukit._device_values import (
    NUMBERS, SNAPSHOT_METRICS, TOTAL_AT, _named, percent)
from gpukit._forked import is_orphaned, mend_when_forked
from gpukit._errors import NVMLError
from gpukit._metrics import Buffer
from gpukit.device import CudaDevice, Device, MigDevice, PhysicalDevice
from gpukit.na import NA
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

    devices: one or several; None: all GPUs, each followed by its MIG devices.
    gpu_processes: one or several, whose devices are then included; False or an
    empty list: devices only. Without a driver the result is empty
    (Device.count() raises the NVMLError); raises NVMLError_Timeout if the
    driver does not start in time. The values of a GPU that does not answer are
    NA; see `.stale` and `.age`.
    """
    if devices is None and gpu_processes in (None, True):
        try:
            return _take_all()
        except NVMLError as error:
            if error.value == _TIMEOUT:  # the driver is late, not absent
                raise
            return SnapshotResult([], [])
    listed = None
    if gpu_processes is not None and not isinstance(gpu_processes, bool):
        listed = [gpu_processes] if isinstance(gpu_processes, GpuProcess) \
            else list(gpu_processes)
    if isinstance(devices, Device):
        devices = [devices]
    if devices is None:
        devices = _with_mig(Device.all()) if not listed else _devices_of(listed)
    devices = list(devices)
    if listed is None and gpu_processes is not False:
        listed = [process for device in _leaves(devices)
                  for process in device.processes().values()]
    elif listed:
        for process in listed:
            process.update_gpu_status()
    return SnapshotResult(_shots_of(devices),
                          GpuProcess.take_snapshots(listed or (),
                                                    failsafe=True))


def _with_mig(devices):
    """Each device once, followed by its MIG devices."""
    return list(dict.fromkeys(
        each for device in devices
        for each in (device, *device.mig_devices())))


def _shots_of(devices):
    """Snapshots of devices. GPUs are read at the same time, so that several
    GPUs that do not answer cost only one timeout."""
    if len({device._at[0] for device in devices}) < 2:
        return [device.as_snapshot() for device in devices]
    shot = _core.snapshot(_WITHOUT_PROCESSES, SNAPSHOT_METRICS)
    at = _positions(shot)
    return [_shot_at(shot, at[device._at], device) if device._at in at
            else device.as_snapshot() for device in devices]


def _positions(shot):
    return {facts[:2]: place for place, facts in enumerate(shot.devices)}


def _shot_at(shot, place, device):
    """The snapshot of `device`, whose index in the core's snapshot is
    `place`."""
    values, age = shot.values[place], shot.ages[place]
    taken = device._snapshot_of(values, shot.wall_ns / 1e9)
    if shot.healths[place] == _STALE:
        taken._is_late(NA if age is None else age)
    else:
        taken.age = age or 0.0
    return taken


def _devices_of(processes):
    return list(dict.fromkeys(process.device for process in processes))


def _leaves(devices):
    leaves = [leaf for device in devices for leaf in device.to_leaf_devices()]
    return list(dict.fromkeys(leaves))


def _take_all():
    """Snapshots of everything at one moment, by one call of the core."""
    shot = _core.snapshot(0, SNAPSHOT_METRICS)
    timestamp, total = shot.wall_ns / 1e9, shot.host.mem_total
    devices = [_device_of(facts) for facts in shot.devices]
    for device, values in zip(devices, shot.values):
        device._memory_total = values[TOTAL_AT] or None
    taken = [_shot_at(shot, place, device)
             for place, device in enumerate(devices)]
    told, rows = {}, []
    for row in shot.processes:
        seen = from_core(row, devices[row.device], timestamp, total, told)
        if taken[row.device].stale:
            seen._is_late(taken[row.device].age)
        rows.append(seen)
    return SnapshotResult(taken, rows)


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

    devices: None for all; all_devices also has their MIG devices. root_pids:
    these processes and their descendants; None: this process; an empty set: no
    processes. interval: seconds between samples. Keys have the form tag/scope/metric (unit)/mean. A sample waits at
    most half an interval (or 0.1 s, if that is longer) for a GPU, and skips
    late values. Raises ValueError unless the interval is positive.
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
            raise ValueError(f"interval must be positive: {interval!r}")
        self.interval = float(interval)
        self.devices = Device.all() if devices is None else (
            [devices] if isinstance(devices, Device) else list(devices))
        self.all_devices = _with_mig(self.devices)
        self.root_pids = {os.getpid()} if root_pids is None else set(root_pids)
        self._wake = threading.Condition()
        self._lock = self._wake
        self._buffers, self._last, self._thread = [], -math.inf, None
        self._cpu, self._what, self._keys = _NAN, None, ()
        mend_when_forked(self)

    def __del__(self):
        """Does nothing. While a tag is active, the thread keeps the collector
        alive."""

    def _mend_locks(self):
        if is_orphaned(self._wake):
            self._wake = self._lock = type(self._wake)()

    def activate(self, tag):
        """Begins a tag, nested in the active ones. Raises RuntimeError if this
        tag is already active."""
        with self._lock:
            if any(buffer.tag == tag for buffer in self._buffers):
                raise RuntimeError(f"the tag is already active: {tag!r}")
            prefix = "/".join([b.tag for b in self._buffers] + [tag])
            self._buffers.append(Buffer(tag, prefix, timer(), time.time()))
            self._last = -math.inf
            self._start_thread()
        return self

    start = activate

    def deactivate(self, tag=None):
        """Ends a tag (default: the innermost one) and the tags nested in it.
        Raises RuntimeError if the tag is not active."""
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
        """`with collector.context("tag"):` keeps the tag active within the
        block."""
        return _Context(self, tag)

    __call__ = context

    def clear(self, tag=None):
        """Restarts the statistics of a tag (default: the innermost one) and of
        the tags nested in it."""
        with self._lock:
            if tag is None and not self._buffers:
                return
            for buffer in self._buffers[self._find(tag):]:
                buffer.clear(timer(), time.time())
            self._last = -math.inf

    reset = clear

    def collect(self):
        """Returns a dict from key to number for the innermost tag. If the last
        sample is older than half an interval, first takes a new one. Raises
        RuntimeError if no tag is active."""
        with self._lock:
            self._check_active()
            is_old = timer() - self._last > self.interval / 2
        if is_old:  # sampled without the lock, which others need
            self._sample()
        with self._lock:
            self._check_active()
            return self._buffers[-1].collect(timer(), time.time())

    def _check_active(self):
        if not self._buffers:
            raise RuntimeError("no tag is active: call activate first")

    def daemonize(self, on_collect, interval=None, *, on_start=None,
                  on_stop=None, tag="metrics-daemon", start=True):
        """Calls collect_in_background() with this collector."""
        return collect_in_background(
            on_collect, collector=self, interval=interval, on_start=on_start,
            on_stop=on_stop, tag=tag, start=start)

    def take_snapshots(self):
        """Takes a sample now and returns its snapshots."""
        return self._sample(told=True)

    # ---- sampling

    def _start_thread(self):
        """Starts the thread that takes samples. It ends with the last tag. The
        next tag starts a new thread, and so does a tag in a forked child."""
        import threading

        if self._thread is not None and self._thread.is_alive():
            return
        self._thread = threading.Thread(target=self._run, daemon=True,
                                        name="gpukit-collector")
        self._thread.start()

    def _run(self):
        while self._await_turn():
            self._sample()

    def _await_turn(self):
        """Waits until a sample is due. Returns False if no tag is active any
        longer."""
        with self._wake:
            while self._buffers:
                left = self._last + self.interval - timer()
                if left <= 0:
                    return True
                self._wake.wait(max(left, 0.001))
            self._thread = None
        return False

    def _shoot(self):
        # WITHOUT_BOARD selects another session of the core. So CPU shares
        # count from our own previous sample, not from a snapshot that other
        # code took with board facts.
        return _core.snapshot(
            _core.WITHOUT_BOARD if self.root_pids else _WITHOUT_PROCESSES,
            SNAPSHOT_METRICS,
            min(max(self.interval / 2, _PATIENCE), _core.deadline()))

    def _sample(self, told=False):
        """Takes and adds a sample, unless another thread is doing so. If
        `told`, returns the snapshots of the sample."""
        try:
            shot = self._shoot()
        except NVMLError as error:
            if told or error.value != _TIMEOUT:
                raise
            with self._lock:  # try again one interval later
                self._last = timer()
            return None
        with self._lock:
            return self._add(shot, told)

    def _add(self, shot, told):
        devices = self._own_devices(shot)
        rows = self._own_rows(shot)
        keys = self._keys_of([device for device, *_ in devices], rows)
        values = [*self._host_numbers(shot.host),
                  *self._device_numbers(devices),
                  *self._process_numbers(rows, shot.host.mem_total)]
        now, wall = timer(), time.time()
        for buffer in self._buffers:
            buffer.add(keys, values, now, wall)
        self._last = now
        return self._snapshots(shot, devices, rows) if told else None

    def _own_devices(self, shot):
        """Returns a list of (device, values, index in the core's snapshot).
        The values are None if they are late."""
        at = _positions(shot)
        late = {place for place, health in enumerate(shot.healths)
                if health == _STALE}
        found = []
        for device in self.all_devices:
            place = at.get(device._at)
            if (at.get((device._at[0], -1)) if place is None
                    else place) in late:
                values = None
            else:
                values = device._read(SNAPSHOT_METRICS) if place is None \
                    else shot.values[place]
            found.append((device, values, place))
        return found

    def _host_numbers(self, told):
        """The host's numbers in the order of _HOST_KEYS."""
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
        for device, values, _ in devices:
            if values is None:
                yield from (_NAN,) * len(plan)
                continue
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
            told = row.values[_core.PM_GPU_MEM] is not None
            numbers = numbers_of(row, device._memory_total or (
                device.memory_total() if told else NA), total)
            values += [
                (from_core(row, device, 0.0, total, {})[name] if at is None
                 else numbers[at]) / divisor for at, name, divisor in plan]
        return values

    def _keys_of(self, devices, rows):
        """Returns the tuple of keys. It is the same object while devices and
        processes are unchanged."""
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
            [device.as_snapshot() if place is None
             else _shot_at(shot, place, device)
             for device, _, place in devices],
            [from_core(row, device, timestamp, shot.host.mem_total, told)
             for row, device in rows])

    def _own_rows(self, shot):
        """The processes among root_pids and their descendants that use a GPU,
        each with its device."""
        if not self.root_pids or not shot.processes:
            return []
        parents = {row.pid: row.parent for row in shot.processes}
        on = self._leaves_in(shot)
        return [(row, on[row.device]) for row in shot.processes
                if on[row.device] is not None
                and self._is_below(row.pid, parents)]

    def _leaves_in(self, shot):
        """Returns for each device of the core's snapshot the object to use:
        the device itself, a MIG device of one of our GPUs, or None for all
        other devices."""
        own = {device._at: device for device in self.all_devices}
        split = {device._at[0] for device in self.all_devices
                 if isinstance(device, PhysicalDevice)}
        found = []
        for facts, values in zip(shot.devices, shot.values):
            device = own.get(facts[:2])
            if device is None and facts[1] >= 0 and facts[0] in split:
                device = _device_of(facts)
            if device is not None and values[TOTAL_AT]:
                device._memory_total = values[TOTAL_AT]
            found.append(device)
        return found

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
    """total - free, or nan if either is unknown."""
    return _NAN if None in (total, free) else float(total - free)


_HOST_KEYS = ("host/cpu_percent (%)", "host/memory_percent (%)",
              "host/swap_percent (%)", "host/memory_used (GiB)",
              "host/load_average (%) (1 min)", "host/load_average (%) (5 min)",
              "host/load_average (%) (15 min)")
_NAN = float("nan")
_STALE = 2  # one of the core's healths
_PATIENCE = 0.1  # seconds that a busy host may need, whatever the interval
_TIMEOUT = 10  # NVML's code
_WITHOUT_PROCESSES = _core.WITHOUT_BOARD | _core.WITHOUT_PROCESSES
_NO_LOAD = (_NAN, _NAN, _NAN)


def collect_in_background(on_collect, collector=None, interval=None, *,
                          on_start=None, on_stop=None, tag="metrics-daemon",
                          start=True):
    """Starts a thread that calls on_collect(metrics) every `interval` seconds
    until it returns false. on_start and on_stop are called with the collector;
    on_stop is called even after an error. The metrics cover the time since the
    tag began.

    Returns the daemon thread, which has the collector as `.collector`; with
    start=False, the caller starts it. Raises ValueError unless the interval is
    positive.
    """
    import threading

    if interval is not None and interval <= 0:
        raise ValueError(f"interval must be positive: {interval!r}")
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
