# SPDX-License-Identifier: Apache-2.0
"""The structs that NVML's functions fill, from the header of the ABI: their
fields and the values in them."""

import ctypes
import functools
import os
import re
import struct
import sys
import tempfile

import abi_tables
from conftest import ROOT
from nvml_client import Refused

ABI = os.path.join(ROOT, "src", "abi", "nvml")
sys.path.append(os.path.join(ROOT, "tests", "abi"))

# pylint: disable=wrong-import-position
import nvml_facts  # noqa: E402

# Fields that are not results: versions and reserve.
NO_ANSWER = re.compile(r"version$|reserved|padding|unused")
# Fields by which the caller asks, by struct: they must come back unchanged.
ASKED = {
    "nvmlClockOffset_v1_t": ("type", "pstate"),
    "nvmlCoolerInfo_v1_t": ("index",),
    "nvmlFanSpeedInfo_v1_t": ("fan",),
    "nvmlFieldValue_t": ("fieldId", "scopeId"),
    "nvmlTemperature_v1_t": ("sensorType",),
    "nvmlAccountingStats_v2_t": ("pid",),
    "nvmlProcessDetailList_v1_t": ("mode",),
    "nvmlProcessesUtilizationInfo_v1_t": ("lastSeenTimeStamp",),
    "nvmlSystemEventSetWaitRequest_v1_t": ("timeoutms", "set", "dataSize"),
    "nvmlDevicePowerMizerModes_v1_t": ("mode",),
    "nvmlGpmMetricsGet_t": ("numMetrics", "sample1", "sample2",
                            "metrics[].metricId"),
}
# Fields that one of several functions that fill the struct leaves out.
LEFT = {
    "nvmlComputeInstanceGetInfo": ("placement.start", "placement.size"),
    "nvmlDeviceClearFieldValues": ("valueType", "value"),
    "nvmlDeviceGetAttributes": ("gpuInstanceSliceCount",
                                "computeInstanceSliceCount", "memorySizeMB"),
    "nvmlEventSetWait": ("gpuInstanceId", "computeInstanceId"),
}
# The struct that callers of older functions have, whatever nvml.def says.
OLDER = {
    "nvmlDeviceGetNvLinkRemotePciInfo": "nvmlPciInfo_v2_t",
    "nvmlDeviceGetPciInfo": "nvmlPciInfo_v2_t",
    "nvmlDeviceGetPciInfo_v2": "nvmlPciInfo_v2_t",
}
# Fields with such a name that are results.
ANSWER = {"nvmlMemory_v2_t.reserved"}
# Structs that a function reads and leaves unchanged.
READ = {
    "nvmlDeviceDiscoverGpus": "where to look",
    "nvmlDeviceGetHandleByUUIDV": "the UUID asked for",
    "nvmlDeviceModifyDrainState": "the address",
    "nvmlDevicePowerSmoothingActivatePresetProfile": "a setting",
    "nvmlDevicePowerSmoothingSetState": "a setting",
    "nvmlDevicePowerSmoothingUpdatePresetProfileParam": "a setting",
    "nvmlDeviceQueryDrainState": "the address",
    "nvmlDeviceRemoveGpu": "the address",
    "nvmlDeviceRemoveGpu_v2": "the address",
    "nvmlDeviceSetClockOffsets": "a setting",
    "nvmlDeviceSetDramEncryptionMode": "a setting",
    "nvmlDeviceSetHostname_v1": "a setting",
    "nvmlDeviceSetNvLinkDeviceLowPowerThreshold": "a setting",
    "nvmlDeviceSetNvLinkUtilizationControl": "a setting",
    "nvmlDeviceSetNvlinkBwMode": "a setting",
    "nvmlDeviceSetPowerManagementLimit_v2": "a setting",
    "nvmlDeviceSetPowerMizerMode_v1": "a setting",
    "nvmlDeviceWorkloadPowerProfileClearRequestedProfiles": "a setting",
    "nvmlDeviceWorkloadPowerProfileSetRequestedProfiles": "a setting",
    "nvmlDeviceWorkloadPowerProfileUpdateProfiles_v1": "a setting",
    "nvmlSystemEventSetFree": "the set",
    "nvmlSystemRegisterEvents": "what is asked for",
    "nvmlSystemSetConfComputeKeyRotationThresholdInfo": "a setting",
}
# Members that point to the caller's room, and the member that counts what was
# filled.
ROOMS = {"procUtilArray": "processSamplesCount",
         "procArray": "numProcArrayEntries", "entries": "entryCount",
         "data": "numEvent"}
