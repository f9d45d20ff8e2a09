"""What a device is: name, brand, size, addresses."""

from nvml_client import INT, UINT, Refused, Text
from truth import Constant, of_device


def if_any(key):
    """The value of the key, or not supported where it is none."""
    def expect(profile):
        return Refused("NOT_SUPPORTED") if profile[key] == "none" \
            else profile[key]
    return expect


ROWS = [
    Constant("nvmlDeviceGetName", of_device(Text()), "name"),
    Constant("nvmlDeviceGetVbiosVersion", of_device(Text(32)), "vbios"),
    Constant("nvmlDeviceGetMemoryBusWidth", of_device(UINT),
             "memory_bus_bits"),
    Constant("nvmlDeviceGetNumGpuCores", of_device(UINT), "cuda_cores"),
    Constant("nvmlDeviceGetCudaComputeCapability", of_device(INT, INT),
             expect=lambda p: (p["compute_major"], p["compute_minor"])),
    Constant("nvmlDeviceGetBoardPartNumber", of_device(Text(80)),
             expect=if_any("board_part_number")),
    Constant("nvmlDeviceGetInforomImageVersion", of_device(Text(16)),
             expect=if_any("inforom_image")),
]
