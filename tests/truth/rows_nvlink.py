# SPDX-License-Identifier: Apache-2.0
"""NVLinks: state, errors, traffic, the other end, modes."""

import ctypes
import time

import pynvml

from nvml_client import UINT, ULL, Refused, answer, made, structure
from truth import Another, Changes, Constant, Ctl, Does, Sets, of_device

MESH = ("--gpus", "v100-sxm2-32gb:8")
PAIR = ("--gpus", "rtx-3090:2")
HGX = ("--gpus", "h100-80gb-hbm3:2")
B200 = ("--gpus", "b200:2")
PCI = pynvml.nvmlPciInfo_t
PCI_V2 = pynvml.nvmlPciInfo_v2_t
CONTROL = structure(("units", UINT), ("pktfilter", UINT))
BYTES, PACKETS = 2, 1
ALL_PACKETS = 0xff
CRC_DATA = pynvml.NVML_NVLINK_ERROR_DL_CRC_DATA
P2P = pynvml.NVML_NVLINK_CAP_P2P_SUPPORTED
TO_GPU, TO_SWITCH = 0, 2
POWER_THRESHOLD = pynvml.NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD
MODES = made(pynvml.c_nvmlNvlinkSupportedBwModes_v1_t,
             version=pynvml.nvmlNvlinkSupportedBwModes_v1)
GET_MODE = made(pynvml.c_nvmlNvlinkGetBwMode_v1_t,
                version=pynvml.nvmlNvlinkGetBwMode_v1)
SET_MODE = made(pynvml.c_nvmlNvlinkSetBwMode_v1_t,
                version=pynvml.nvmlNvlinkSetBwMode_v1)
HALF = 3


def info():
    """Version 1 of nvmlNvLinkInfo_t."""
    one = structure(("version", UINT), ("isNvleEnabled", UINT))()
    one.version = ctypes.sizeof(one) | 1 << 24
    return one


def links(c):
    """The function's results for each link of the GPU that is asked."""
    told = []
    while True:
        one = answer(c.call, c.function, c.device, len(told), UINT)
        if isinstance(one, Refused):
            return told
        told.append(one)


def once(c, *ctl):
    """Sets the machine this way at the first call."""
    if ctl not in c.keep:
        done = c.machine.ctl(*ctl)
        assert done.returncode == 0, done.stderr
        c.keep[ctl] = True


def crc_errors(c):
    return c.call("nvmlDeviceGetNvLinkErrorCounter", c.device, 2, CRC_DATA,
                  ULL)


def crc_errors_of_5(c):
    once(c, "set", 0, "nvlink.2.crc-data=5")
    return crc_errors(c)


def traffic(c):
    """Bytes (received, sent) of link 1 by its counter 0."""
    return c.call("nvmlDeviceGetNvLinkUtilizationCounter", c.device, 1, 0,
                  ULL, ULL)


def sent_long_ago(c):
    """Whether the counter includes what was sent before the first call."""
    if "sent" not in c.keep:
        c.keep["sent"] = True
        c.machine.ctl("set", 0, "nvlink-tx=6000000", "nvlink-rx=6000000")
        while traffic(c)[1] < 1000000:
            time.sleep(0.05)
        c.machine.ctl("set", 0, "nvlink-tx=0", "nvlink-rx=0")
        time.sleep(0.5)
    return traffic(c)[1] >= 1000000


def runs(c):
    """Whether the counter advances."""
    once(c, "set", 0, "nvlink-tx=6000000", "nvlink-rx=6000000")
    first = traffic(c)
    time.sleep(0.5)
    return traffic(c) != first


def control(c):
    return c.call("nvmlDeviceGetNvLinkUtilizationControl", c.device, 1, 0,
                  CONTROL)


def set_packets(c):
    c.call("nvmlDeviceSetNvLinkUtilizationControl", c.device, 1, 0,
           ctypes.byref(CONTROL(PACKETS, ALL_PACKETS)), 0)


def remote_bus(pci):
    return of_device(0, pci, pick=lambda told: told["bus"])


def version_of(profile):
    if not profile["nvlinks"] or profile["mig"] == 1:
        return Refused("NOT_SUPPORTED")
    if profile["architecture"] == "TURING":
        return 3
    if profile["id"] == "rtx-3090":
        return 5
    return {2: 2, 3: 4, 4: 6, 5: 7}[profile["nvlink_version"]]


def as_root(function, *args):
    """Calls what only root may call."""
    def ask(c):
        told = c.being("root", c.call, function, *args)
        if isinstance(told, Refused):
            raise told
        return told
    return ask


def set_mode(c):
    return c.call("nvmlDeviceSetNvlinkBwMode", c.device,
                  ctypes.byref(SET_MODE(bSetBest=0, bwMode=HALF)))


def set_system_mode(c):
    return c.call("nvmlSystemSetNvlinkBwMode", HALF)


