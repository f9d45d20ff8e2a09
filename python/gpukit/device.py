"""Devices: GPUs, MIG devices, and both as CUDA numbers them."""

import os
import time
from _thread import RLock

from gpukit import _core
from gpukit._device_values import (
    PCIE_METRICS, SINGLE, SNAPSHOT_METRICS, ClockInfos, ClockSpeedInfos,
    MemoryInfo, ThroughputInfo, UtilizationRates, fill_pcie, fill_snapshot,
    percent, power_status, speed_text)
from gpukit._errors import NVMLError
from gpukit.na import NA
from gpukit.snapshot import Snapshot
from gpukit.utils import bytes2human

__all__ = ["Device", "PhysicalDevice", "MigDevice", "CudaDevice",
           "CudaMigDevice", "parse_cuda_visible_devices",
           "normalize_cuda_visible_devices"]

_OMITTED = object()
_HEX = frozenset("0123456789abcdefABCDEF")
_MEMORY = (_core.M_MEM_TOTAL, _core.M_MEM_FREE, _core.M_MEM_USED,
           _core.M_MEM_RESERVED)
_SHAPE = [8, 4, 4, 4, 12]


def _is_uuid(text):
    """GPU-..., MIG-..., MIG-GPU-.../GI/CI, in full."""
    if text.startswith("MIG-GPU-"):
        text, _, rest = text[4:].partition("/")
        gi, slash, ci = rest.partition("/")
        if not (gi.isdigit() and slash and ci.isdigit()):
            return False
    if text[:4] not in ("GPU-", "MIG-"):
        return False
    parts = text[4:].split("-")
    return ([len(part) for part in parts] == _SHAPE
            and _HEX.issuperset("".join(parts)))


def is_mig_device_uuid(uuid):
    """Whether a text is the full UUID of a MIG device."""
    return uuid is not None and uuid.startswith("MIG-") and _is_uuid(uuid)


def _pair(index):
    """(GPU, MIG device or -1) of an index."""
    return index if isinstance(index, tuple) else (index, -1)


def _index(pair):
    return pair[0] if pair[1] < 0 else tuple(pair)


def _mig_pairs(gpu):
    """The MIG devices of a GPU; a slot without one is skipped."""
    found = []
    for slot in range(_core.mig_slots(gpu)):
        try:
            _core.identify(gpu, slot)
        except NVMLError:
            continue
        found.append((gpu, slot))
    return found


def _find(uuid=None, bus_id=None):
    """The pair of a UUID or a bus id; NVMLError_NotFound."""
    wanted = [uuid, bus_id]
    wanted = [w.decode() if isinstance(w, bytes) else w for w in wanted]
    for gpu in range(_core.count()):
        pairs = [(gpu, -1)]
        if str(wanted[0]).startswith("MIG-"):
            pairs += _mig_pairs(gpu)
        for pair in pairs:
            facts = _core.identify(*pair)
            if wanted[0] == facts.uuid or (
                    wanted[1] and _same_bus(wanted[1], facts.bus_id)):
                return pair
    raise NVMLError(6)


def _same_bus(one, other):
    """0000:07:00.0 and 00000000:07:00.0 are one place."""
    return other and (one.lower().lstrip("0") == other.lower().lstrip("0"))


def _visible(value):
    value = os.environ.get("CUDA_VISIBLE_DEVICES") if value is _OMITTED \
        else value
    return _core.cuda_visible(value, os.environ.get("CUDA_DEVICE_ORDER"))[0]


def parse_cuda_visible_devices(cuda_visible_devices=_OMITTED):
    """What CUDA_VISIBLE_DEVICES (or a value of it; None: unset) means to CUDA:
    NVML indices, (GPU, MIG device) pairs for MIG devices. A bad entry ends
    the list, as in CUDA."""
    try:
        return [_index(pair) for pair in _visible(cuda_visible_devices)]
    except NVMLError:
        return []


def normalize_cuda_visible_devices(cuda_visible_devices=_OMITTED):
    """The same as UUIDs with commas between them; empty if there are none."""
    try:
        return ",".join(_core.identify(*pair).uuid
                        for pair in _visible(cuda_visible_devices))
    except NVMLError:
        return ""


class _Oneshot:
    """Values of a device are read once within it."""

    def __init__(self, device):
        self._device = device
        self._nested = False

    def __enter__(self):
        self._device._lock.acquire()
        self._nested = self._device._cache is not None
        if not self._nested:
            self._device._cache = {}

    def __exit__(self, *exc):
        if not self._nested:
            self._device._cache = None
        self._device._lock.release()
        return False


