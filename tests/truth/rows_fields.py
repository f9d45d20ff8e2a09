# SPDX-License-Identifier: Apache-2.0
"""Values by field id, many in one call; and the ids one by one: each is in a
group whose change affects it, or is a fact of the profiles."""

import ctypes


from fields import ALL_LINKS, Core, Group, entries_of, told
from nvml_client import ULL, Refused
from truth import Changes, Ctl, Load, Sets, Waits

ASKED = ("DEV_MEMORY_TEMP", "DEV_ECC_CURRENT", "DEV_POWER_INSTANT",
         "DEV_POWER_REQUESTED_LIMIT")
REPLAYS = "DEV_PCIE_REPLAY_COUNTER"
LINKS = 18  # of an H100
ZERO_TO_ONE = (0, 1)


def fields(client):
    return list(told(client, ASKED).values())


def replays(client):
    """The replays on a machine that had five."""
    if "set" not in client.keep:
        client.keep["set"] = client.machine.ctl("set", 0, "pcie-replay=5")
    return told(client, [REPLAYS])[REPLAYS]


def clear_replays(client):
    entries = entries_of([REPLAYS])
    code = client.raw("nvmlDeviceClearFieldValues", client.device, 1,
                      ctypes.byref(entries))
    if code:
        raise Refused(code)


ROWS = [
    Changes("nvmlDeviceGetFieldValues", fields,
            Ctl("set", 0, "memory-temperature=82", "power=200W",
                "power-limit=300W"),
            before=lambda told: told[1:] == [1, told[2], 400000],
            after=[82, 1, 200000, 300000]),
    Sets("nvmlDeviceClearFieldValues", clear_replays, replays, before=5,
         after=0),
]


# ---- the ids ----

def ecc(change, *names, gpus="h100:2"):
    """Errors in one place: their ids become 3, and so do the totals."""
    return Group(f"ecc {' '.join(map(str, change))} {gpus}",
                 Ctl("ecc", 0, *change, 3),
                 {f"DEV_ECC_{name}": (0, 3) for name in names}, gpus=gpus)


def both(name):
    """The volatile and the aggregate id of an error type and place."""
    kind, place = name.split("_")
    return f"{kind}_VOL_{place}", f"{kind}_AGG_{place}"


def old_ecc(kind, place, name):
    """Errors of boards that distinguish their caches."""
    total = name.split("_", maxsplit=1)[0] + "_TOTAL"
    return ecc((kind, place), *both(name), *both(total),
               gpus="v100-sxm2-32gb")


def link_errors(kind, name):
    """Each link has seven errors more than its number."""
    at = {f"DEV_NVLINK_{name}_ERROR_COUNT_L{link}": (0, 7 + link)
          for link in range(12)}
    changes = [Core("gkf_link_set_error", 0, link, kind, ULL(7 + link))
               for link in range(12)]
    total = sum(7 + link for link in range(12))
    return Group(f"nvlink {name}", changes,
                 at | {f"DEV_NVLINK_{name}_ERROR_COUNT_TOTAL": (0, total)})


PCIE = {"pcie-replay": REPLAYS,
        "pcie-replay-rollovers": "DEV_PCIE_REPLAY_ROLLOVER_COUNTER",
        "pcie-recoveries": "DEV_PCIE_L0_TO_RECOVERY_COUNTER",
        "pcie-naks-received": "DEV_PCIE_COUNT_NAKS_RECEIVED",
        "pcie-receiver-errors": "DEV_PCIE_COUNT_RECEIVER_ERROR",
        "pcie-bad-tlp": "DEV_PCIE_COUNT_BAD_TLP",
        "pcie-naks-sent": "DEV_PCIE_COUNT_NAKS_SENT",
        "pcie-bad-dllp": "DEV_PCIE_COUNT_BAD_DLLP",
        "pcie-non-fatal": "DEV_PCIE_COUNT_NON_FATAL_ERROR",
        "pcie-fatal": "DEV_PCIE_COUNT_FATAL_ERROR",
        "pcie-unsupported-requests": "DEV_PCIE_COUNT_UNSUPPORTED_REQ",
        "pcie-lcrc": "DEV_PCIE_COUNT_LCRC_ERROR",
        "pcie-lane-errors": "DEV_PCIE_COUNT_LANE_ERROR"}