def mode(c):
    return c.call("nvmlDeviceGetNvlinkBwMode", c.device, GET_MODE())["bwMode"]


def modes_of(profile):
    return 5 if profile["nvlink_version"] >= 5 else Refused("NOT_SUPPORTED")


def set_threshold(c):
    return c.call("nvmlDeviceSetNvLinkDeviceLowPowerThreshold", c.device,
                  ctypes.byref(UINT(77)))


def threshold(c):
    field = c.nvml.nvmlDeviceGetFieldValues(c.device, [POWER_THRESHOLD])[0]
    return field.value.uiVal


ROWS = [
    # a link is down when either end is: the other GPU's end is set
    Changes("nvmlDeviceGetNvLinkState", links,
            Ctl("set", 1, "nvlink.2.state=down"), machine=PAIR,
            before=[1, 1, 1, 1], after=[1, 1, 0, 1]),
    Constant("nvmlDeviceGetNvLinkVersion", of_device(0, UINT),
             expect=version_of),
    Changes("nvmlDeviceGetNvLinkCapability", of_device(2, P2P, UINT),
            Ctl("set", 1, "nvlink.2.state=down"), machine=PAIR,
            before=1, after=0),
    Changes("nvmlDeviceGetNvLinkErrorCounter", crc_errors,
            Ctl("set", 0, "nvlink.2.crc-data=7"), before=0, after=7),
    Sets("nvmlDeviceResetNvLinkErrorCounters",
         lambda c: c.call(c.function, c.device, 2), crc_errors_of_5,
         before=5, after=0, root=False),
    # the other end
    Changes("nvmlDeviceGetNvLinkRemoteDeviceType", of_device(0, UINT),
            Another(*HGX, "--topology", "nvl"), machine=HGX,
            before=TO_SWITCH, after=TO_GPU),
    Changes("nvmlDeviceGetNvLinkRemotePciInfo", remote_bus(PCI_V2),
            Another(*HGX, "--topology", "nvl"), machine=HGX,
            before=3, after=15),
    Changes("nvmlDeviceGetNvLinkRemotePciInfo_v2", remote_bus(PCI),
            Another(*HGX, "--topology", "nvl"), machine=HGX,
            before=3, after=15),
    # the counters that a client configures
    Changes("nvmlDeviceGetNvLinkUtilizationCounter", traffic,
            Ctl("set", 0, "nvlink-tx=6000000", "nvlink-rx=6000000"),
            machine=MESH, before=(0, 0),
            after=lambda told: min(told) > 1000000),
    Changes("nvmlDeviceGetNvLinkUtilizationControl", control,
            Does(set_packets), machine=MESH,
            before={"units": BYTES, "pktfilter": ALL_PACKETS},
            after={"units": PACKETS, "pktfilter": ALL_PACKETS}),
    Sets("nvmlDeviceSetNvLinkUtilizationControl", set_packets, control,
         machine=MESH, before={"units": BYTES, "pktfilter": ALL_PACKETS},
         after={"units": PACKETS, "pktfilter": ALL_PACKETS}, root=False),
    Sets("nvmlDeviceResetNvLinkUtilizationCounter",
         lambda c: c.call(c.function, c.device, 1, 0), sent_long_ago,
         machine=MESH, before=True, after=False, root=False),
    Sets("nvmlDeviceFreezeNvLinkUtilizationCounter",
         lambda c: c.call(c.function, c.device, 1, 0, 1), runs,
         machine=MESH, before=True, after=False, root=False),
    # encryption, bandwidth, sleep
    Changes("nvmlDeviceGetNvLinkInfo",
            lambda c: c.call(c.function, c.device, info())["isNvleEnabled"],
            Ctl("set", "conf-compute=on"), machine=B200, before=0, after=1),
    Constant("nvmlDeviceGetNvlinkSupportedBwModes",
             of_device(MODES, pick=lambda told: told["totalBwModes"]),
             expect=modes_of),
    Changes("nvmlDeviceGetNvlinkBwMode", mode,
            Does(lambda c: c.being("root", set_mode, c)), machine=B200,
            before=0, after=HALF),
    Sets("nvmlDeviceSetNvlinkBwMode", set_mode, mode, machine=B200,
         before=0, after=HALF),
    Changes("nvmlSystemGetNvlinkBwMode",
            as_root("nvmlSystemGetNvlinkBwMode", UINT),
            Does(lambda c: c.being("root", set_system_mode, c)), machine=HGX,
            before=0, after=HALF),
    Sets("nvmlSystemSetNvlinkBwMode", set_system_mode,
         as_root("nvmlSystemGetNvlinkBwMode", UINT), machine=HGX,
         before=0, after=HALF),
    Sets("nvmlDeviceSetNvLinkDeviceLowPowerThreshold", set_threshold,
         threshold, machine=HGX, before=lambda told: told != 77, after=77),
]
