# SPDX-License-Identifier: Apache-2.0
"""The values of a device as tables: the metrics of the core, and how to
convert them. device.py makes methods and snapshots from these tables."""

from gpukit import _core
from gpukit.na import NA
from gpukit.utils import bytes2human


class _Tuple(tuple):
    """A replacement for collections.namedtuple that needs no import."""

    __slots__ = ()
    _fields = ()
    _field_defaults = {}

    @classmethod
    def _make(cls, values):
        return cls(*values)

    def __getnewargs__(self):
        return tuple(self)

    def _asdict(self):
        return dict(zip(self._fields, self))

    def _replace(self, **named):
        return type(self)(**{**self._asdict(), **named})

    def __repr__(self):
        inner = ", ".join(f"{name}={value!r}"
                          for name, value in zip(self._fields, self))
        return f"{type(self).__name__}({inner})"


def _new_of(fields, defaults):
    """Returns a __new__ that takes these names as arguments."""
    first = len(fields) - len(defaults)
    arguments = [*fields[:first], *(f"{name}=NA" for name in fields[first:])]
    new = eval(f"lambda cls, {', '.join(arguments)}: "
               f"make(cls, ({', '.join(fields)}))",
               {"make": tuple.__new__, "NA": NA})
    new.__name__, new.__qualname__ = "__new__", "_Tuple.__new__"
    return new


def _named(name, fields, doc, defaults=(), module="gpukit.device"):
    """Returns a class of named tuples. The last len(defaults) fields default
    to NA."""
    from operator import itemgetter

    names = tuple(fields.split())
    body = {"__slots__": (), "_fields": names, "__doc__": doc,
            "_field_defaults": dict(zip(names[-len(defaults):], defaults))
            if defaults else {}, "__module__": module,
            "__match_args__": names, "__new__": _new_of(names, defaults)}
    for at, field in enumerate(names):
        body[field] = property(itemgetter(at), doc=f"{field}, or NA: {doc}")
    return type(name, (_Tuple,), body)


MemoryInfo = _named("MemoryInfo", "total free used reserved",
                    "Device memory in bytes.", (NA,))
ClockInfos = _named("ClockInfos", "graphics sm memory video", "Clocks in MHz.")
ClockSpeedInfos = _named("ClockSpeedInfos", "current max",
                         "Clocks now, and the highest ones, in MHz.")
UtilizationRates = _named("UtilizationRates", "gpu memory encoder decoder",
                          "Shares of time in percent.")
PciInfo = _named(
    "PciInfo", "domain bus device busId busIdLegacy pciDeviceId pciSubSystemId",
    "The place on the PCI bus and the board's PCI ids, named as in NVML.")
ThroughputInfo = _named("ThroughputInfo", "tx rx", "Traffic in KiB/s.")
ThroughputInfo.transmit = ThroughputInfo.tx
ThroughputInfo.receive = ThroughputInfo.rx

_COMPUTE_MODES = {0: "Default", 1: "Exclusive Thread", 2: "Prohibited",
                  3: "Exclusive Process"}


_SWITCH = {0: "Disabled", 1: "Enabled"}
_PSTATES = {number: f"P{number}" for number in range(33)}
_MHZ, _KILO = 1000000, 1000