# Arrays within the struct, and the member that counts what was filled.
SO_MANY = {"sensor": "count", "clkMonList": "clkMonListSize",
           "metrics": "numMetrics", "firmwareVersion": "numValidEntries"}
# Arrays whose elements have different meanings.
UNLIKE = {"utilization": ("GPU", "FB", "VID", "BUS")}
SIGNED = {"int", "long long", "short", "long"}


@functools.cache
def header():
    return nvml_facts.Header(os.path.join(ABI, "nvml_abi.h"))


@functools.cache
def facts():
    with tempfile.TemporaryDirectory() as directory:
        return header().facts(directory)


def layout(name):
    """(offset or alignment, size) of STRUCT.MEMBER, or the size of STRUCT."""
    numbers = re.findall(r"(offset|size) (\d+)", facts()["layout " + name])
    return {what: int(number) for what, number in numbers}


def size_of(kind):
    return layout(kind)["size"]


def named(kind):
    """The struct that a name stands for."""
    while kind not in header().aggregates and "typedef " + kind in facts():
        kind = facts()["typedef " + kind]
    return kind


# ---- which structs a function fills ----


@functools.cache
def parameters():
    """{function: [(parameter, type)]} from src/abi/nvml/nvml.def."""
    return {row.symbol: [nvml_facts.declarator(part)[::-1] for part in
                         nvml_facts.split_top(row.params[1:-1], ",")
                         if part != "void"]
            for row in abi_tables.nvml_rows()}


def filled_by(function):
    """[(parameter, struct)] that the function fills."""
    if function in READ:
        return []
    found = []
    for name, kind in parameters().get(function, []):
        kind, star, _ = kind.partition(" *")
        if star and named(kind) in header().aggregates:
            found.append((name, OLDER.get(function, named(kind))))
    return found


def fields_of(function):
    """{field: the struct that contains it}; PARAMETER.FIELD if there are two
    structs."""
    several = len(filled_by(function)) > 1
    return {(f"{name}." if several else "") + field: kind
            for name, kind in filled_by(function)
            for field in readers(kind) if field not in (
                *ASKED.get(kind, ()), *LEFT.get(function, ()))}


# ---- what is in them ----


def extent(kind):
    """('char', 16) for "char [16]"; 0: not an array."""
    base, bracket, count = kind.rstrip("]").partition("[")
    if not bracket:
        return kind, 0
    if not count.isdigit():
        count = re.search(r"-?\d+", facts()["constant " + count])[0]
    return base.strip(), int(count)


def number(at, size, base):
    raw = ctypes.string_at(at, size)
    if base == "double":
        return struct.unpack("d", raw)[0]
    return int.from_bytes(raw, "little", signed=base in SIGNED)


def text_at(address):
    return ctypes.string_at(address).decode() if address else None


def scalar(offset, size, kind):
    """A reader of a number, a text or an array of numbers."""
    base, count = extent(kind)
    if base == "char *":
        return lambda at: text_at(number(at + offset, 8, ""))
    if base == "char":
        return lambda at: text_at(at + offset)
    if not count:
        return lambda at: number(at + offset, size, base)
    step = size // count
    return lambda at: tuple(number(at + offset + i * step, step, base)
                            for i in range(count))


def moved(reader, offset):
    return lambda at: reader(at + offset)


def repeated(reader, offset, count, step):
    """A reader of as many elements as count() says."""
    return lambda at: tuple(reader(at + offset + i * step)
                            for i in range(count(at)))


def in_room(reader, offset, count, step):
    """A reader of as many elements as count() says, where the pointer leads."""
    def read(at):
        room = number(at + offset, 8, "")
        return tuple(reader(room + i * step) for i in range(count(at)))
    return read


def parts_of(kind, member, base):
    """The readers of a member that is a struct, relative to it, and its size;
    None: it is not a struct."""
    inside = {path: of for path, of in header().aggregates[kind]
              if re.match(rf"{member}(\[0\])?\.", path)}
    if inside:
        start = min(layout(f"{kind}.{path}")["offset"] for path in inside)
        return {path.split(".", 1)[1]: scalar(
            layout(f"{kind}.{path}")["offset"] - start,
            layout(f"{kind}.{path}")["size"], of)
            for path, of in inside.items()}, 0
    if "struct " + base in facts() and base in header().aggregates:
        return readers(base), size_of(base)
    return None


def count_in(kind, member):
    """The reader of the member that counts the elements."""
    return readers(kind, {member})[member]


