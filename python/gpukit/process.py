# SPDX-License-Identifier: Apache-2.0
"""Processes of the host, and how they use GPUs."""

import os
import time
from _operator import itemgetter
from _thread import RLock, _local
from weakref import WeakValueDictionary

from gpukit import _core, host
from gpukit._device_find import _identify
from gpukit._device_values import percent
from gpukit._errors import NVMLError
from gpukit._forked import is_orphaned, mend_when_forked
from gpukit.na import NA
from gpukit.snapshot import Snapshot
from gpukit.utils import (add_quotes, bytes2human, command_join,
                          timedelta2human)

__all__ = ["HostProcess",  # noqa: F822 - by __getattr__
           "GpuProcess", "command_join", "add_quotes"]

_TYPES = {0: NA, 1: "C", 2: "G", 3: "C+G", 4: "C", 5: "C", 6: "C+G",
          7: "C+G"}
# The state letters of /proc/PID/stat.
STATES = {"R": "running", "S": "sleeping", "D": "disk-sleep",
          "T": "stopped", "t": "tracing-stop", "Z": "zombie", "X": "dead",
          "I": "idle", "P": "parked"}
_NAN = float("nan")
_state = _local()


def __getattr__(name):
    """Imports HostProcess, and with it psutil, on first use."""
    if name != "HostProcess":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gpukit._host_process import HostProcess

    globals()[name] = HostProcess
    return HostProcess


class _Failsafe:
    """A context manager. Within it, methods called by this thread return
    fallback values for processes that have ended."""

    def __enter__(self):
        self._before = getattr(_state, "failsafe", False)
        _state.failsafe = True

    def __exit__(self, *exc):
        _state.failsafe = self._before
        return False


_RAISE = object()


def auto_garbage_clean(fallback=_RAISE):
    """Decorates a method of a process that may have ended. If it has, drops
    the process's object from the cache. Within GpuProcess.failsafe(), the
    method then returns the fallback. Outside failsafe(), or without a
    fallback, it raises the host's exception.
    """

    def decorate(method):
        def clean(self, *args, **kwargs):
            try:
                return method(self, *args, **kwargs)
            except host.PsutilError:
                _forget(self)
                if fallback is _RAISE or not getattr(_state, "failsafe",
                                                     False):
                    raise
                return fallback

        clean.__name__, clean.__doc__ = method.__name__, method.__doc__
        clean.__wrapped__ = method
        return clean

    return decorate


def _forget(process):
    with GpuProcess.INSTANCE_LOCK:
        key = (process._pid, process._device)
        if GpuProcess.INSTANCES.get(key) is process:
            del GpuProcess.INSTANCES[key]


def _of_host(name, fallback, doc):
    """Returns a method that calls the method of this name of HostProcess."""

    def method(self):
        return getattr(self.host, name)()

    method.__name__, method.__doc__ = name, doc
    return auto_garbage_clean(fallback)(method)


def _text_of(name, to_text):
    def method(self):
        return to_text(getattr(self, name)())

    method.__name__, method.__doc__ = name + "_human", f"{name}() as text."
    return method