class Device:
    """A GPU by its NVML index, a MIG device by (GPU, MIG) or any by its UUID.

    Device(0), Device((0, 1)), Device("GPU-..."), Device(bus_id="...").
    Memory is in bytes, clocks are in MHz, traffic in KiB/s, power in mW,
    temperatures in degrees C, shares in percent. A value that is not there is
    NA; reason() says why.

    Raises TypeError for other arguments, NVMLError when there is no such
    device or no driver.
    """

    GPU_PROCESS_CLASS = None
    cuda = None
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
            raise TypeError("a device has one of index, uuid and bus_id")
        if isinstance(index, str) and _is_uuid(index):
            index, uuid = None, index
        if index is None:
            index = _index(_find(uuid, bus_id))
        return cls._make(cls._checked(index))

    @classmethod
    def _checked(cls, index):
        if isinstance(index, tuple) and len(index) == 2 and all(
                isinstance(part, int) for part in index):
            return (int(index[0]), int(index[1]))
        if isinstance(index, int):
            return int(index)
        raise TypeError(f"an index is a number, or (GPU, MIG): {index!r}")

    @classmethod
    def _make(cls, index):
        if cls is Device:
            cls = MigDevice if isinstance(index, tuple) else PhysicalDevice
        if issubclass(cls, MigDevice) != isinstance(index, tuple):
            raise TypeError(f"{index!r} is no index of a {cls.__name__}")
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
        self._facts = facts or _core.identify(*self._at)
        self._nvml_index = index
        self._lock = RLock()
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
                isinstance(self, CudaDevice) != isinstance(other, CudaDevice):
            return NotImplemented
        return (self._at, self.uuid()) == (other._at, other.uuid())

    def __hash__(self):
        return hash((self._at, self._facts.uuid))

    def __getattr__(self, name):
        """Any metric of gpukit by its name, such as energy_joules(); what
        nvidia-ml-py calls nvmlDeviceGetX as x(), where it is installed."""
        if name.startswith("_"):
            raise AttributeError(name)
        from gpukit._more_values import find_value

        return find_value(self, name)

    # ---- reading

    def oneshot(self):
        """Within `with device.oneshot():` each value is read once."""
        return _Oneshot(self)

    def _read(self, metrics):
        """The core's values, those of a oneshot where they are known."""
        cache = self._cache
        if cache is None:
            return _core.read(*self._at, metrics)
        values = cache.get(metrics)
        if values is None:
            values = cache[metrics] = _core.read(*self._at, metrics)
        return values

    def reason(self, name):
        """Why a value is NA, as text: device.reason("fan_speed"). Empty when
        there is one. Raises AttributeError for a name that is no value."""
        from gpukit._more_values import find_metric

        number = _core.explain(*self._at, (find_metric(name),))[0][0]
        return _core.reason(number) if number else ""

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
        """The highest CUDA version that the driver can: 13.0."""
        number = _core.versions()[2]
        if not number:
            return NA
        return f"{number // 1000}.{number % 1000 // 10}"

    max_cuda_version = cuda_version = cuda_driver_version

    @staticmethod
    def cuda_runtime_version():
        """The version of the CUDA runtime that is found, or NA."""
        from gpukit.libcudart import cudaRuntimeGetVersion

        return cudaRuntimeGetVersion()

    cudart_version = cuda_runtime_version

    @classmethod
    def count(cls):
        """The number of GPUs. Raises NVMLError without a driver."""
        return _core.count()

    @classmethod
    def all(cls):
        """All GPUs; none without a driver."""
        try:
            return [PhysicalDevice(i) for i in range(_core.count())]
        except NVMLError:
            return []

    @classmethod
    def from_indices(cls, indices=None):
        """The devices of some indices; of all GPUs without any."""
        if indices is None:
            indices = range(_core.count())
        if isinstance(indices, int):
            indices = (indices,)
        return [cls(index) for index in indices]

    @staticmethod
    def from_cuda_visible_devices():
        """What CUDA sees now, in its order."""
        return CudaDevice.all()

    @staticmethod
    def from_cuda_indices(cuda_indices=None):
        """CUDA devices by ordinal. RuntimeError for one that is not there."""
        return CudaDevice.from_indices(cuda_indices)

    parse_cuda_visible_devices = staticmethod(parse_cuda_visible_devices)
    normalize_cuda_visible_devices = staticmethod(
        normalize_cuda_visible_devices)

    # ---- what it is

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
        """nvmlDevice_t for ctypes; None when the GPU is lost."""
        import ctypes

        try:
            return ctypes.c_void_p(_core.handle(*self._at))
        except NVMLError:
            return None

    @property
    def cuda_index(self):
        """The ordinal in CUDA. RuntimeError when CUDA does not see it."""
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
        """The place on the PCI bus; of a MIG device, that of its GPU."""
        return self._facts.bus_id or NA

    def serial(self):
        """The serial number of the board; NA for a MIG device."""
        return NA if self._at[1] >= 0 else self._facts.serial or NA

    def cuda_compute_capability(self):
        """(major, minor)."""
        facts = self._facts
        if facts.compute_major is None or facts.compute_major < 0:
            return NA
        return (facts.compute_major, facts.compute_minor)

    # ---- memory

    def memory_info(self):
        """Total, free, used and reserved memory in bytes. Where a GPU has the
        memory of its host, that memory."""
        total, free, used, reserved = self._read(_MEMORY)
        if not total and not self._facts.nvml_error:
            return self._host_memory(total)
        return MemoryInfo(*(NA if v is None else v
                            for v in (total, free, used, reserved)))

    def _host_memory(self, total):
        if total is None and _core.explain(
                *self._at, _MEMORY[:1])[0][1] != 3:
            return MemoryInfo(NA, NA, NA, NA)
        from gpukit import host

        memory = host.virtual_memory()
        return MemoryInfo(memory.total, memory.available, memory.used, NA)

    def memory_total(self):
        """Device memory in bytes; asked once."""
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
        """BAR1 in bytes: what the CPU can map."""
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
        """GPU, memory, encoder and decoder in percent."""
        return UtilizationRates(
            self.gpu_utilization(), self.memory_utilization(),
            self.encoder_utilization(), self.decoder_utilization())

    def clock_infos(self):
        """The clocks of now in MHz."""
        return ClockInfos(self.graphics_clock(), self.sm_clock(),
                          self.memory_clock(), self.video_clock())

    def max_clock_infos(self):
        """The highest clocks in MHz."""
        return ClockInfos(self.max_graphics_clock(), self.max_sm_clock(),
                          self.max_memory_clock(), self.max_video_clock())

    clocks = clock_infos
    max_clocks = max_clock_infos

    def clock_speed_infos(self):
        """The clocks of now and the highest ones in MHz."""
        return ClockSpeedInfos(self.clock_infos(), self.max_clock_infos())

    def power_status(self):
        """'draw / limit' in W as text."""
        return power_status(self.power_usage(), self.power_limit())

    def pcie_throughput(self):
        """Traffic over PCIe in KiB/s; the driver takes 40 ms for it."""
        return ThroughputInfo(self.pcie_tx_throughput(),
                              self.pcie_rx_throughput())

    def current_driver_model(self):
        """The driver model of Windows; NA on Linux."""
        return NA

    driver_model = current_driver_model

    # ---- NVLink

    def nvlink_link_count(self):
        """The number of NVLinks."""
        try:
            return len(_core.links(self._at[0])) if self._at[1] < 0 else 0
        except NVMLError:
            return 0

    def _read_links(self):
        rows = _core.links(self._at[0]) if self._at[1] < 0 else []
        return time.monotonic(), rows

    def nvlink_throughput(self, interval=None):
        """Traffic of each NVLink in KiB/s since the last call, the first time
        over 20 ms; interval: over so many seconds from now."""
        if interval is not None and interval < 0:
            raise ValueError("an interval is not negative")
        try:
            before = None if interval else self._links
            if before is None:
                before = self._read_links()
                time.sleep(interval or 0.02)
            self._links = after = self._read_links()
        except NVMLError:
            return []
        seconds = max(after[0] - before[0], 1e-6)
        return [ThroughputInfo(_rate(old[2], new[2], seconds),
                               _rate(old[3], new[3], seconds))
                for old, new in zip(before[1], after[1])]

    def nvlink_total_throughput(self, interval=None):
        """Traffic of all NVLinks together in KiB/s."""
        return ThroughputInfo(*(_total(rates) for rates in self._sides(
            interval)))

    def nvlink_mean_throughput(self, interval=None):
        """Traffic of an NVLink in KiB/s, the mean of all."""
        return ThroughputInfo(*(_mean(rates) for rates in self._sides(
            interval)))

    def _sides(self, interval):
        rates = self.nvlink_throughput(interval)
        return [r.tx for r in rates], [r.rx for r in rates]

    # ---- MIG, processes

    def is_mig_device(self):
        """Whether it is a MIG device."""
        return self._at[1] >= 0

    def is_mig_mode_enabled(self):
        """Whether the GPU is split into MIG devices."""
        return self.mig_mode() == "Enabled"

    def max_mig_device_count(self):
        """How many MIG devices there can be."""
        return 0

    def mig_devices(self):
        """The MIG devices of a GPU."""
        return []

    def is_leaf_device(self):
        """Whether it is not split further."""
        return self.is_mig_device() or not self.is_mig_mode_enabled()

    def to_leaf_devices(self):
        """Itself, or its MIG devices if it is split."""
        if isinstance(self, CudaDevice) or self.is_leaf_device():
            return [self]
        return self.mig_devices()

    def processes(self):
        """pid -> GpuProcess of all that use the device."""
        from gpukit.process import processes_of

        return processes_of(self)

    # ---- snapshot

    def as_snapshot(self, *, pcie=False):
        """All values of SNAPSHOT_KEYS at this moment. Traffic over PCIe costs
        the driver 40 ms: it is taken with pcie=True, else when first asked of
        the snapshot."""
        ids = SNAPSHOT_METRICS + PCIE_METRICS if pcie else SNAPSHOT_METRICS
        return self._snapshot_of(self._read(ids), time.time())

    def _snapshot_of(self, values, timestamp):
        return Snapshot._of(self, timestamp, lambda: self._items_of(values))

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
        """What the class adds to a snapshot."""


