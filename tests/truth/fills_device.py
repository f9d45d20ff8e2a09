# SPDX-License-Identifier: Apache-2.0
"""Fields of the structs about what a device is, where it is, and its links."""

from follows import Constant, Fills, Move, gpu
from rows_identity import set_hostname
from rows_nvlink import set_mode
from structs import Record, filled
from truth import Another, Ctl, Does, front_of

TWO, B200 = ("--gpus", "t4:2"), ("--gpus", "b200")
H100 = ("--gpus", "h100-80gb-hbm3:2")
MESH = ("--gpus", "v100-sxm2-32gb:8")
PACKETS, SOME = 1, 0x0f
PAIRS = Another(*H100, "--topology", "nvl")


FIRST_OF_BUS = Constant("a GPU is device 0 of its bus; only a recording that "
                        "is replayed names another")
ONE_FABRIC = Constant("0 where the fabric ends with the machine; not "
                      "modelled: one of several machines")
NO_RACK = Constant("not modelled: a chassis of several machines")
NO_FIRMWARE = Constant("no version of a link's firmware is known: no entry")
ALL_MODES = Constant("all five, on every board that tells any")


SHORT = ("0000:07:00.0", "0000:0F:00.0")
LONG = ("00000000:07:00.0", "00000000:0F:00.0")
ONE_OF_MANY = [Another("--gpus", "t4:31"), gpu(30)]


def pci(version, classes=None, constant=None, **texts):
    """The fields of a GPU's own PCI address."""
    return Fills(
        f"nvmlDeviceGetPciInfo{version}", filled(),
        Move("another GPU", gpu(1), {"bus": (7, 15)} | texts),
        Move("one of more than 30 GPUs", ONE_OF_MANY, {"domain": (0, 1)}),
        Move("another board", Another("--gpus", "rtx-4090"), {
            "pciDeviceId": (0x1eb810de, 0x268410de)} | (classes or {}),
            differ="pciSubSystemId"),
        machine=TWO, constant={"device": FIRST_OF_BUS} | (constant or {}))


def remote(version, *differ):
    """The PCI address at the other end of a link: of a switch or a GPU."""
    return Fills(
        f"nvmlDeviceGetNvLinkRemotePciInfo{version}", filled(0),
        Move("a GPU in place of a switch", PAIRS, {
            "bus": (3, 15), "pciSubSystemId": (0, 0x16c110de)},
            differ=" ".join((*differ, "pciDeviceId"))),
        Move("one of more than 30 GPUs", [
            Another("--gpus", "h100-80gb-hbm3:32", "--topology", "nvl"),
            gpu(30)], {"domain": (0, 1)}),
        machine=H100, constant={"device": FIRST_OF_BUS})


def fabric(version, *moves, constant=()):
    return Fills(
        f"nvmlDeviceGetGpuFabricInfo{version}", filled(),
        Move("the fabric is set up anew", Ctl("set", 0, "fabric-state=2"),
             {"state": (3, 2)}), *moves,
        machine=("--gpus", "b200:2"), constant={
            "clusterUuid": ONE_FABRIC, "cliqueId": ONE_FABRIC,
            "status": Constant("not modelled: a fabric that fails"),
            **dict(constant)})


def set_packets(c):
    record = Record("nvmlNvLinkUtilizationControl_t",
                    {"units": PACKETS, "pktfilter": SOME})
    assert c.lib.nvmlDeviceSetNvLinkUtilizationControl(
        c.device, 1, 0, record.room, 0) == 0