DL = {"REPLAY": 0, "RECOVERY": 1}  # enum gkf_link_error
MOVED = [f"DEV_NVLINK_THROUGHPUT_{kind}_{way}" for kind in ("DATA", "RAW")
         for way in ("TX", "RX")]
COUNTED = [f"DEV_NVLINK_COUNT_{way}_{what}" for way in ("XMIT", "RCV")
           for what in ("BYTES", "PACKETS")]

GROUPS = [
    ecc(("corrected", "dram"), *both("SBE_DEV"), *both("SBE_TOTAL")),
    ecc(("sec-ded", "dram"), *both("DBE_DEV"), *both("DBE_TOTAL")),
    *(old_ecc(kind, place, name) for kind, place, name in (
        ("corrected", "l1", "SBE_L1"), ("sec-ded", "l1", "DBE_L1"),
        ("corrected", "l2", "SBE_L2"), ("sec-ded", "l2", "DBE_L2"),
        ("corrected", "dram", "SBE_DEV"), ("sec-ded", "dram", "DBE_DEV"),
        ("corrected", "register-file", "SBE_REG"),
        ("sec-ded", "register-file", "DBE_REG"), ("sec-ded", "cbu", "DBE_CBU"))),
    Group("ecc mode", Ctl("set", 0, "ecc=0"),
          {"DEV_ECC_PENDING": (1, 0)}),
    Group("ecc mode after a reset", [Ctl("set", 0, "ecc=0"),
                                     Ctl("reset-gpu", 0)],
          {"DEV_ECC_CURRENT": (1, 0)}),
    Group("rows", Ctl("ecc", 0, "sec-ded", "dram", 2),
          {"DEV_REMAPPED_UNC": (0, 2), "DEV_REMAPPED_PENDING": ZERO_TO_ONE,
           "DEV_REMAPPED_ROWS_UNC_INACTIVE": (0, 2)}, gpus="h100:2"),
    Group("rows of corrected errors", Ctl("ecc", 0, "corrected", "dram", 2),
          {"DEV_REMAPPED_COR": (0, 1),
           "DEV_REMAPPED_ROWS_COR_INACTIVE": (0, 1)}),
    Group("rows failed", Ctl("fail", 0, "row-remap-failure"),
          {"DEV_REMAPPED_FAILURE": ZERO_TO_ONE,
           "DEV_DRAIN_AND_RESET_STATUS": ZERO_TO_ONE,
           "DEV_GET_GPU_RECOVERY_ACTION": (0, 4)}),
    Group("reset needed", Ctl("fail", 0, "row-remap-pending"),
          {"DEV_RESET_STATUS": ZERO_TO_ONE,
           "DEV_GET_GPU_RECOVERY_ACTION": (0, 1)}),
    Group("pages", Ctl("ecc", 0, "sec-ded", "dram", 1),
          {"DEV_RETIRED_DBE": (0, 1), "DEV_RETIRED_PENDING": ZERO_TO_ONE,
           "DEV_RETIRED_PENDING_DBE": ZERO_TO_ONE}, gpus="v100-sxm2-32gb"),
    Group("pages of corrected errors", Ctl("ecc", 0, "corrected", "dram", 2),
          {"DEV_RETIRED_SBE": (0, 1),
           "DEV_RETIRED_PENDING_SBE": ZERO_TO_ONE}, gpus="v100-sxm2-32gb"),
    Group("power", Ctl("set", 0, "power=200W", "power-average=190W",
                       "power-limit=300W", "memory-temperature=82"),
          {"DEV_POWER_INSTANT": (lambda was: was < 100000, 200000),
           "DEV_POWER_AVERAGE": (lambda was: was < 100000, 190000),
           "DEV_POWER_CURRENT_LIMIT": (700000, 300000),
           "DEV_POWER_REQUESTED_LIMIT": (700000, 300000),
           "DEV_MEMORY_TEMP": (lambda was: was < 60, 82)}),
    Group("power of a load", Load("train:0,util=100"),
          {("DEV_POWER_AVERAGE", 2): (lambda was: was < 50000,
                                      lambda now: now > 60000)}),
    Group("time", Waits(),
          {}, grows=["DEV_TOTAL_ENERGY_CONSUMPTION", "DEV_ENERGY",
                     "DEV_PERF_POLICY_LOW_UTILIZATION"]),
    Group("power cap", [Ctl("set", 0, "power-limit=200W"),
                        Load("train:0,util=100")], {},
          grows=["DEV_PERF_POLICY_POWER",
                 "DEV_PERF_POLICY_TOTAL_APP_CLOCKS"]),
    Group("too hot", [Ctl("set", 0, "temperature=88"), Load("train:0")], {},
          grows=["DEV_PERF_POLICY_THERMAL",
                 "DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN"]),
    Group("much too hot", [Ctl("set", 0, "temperature=91"),
                           Load("train:0")], {},
          grows=["DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN"]),
    Group("power brake", Ctl("set", 0, "power-brake=1"), {},
          grows=["DEV_PERF_POLICY_BOARD_LIMIT",
                 "DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN"]),
    Group("pcie errors", [Ctl("set", 0, f"{value}={number}")
                          for number, value in enumerate(PCIE, 2)],
          {name: (0, number) for number, name in enumerate(PCIE.values(), 2)}
          | {"DEV_PCIE_COUNT_CORRECTABLE_ERRORS": (0, 3 + 6 + 7 + 9)}),
    Group("traffic", Load("train:0-1,util=100"), {},
          grows=["DEV_PCIE_COUNT_TX_BYTES", "DEV_PCIE_COUNT_RX_BYTES",
                 *MOVED, *((name, ALL_LINKS) for name in MOVED)]),
    Group("traffic of NVLink 5", Load("train:0-1,util=100"), {},
          grows=COUNTED, gpus="b200:2"),
    *(link_errors(kind, name) for kind, name in enumerate(
        ("REPLAY", "RECOVERY", "CRC_FLIT", "CRC_DATA", "ECC_DATA"))),
    Group("nvlink errors of a link and of all",
          [Core("gkf_link_set_error", 0, 3, kind, ULL(10 + kind))
           for kind in range(4)],
          {(f"DEV_NVLINK_ERROR_DL_{name}", scope): (0, 10 + kind)
           for name, kind in DL.items() for scope in (3, ALL_LINKS)}
          | {("DEV_NVLINK_ERROR_DL_CRC", 3): (0, 12 + 13)}),
    Group("nvlink errors of NVLink 5",
          [Core("gkf_link_set_error", 0, 3, kind, ULL(10 + kind))
           for kind in range(4)],
          {("DEV_NVLINK_COUNT_RCV_ERRORS", 3): (0, 13),
           ("DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS", 3): (0, 11)},
          gpus="b200:2"),
    Group("links down", [Core("gkf_link_set_state", 0, link, 0)
                         for link in range(LINKS)],
          {f"DEV_NVLINK_SPEED_MBPS_L{link}": (lambda was: was > 20000, 0)
           for link in range(12)}
          | {"DEV_NVLINK_SPEED_MBPS_COMMON": (lambda was: was > 20000, 0),
             ("DEV_NVLINK_GET_SPEED", 17): (lambda was: was > 20000, 0),
             ("DEV_NVLINK_GET_STATE", 17): (1, 0),
             ("DEV_NVLINK_REMOTE_NVLINK_ID", 17): (
                 lambda was: isinstance(was, int), Refused("NOT_SUPPORTED")),
             "DEV_NVSWITCH_CONNECTED_LINK_COUNT": (LINKS, 0)}),
    Group("counters of links", Load("train:0-1,util=100"), {},
          grows=[f"DEV_NVLINK_BANDWIDTH_C{counter}_{link}"
                 for counter in range(2)
                 for link in ("TOTAL", *(f"L{n}" for n in range(6)))],
          gpus="v100-sxm2-32gb:8"),
    Group("power smoothing",
          [Ctl("set", 0, "power-smoothing=1", "power-smoothing-profile=2"),
           *(Core("gkf_smoothing_set", 0, 3, param, ULL(7000000))
             for param in (1, 2, 3, 4, 7)),
           *(Core("gkf_smoothing_set", 0, 3, param, ULL(7000))
             for param in (0, 5, 6))],
          {"PWR_SMOOTHING_ENABLED": ZERO_TO_ONE,
           "PWR_SMOOTHING_ACTIVE_PRESET_PROFILE": (0, 2)}
          | {(f"PWR_SMOOTHING_PROFILE_{name}", 3): (lambda was: was != now,
                                                     now)
             for name, now in (
                 ("PERCENT_TMP_FLOOR", 7), ("RAMP_UP_RATE", 7000),
                 ("RAMP_DOWN_RATE", 7000), ("RAMP_DOWN_HYST_VAL", 7000),
                 ("SECONDARY_POWER_FLOOR", 7),
                 ("PRIMARY_FLOOR_ACT_WIN_MULT", 7),
                 ("PRIMARY_FLOOR_TAR_WIN_MULT", 7),
                 ("PRIMARY_FLOOR_ACT_OFFSET", 7))}, gpus="b200"),
    Group("links asleep", [Core("gkf_link_set_state", 0, 4, 2),
                           Core("gkf_link_set_threshold", 0, 50)],
          {("DEV_NVLINK_GET_POWER_STATE", 4): ZERO_TO_ONE,
           "DEV_NVLINK_GET_POWER_THRESHOLD": (0xffffffff, 50)}),
]