def _rate(before, after, seconds):
    if before is None or after is None:
        return NA
    return round((after - before) / 1024 / seconds)


def _known(rates):
    return [rate for rate in rates if rate != NA]


def _total(rates):
    known = _known(rates)
    return sum(known) if known else NA


def _mean(rates):
    known = _known(rates)
    return round(sum(known) / len(known)) if known else NA


class PhysicalDevice(Device):
    """A whole GPU."""

    def max_mig_device_count(self):
        """How many MIG devices the GPU can have; 0 if it has no MIG."""
        return _core.mig_slots(self._at[0])

    def mig_device(self, mig_index):
        """A MIG device by its number. NVMLError if there is none."""
        return MigDevice((self._at[0], mig_index))

    def mig_devices(self):
        """The MIG devices of the GPU; a slot without one is passed over."""
        if not self.is_mig_mode_enabled():
            return []
        return [MigDevice(pair) for pair in _mig_pairs(self._at[0])]


class MigDevice(Device):
    """A part of a GPU, by (GPU, MIG device)."""

    SNAPSHOT_KEYS = [*Device.SNAPSHOT_KEYS, "gpu_instance_id",
                     "compute_instance_id"]
    _parent = None

    @classmethod
    def count(cls):
        """The number of MIG devices of all GPUs."""
        return sum(len(_mig_pairs(gpu)) for gpu in range(_core.count()))

    @classmethod
    def all(cls):
        """The MIG devices of all GPUs; none without a driver."""
        try:
            return [cls(pair) for gpu in range(_core.count())
                    for pair in _mig_pairs(gpu)]
        except NVMLError:
            return []

    @classmethod
    def from_indices(cls, indices):
        """MIG devices by pairs (GPU, MIG device)."""
        return [cls(index) for index in indices]

    @property
    def mig_index(self):
        """The number within the GPU."""
        return self._at[1]

    @property
    def parent(self):
        """The GPU."""
        if self._parent is None:
            self._parent = PhysicalDevice(self._at[0])
        return self._parent

    def gpu_instance_id(self):
        """The id of the GPU instance."""
        value = self._facts.gpu_instance
        return NA if value is None or value < 0 else value

    def compute_instance_id(self):
        """The id of the compute instance."""
        value = self._facts.compute_instance
        return NA if value is None or value < 0 else value

    def _add_own(self, items):
        items["gpu_instance_id"] = self.gpu_instance_id()
        items["compute_instance_id"] = self.compute_instance_id()
        items["mig_index"] = self._at[1]
        super()._add_own(items)


