# SPDX-License-Identifier: Apache-2.0
"""The identity of a device: handles, name, brand, size, addresses."""

import ctypes
import re

import pynvml

from nvml_client import INT, UINT, Refused, Text
from truth import Another, Changes, Constant, Ctl, if_known, of_device, of_system

DEVICE = pynvml.c_nvmlDevice_t
TWO = ("--gpus", "t4:2")
ONE = Another("--gpus", "t4")
ANOTHER_SEED = Another(*TWO, "--seed", "2")
PCI = pynvml.nvmlPciInfo_t
PCI_V2 = pynvml.nvmlPciInfo_v2_t


def index_by(*key):
    """The index of the handle that function(KEY..., &handle) returns."""
    def ask(c):
        handle = DEVICE()
        code = c.raw(c.function, *key, ctypes.byref(handle))
        if code:
            raise Refused(code)
        return c.call("nvmlDeviceGetIndex", handle, UINT)
    return ask


def index_by_own(name, get):
    """index_by() with a key that GPU 1 of the first machine has."""
    def ask(c):
        if name not in c.keep:
            c.keep[name] = get(c, c.handle(1))
        return index_by(c.keep[name])(c)
    return ask


def own_uuid(c, handle):
    return c.nvml.nvmlDeviceGetUUID(handle).encode()


def own_bus(c, handle):
    return c.nvml.nvmlDeviceGetPciInfo(handle).busId.encode()


def of_all(c):
    """The number that the function returns for each GPU of the machine."""
    return [c.call(c.function, c.handle(gpu), UINT)
            for gpu in range(c.nvml.nvmlDeviceGetCount())]


def uuid_as_shown(c):
    """The UUID, and whether `ctl show` agrees."""
    told = c.call(c.function, c.device, Text())
    return told, told == c.machine.show(0)["gpus"][0]["uuid"]


def is_uuid(told):
    return re.fullmatch(r"GPU(-[0-9a-f]+){5}", told[0]) and told[1]


def is_serial(told):
    return re.fullmatch(r"\d{10,}", told)


def of_name(prefix, key):
    """The number of NVML's constant whose name ends in the key's value."""
    return lambda profile: getattr(pynvml, f"{prefix}_{profile[key]}")


def gsp_version(c):
    """Whether firmware and driver have the same version."""
    return c.call(c.function, c.device, Text(64, bare=True)) == \
        c.nvml.nvmlSystemGetDriverVersion()


def has_gsp(answer):
    return lambda profile: (answer if profile["gsp"] == 1
                            else Refused("NOT_SUPPORTED"))


def pci_ids(told):
    return told["pciDeviceId"], told["pciSubSystemId"]


def profile_ids(profile):
    return profile["pci_device_id"], profile["pci_subsystem_id"]


ROWS = [
    # handles
    Changes("nvmlDeviceGetCount", of_system(UINT), Another(*TWO),
            before=1, after=2),
    Changes("nvmlDeviceGetCount_v2", of_system(UINT), Another(*TWO),
            before=1, after=2),
    Changes("nvmlDeviceGetHandleByIndex", index_by(1), Another(*TWO),
            before=Refused("INVALID_ARGUMENT"), after=1),
    Changes("nvmlDeviceGetHandleByIndex_v2", index_by(1), Another(*TWO),
            before=Refused("INVALID_ARGUMENT"), after=1),
    Changes("nvmlDeviceGetHandleByUUID", index_by_own("uuid", own_uuid),
            ANOTHER_SEED, machine=TWO, before=1, after=Refused("NOT_FOUND")),
    Changes("nvmlDeviceGetHandleByPciBusId", index_by_own("bus", own_bus),
            ONE, machine=TWO, before=1, after=Refused("NOT_FOUND")),
    Changes("nvmlDeviceGetHandleByPciBusId_v2", index_by_own("bus", own_bus),
            ONE, machine=TWO, before=1, after=Refused("NOT_FOUND")),
    Changes("nvmlDeviceGetIndex", of_all, Another("--gpus", "t4:3"),
            before=[0], after=[0, 1, 2]),
    Changes("nvmlDeviceGetMinorNumber", of_all, Another("--gpus", "t4:3"),
            before=[0], after=[0, 1, 2]),
    # what it is
    Changes("nvmlDeviceGetUUID", uuid_as_shown, ANOTHER_SEED,
            before=is_uuid, after=is_uuid),
    Changes("nvmlDeviceGetSerial", of_device(Text(30)), ANOTHER_SEED,
            before=is_serial, after=is_serial),
    Constant("nvmlDeviceGetName", of_device(Text()), "name"),
    Constant("nvmlDeviceGetBrand", of_device(UINT),
             expect=of_name("NVML_BRAND", "brand")),
    Constant("nvmlDeviceGetArchitecture", of_device(UINT),
             expect=of_name("NVML_DEVICE_ARCH", "architecture")),
    Constant("nvmlDeviceGetVbiosVersion", of_device(Text(32)), "vbios"),
    Constant("nvmlDeviceGetBoardPartNumber", of_device(Text(80)),
             expect=if_known("board_part_number")),
    Constant("nvmlDeviceGetInforomImageVersion", of_device(Text(16)),
             expect=if_known("inforom_image"),
             also={"inforom_image": "none"}),
    Constant("nvmlDeviceGetGspFirmwareMode", of_device(UINT, UINT),
             expect=lambda p: if_known("gsp")(p) if p["gsp"] == "none"
             else (p["gsp"], p["gsp"]), also={"gsp": 0}),
    Constant("nvmlDeviceGetGspFirmwareVersion", gsp_version,
             expect=has_gsp(True)),
    # PCI addresses
    Constant("nvmlDeviceGetPciInfo", of_device(PCI_V2, pick=pci_ids),
             expect=profile_ids),
    Constant("nvmlDeviceGetPciInfo_v2", of_device(PCI_V2, pick=pci_ids),
             expect=profile_ids),
    Constant("nvmlDeviceGetPciInfo_v3", of_device(PCI, pick=pci_ids),
             expect=profile_ids),
    # how it is built
    Constant("nvmlDeviceGetMemoryBusWidth", of_device(UINT),
             "memory_bus_bits"),
    Constant("nvmlDeviceGetNumGpuCores", of_device(UINT), "cuda_cores"),
    Constant("nvmlDeviceGetCudaComputeCapability", of_device(INT, INT),
             expect=lambda p: (p["compute_major"], p["compute_minor"])),
    Constant("nvmlDeviceGetNumFans", of_device(UINT),
             expect=lambda p: p["fans"] or Refused("NOT_SUPPORTED")),
    Constant("nvmlDeviceGetDefaultEccMode", of_device(UINT),
             expect=if_known("ecc")),
    # switches
    Changes("nvmlDeviceGetPersistenceMode", of_device(UINT),
            Ctl("set", 0, "persistence=0"), before=1, after=0),
    Changes("nvmlDeviceGetDisplayActive", of_device(UINT),
            Ctl("set", 0, "display-active=1"), before=0, after=1),
    Changes("nvmlDeviceGetDisplayMode", of_device(UINT),
            Ctl("set", 0, "display-attached=0"), before=1, after=0),
    Changes("nvmlDeviceGetComputeMode", of_device(UINT),
            Ctl("set", 0, "compute-mode=3"), before=0, after=3),
]