class GpuProcess:
    """A process on a device: its use of the GPU (bytes, percent), and the
    values of HostProcess.

    If the process has ended, values from the host raise host.NoSuchProcess;
    within GpuProcess.failsafe() they are NA, 'terminated' or ['No Such
    Process'].
    """

    INSTANCE_LOCK = RLock()
    INSTANCES = WeakValueDictionary()

    @classmethod
    def _mend_locks(cls):
        if is_orphaned(cls.INSTANCE_LOCK):
            cls.INSTANCE_LOCK = RLock()

    def __new__(cls, pid, device, *, gpu_memory=None, gpu_instance_id=None,
                compute_instance_id=None, type=None):
        pid = os.getpid() if pid is None else pid
        with cls.INSTANCE_LOCK:
            self = cls.INSTANCES.get((pid, device))
            if self is None or not self._is_same():
                self = object.__new__(cls)
                self._clear(pid, device, _start_of(pid))
                cls.INSTANCES[(pid, device)] = self
            return self

    def __init__(self, pid, device, *, gpu_memory=None, gpu_instance_id=None,
                 compute_instance_id=None, type=None):
        if gpu_memory is not None:
            self.set_gpu_memory(gpu_memory)
        if gpu_instance_id is not None:
            self._gi = gpu_instance_id
        if compute_instance_id is not None:
            self._ci = compute_instance_id
        if type is not None:
            self._type = type

    @classmethod
    def _of_core(cls, row, device):
        """Makes the object for a process from a row of the core, which says
        when the process began."""
        if cls.__new__ is not GpuProcess.__new__ \
                or cls.__init__ is not GpuProcess.__init__:
            return cls(row.pid, device)
        start = row.start_ticks or None
        key = (row.pid, device)
        with cls.INSTANCE_LOCK:
            self = cls.INSTANCES.get(key)
            if self is None or self._start != start:
                self = object.__new__(cls)
                self._clear(*key, start)
                cls.INSTANCES[key] = self
            return self

    # Defaults until values are set.
    _memory = _gi = _ci = _type = NA
    _rates = (NA, NA, NA, NA)
    _told_at = 0.0  # when values were set, in seconds since 1970
    _host = None

    def _clear(self, pid, device, start):
        self._pid, self._device, self._start = pid, device, start
        if device._at[1] >= 0:
            self._gi = device.gpu_instance_id()
            self._ci = device.compute_instance_id()

    def _is_same(self):
        """Whether the process id still belongs to the same process."""
        return _start_of(self._pid) == self._start

    def __repr__(self):
        try:
            about = f"host={self.host.__module__}.{self.host!r}"
        except host.PsutilError:
            about = ("host=gpukit.process.HostProcess("
                     f"pid={self._pid}, status='terminated')")
        return (f"{type(self).__name__}(pid={self._pid}, "
                f"gpu_memory={self.gpu_memory_human()}, type={self._type}, "
                f"device={self._device!r}, {about})")

    def __eq__(self, other):
        if not isinstance(other, GpuProcess):
            return NotImplemented
        return (self._pid, self._start, self._device) == (
            other._pid, other._start, other._device)

    def __hash__(self):
        return hash((self._pid, self._start))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.host, name)

    def __reduce__(self):
        return type(self), (self._pid, self._device)

    @property
    def pid(self):
        """The process's id."""
        return self._pid

    @property
    def device(self):
        """The device."""
        return self._device

    @property
    def host(self):
        """The HostProcess. Raises host.NoSuchProcess if it has ended."""
        if self._host is None:
            from gpukit._host_process import HostProcess

            self._host = HostProcess(self._pid)
        return self._host

    def gpu_instance_id(self):
        """The GPU instance id of its MIG device, or NA."""
        return self._gi

    def compute_instance_id(self):
        """The compute instance id of its MIG device, or NA."""
        return self._ci

    def gpu_memory(self):
        """Device memory in bytes."""
        return self._memory

    gpu_memory_human = _text_of("gpu_memory", bytes2human)

    def gpu_memory_percent(self):
        """Device memory in percent of the total."""
        return percent(self._memory, self._device.memory_total() or NA)

    def gpu_sm_utilization(self):
        """Its use of the SMs, as a share of time in percent."""
        return self._rates[0]

    def gpu_memory_utilization(self):
        """Its use of device memory access, as a share of time in percent."""
        return self._rates[1]

    def gpu_encoder_utilization(self):
        """Its use of the video encoder in percent."""
        return self._rates[2]

    def gpu_decoder_utilization(self):
        """Its use of the video decoder in percent."""
        return self._rates[3]

    def set_gpu_memory(self, value):
        """Sets the device memory, in bytes."""
        self._memory, self._told_at = value, time.time()

    def set_gpu_utilization(self, gpu_sm_utilization=None,
                            gpu_memory_utilization=None,
                            gpu_encoder_utilization=None,
                            gpu_decoder_utilization=None):
        """Sets shares in percent; None leaves a value unchanged."""
        given = (gpu_sm_utilization, gpu_memory_utilization,
                 gpu_encoder_utilization, gpu_decoder_utilization)
        self._rates = tuple(old if new is None else new
                            for old, new in zip(self._rates, given))
        self._told_at = time.time()

    def update_gpu_status(self):
        """Reads the values from the device again. Returns the device memory in
        bytes."""
        self._memory, self._type = NA, NA
        self._rates = (NA, NA, NA, NA)
        processes_of(self._device)
        return self._memory

    def _take(self, memory, types, rates):
        self._memory = NA if memory is None else memory
        self._type = _TYPES.get(types, NA)
        self._rates = tuple(NA if rate is None else rate for rate in rates)
        self._told_at = time.time()

    def _take_part(self, parts, pair):
        """Sets the instance ids of the process's MIG device. parts: a cache of
        facts about MIG devices."""
        if pair not in parts:
            try:
                parts[pair] = _identify(pair)
            except NVMLError:  # the MIG device no longer exists
                parts[pair] = None
        part = parts[pair]
        if part is not None:
            self._gi, self._ci = part.gpu_instance, part.compute_instance

    @property
    def type(self):
        """C (compute), G (graphics) or C+G."""
        return self._type

    @type.setter
    def type(self, value):
        letters = {part for part in str(value).split("+") if part in "CG"}
        self._type = "+".join(sorted(letters)) or NA

    def is_running(self):
        """Whether the process is running."""
        try:
            return self.host.is_running()
        except host.NoSuchProcess:
            return False

    status = _of_host("status", "terminated", "running, sleeping, ...")
    create_time = _of_host("create_time", NA,
                           "When it began, in seconds since 1970.")
    running_time = _of_host("running_time", NA, "A timedelta.")
    running_time_human = _text_of("running_time", timedelta2human)
    running_time_in_seconds = _of_host(
        "running_time_in_seconds", NA,
        "How long it has been running, in seconds.")
    elapsed_time = running_time
    elapsed_time_human = running_time_human
    elapsed_time_in_seconds = running_time_in_seconds
    username = _of_host("username", NA, "The owner's name.")
    name = _of_host("name", NA, "The short name.")
    cpu_percent = _of_host("cpu_percent", NA, "CPU in percent of one core, "
                           "since the last call.")
    memory_percent = _of_host("memory_percent", NA,
                              "Its share of the host's memory in percent.")
    host_memory_percent = memory_percent
    host_memory = _of_host("rss_memory", NA, "Memory of the host in bytes.")
    rss_memory = host_memory
    host_memory_human = _text_of("host_memory", bytes2human)

    def cmdline(self):
        """The arguments."""
        try:
            return self.host.cmdline() or ["Zombie Process"]
        except host.PsutilError as error:
            if not getattr(_state, "failsafe", False):
                raise
            if isinstance(error, host.ZombieProcess):
                return ["Zombie Process"]
            denied = isinstance(error, host.AccessDenied)
            return ["No Permissions" if denied else "No Such Process"]

    def command(self):
        """The arguments as one text."""
        return command_join(self.cmdline())

    def host_snapshot(self):
        """The current values from the host."""
        return Snapshot(self._host or _Later(self._pid, self),
                        **self._host_items())

    def _host_items(self):
        items = {name: getattr(self, name)() for name in _HOST_FIELDS}
        items["command"] = command_join(items["cmdline"])
        items["host_memory_human"] = bytes2human(items["host_memory"])
        seconds = items["running_time_in_seconds"]
        items["running_time_human"] = timedelta2human(seconds)
        items["running_time"] = _timedelta(seconds)
        return items

    def as_snapshot(self, *, host_process_snapshot_cache=None):
        """All current values. host_process_snapshot_cache: a dict from pid to
        the host's values. If several snapshots share it, a process on many
        devices is read from the host only once."""
        cache = host_process_snapshot_cache
        cache = {} if cache is None else cache
        told = cache.get(self._pid)
        if told is None:
            told = cache[self._pid] = self.host_snapshot()
        return Snapshot(self, **self._items(told))

    def _items(self, told):
        items = {name: told[name] for name in _ALL_HOST_FIELDS}
        items.update((name, getattr(self, name)()) for name in _GPU_FIELDS)
        items.update(pid=self._pid, device=self._device, type=self._type,
                     host=told)
        return items

    @classmethod
    def take_snapshots(cls, gpu_processes, *, failsafe=False):
        """Snapshots of several processes. failsafe: include processes that
        have ended."""
        import contextlib

        cache = {}
        with cls.failsafe() if failsafe else contextlib.nullcontext():
            return [process.as_snapshot(host_process_snapshot_cache=cache)
                    for process in gpu_processes]

    @classmethod
    def failsafe(cls):
        """Within `with GpuProcess.failsafe():`, methods return fallbacks
        instead of raising exceptions, in this thread."""
        return _Failsafe()