class CudaDevice(Device):
    """A device by its ordinal in CUDA: CudaDevice(0),
    CudaDevice(nvml_index=...) or CudaDevice(uuid=...).

    Raises RuntimeError when CUDA does not see it.
    """

    def __new__(cls, cuda_index=None, *, nvml_index=None, uuid=None):
        if nvml_index is not None and uuid is not None or (
                cuda_index is None and nvml_index is None and uuid is None):
            raise TypeError("a CUDA device has a cuda_index, or one of "
                            "nvml_index and uuid")
        if uuid is not None:
            nvml_index = _index(_find(uuid))
        visible = parse_cuda_visible_devices()
        if cuda_index is not None:
            if not 0 <= cuda_index < len(visible):
                raise RuntimeError("CUDA Error: invalid device ordinal: "
                                   f"{cuda_index!r}.")
            found = visible[cuda_index]
            if nvml_index is not None and cls._checked(nvml_index) != found:
                raise RuntimeError(
                    f"CUDA device {cuda_index} is {found!r}, not "
                    f"{nvml_index!r}")
            nvml_index = found
        self = cls._make(cls._checked(nvml_index))
        self._cuda_index = cuda_index
        self.cuda_index
        return self

    @classmethod
    def _make(cls, index):
        if cls is CudaDevice and isinstance(index, tuple):
            cls = CudaMigDevice
        self = object.__new__(cls)
        self._set(index)
        return self

    def __reduce__(self):
        return type(self), (self._cuda_index,)

    def __repr__(self):
        return (f"{type(self).__name__}(cuda_index={self.cuda_index}, "
                f"nvml_index={self._nvml_index!r}, name=\"{self.name()}\", "
                f"total_memory={self.memory_total_human()})")

    @classmethod
    def is_available(cls):
        """Whether CUDA sees a device."""
        return cls.count() > 0

    @classmethod
    def count(cls):
        """How many devices CUDA sees; 0 without a driver."""
        return len(parse_cuda_visible_devices())

    @classmethod
    def all(cls):
        """All devices that CUDA sees, in its order."""
        return cls.from_indices()

    @classmethod
    def from_indices(cls, indices=None):
        """CUDA devices by ordinal; all without any."""
        if indices is None:
            indices = range(len(parse_cuda_visible_devices()))
        if isinstance(indices, int):
            indices = (indices,)
        return [cls(index) for index in indices]

    def _add_own(self, items):
        items["cuda_index"] = self.cuda_index
        super()._add_own(items)