# name of the method: (metric, conversion as for _core.fill(), docstring)
SINGLE = {
    "fan_speed": (_core.M_FAN, None, "Fan speed the driver asks for, in "
                  "percent; may exceed 100. NA on boards without a fan."),
    "temperature": (_core.M_TEMP, None, "Core temperature in degrees C."),
    "power_usage": (_core.M_POWER, None, "Power draw of the board in mW."),
    "power_limit": (_core.M_POWER_LIMIT, None,
                    "Power limit that was asked for, in mW."),
    "gpu_utilization": (_core.M_GPU_UTIL, None,
                        "Time with a kernel running, in percent."),
    "memory_utilization": (_core.M_MEM_UTIL, None, "Time with device memory"
                           " read or written, in percent."),
    "encoder_utilization": (_core.M_ENC_UTIL, None,
                            "Video encoder, in percent."),
    "decoder_utilization": (_core.M_DEC_UTIL, None,
                            "Video decoder, in percent."),
    "graphics_clock": (_core.M_GR_CLOCK, _MHZ, "Graphics clock in MHz."),
    "sm_clock": (_core.M_SM_CLOCK, _MHZ, "SM clock in MHz."),
    "memory_clock": (_core.M_MEM_CLOCK, _MHZ, "Memory clock in MHz."),
    "video_clock": (_core.M_VIDEO_CLOCK, _MHZ, "Video clock in MHz."),
    "max_graphics_clock": (_core.M_GR_CLOCK_MAX, _MHZ,
                           "Highest graphics clock in MHz."),
    "max_sm_clock": (_core.M_SM_CLOCK_MAX, _MHZ, "Highest SM clock in MHz."),
    "max_memory_clock": (_core.M_MEM_CLOCK_MAX, _MHZ,
                         "Highest memory clock in MHz."),
    "max_video_clock": (_core.M_VIDEO_CLOCK_MAX, _MHZ,
                        "Highest video clock in MHz."),
    "memory_used": (_core.M_MEM_USED, None, "Device memory in use, bytes."),
    "memory_free": (_core.M_MEM_FREE, None, "Free device memory, bytes."),
    "memory_total": (_core.M_MEM_TOTAL, None, "Device memory, bytes."),
    "bar1_memory_used": (_core.M_BAR1_USED, None, "BAR1 in use, bytes."),
    "bar1_memory_free": (_core.M_BAR1_FREE, None, "Free BAR1, bytes."),
    "bar1_memory_total": (_core.M_BAR1_TOTAL, None, "BAR1, bytes."),
    "pcie_tx_throughput": (_core.M_PCIE_TX, _KILO, "PCIe traffic from the GPU"
                           " in KiB/s; the driver takes 20 ms for it."),
    "pcie_rx_throughput": (_core.M_PCIE_RX, _KILO, "PCIe traffic to the GPU in"
                           " KiB/s; the driver takes 20 ms for it."),
    "display_active": (_core.M_DISPLAY_ACTIVE, _SWITCH, "Enabled: a display is"
                       " initialised on the GPU; or Disabled."),
    "display_mode": (_core.M_DISPLAY_MODE, _SWITCH,
                     "Enabled: a display is connected; or Disabled."),
    "persistence_mode": (_core.M_PERSISTENCE, _SWITCH, "Enabled: the driver "
                         "stays loaded without clients; or Disabled."),
    "performance_state": (_core.M_PSTATE, _PSTATES, "P0, the fastest, to P15."),
    "total_volatile_uncorrected_ecc_errors": (
        _core.M_ECC_UNCORRECTED, None,
        "Uncorrected memory errors since the driver was loaded."),
    "compute_mode": (_core.M_COMPUTE_MODE, _COMPUTE_MODES, "Default, Exclusive"
                     " Thread, Prohibited or Exclusive Process."),
    "mig_mode": (_core.M_MIG_MODE, _SWITCH, "Enabled: split into MIG devices;"
                 " or Disabled. NA for a MIG device."),
}

# The metrics of a snapshot, which are read in one call. PCIe comes last.
SNAPSHOT_METRICS = tuple(dict.fromkeys(
    SINGLE[name][0] for name in SINGLE
    if not name.startswith(("bar1_", "pcie_")))) + (_core.M_MEM_RESERVED,)
PCIE_METRICS = (_core.M_PCIE_TX, _core.M_PCIE_RX)
_PLACE = {metric: at for at, metric in enumerate(SNAPSHOT_METRICS)}
_CLOCKS = tuple((name, _PLACE[SINGLE[name][0]], _MHZ) for name in (
    "graphics_clock", "sm_clock", "memory_clock", "video_clock",
    "max_graphics_clock", "max_sm_clock", "max_memory_clock",
    "max_video_clock"))
