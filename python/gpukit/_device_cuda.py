# SPDX-License-Identifier: Apache-2.0
"""Devices as CUDA numbers them."""

from gpukit._device_base import Device
from gpukit._device_find import _find, _index, parse_cuda_visible_devices
from gpukit._device_kinds import MigDevice


class CudaDevice(Device):
    """A device by its CUDA ordinal: CudaDevice(0), CudaDevice(nvml_index=...)
    or CudaDevice(uuid=...).

    Raises RuntimeError if CUDA does not see it.
    """

    def __new__(cls, cuda_index=None, *, nvml_index=None, uuid=None):
        if nvml_index is not None and uuid is not None or (
                cuda_index is None and nvml_index is None and uuid is None):
            raise TypeError("give a cuda_index, or one of "
                            "nvml_index and uuid")
        if uuid is not None:
            nvml_index = _index(_find(uuid))
        visible = parse_cuda_visible_devices()
        if cuda_index is not None:
            self = cls._of_visible(cuda_index, visible)
            found = self._nvml_index
            if nvml_index is not None and cls._checked(nvml_index) != found:
                raise RuntimeError(
                    f"CUDA device {cuda_index} is {found!r}, not "
                    f"{nvml_index!r}")
            return self
        self = cls._make(cls._checked(nvml_index))
        self.cuda_index  # noqa: B018 - RuntimeError if CUDA lacks it
        return self

    def __init__(self, cuda_index=None, *, nvml_index=None, uuid=None):
        """Does nothing: __new__ has initialized the object."""

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
        """Whether CUDA sees any device."""
        return cls.count() > 0

    @classmethod
    def count(cls):
        """The number of devices that CUDA sees; 0 without a driver."""
        return len(parse_cuda_visible_devices())

    @classmethod
    def all(cls):
        """All devices that CUDA sees, in CUDA's order."""
        return cls.from_indices()

    @classmethod
    def from_indices(cls, indices=None):
        """CUDA devices by ordinal; all if indices is None."""
        visible = parse_cuda_visible_devices()
        if indices is None:
            indices = range(len(visible))
        if isinstance(indices, int):
            indices = (indices,)
        # a subclass with its own __new__
        if cls.__new__ is not CudaDevice.__new__:
            return [cls(index) for index in indices]
        return [cls._of_visible(index, visible) for index in indices]

    @classmethod
    def _of_visible(cls, cuda_index, visible):
        if not 0 <= cuda_index < len(visible):
            raise RuntimeError("CUDA Error: invalid device ordinal: "
                               f"{cuda_index!r}.")
        self = cls._make(visible[cuda_index])
        self._cuda_index = cuda_index
        return self

    def _add_own(self, items):
        items["cuda_index"] = self.cuda_index
        super()._add_own(items)


class CudaMigDevice(CudaDevice, MigDevice):
    """A MIG device by its CUDA ordinal."""