class CudaMigDevice(CudaDevice, MigDevice):
    """A MIG device by its ordinal in CUDA."""


Device.cuda = CudaDevice


def _add(cls, name, method, doc):
    method.__name__, method.__doc__ = name, doc
    method.__qualname__ = f"{cls.__name__}.{name}"
    setattr(cls, name, method)


def _add_single(name, metric, make, doc):
    ids = (metric,)
    _add(Device, name, lambda self: make(self._read(ids)[0]), doc)


def _add_human(name, unit_text):
    _add(Device, name + "_human",
         lambda self: unit_text(getattr(self, name)()),
         f"{name}() as text.")


def _add_nvlink(side, at):
    """The methods of one direction."""
    for prefix, reduce in (("", list), ("mean_", _mean), ("total_", _total)):
        name = f"nvlink_{prefix}{side}_throughput"
        doc = f"{side} traffic of NVLinks in KiB/s: {prefix or 'each'}"

        def value(self, interval=None, reduce=reduce):
            return reduce(self._sides(interval)[at])

        def text(self, interval=None, name=name):
            rate = getattr(self, name)(interval)
            if isinstance(rate, list):
                return [speed_text(each) for each in rate]
            return speed_text(rate)

        _add(Device, name, value, doc.rstrip("_") + ".")
        _add(Device, name + "_human", text, f"{name}() as text.")


def _add_methods():
    for name, row in SINGLE.items():
        if name not in vars(Device):
            _add_single(name, *row)
    for name in ("memory_total", "memory_used", "memory_free",
                 "bar1_memory_total", "bar1_memory_used", "bar1_memory_free"):
        _add_human(name, bytes2human)
    for name in ("pcie_tx_throughput", "pcie_rx_throughput"):
        _add_human(name, speed_text)
    _add_nvlink("tx", 0)
    _add_nvlink("rx", 1)
    Device.gpu_percent = Device.gpu_utilization
    Device.power_draw = Device.power_usage


_add_methods()
