"""Values by field id, many in one call."""

import ctypes

import pynvml

from nvml_client import Refused
from truth import Changes, Ctl

ASKED = (pynvml.NVML_FI_DEV_MEMORY_TEMP, pynvml.NVML_FI_DEV_ECC_CURRENT,
         pynvml.NVML_FI_DEV_POWER_INSTANT,
         pynvml.NVML_FI_DEV_POWER_REQUESTED_LIMIT)


def fields(c):
    """The number of each id, all of them of the type unsigned int."""
    entries = (pynvml.c_nvmlFieldValue_t * len(ASKED))()
    for entry, field in zip(entries, ASKED):
        entry.fieldId = field
    code = c.raw(c.function, c.device, len(ASKED), ctypes.byref(entries))
    if code:
        raise Refused(code)
    return [Refused(entry.nvmlReturn) if entry.nvmlReturn
            else entry.value.uiVal for entry in entries]


ROWS = [
    Changes("nvmlDeviceGetFieldValues", fields,
            Ctl("set", 0, "memory-temperature=82", "ecc-corrected=4",
                "power=200W", "power-limit=300W"),
            before=[35, 1, 62000, 400000], after=[82, 1, 200000, 300000]),
]
