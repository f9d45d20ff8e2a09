"""Devices as CUDA numbers them."""

from gpukit._device_base import Device
from gpukit._device_find import _find, _index, parse_cuda_visible_devices
from gpukit._device_kinds import MigDevice


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

    def __init__(self, cuda_index=None, *, nvml_index=None, uuid=None):
        """Nothing: __new__ has done it."""

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
