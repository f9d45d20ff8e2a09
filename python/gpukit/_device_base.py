# SPDX-License-Identifier: Apache-2.0
"""The part that all devices have in common: identity, values and snapshots."""

import time
from _thread import RLock

from gpukit import _core
from gpukit._device_find import (
    _check_index, _find, _identify, _identify_all, _index, _is_uuid, _pair, normalize_cuda_visible_devices,
    parse_cuda_visible_devices)
from gpukit._device_values import (
    PCIE_METRICS, SINGLE, SNAPSHOT_METRICS, TOTAL_AT, ClockInfos, ClockSpeedInfos,
    MemoryInfo, PciInfo, ThroughputInfo, UtilizationRates, add_method, fill_pcie,
    fill_snapshot, made, percent, power_status, speed_text)
from gpukit._errors import NVMLError
from gpukit._forked import is_orphaned, mend_when_forked
from gpukit._nvlink import _NvLinks
from gpukit.na import NA
from gpukit.snapshot import Snapshot
from gpukit.utils import bytes2human

_MEMORY = (_core.M_MEM_TOTAL, _core.M_MEM_FREE, _core.M_MEM_USED,
           _core.M_MEM_RESERVED)


class _Oneshot:
    """A context manager within which each value of the device is read only
    once."""

    def __init__(self, device):
        self._device = device
        self._nested = False

    def __enter__(self):
        self._device._own_lock().acquire()
        self._nested = self._device._cache is not None
        if not self._nested:
            self._device._cache = {}

    def __exit__(self, *exc):
        if not self._nested:
            self._device._cache = None
        self._device._lock.release()
        return False


class _Late:
    """A class attribute whose value is made on first use."""

    def __init__(self, name):
        self._name = name

    def __get__(self, device, owner):
        from gpukit._device_late import make

        value = make(self._name)
        setattr(Device, self._name, value)
        return value