_SIMPLE = tuple((name, _PLACE[metric], make)
                for name, (metric, make, _) in SINGLE.items()
                if metric in _PLACE and (name, _PLACE[metric], make)
                not in (_CLOCKS[0], *_CLOCKS[3:]))
TOTAL_AT, _RESERVED_AT = (_PLACE[metric] for metric in (
    _core.M_MEM_TOTAL, _core.M_MEM_RESERVED))


def made(value, make):
    """Converts one value in the same way as _core.fill()."""
    if value is None or make is None:
        return NA if value is None else value
    return make.get(value, NA) if isinstance(make, dict) else value // make


def add_method(cls, name, method, doc):
    """Makes a method from a row of a table and adds it to a class."""
    method.__name__, method.__doc__ = name, doc
    method.__qualname__ = f"{cls.__name__}.{name}"
    setattr(cls, name, method)


def percent(used, total):
    """used / total in percent with one decimal; NA if either is missing."""
    if not total or used is NA:
        return NA
    return round(100.0 * used / total, 1)


def power_status(draw, limit):
    """A text such as '31W / 400W'."""
    draw, limit = (NA if value is NA else f"{round(value / 1000)}W"
                   for value in (draw, limit))
    return f"{draw} / {limit}"


def speed_text(rate):
    """KiB/s as text."""
    return NA if rate == NA else f"{bytes2human(1024 * rate)}/s"


_tuple = tuple.__new__  # skips the checks in the class's own __new__


def fill_snapshot(items, values):
    """Adds to items the values that are computed from those of
    SNAPSHOT_METRICS."""
    clocks = {}
    _core.fill(items, _SIMPLE, values, NA)
    _core.fill(clocks, _CLOCKS, values, NA)
    used, free, total = (items["memory_used"], items["memory_free"],
                         items["memory_total"])
    items["memory_used_human"] = text = bytes2human(used)
    items["memory_free_human"] = bytes2human(free)
    items["memory_total_human"] = total_text = bytes2human(total)
    items["memory_usage"] = f"{text} / {total_text}"
    items["memory_info"] = _tuple(MemoryInfo, (
        total, free, used, made(values[_RESERVED_AT], None)))
    items["memory_percent"] = percent(used, total)
    items["utilization_rates"] = _tuple(UtilizationRates, (
        items["gpu_utilization"], items["memory_utilization"],
        items["encoder_utilization"], items["decoder_utilization"]))
    clocks = tuple(clocks.values())
    items["clock_infos"] = now = _tuple(ClockInfos, clocks[:4])
    items["max_clock_infos"] = most = _tuple(ClockInfos, clocks[4:])
    items["clock_speed_infos"] = _tuple(ClockSpeedInfos, (now, most))
    items["power_status"] = power_status(items["power_usage"],
                                         items["power_limit"])
    items["current_driver_model"] = NA


def fill_pcie(items, tx, rx):
    """Adds to items the PCIe traffic, given in the core's unit, bytes/s."""
    tx, rx = made(tx, _KILO), made(rx, _KILO)
    items["pcie_throughput"] = ThroughputInfo(tx, rx)
    items["pcie_tx_throughput"], items["pcie_rx_throughput"] = tx, rx
    items["pcie_tx_throughput_human"] = speed_text(tx)
    items["pcie_rx_throughput_human"] = speed_text(rx)


def _number(at):
    return lambda values: values[at]


def _memory_percent(values):
    used, total = values[_PLACE[_core.M_MEM_USED]], values[TOTAL_AT]
    return None if used is None else percent(used, total)


# Name of a method -> function that gets its number from a row of core values.
NUMBERS = {name: _number(at) for name, at, make in _SIMPLE if make is None}
NUMBERS["memory_percent"] = _memory_percent
