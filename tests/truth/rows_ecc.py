"""ECC and the errors it met."""

import pynvml

from nvml_client import UINT, ULL
from truth import Changes, Ctl, of_device

CORRECTED = pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED
UNCORRECTED = pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
VOLATILE = pynvml.NVML_VOLATILE_ECC
DRAM = pynvml.NVML_MEMORY_LOCATION_DRAM

ROWS = [
    Changes("nvmlDeviceGetTotalEccErrors",
            of_device(CORRECTED, VOLATILE, ULL),
            Ctl("set", 0, "ecc-corrected=3"), before=0, after=3),
    Changes("nvmlDeviceGetMemoryErrorCounter",
            of_device(UNCORRECTED, VOLATILE, DRAM, ULL),
            Ctl("set", 0, "ecc-uncorrected=2"), before=0, after=2),
    Changes("nvmlDeviceGetEccMode", of_device(UINT, UINT),
            Ctl("set", 0, "ecc=0"), before=(1, 1),
            after=lambda told: told[1] == 0),
]
