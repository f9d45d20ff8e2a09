# SPDX-License-Identifier: Apache-2.0
"""Finds devices by UUID, by bus id, and by CUDA_VISIBLE_DEVICES. As in the
core, a pair is (GPU, MIG device); a whole GPU has -1 as MIG device.
"""

import os

from gpukit import _core
from gpukit._errors import NVMLError



class ValueOmitted:
    """A default for arguments for which None has another meaning."""

    def __repr__(self):
        return "<VALUE OMITTED>"


_OMITTED = ValueOmitted()
_HEX = frozenset("0123456789abcdefABCDEF")
_SHAPE = [8, 4, 4, 4, 12]


def _is_uuid(text):
    """Whether a text is a full UUID: GPU-..., MIG-... or MIG-GPU-.../GI/CI."""
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
    return (isinstance(uuid, str) and uuid.startswith("MIG-")
            and _is_uuid(uuid))


# The codes InvalidArgument, NotSupported and NotFound mean that there is no
# such MIG device.
_NO_MIG = (2, 3, 6)
_INDEX_END = 1 << 31


def _check_index(*numbers):
    """Raises NVMLError_InvalidArgument for indices that NVML also rejects."""
    if not all(0 <= number < _INDEX_END for number in numbers):
        raise NVMLError(2)


class _LostFacts:
    """Replaces the facts of a device that the core cannot identify because it
    is lost, forbidden or does not answer."""

    name = uuid = bus_id = serial = vbios = None
    minor = compute_major = compute_minor = None
    gpu_instance = compute_instance = None

    def __init__(self, pair, error):
        self.index, self.mig_index = pair
        self.nvml_error = error


def _identify(pair):
    """The core's facts about a device, even if the device cannot be used.
    Raises NVMLError if there is no such device."""
    try:
        return _core.identify(*pair)
    except NVMLError as error:
        if pair[0] >= _core.count() or (
                pair[1] >= 0 and error.value in _NO_MIG):
            raise
        return _LostFacts(pair, error.value)


def _identify_all():
    """The facts about all GPUs. Waits for all GPUs that do not answer at the
    same time. Later calls do not wait for them again."""
    return [_LostFacts((index, -1), told) if isinstance(told, int) else told
            for index, told in enumerate(_core.identify_all())]


def _pair(index):
    """Converts an index to a pair (GPU, MIG device), with -1 for a whole
    GPU."""
    return index if isinstance(index, tuple) else (index, -1)


def _index(pair):
    return pair[0] if pair[1] < 0 else tuple(pair)


def _mig_slots(gpu):
    """How many MIG devices a GPU can have; 0 if it cannot be used."""
    try:
        return _core.mig_slots(gpu)
    except NVMLError:
        return 0


def _mig_pairs(gpu):
    """The MIG devices of a GPU. Skips empty slots; a lost GPU has none."""
    found = []
    for slot in range(_mig_slots(gpu)):
        try:
            _core.identify(gpu, slot)
        except NVMLError:
            continue
        found.append((gpu, slot))
    return found


def _find(uuid=None, bus_id=None):
    """The pair of the device with this UUID or bus id. If there is none,
    raises NVMLError_NotFound or, if a GPU is lost, that GPU's error, because
    the lost GPU may be the wanted one."""
    lost = None
    wanted = [uuid, bus_id]
    wanted = [w.decode() if isinstance(w, bytes) else w for w in wanted]
    for gpu, whole in enumerate(_identify_all()):
        pairs = [(gpu, -1)]
        if str(wanted[0]).startswith("MIG-"):
            pairs += _mig_pairs(gpu)
        for pair in pairs:
            facts = whole if pair[1] < 0 else _identify(pair)
            lost = lost or facts.nvml_error
            if (wanted[0] and wanted[0] == facts.uuid) or (
                    wanted[1] and _same_bus(wanted[1], facts.bus_id)):
                return pair
    raise NVMLError(lost or 6)


def _same_bus(one, other):
    """Whether two bus ids are the same, such as 0000:07:00.0 and
    00000000:07:00.0."""
    return other and (one.lower().lstrip("0") == other.lower().lstrip("0"))


def _visible(value):
    value = os.environ.get("CUDA_VISIBLE_DEVICES") if value is _OMITTED \
        else value
    return _core.cuda_visible(value, os.environ.get("CUDA_DEVICE_ORDER"))[0]


def parse_cuda_visible_devices(cuda_visible_devices=_OMITTED):
    """Returns the devices that CUDA sees with this value of
    CUDA_VISIBLE_DEVICES (default: the current one; None: unset), as NVML
    indices, or (GPU, MIG device) pairs for MIG devices. As in CUDA, an invalid
    entry ends the list."""
    try:
        return [_index(pair) for pair in _visible(cuda_visible_devices)]
    except NVMLError:
        return []


def normalize_cuda_visible_devices(cuda_visible_devices=_OMITTED):
    """Returns the UUIDs of the same devices, separated by commas; "" if there
    are none."""
    try:
        uuids = [_identify(pair).uuid for pair in
                 _visible(cuda_visible_devices)]
    except NVMLError:
        return ""
    return ",".join(filter(None, uuids))