class Device(_NvLinks):
    """A GPU by its NVML index, a MIG device by (GPU, MIG), or either by UUID.

    Device(0), Device((0, 1)), Device("GPU-..."), Device(bus_id="..."). Memory
    is in bytes, clocks in MHz, traffic in KiB/s, power in mW, temperatures in
    degrees C, shares in percent. A missing value is NA; reason() says why.

    Raises TypeError for other arguments, NVMLError if the device or the driver
    is missing.
    """

    GPU_PROCESS_CLASS = _Late("GPU_PROCESS_CLASS")
    UUID_PATTERN = _Late("UUID_PATTERN")
    # The subclasses of Device, set by device.py.
    cuda = _physical = _mig = None
    SNAPSHOT_KEYS = [
        "name", "uuid", "bus_id", "memory_info", "memory_used", "memory_free",
        "memory_total", "memory_used_human", "memory_free_human",
        "memory_total_human", "memory_percent", "memory_usage",
        "utilization_rates", "gpu_utilization", "memory_utilization",
        "encoder_utilization", "decoder_utilization", "clock_infos",
        "max_clock_infos", "clock_speed_infos", "sm_clock", "memory_clock",
        "fan_speed", "temperature", "power_usage", "power_limit",
        "power_status", "pcie_throughput", "pcie_tx_throughput",
        "pcie_rx_throughput", "pcie_tx_throughput_human",
        "pcie_rx_throughput_human", "display_active", "display_mode",
        "current_driver_model", "persistence_mode", "performance_state",
        "total_volatile_uncorrected_ecc_errors", "compute_mode",
        "cuda_compute_capability", "mig_mode"]

    def __new__(cls, index=None, *, uuid=None, bus_id=None):
        if (index is not None) + (uuid is not None) + (bus_id is not None) \
                != 1:
            raise TypeError("give only one of index, uuid and bus_id")
        if isinstance(index, str) and _is_uuid(index):
            index, uuid = None, index
        if index is None:
            index = _index(_find(uuid, bus_id))
        return cls._make(cls._checked(index))

    def __init__(self, index=None, *, uuid=None, bus_id=None):
        """Does nothing: __new__ has initialized the object."""

    @classmethod
    def _checked(cls, index):
        if isinstance(index, tuple) and len(index) == 2 and all(
                isinstance(part, int) for part in index):
            _check_index(*index)
            return (int(index[0]), int(index[1]))
        if isinstance(index, int):
            _check_index(index)
            return int(index)
        raise TypeError(f"index must be a number or (GPU, MIG): {index!r}")

    @classmethod
    def _make(cls, index):
        if cls is Device:
            cls = cls._mig if isinstance(index, tuple) else cls._physical
        if issubclass(cls, cls._mig) != isinstance(index, tuple):
            raise TypeError(f"{index!r} is not an index of a {cls.__name__}")
        self = object.__new__(cls)
        self._set(index)
        return self

    @classmethod
    def _of_facts(cls, facts, index):
        self = object.__new__(cls)
        self._set(index, facts)
        return self

    def _set(self, index, facts=None):
        self._at = _pair(index)
        self._facts = facts or _identify(self._at)
        self._nvml_index = index
        self._cache = self._links = self._cuda_index = None
        self._memory_total = None

    def __reduce__(self):
        return type(self), (self._nvml_index,)

    def __repr__(self):
        return (f"{type(self).__name__}(index={self.index!r}, "
                f"name={str(self.name())!r}, "
                f"total_memory={self.memory_total_human()})")

    def __eq__(self, other):
        if not isinstance(other, Device) or \
                isinstance(self, self.cuda) != isinstance(other, self.cuda):
            return NotImplemented
        return (self._at, self.uuid()) == (other._at, other.uuid())

    def __hash__(self):
        return hash((self._at, self._facts.uuid))

    def __getattr__(self, name):
        """Finds any metric of gpukit by its name, such as energy_joules(). If
        nvidia-ml-py is installed, also finds its function nvmlDeviceGetX under
        the name x."""
        if name.startswith("_"):
            raise AttributeError(name)
        from gpukit._more_values import find_value

        return find_value(self, name)

    # ---- reading

    def oneshot(self):
        """Within `with device.oneshot():` each value is read only once."""
        return _Oneshot(self)

    def _own_lock(self):
        """Returns the lock of oneshot; the first call makes it."""
        if "_lock" not in self.__dict__:
            mend_when_forked(self)
            self.__dict__.setdefault("_lock", RLock())
        return self._lock

    def _mend_locks(self):
        if is_orphaned(self._own_lock()):
            self._lock, self._cache = RLock(), None

    def _read(self, metrics):
        """Returns values from the current oneshot() if it has them, else from
        the core."""
        cache = self._cache
        if cache is None:
            return _core.read(*self._at, metrics)
        values = cache.get(metrics)
        if values is None:
            values = cache[metrics] = _core.read(*self._at, metrics)
        return values

    def reason(self, name):
        """Says why a value is NA or contains NA, such as "not supported" or
        "no answer for 12 s"; empty if nothing is missing.

        name: the name of a method or of a metric. Raises AttributeError for
        other names.
        """
        from gpukit._reasons import find_reason, reason_text

        return reason_text(self, find_reason(self, name))

    # ---- all devices

    @classmethod
    def is_available(cls):
        """Whether there is a driver and a GPU."""
        try:
            return cls.count() > 0
        except NVMLError:
            return False

    @staticmethod
    def driver_version():
        """The driver's version, such as 580.95.05."""
        return _core.versions()[0] or NA

    @staticmethod
    def cuda_driver_version():
        """The highest CUDA version that the driver supports, such as 13.0."""
        number = _core.versions()[2]
        if not number:
            return NA
        return f"{number // 1000}.{number % 1000 // 10}"

    max_cuda_version = cuda_version = cuda_driver_version

    @staticmethod
    def cuda_runtime_version():
        """The version of the CUDA runtime that was found, or NA."""
        from gpukit.libcudart import cudaError, cudaRuntimeGetVersion

        try:
            return cudaRuntimeGetVersion()
        except cudaError:
            return NA

    cudart_version = cuda_runtime_version

    @classmethod
    def count(cls):
        """The number of GPUs. Raises NVMLError without a driver."""
        return _core.count()

    @classmethod
    def all(cls):
        """All GPUs, including those that cannot be used now; none without a
        driver."""
        try:
            return cls._all()
        except NVMLError:
            return []

    @classmethod
    def _all(cls):
        told = _identify_all()
        kind = cls._physical if cls is Device else cls
        # Call the constructor of a subclass that may have its own __init__.
        if kind is not cls._physical:
            return [cls(index) for index in range(len(told))]
        return [kind._of_facts(facts, index)
                for index, facts in enumerate(told)]

    @classmethod
    def from_indices(cls, indices=None):
        """The devices with these indices; all GPUs if indices is None."""
        if indices is None:
            return cls._all()
        if isinstance(indices, int):
            indices = (indices,)
        return [cls(index) for index in indices]

    @staticmethod
    def from_cuda_visible_devices():
        """The devices that CUDA sees now, in CUDA's order."""
        return Device.cuda.all()

    @staticmethod
    def from_cuda_indices(cuda_indices=None):
        """CUDA devices by ordinal. Raises RuntimeError if CUDA does not see
        one."""
        return Device.cuda.from_indices(cuda_indices)

    parse_cuda_visible_devices = staticmethod(parse_cuda_visible_devices)
    normalize_cuda_visible_devices = staticmethod(
        normalize_cuda_visible_devices)

    # ---- identity

    @property
    def index(self):
        """The index in NVML: a number, or (GPU, MIG device)."""
        return self._nvml_index

    @property
    def nvml_index(self):
        """The index in NVML: a number, or (GPU, MIG device)."""
        return self._nvml_index

    @property
    def physical_index(self):
        """The index of the GPU."""
        return self._at[0]

    @property
    def handle(self):
        """The nvmlDevice_t for ctypes; None if the GPU is lost."""
        import ctypes

        try:
            return ctypes.c_void_p(_core.handle(*self._at))
        except NVMLError:
            return None

    @property
    def cuda_index(self):
        """The ordinal in CUDA. Raises RuntimeError if CUDA does not see the
        device."""
        if self._cuda_index is None:
            visible = parse_cuda_visible_devices()
            if self._nvml_index not in visible:
                raise RuntimeError(
                    f"CUDA Error: Device(index={self._nvml_index!r}) is not "
                    "visible to CUDA applications")
            self._cuda_index = visible.index(self._nvml_index)
        return self._cuda_index

    def name(self):
        """The product's name."""
        if self._facts.nvml_error:
            return ("ERROR: GPU is Lost" if self._facts.nvml_error == 15
                    else "ERROR: Unknown")
        return self._facts.name or NA

    def uuid(self):
        """GPU-... or MIG-..."""
        return self._facts.uuid or NA

    def bus_id(self):
        """The PCI address; a MIG device has that of its GPU."""
        return self._facts.bus_id or NA

    def pci_info(self):
        """PciInfo: domain, bus and device as numbers, the texts busId and
        busIdLegacy, and the board's ids, as in nvidia-ml-py's structure; a MIG
        device has those of its GPU. NA without an address."""
        place = self._facts.bus_id
        if not place:
            return NA
        domain, bus, device = (int(each, 16) for each in
                               place.split(".")[0].split(":"))
        ids = (NA if value is None else value for value in self._read(
            (_core.M_PCI_DEVICE_ID, _core.M_PCI_SUBSYSTEM_ID)))
        return PciInfo(domain, bus, device, place, place[-12:], *ids)

    def serial(self):
        """The board's serial number; NA for a MIG device."""
        return NA if self._at[1] >= 0 else self._facts.serial or NA

    def cuda_compute_capability(self):
        """(major, minor)."""
        facts = self._facts
        if facts.compute_major is None or facts.compute_major < 0:
            return NA
        return (facts.compute_major, facts.compute_minor)

    # ---- memory

    def memory_info(self):
        """Total, free, used and reserved memory in bytes. A GPU that uses the
        host's memory reports the host's."""
        total, free, used, reserved = self._read(_MEMORY)
        return MemoryInfo(*(NA if v is None else v
                            for v in (total, free, used, reserved)))

    def memory_unified(self):
        """Whether the GPU has no memory of its own and uses the host's."""
        return self._read((_core.M_MEM_UNIFIED,))[0] == 1

    def memory_total(self):
        """Device memory in bytes; read only once."""
        if self._memory_total is None:
            total = self.memory_info().total
            if total == NA:
                return NA
            self._memory_total = total
        return self._memory_total

    def memory_used(self):
        """Memory in use in bytes."""
        return self.memory_info().used

    def memory_free(self):
        """Free memory in bytes."""
        return self.memory_info().free

    def memory_percent(self):
        """Memory in use in percent, with one digit."""
        memory = self.memory_info()
        return percent(memory.used, memory.total)

    def memory_usage(self):
        """'used / total' as text."""
        return f"{self.memory_used_human()} / {self.memory_total_human()}"

    def bar1_memory_info(self):
        """Total, free and used BAR1 memory, which the CPU can map, in
        bytes."""
        values = self._read((_core.M_BAR1_TOTAL, _core.M_BAR1_FREE,
                             _core.M_BAR1_USED))
        return MemoryInfo(*(NA if v is None else v for v in values))

    def bar1_memory_percent(self):
        """BAR1 in use in percent, with one digit."""
        memory = self.bar1_memory_info()
        return percent(memory.used, memory.total)

    def bar1_memory_usage(self):
        """'used / total' of BAR1 as text."""
        return (f"{self.bar1_memory_used_human()} / "
                f"{self.bar1_memory_total_human()}")

    # ---- activity

    def utilization_rates(self):
        """Utilization of GPU, memory, encoder and decoder in percent."""
        return UtilizationRates(
            self.gpu_utilization(), self.memory_utilization(),
            self.encoder_utilization(), self.decoder_utilization())

    def clock_infos(self):
        """Current clocks in MHz."""
        return ClockInfos(self.graphics_clock(), self.sm_clock(),
                          self.memory_clock(), self.video_clock())

    def max_clock_infos(self):
        """The highest clocks in MHz."""
        return ClockInfos(self.max_graphics_clock(), self.max_sm_clock(),
                          self.max_memory_clock(), self.max_video_clock())

    clocks = clock_infos
    max_clocks = max_clock_infos

    def clock_speed_infos(self):
        """Current and highest clocks in MHz."""
        return ClockSpeedInfos(self.clock_infos(), self.max_clock_infos())

    def power_status(self):
        """'draw / limit' in W as text."""
        return power_status(self.power_usage(), self.power_limit())

    def pcie_throughput(self):
        """PCIe traffic in KiB/s; the driver needs 40 ms to measure it."""
        return ThroughputInfo(self.pcie_tx_throughput(),
                              self.pcie_rx_throughput())

    def current_driver_model(self):
        """The driver model of Windows; NA on Linux."""
        return NA

    driver_model = current_driver_model

    # ---- MIG, processes

    def is_mig_device(self):
        """Whether it is a MIG device."""
        return self._at[1] >= 0

    def is_mig_mode_enabled(self):
        """Whether the GPU is split into MIG devices."""
        return self.mig_mode() == "Enabled"

    def max_mig_device_count(self):
        """The largest possible number of MIG devices."""
        return 0

    def mig_devices(self):
        """The MIG devices of a GPU."""
        return []

    def is_leaf_device(self):
        """Whether the device has no MIG devices of its own."""
        return self.is_mig_device() or not self.is_mig_mode_enabled()

    def to_leaf_devices(self):
        """The MIG devices of a split GPU; for any other device, the device
        itself."""
        if isinstance(self, self.cuda) or self.is_leaf_device():
            return [self]
        return self.mig_devices()

    def processes(self):
        """pid -> GpuProcess for every process on the device."""
        from gpukit.process import processes_of

        return processes_of(self)

    # ---- snapshot

    def as_snapshot(self, *, pcie=False):
        """All values of SNAPSHOT_KEYS at this moment. The driver needs 40 ms
        to measure PCIe traffic; this is done now if pcie=True, otherwise when
        the value is first used."""
        ids = SNAPSHOT_METRICS + PCIE_METRICS if pcie else SNAPSHOT_METRICS
        values = self._read(ids)
        shot = self._snapshot_of(values, time.time())
        if values[TOTAL_AT] is None:
            self._note_silence(shot)
        return shot

    def _note_silence(self, shot):
        """Marks the snapshot as late if it is empty because the GPU does not
        answer."""
        silence = _core.silence(self._at[0])
        if silence and self.reason("memory_total").startswith("no answer"):
            shot._is_late(silence)

    def _snapshot_of(self, values, timestamp):
        shot = Snapshot._of(self, timestamp, self._items_of, values)
        if not values[TOTAL_AT]:
            # Without a total, the values may need the host's memory: read it
            # now, not at first use.
            shot._filled()
        return shot

    def _items_of(self, values):
        items = {"index": self.index, "physical_index": self._at[0],
                 "name": self.name(), "uuid": self.uuid(),
                 "bus_id": self.bus_id(),
                 "cuda_compute_capability": self.cuda_compute_capability()}
        fill_snapshot(items, values)
        if len(values) > len(SNAPSHOT_METRICS):
            fill_pcie(items, *values[-2:])
        if not items["memory_total"]:
            self._fill_memory(items)
        self._add_own(items)
        return items

    def _fill_memory(self, items):
        for name in Device.SNAPSHOT_KEYS:
            if name.startswith("memory_") and name not in (
                    "memory_clock", "memory_utilization"):
                items[name] = getattr(self, name)()

    def _add_own(self, items):
        """Adds the values that only this class of devices has."""


def _add_single(name, metric, make, doc):
    ids = (metric,)
    add_method(Device, name, lambda self: made(self._read(ids)[0], make), doc)


def _add_human(name, unit_text):
    add_method(Device, name + "_human",
         lambda self: unit_text(getattr(self, name)()),
         f"{name}() as text.")


def _add_methods():
    for name, row in SINGLE.items():
        if name not in vars(Device):
            _add_single(name, *row)
    for name in ("memory_total", "memory_used", "memory_free",
                 "bar1_memory_total", "bar1_memory_used", "bar1_memory_free"):
        _add_human(name, bytes2human)
    for name in ("pcie_tx_throughput", "pcie_rx_throughput"):
        _add_human(name, speed_text)
    Device.gpu_percent = Device.gpu_utilization
    Device.power_draw = Device.power_usage


_add_methods()