mend_when_forked(GpuProcess)

_HOST_FIELDS = ("cmdline", "cpu_percent", "host_memory", "is_running",
                "memory_percent", "name", "running_time_in_seconds", "status",
                "username")
_ALL_HOST_FIELDS = (*_HOST_FIELDS, "command", "host_memory_human",
                    "running_time", "running_time_human")
_GPU_FIELDS = ("compute_instance_id", "gpu_decoder_utilization",
               "gpu_encoder_utilization", "gpu_instance_id", "gpu_memory",
               "gpu_memory_human", "gpu_memory_percent",
               "gpu_memory_utilization", "gpu_sm_utilization")


class _Later:
    """Replaces a HostProcess in a snapshot until it is used, because making a
    HostProcess takes longer than the snapshot."""

    def __init__(self, pid, process):
        self.pid = pid
        self._process = process

    @property
    def __class__(self):
        from gpukit._host_process import HostProcess

        return HostProcess

    def __getattr__(self, name):
        return getattr(self._process.host, name)

    def __reduce__(self):
        return self.__class__, (self.pid,)

    def __repr__(self):
        try:
            return repr(self._process.host)
        except host.PsutilError:
            return f"HostProcess(pid={self.pid}, status='terminated')"


_Later.__name__ = "HostProcess"


