# SPDX-License-Identifier: Apache-2.0
"""PCI Express: what the board supports, and the state of the link."""

import pynvml

from nvml_client import UINT
from truth import Changes, Constant, Ctl, of_device


def traffic(c):
    return [c.call(c.function, c.device, counter, UINT)
            for counter in (pynvml.NVML_PCIE_UTIL_TX_BYTES,
                            pynvml.NVML_PCIE_UTIL_RX_BYTES)]


ROWS = [
    Constant("nvmlDeviceGetMaxPcieLinkGeneration", of_device(UINT),
             "pcie_generation"),
    Constant("nvmlDeviceGetGpuMaxPcieLinkGeneration", of_device(UINT),
             "pcie_generation"),
    Constant("nvmlDeviceGetMaxPcieLinkWidth", of_device(UINT), "pcie_width",
             also={"pcie_width": 8}),
    # NVML numbers the speeds like PCIe's generations.
    Constant("nvmlDeviceGetPcieLinkMaxSpeed", of_device(UINT),
             "pcie_generation"),
    Changes("nvmlDeviceGetCurrPcieLinkGeneration", of_device(UINT),
            Ctl("set", 0, "pcie-generation=1"), before=4, after=1),
    Changes("nvmlDeviceGetCurrPcieLinkWidth", of_device(UINT),
            Ctl("set", 0, "pcie-width=8"), before=16, after=8),
    Changes("nvmlDeviceGetPcieSpeed", of_device(UINT),
            Ctl("set", 0, "pcie-generation=1"), before=16000, after=2500),
    Changes("nvmlDeviceGetPcieThroughput", traffic,
            Ctl("set", 0, "pcie-tx=1000", "pcie-rx=2000"),
            before=[350, 350], after=[1000, 2000]),
]
