# SPDX-License-Identifier: Apache-2.0
"""Whole GPUs, and MIG devices."""

from gpukit._device_base import Device
from gpukit._device_find import _identify_all, _mig_pairs, _mig_slots
from gpukit._errors import NVMLError
from gpukit.na import NA


class PhysicalDevice(Device):
    """A whole GPU."""

    def max_mig_device_count(self):
        """How many MIG devices the GPU can have; 0 without MIG support."""
        return _mig_slots(self._at[0])

    def mig_device(self, mig_index):
        """A MIG device by its number. Raises NVMLError if it does not
        exist."""
        return MigDevice((self._at[0], mig_index))

    def mig_devices(self):
        """The MIG devices of the GPU, without empty slots."""
        if not self.is_mig_mode_enabled():
            return []
        return [MigDevice(pair) for pair in _mig_pairs(self._at[0])]


def _all_mig_pairs():
    return [pair for gpu in range(len(_identify_all()))
            for pair in _mig_pairs(gpu)]


class MigDevice(Device):
    """A MIG device, given by the pair (GPU, MIG device)."""

    SNAPSHOT_KEYS = [*Device.SNAPSHOT_KEYS, "gpu_instance_id",
                     "compute_instance_id"]
    _parent = None

    def __new__(cls, index=None, *, uuid=None):
        return super().__new__(cls, index, uuid=uuid)

    def __init__(self, index=None, *, uuid=None):
        """Does nothing: __new__ has initialized the object."""

    @classmethod
    def count(cls):
        """The number of MIG devices on all GPUs."""
        return len(_all_mig_pairs())

    @classmethod
    def all(cls):
        """The MIG devices on all GPUs; none without a driver."""
        try:
            return [cls(pair) for pair in _all_mig_pairs()]
        except NVMLError:
            return []

    @classmethod
    def from_indices(cls, indices):
        """MIG devices by pairs (GPU, MIG device)."""
        return [cls(index) for index in indices]

    @property
    def mig_index(self):
        """The number of the MIG device within its GPU."""
        return self._at[1]

    @property
    def parent(self):
        """The GPU to which the MIG device belongs."""
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
