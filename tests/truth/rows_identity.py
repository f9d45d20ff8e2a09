# SPDX-License-Identifier: Apache-2.0
"""Names that distinguish a device, its InfoROM, and whether it is listed."""

import ctypes
import time

import pynvml

from nvml_client import UINT, ULL, Refused, Text, answer, made, structure
from truth import Another, Changes, Constant, Ctl, Does, Sets, of_device, of_system

DEVICE = pynvml.c_nvmlDevice_t
PCI = pynvml.nvmlPciInfo_t
ULONG = ctypes.c_ulong
TWO = ("--gpus", "t4:2")
CARDS = ("--gpus", "rtx-4090:2")
B200 = ("--gpus", "b200")
ANOTHER_SEED = Another(*TWO, "--seed", "2")
PDI = made(pynvml.c_nvmlPdi_t, version=pynvml.nvmlPdi_v1)
BYTE = ctypes.c_ubyte
PLATFORM = structure(("version", UINT), ("ibGuid", BYTE * 16),
                     ("chassis", BYTE * 16), ("slot", BYTE), ("tray", BYTE),
                     ("host", BYTE), ("peerType", BYTE), ("module", BYTE),
                     version=2)
ADDRESSING = made(pynvml.c_nvmlDeviceAddressingMode_t,
                  version=pynvml.nvmlDeviceAddressingMode_v1)
EXT = made(pynvml.nvmlPciInfoExt_v1_t, version=pynvml.nvmlPciInfoExt_v1)
HOSTNAME = structure(("value", ctypes.c_char * 64))
UUID = structure(("version", UINT), ("type", UINT),
                 ("value", ctypes.c_char * 41))
EXCLUDED = structure(("pciInfo", PCI), ("uuid", ctypes.c_char * 80))
OLD = ("--gpus", "a100", "--load", "idle:0", "--warm-up", "30m")
HMM, PASSTHROUGH = 1, 1
OEM, ECC = pynvml.NVML_INFOROM_OEM, pynvml.NVML_INFOROM_ECC


def of_all(c):
    """The function's result for each GPU of the machine."""
    return [c.call(c.function, c.handle(gpu), UINT)
            for gpu in range(c.nvml.nvmlDeviceGetCount())]


def found(c, key):
    """The index of the handle that function(key, &handle) returns."""
    handle = DEVICE()
    code = c.raw(c.function, key, ctypes.byref(handle))
    if code:
        raise Refused(code)
    return c.call("nvmlDeviceGetIndex", handle, UINT)


def by_serial(c):
    if "serial" not in c.keep:
        c.keep["serial"] = c.nvml.nvmlDeviceGetSerial(c.handle(1)).encode()
    return found(c, c.keep["serial"])


def by_uuid(c):
    """The GPU that both forms of a UUID lead to."""
    if "uuid" not in c.keep:
        c.keep["uuid"] = c.nvml.nvmlDeviceGetUUID(c.handle(1))
    text = c.keep["uuid"]
    binary = bytes.fromhex(text.removeprefix("GPU-").replace("-", ""))
    version = ctypes.sizeof(UUID) | 1 << 24
    told = []
    for kind, value in ((1, text.encode()), (2, binary)):
        uuid = UUID(version, kind)
        ctypes.memmove(ctypes.addressof(uuid) + UUID.value.offset, value,
                       len(value))
        told.append(answer(found, c, ctypes.byref(uuid)))
    assert told[0] == told[1], told
    if isinstance(told[0], Refused):
        raise told[0]
    return told[0]


def inforom(c):
    return [answer(c.call, c.function, c.device, kind, Text(16))
            for kind in (OEM, ECC)]


def inforom_of(profile):
    return [Refused("NOT_SUPPORTED") if profile[key] == "none"
            else profile[key] for key in ("inforom_oem", "inforom_ecc")]


def pci_of(profile):
    """Boards for desktops and workstations have VGA output."""
    vga = profile["brand"] in ("GEFORCE", "NVIDIA_RTX", "QUADRO_RTX")
    return (profile["pci_device_id"], profile["pci_subsystem_id"], 3,
            0 if vga else 2)


def pci_ext(told):
    return (told["pciDeviceId"], told["pciSubSystemId"], told["baseClass"],
            told["subClass"])


def set_hostname(c):
    return c.call("nvmlDeviceSetHostname_v1", c.device,
                  ctypes.byref(HOSTNAME(b"node-7.example")))


def hostname(c):
    return c.call("nvmlDeviceGetHostname_v1", c.device, HOSTNAME)["value"]


def is_hex(told):
    return isinstance(told, int) and told > 0


def flushed_lately(told):
    """(when, how long), in microseconds: it happens every ten minutes."""
    when, took = told
    return 0 < time.time() - when / 1e6 < 660 and 0 < took < 1e6


# ---- removed from the driver ----

def count(c):
    return c.call("nvmlDeviceGetCount_v2", UINT)


def pci(c):
    """The address of GPU 1, even after its removal."""
    if "pci" not in c.keep:
        c.keep["pci"] = c.nvml.nvmlDeviceGetPciInfo(c.handle(1))
    return c.keep["pci"]


