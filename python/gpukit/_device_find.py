"""Finds devices: by UUID, by bus id, and as CUDA_VISIBLE_DEVICES names them.

A pair is (GPU, MIG device), with -1 for the whole GPU, as the core has it.
"""

import os

from gpukit import _core
from gpukit._errors import NVMLError



class ValueOmitted:
    """Stands for an argument that was not given, where None has a meaning."""

    def __repr__(self):
        return "<VALUE OMITTED>"


_OMITTED = ValueOmitted()
_HEX = frozenset("0123456789abcdefABCDEF")
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
    return (isinstance(uuid, str) and uuid.startswith("MIG-")
            and _is_uuid(uuid))


# GpuIsLost, ResetRequired, Unknown: the GPU is there, and does not answer.
_SILENT = (15, 16, 999)


class _LostFacts:
    """Stands for what the core tells of a device that is lost."""

    name = uuid = bus_id = serial = vbios = None
    minor = compute_major = compute_minor = None
    gpu_instance = compute_instance = None

    def __init__(self, pair, error):
        self.index, self.mig_index = pair
        self.nvml_error = error


def _identify(pair):
    """What the core tells of a device, also of one that is lost. NVMLError if
    there is no such device."""
    try:
        return _core.identify(*pair)
    except NVMLError as error:
        if error.value not in _SILENT:
            raise
        return _LostFacts(pair, error.value)


def _pair(index):
    """(GPU, MIG device or -1) of an index."""
    return index if isinstance(index, tuple) else (index, -1)


def _index(pair):
    return pair[0] if pair[1] < 0 else tuple(pair)


def _mig_slots(gpu):
    """How many MIG devices a GPU can have; none if it is lost."""
    try:
        return _core.mig_slots(gpu)
    except NVMLError as error:
        if error.value not in _SILENT:
            raise
        return 0


def _mig_pairs(gpu):
    """The MIG devices of a GPU; a slot without one is skipped, and so is a GPU
    that is lost."""
    found = []
    for slot in range(_mig_slots(gpu)):
        try:
            _core.identify(gpu, slot)
        except NVMLError:
            continue
        found.append((gpu, slot))
    return found


def _find(uuid=None, bus_id=None):
    """The pair of a UUID or a bus id; NVMLError_NotFound, or that of a lost GPU,
    which may have been the one."""
    lost = None
    wanted = [uuid, bus_id]
    wanted = [w.decode() if isinstance(w, bytes) else w for w in wanted]
    for gpu in range(_core.count()):
        pairs = [(gpu, -1)]
        if str(wanted[0]).startswith("MIG-"):
            pairs += _mig_pairs(gpu)
        for pair in pairs:
            facts = _identify(pair)
            lost = lost or facts.nvml_error
            if (wanted[0] and wanted[0] == facts.uuid) or (
                    wanted[1] and _same_bus(wanted[1], facts.bus_id)):
                return pair
    raise NVMLError(lost or 6)


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