def from_nvlink(version, number):
    return lambda profile: (number if profile["nvlink_version"] >= version
                            else Refused("NOT_SUPPORTED"))


def present(key):
    return lambda profile: (Refused("NOT_SUPPORTED")
                            if profile[key] in (0, "none")
                            else profile[key])


def tlimit(key):
    """Degrees below the limit; boards since Ada report them, but an RTX 4080
    SUPER does not."""
    def of(profile):
        capability = (profile["compute_major"], profile["compute_minor"])
        if (capability < (8, 9) or profile["pci_device_id"] == 0x270210de
                or "none" in (profile[key],
                              profile["temperature_max_operating_c"])):
            return Refused("NOT_SUPPORTED")
        return (0 if key == "memory_temperature_max_c" else
                profile["temperature_max_operating_c"] - profile[key])
    return of


def link_version(profile):
    """nvmlNvlinkVersion_t; Turing has 2.2, GA102 has 3.1."""
    if not profile["nvlinks"]:
        return Refused("NOT_SUPPORTED")
    minor = profile["compute_minor"]
    return {2: 3 if minor == 5 else 2, 3: 5 if minor == 6 else 4, 4: 6,
            5: 7}[profile["nvlink_version"]]


# {key: its value on the board of a profile}
FACTS = {
    "DEV_NVLINK_LINK_COUNT": present("nvlinks"),
    "DEV_POWER_MIN_LIMIT": present("power_min_mw"),
    "DEV_POWER_MAX_LIMIT": present("power_max_mw"),
    "DEV_POWER_DEFAULT_LIMIT": present("power_limit_mw"),
    "DEV_TEMPERATURE_SHUTDOWN_TLIMIT": tlimit("temperature_shutdown_c"),
    "DEV_TEMPERATURE_SLOWDOWN_TLIMIT": tlimit("temperature_slowdown_c"),
    "DEV_TEMPERATURE_GPU_MAX_TLIMIT": tlimit("temperature_max_operating_c"),
    "DEV_TEMPERATURE_MEM_MAX_TLIMIT": tlimit("memory_temperature_max_c"),
    "DEV_NVLINK_GET_VERSION": link_version,
    "DEV_NVLINK_GET_POWER_THRESHOLD_MIN": from_nvlink(4, 1),
    "DEV_NVLINK_GET_POWER_THRESHOLD_MAX": from_nvlink(4, 0x1fff),
    "DEV_NVLINK_GET_POWER_THRESHOLD_UNITS": from_nvlink(4, 0),
    "DEV_NVLINK_GET_POWER_THRESHOLD_SUPPORTED":
        lambda profile: int(profile["nvlink_version"] >= 4),
    "PWR_SMOOTHING_MAX_NUM_PRESET_PROFILES":
        lambda profile: (5 if profile["compute_major"] == 10
                         else Refused("NOT_SUPPORTED")),
    "DEV_IS_RESETLESS_MIG_SUPPORTED":
        lambda profile: int(profile["compute_major"] >= 9),
}

# Answered, but nothing on a fake machine affects them.
UNMOVED = {
    "DEV_PERF_POLICY_SYNC_BOOST": "no GPU is in a group of sync boost",
}
FLOOR = 150     # ids that an H100 answers
ANYWHERE = 205  # that any board answers