def counted(c):
    pci(c)
    return count(c)


def drained(c):
    return c.call("nvmlDeviceQueryDrainState", ctypes.byref(pci(c)), UINT)


def removed(c):
    """The count of a machine whose GPU 1 was removed first."""
    if "removed" not in c.keep:
        c.keep["removed"] = c.machine.ctl("set", 1, "removed=1")
    return count(c)


ROWS = [
    Changes("nvmlDeviceGetHandleBySerial", by_serial, ANOTHER_SEED,
            machine=TWO, before=1, after=Refused("NOT_FOUND")),
    Changes("nvmlDeviceGetHandleByUUIDV", by_uuid, ANOTHER_SEED,
            machine=TWO, before=1, after=Refused("NOT_FOUND")),
    Changes("nvmlDeviceGetPdi",
            of_device(PDI, pick=lambda told: told["value"]), ANOTHER_SEED,
            machine=TWO, before=is_hex, after=is_hex),
    Changes("nvmlDeviceGetModuleId", of_all, Another("--gpus", "h100:3"),
            machine=TWO, before=[1, 1], after=[1, 2, 3]),
    Changes("nvmlDeviceGetPlatformInfo",
            of_device(PLATFORM, pick=lambda told: told["peerType"]),
            Another(*B200), machine=TWO, before=0, after=1),
    Sets("nvmlDeviceSetHostname_v1", set_hostname, hostname, machine=B200,
         before="", after="node-7.example"),
    Changes("nvmlDeviceGetHostname_v1", hostname,
            Does(lambda c: c.being("root", set_hostname, c)), machine=B200,
            before="", after="node-7.example"),
    Changes("nvmlDeviceGetAddressingMode",
            of_device(ADDRESSING, pick=lambda told: told["value"]),
            Ctl("set", 0, "addressing-mode=1"), before=0, after=HMM),
    Changes("nvmlDeviceGetVirtualizationMode", of_device(UINT),
            Ctl("set", 0, "virtualization-mode=1"), before=0,
            after=PASSTHROUGH),
    Constant("nvmlDeviceGetC2cModeInfoV", of_device(UINT), "c2c"),
    # PCI
    Constant("nvmlDeviceGetPciInfoExt", of_device(EXT, pick=pci_ext),
             expect=pci_of),
    Changes("nvmlDeviceGetBoardId", of_all, Another("--gpus", "t4:3"),
            machine=TWO, before=[0x700, 0xf00],
            after=[0x700, 0xf00, 0x1700]),
    Changes("nvmlDeviceGetIrqNum", of_all, Another("--gpus", "t4:3"),
            machine=TWO, before=lambda told: len(set(told)) == 2,
            after=lambda told: len(set(told)) == 3),
    # InfoROM
    Constant("nvmlDeviceGetInforomVersion", inforom, expect=inforom_of),
    Changes("nvmlDeviceGetInforomConfigurationChecksum", of_device(UINT),
            Ctl("set", 0, "ecc=0"), before=is_hex, after=is_hex),
    Changes("nvmlDeviceValidateInforom", of_device(),
            Ctl("fail", 0, "inforom"), before=None,
            after=Refused("CORRUPTED_INFOROM")),
    Changes("nvmlDeviceGetLastBBXFlushTime", of_device(ULL, ULONG),
            Ctl("set", 0, "virtualization-mode=1"), machine=OLD,
            before=flushed_lately, after=Refused("NOT_SUPPORTED")),
    Changes("nvmlDeviceGetBBXTimeData_v1", of_device(UINT),
            Ctl("set", 0, "virtualization-mode=1"), machine=OLD,
            driver="610", before=lambda told: 1800 <= told < 1900,
            after=Refused("NOT_SUPPORTED")),
    # removed from the driver, found again, left out
    Sets("nvmlDeviceModifyDrainState",
         lambda c: c.call(c.function, ctypes.byref(pci(c)), 1), drained,
         machine=CARDS, before=0, after=1),
    Changes("nvmlDeviceQueryDrainState", drained, Ctl("set", 1, "drain=1"),
            machine=CARDS, before=0, after=1),
    Sets("nvmlDeviceRemoveGpu",
         lambda c: c.call(c.function, ctypes.byref(pci(c))), counted,
         machine=CARDS, before=2, after=1),
    Sets("nvmlDeviceRemoveGpu_v2",
         lambda c: c.call(c.function, ctypes.byref(pci(c)), 1, 0), counted,
         machine=CARDS, before=2, after=1),
    Sets("nvmlDeviceDiscoverGpus",
         lambda c: c.call(c.function, ctypes.byref(PCI())), removed,
         machine=CARDS, before=1, after=2),
    Changes("nvmlGetExcludedDeviceCount", of_system(UINT),
            Ctl("set", 1, "excluded=1"), machine=TWO, before=0, after=1),
    Changes("nvmlGetExcludedDeviceInfoByIndex",
            of_system(0, EXCLUDED, pick=lambda told: told["pciInfo"]["bus"]),
            Ctl("set", 1, "excluded=1"), machine=TWO,
            before=Refused("INVALID_ARGUMENT"), after=15),
]