FILLS = [
    pci("", busId=SHORT),
    pci("_v2", busId=SHORT),
    pci("_v3", busId=LONG, busIdLegacy=SHORT),
    pci("Ext", {"subClass": (2, 0)}, {"baseClass": Constant(
        "every GPU is a display controller")}, busId=LONG),
    Fills("nvmlGetExcludedDeviceInfoByIndex", filled(0, gpu=False),
          Move("another GPU is excluded", [
              Ctl("set", 0, "excluded=0"), Ctl("set", 1, "excluded=1")], {
                  "pciInfo.bus": (7, 15), "pciInfo.busId": LONG,
                  "pciInfo.busIdLegacy": SHORT},
               differ="uuid"),
          Move("another board is", [Another("--gpus", "rtx-4090"),
                                    Ctl("set", 0, "excluded=1")], {
              "pciInfo.pciDeviceId": (0x1eb810de, 0x268410de)},
               differ="pciInfo.pciSubSystemId"),
          Move("one of more than 30 GPUs is", [
              Another("--gpus", "t4:31"), Ctl("set", 30, "excluded=1")], {
                  "pciInfo.domain": (0, 1)}),
          machine=TWO, given=[Ctl("set", 0, "excluded=1")],
          constant={"pciInfo.device": FIRST_OF_BUS}),
    Fills("nvmlDeviceGetPdi", filled(),
          Move("another GPU", gpu(1), differ="value"), machine=TWO),
    Fills("nvmlDeviceGetPlatformInfo", filled(),
          Move("a board with a switch", Another(*B200), {"peerType": (0, 1)},
               differ="ibGuid"),
          Move("another module", [Another(*H100), gpu(1)], {
              "moduleId": (1, 2)}),
          machine=TWO, constant={
              **dict.fromkeys(("chassisSerialNumber", "slotNumber",
                               "trayIndex"), NO_RACK),
              "hostId": Constant("1, of the only host there is")}),
    Fills("nvmlDeviceGetHostname_v1", filled(),
          Move("it is set", Does(lambda c: c.being("root", set_hostname, c)),
               {"value": ("", "node-7.example")}), machine=B200),
    Fills("nvmlDeviceGetAddressingMode", filled(),
          Move("it is set", Ctl("set", 0, "addressing-mode=1"),
               {"value": (0, 1)})),
    Fills("nvmlDeviceGetC2cModeInfoV", filled(),
          Move("another board", Another(*B200)), machine=H100,
          constant={"isC2cEnabled": Constant(
              "no board is beside a CPU of NVIDIA's; not modelled: C2C")}),
    Fills("nvmlDeviceGetCapabilities", filled(),
          Move("another board", Another(*B200)),
          constant={"capMask": Constant(
              "no board lends its memory to other nodes (EGM)")}),
    Fills("nvmlSystemGetDriverBranch", filled(gpu=False, tail=(80,)),
          Move("another driver", Another(
              "--gpus", "t4", "--driver", "590", front=front_of("590")),
               {"branch": ("r580_00", "r590_00")})),
    # links
    remote("", "busId"),
    remote("_v2", "busId", "busIdLegacy"),
    Fills("nvmlDeviceGetNvLinkUtilizationControl", filled(1, 0),
          Move("it is set", Does(set_packets), {
              "units": (2, PACKETS), "pktfilter": (0xff, SOME)}),
          machine=MESH),
    Fills("nvmlDeviceGetNvLinkInfo", filled(),
          Move("confidential computing", Ctl("set", "conf-compute=on"), {
              "isNvleEnabled": (0, 1)}), machine=("--gpus", "b200:2"),
          constant=dict.fromkeys(
              ("firmwareInfo.numValidEntries",
               *(f"firmwareInfo.firmwareVersion[].{part}" for part in
                 ("ucodeType", "major", "minor", "subMinor"))), NO_FIRMWARE)),
    Fills("nvmlDeviceGetNvlinkBwMode", filled(),
          Move("it is set", Does(lambda c: c.being("root", set_mode, c)), {
              "bwMode": (0, 3), "bIsBest": (1, 0)}), machine=B200),
    Fills("nvmlDeviceGetNvlinkSupportedBwModes", filled(),
          Move("a link fails", Ctl("set", 0, "nvlink.5.state=down")),
          machine=("--gpus", "b200:2"),
          constant={"bwModes": ALL_MODES, "totalBwModes": ALL_MODES}),
    fabric(""),
    fabric("V", Move("a link fails", Ctl("set", 0, "nvlink.5.state=down"), {
        "healthSummary": (1, 3)}, differ="healthMask")),
]