def _timedelta(seconds):
    from datetime import timedelta

    return NA if seconds == NA else timedelta(seconds=seconds)


def _start_of(pid):
    """When a process began, in ticks since the host was started. None if it
    has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            return int(f.read().rpartition(b")")[2].split()[19])
    except OSError:
        return None


def processes_of(device):
    """Returns a dict from pid to GpuProcess, with the values from the driver.
    It is empty if the device cannot be used now."""
    found, parts = {}, {}
    kind = type(device).GPU_PROCESS_CLASS
    try:
        uses = _core.processes(*device._at)
    except NVMLError:
        return {}
    for use in uses:
        if use.mig_index != device._at[1] and device._at[1] >= 0:
            continue
        process = found[use.pid] = kind(use.pid, device)
        process._take(use.gpu_memory, use.types, use[4:8])
        if use.mig_index != device._at[1]:
            process._take_part(parts, (device._at[0], use.mig_index))
    return found


def from_core(row, device, timestamp, total, told):
    """Makes the snapshot of a process from a row of the core. total: the
    host's memory; told: a dict from pid to the host's values, shared by the
    rows.

    Making a GpuProcess takes longer than the snapshot, so it is made on first
    use. If it already exists, its values are updated now.
    """
    seen = _Row(row, device, timestamp, total, told)
    if GpuProcess.INSTANCES.data:
        return Snapshot._of(seen.process(), timestamp, seen.items)
    return Snapshot._later(seen.process, timestamp, seen.items)


class _Row:
    """A process on a device, made from a row of the core's snapshot."""

    __slots__ = ("_row", "_device", "_timestamp", "_total", "_told",
                 "_device_total")

    def __init__(self, row, device, timestamp, total, told):
        self._row, self._device, self._timestamp = row, device, timestamp
        self._total, self._told = total, told
        self._device_total = device._memory_total or device.memory_total()

    def _shares(self):
        values = self._row.values
        return [NA if values[at] is None else values[at] for at in _SHARES]

    def process(self):
        """The GpuProcess. It gets the values of this snapshot unless it has
        later ones."""
        kind = type(self._device).GPU_PROCESS_CLASS or GpuProcess
        process = kind._of_core(self._row, self._device)
        if process._told_at <= self._timestamp:
            process._told_at = self._timestamp
            process._memory, *rates = self._shares()
            process._rates = tuple(rates)
            process._type = _TYPES.get(self._row.types, NA)
        return process

    def _host_told(self, process):
        """Returns the snapshot of the process on its host, and the host's
        values as texts (_Words). All rows of the process share both."""
        seen = self._told.get(self._row.pid)
        if seen is None:
            words = _Words(self._row, self._total)
            shot = Snapshot._of(process._host or _Later(self._row.pid, process),
                                self._timestamp, words.told)
            seen = self._told.setdefault(self._row.pid, (shot, words))
        return seen

    def items(self):
        """The values of the snapshot."""
        process = self.process()
        seen, words = self._host_told(process)
        values, items = self._shares(), words.told()
        items["pid"], items["device"] = process._pid, process._device
        items["type"] = _TYPES.get(self._row.types, NA)
        items["host"] = seen
        (items["gpu_memory"], items["gpu_sm_utilization"],
         items["gpu_memory_utilization"], items["gpu_encoder_utilization"],
         items["gpu_decoder_utilization"]) = values
        items["gpu_memory_human"] = bytes2human(values[0])
        items["gpu_memory_percent"] = percent(values[0], self._device_total)
        items["gpu_instance_id"] = process._gi
        items["compute_instance_id"] = process._ci
        return items


