"""Whole GPUs, and MIG devices."""

from gpukit import _core
from gpukit._device_base import Device
from gpukit._device_find import _mig_pairs, _mig_slots
from gpukit._errors import NVMLError
from gpukit.na import NA


class PhysicalDevice(Device):
    """A whole GPU."""

    def max_mig_device_count(self):
        """How many MIG devices the GPU can have; 0 if it has no MIG."""
        return _mig_slots(self._at[0])

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

    def __new__(cls, index=None, *, uuid=None):
        return super().__new__(cls, index, uuid=uuid)

    def __init__(self, index=None, *, uuid=None):
        """Nothing: __new__ has done it."""

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