def of_member(kind, member, of):
    """{path: reader} of a member of a struct."""
    place = layout(f"{kind}.{member}")
    offset, size = place["offset"], place["size"]
    base, count = extent(of)
    base = named(base)
    if member in ROOMS:
        base = named(base.removesuffix(" *"))
        told = count_in(kind, ROOMS[member])
        return {f"{member}[].{path}": in_room(read, offset, told,
                                              size_of(base))
                for path, read in readers(base).items()}
    parts = parts_of(kind, member, base)
    if not parts:
        return {member: scalar(offset, size, of if count else base)}
    inner, step = parts[0], size // count if count else 0
    if member in UNLIKE:
        return {f"{member}[{name}].{path}": moved(read, offset + i * step)
                for i, name in enumerate(UNLIKE[member])
                for path, read in inner.items()}
    if not count:
        return {f"{member}.{path}": moved(read, offset)
                for path, read in inner.items()}
    so_many = count_in(kind, SO_MANY[member]) if member in SO_MANY \
        else lambda _: count
    return {f"{member}[].{path}": repeated(read, offset, so_many, step)
            for path, read in inner.items()}


def is_no_answer(kind, member):
    return NO_ANSWER.search(member) and f"{kind}.{member}" not in ANSWER


def readers(kind, only=None):
    """{field: its reader, which takes the address of the struct}."""
    found = {}
    for member, of in header().aggregates[kind]:
        if only and member not in only or "." in member or \
                is_no_answer(kind, member):
            continue
        found |= of_member(kind, member, of)
    return found


class Record:
    """Room for structs of a kind; the first has its version and these values:
    {member: number, or bytes}."""

    def __init__(self, kind, values=None, count=1):
        self.kind, self.values = kind, dict(values or {})
        self.size = size_of(kind)
        self.room = (ctypes.c_ubyte * (self.size * max(count, 1)))()
        number_of = re.search(r"_v(\d+)_t$", kind)
        if number_of and f"layout {kind}.version" in facts():
            self.values.setdefault("version",
                                   self.size | int(number_of[1]) << 24)
        for member, value in self.values.items():
            self.put(member, value)

    def put(self, member, value, at=0):
        place = layout(f"{self.kind}.{member}")
        if isinstance(value, int):
            value = value.to_bytes(place["size"], "little")
        assert len(value) <= place["size"]
        ctypes.memmove(self.address + at * self.size + place["offset"], value,
                       len(value))

    @property
    def address(self):
        return ctypes.addressof(self.room)

    def told(self, at=0):
        """{field: value} of one of them; the fields that ask must be unchanged.
        """
        address = self.address + at * self.size
        told = {name: read(address)
                for name, read in readers(self.kind).items()}
        for name in ASKED.get(self.kind, ()):
            was = told.pop(name)
            assert at or isinstance(self.values.get(name, was), bytes) or \
                was == self.values.get(name, was), f"{name} was changed"
        return told


# ---- how to ask ----


def handed(client, args):
    """Arguments as ctypes takes them; a callable is called with the client."""
    return [arg(client) if callable(arg) else arg for arg in args]


def filled(*args, gpu=True, tail=(), **values):
    """Calls function([device,] ARG..., &struct..., TAIL...): {field: value}.
    The structs have these values; a callable value is called with the client.
    """
    def ask(client):
        kinds = filled_by(client.function)
        put = {name: value(client) if callable(value) else value
               for name, value in values.items()}
        records = [Record(kind, put) for _, kind in kinds]
        code = client.raw(
            client.function, *([client.device] if gpu else []),
            *handed(client, args),
            *(ctypes.c_void_p(record.address) for record in records), *tail)
        if code:
            raise Refused(code)
        if len(records) == 1:
            return records[0].told()
        return {f"{name}.{field}": value
                for (name, _), record in zip(kinds, records)
                for field, value in record.told().items()}
    return ask


def listed(*args, gpu=True, at=0, room=32, first_count=True, tail=()):
    """Calls function([device,] ARG..., &count, structs), or with the count
    last, for the element at a position of the list (-1: the last one);
    NOT_FOUND if the list is shorter."""
    def ask(client):
        record = Record(filled_by(client.function)[0][1], count=room)
        count = ctypes.c_uint(room)
        pair = [ctypes.byref(count), ctypes.c_void_p(record.address)]
        code = client.raw(
            client.function, *([client.device] if gpu else []),
            *handed(client, args), *(pair if first_count else pair[::-1]),
            *tail)
        last = count.value - 1 if at < 0 else at
        if code or not 0 <= last < count.value:
            raise Refused(code or "NOT_FOUND")
        return record.told(last)
    return ask