_SHARES = (_core.PM_GPU_MEM, _core.PM_SM_UTIL, _core.PM_MEM_UTIL,
           _core.PM_ENC_UTIL, _core.PM_DEC_UTIL)


class _Words:
    """The host's values of a process as texts, each made once."""

    __slots__ = ("_row", "_total", "_items")

    def __init__(self, row, total):
        self._row, self._total, self._items = row, total, None

    def told(self):
        """Returns the texts in a new dict."""
        if self._items is None:
            from datetime import timedelta

            self._items = _core.told(self._row, self._total, NA, STATES,
                                     command_join, timedelta)
        return self._items.copy()


# The names of the values that numbers_of() returns, in order.
NUMBERS = (
    "cpu_percent", "host_memory", "memory_percent", "host_memory_percent",
    "running_time_in_seconds", "gpu_memory", "gpu_memory_percent",
    "gpu_sm_utilization", "gpu_memory_utilization", "gpu_encoder_utilization",
    "gpu_decoder_utilization")


def numbers_of(row, device_total, total):
    """The values of a process that are numbers; missing ones are nan. total:
    the host's memory."""
    memory, *rates, cpu, rss, run = [
        _NAN if value is None else value for value in _numbers_in(row.values)]
    share = 100.0 * rss / total if total else _NAN
    return (cpu / 100, rss, share, share, run / 1e9, memory,
            _NAN if memory != memory
            else float(percent(memory, device_total)), *rates)


_numbers_in = itemgetter(*_SHARES, _core.PM_CPU, _core.PM_RSS,
                         _core.PM_RUN_TIME)
