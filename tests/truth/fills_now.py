# SPDX-License-Identifier: Apache-2.0
"""Fields of the structs about what a device does now: clocks, temperatures,
power, monitoring, field ids, events; and about the system."""

import ctypes

import pynvml

from fields import IDS
from fills_memory import CONFIDENTIAL, room_of
from follows import Constant, Fills, Move, asked, chosen
from nvml_client import UINT, ULL, Refused
from rows_confcompute import DEVTOOLS, set_advantage
from rows_gpm import sample
from structs import Record, filled, listed, layout
from truth import Another, Ctl, Does, Load, Waits

GEFORCE, FANNED = ("--gpus", "rtx-4090"), ("--gpus", "rtx-4090")
H100, B200 = ("--gpus", "h100-80gb-hbm3"), ("--gpus", "b200")
POWER, REPLAYS = IDS["DEV_POWER_INSTANT"], IDS["DEV_PCIE_REPLAY_COUNTER"]
POLICY = pynvml.NVML_PERF_POLICY_POWER
NO_POLICY = Constant("not modelled: the driver's own thresholds of states")
PRESENT = Constant("every board has the engine")
XID, CORRECTED = (pynvml.nvmlEventTypeXidCriticalError,
                  pynvml.nvmlEventTypeSingleBitEccError)
ROOM = 4


def percentages(name, key, value, **more):
    return Move(f"{name.lower()} is busy", Ctl("set", 0, *key), {
        f"utilization[{name}].percentage": (lambda was: was < 5, value)},
        **more)


def cleared(c):
    """The result for the requested field; another field is cleared with it, so
    that the call does not fail."""
    told = Record("nvmlFieldValue_t", count=2)
    told.put("fieldId", c.keep.get("field", REPLAYS))
    told.put("fieldId", REPLAYS, at=1)
    code = c.raw(c.function, c.device, 2, told.room)
    if code:
        raise Refused(code)
    return told.told()


def field_values(function, ask, *moves, **more):
    return Fills(
        function, ask,
        Move("time", Waits(), differ="timestamp"),
        Move("the call takes long", Ctl("set", f"latency.{function}=20ms"), {
            "latencyUsec": (lambda us: us < 20000, lambda us: us >= 20000)}),
        *moves, **more)


def last_sample(c):
    """The latest sample of the power."""
    return listed(pynvml.NVML_TOTAL_POWER_SAMPLES, ULL(0),
                  ctypes.byref(UINT()), room=200, at=-1)(c)


# ---- events ----


def register(c, types):
    """Makes a set for both GPUs, and causes its first event."""
    handle = ctypes.c_void_p()
    assert c.lib.nvmlEventSetCreate(ctypes.byref(handle)) == 0
    for index in range(c.nvml.nvmlDeviceGetCount()):
        assert c.lib.nvmlDeviceRegisterEvents(c.handle(index), ULL(types),
                                              handle) == 0
    assert c.machine.ctl("fail", 0, "xid=31").returncode == 0
    return handle


def event_set(c):
    if "set" not in c.keep:
        c.keep["set"] = register(c, XID | CORRECTED)
    return c.keep["set"]


SPLIT = ("--gpus", "h100-80gb-hbm3", "--mig", "0=3g.40gb(1c+1c)+1g.10gb")


def event(version, *moves):
    return Fills(
        f"nvmlEventSetWait{version}",
        filled(event_set, gpu=False, tail=(0,)),
        Move("of another GPU", Ctl("fail", 1, "xid=43"), {
            "eventData": (31, 43)}, differ="device"),
        Move("an error of memory", Ctl("ecc", 0, "corrected", "dram"), {
            "eventType": (XID, CORRECTED)}),
        *moves, machine=("--gpus", "a100-sxm4-80gb:2"))


def system_set(c):
    """Makes a set for everything that drivers do, and causes its first event.
    """
    if "set" not in c.keep:
        c.keep["set"] = c.nvml.nvmlSystemEventSetCreate(
            pynvml.nvmlSystemEventSetCreateRequest_v1)
        request = Record("nvmlSystemRegisterEventRequest_v1_t", {
            "eventTypes": 3, "set": handle_of(c)})
        assert c.lib.nvmlSystemRegisterEvents(request.room) == 0
        assert c.machine.ctl("set", 0, "removed=1").returncode == 0
    return handle_of(c)


def handle_of(c):
    return ctypes.cast(c.keep["set"], ctypes.c_void_p).value


# ---- monitoring ----


def two_samples(c):
    """Two samples, from before and after the time since the last call."""
    last = c.keep.get("sample") or sample(c)
    c.keep["sample"] = sample(c)
    return last.value, c.keep["sample"].value


def metrics(c):
    """One metric over the time since the last call."""
    first, second = two_samples(c)
    place = layout("nvmlGpmMetric_t.metricId")
    assert place["offset"] == 0
    told = filled(gpu=False, version=1, numMetrics=1, sample1=first,
                  sample2=second, metrics=c.keep.get(
                      "metric", pynvml.NVML_GPM_METRIC_GRAPHICS_UTIL
                  ).to_bytes(4, "little"))(c)
    c.lib.nvmlGpmSampleFree(ctypes.c_void_p(first))
    return told


FILLS = [
    # clocks
    Fills("nvmlDeviceGetClockOffsets",
          filled(type=pynvml.NVML_CLOCK_GRAPHICS, pstate=0),
          Move("it is set", Ctl("set", 0, "sm-clock-offset=60"), {
              "clockOffsetMHz": (0, 60)}),
          Move("another board", Another("--gpus", "a100-sxm4-80gb"), {
              "minClockOffsetMHz": (-1000, 0),
              "maxClockOffsetMHz": (1000, 0)}), machine=GEFORCE),
    Fills("nvmlDeviceGetCurrentClockFreqs", filled(),
          Move("a clock", Ctl("set", 0, "sm-clock=1005"), {
              "str": (lambda told: "nvclock=210," in told,
                      lambda told: "nvclock=1005," in told)})),
    Fills("nvmlDeviceGetPerformanceModes", filled(),
          Move("an offset", Ctl("set", 0, "sm-clock-offset=100"), {
              "str": (lambda told: "nvclockmax=3105" in told,
                      lambda told: "nvclockmax=3205" in told)}),
          machine=GEFORCE),
    Fills("nvmlDeviceGetClkMonStatus", filled(),
          Move("a clock fails", Ctl("set", 0, "clock-monitor-faults=5"), {
              "bGlobalStatus": (0, 1), "clkMonListSize": (0, 2)},
               given=[Ctl("set", "permission=all")]),
          Move("another clock fails", Ctl("set", 0, "clock-monitor-faults=4"),
               {"clkMonList[].clkApiDomain": ((1,), (4,))}),
          given=[Ctl("set", "permission=all"),
                 Ctl("set", 0, "clock-monitor-faults=1")],
          constant={"clkMonList[].clkDomainFaultMask": Constant(
              "not modelled: which of its faults a clock has")}),
    Fills("nvmlDeviceGetDynamicPstatesInfo", filled(),
          percentages("GPU", ["utilization=70"], 70),
          percentages("FB", ["memory-utilization=30"], 30),
          percentages("VID", ["decoder=20"], 20),
          percentages("BUS", ["pcie-tx=16000000", "pcie-rx=16000000"],
                      lambda now: 20 < now <= 100),
          constant={"flags": NO_POLICY} | {
              f"utilization[{part}].{name}": why
              for part in ("GPU", "FB", "VID", "BUS") for name, why in (
                  ("bIsPresent", PRESENT), ("incThreshold", NO_POLICY),
                  ("decThreshold", NO_POLICY))}),
    Fills("nvmlDeviceGetUtilizationRates", filled(),
          Move("it is busy", Ctl("set", 0, "utilization=77",
                                 "memory-utilization=33"), {
              "gpu": (0, 77), "memory": (0, 33)})),
    Fills("nvmlDeviceGetViolationStatus", filled(POLICY),
          Move("it is throttled", Ctl("set", 0, "power-limit=150W"), {
              "violationTime": (0, lambda ns: ns > 100_000_000)},
               differ="referenceTime", load="train:0,util=100")),
    Fills("nvmlDeviceGetSamples", last_sample,
          Move("another power", Ctl("set", 0, "power=200W"), {
              "sampleValue": (lambda mw: mw < 150000, 200000)}),
          Move("time", Waits(), differ="timeStamp")),
    # temperatures, fans, power
    Fills("nvmlDeviceGetTemperatureV", filled(sensorType=0),
          Move("heat", Ctl("set", 0, "temperature=95"), {
              "temperature": (31, 95)})),
    Fills("nvmlDeviceGetMarginTemperature", filled(),
          Move("heat", Ctl("set", 0, "temperature=80"), {
              "marginTemperature": (59, 7)}), machine=("--gpus", "h200")),
    Fills("nvmlDeviceGetThermalSettings", filled(
        pynvml.NVML_THERMAL_TARGET_ALL),
          Move("heat", Ctl("set", 0, "temperature=80",
                           "memory-temperature=90"), {
              "sensor[].currentTemp": ((31, 35), (80, 90))}),
          Move("another board", Another("--gpus", "t4"), {"count": (2, 1)}),
          Move("a hotter board", Another(*H100),
               differ="sensor[].defaultMaxTemp"),
          Move("the sensor asked for", chosen(sensor=1), {
              "sensor[].target": ((1,), (2,))},
              ask=filled(asked("sensor", 0))),
          constant={
              "sensor[].controller": Constant("the GPU's own, of all boards"),
              "sensor[].defaultMinTemp": Constant(
                  "0: no profile tells a lower end")}),
    Fills("nvmlDeviceGetFanSpeedRPM", filled(fan=1),
          Move("it turns", Ctl("set", 0, "fan=50"), {
              "speed": (0, lambda rpm: rpm > 1000)}), machine=FANNED),
    Fills("nvmlDeviceGetCoolerInfo", filled(index=0),
          Move("another board", Another("--gpus", "rtx-2080-ti")),
          machine=FANNED, constant={
              "signalType": Constant("every fan's speed can be varied"),
              "target": Constant("every fan cools the whole board")}),
    Fills("nvmlDeviceGetPowerMizerMode_v1", filled(),
          Move("it is set", Ctl("set", 0, "power-mizer=2"), {
              "currentMode": (0, 2)}),
          constant={"supportedPowerMizerModes": Constant(
              "all three, on every board")}),
    Fills("nvmlDeviceWorkloadPowerProfileGetCurrentProfiles", filled(),
          Move("they are asked for", Ctl("set", 0, "power-profiles=24"),
               differ="requestedProfilesMask.mask enforcedProfilesMask.mask"),
          machine=B200, constant={"perfProfilesMask.mask": Constant(
              "the fifteen of every Blackwell board")}),
    Fills("nvmlDeviceWorkloadPowerProfileGetProfilesInfo", filled(),
          Move("they are asked for", Ctl("set", 0, "power-profiles=24")),
          machine=B200, constant=dict.fromkeys(
              ("perfProfilesMask.mask", "perfProfile[].profileId",
               "perfProfile[].priority", "perfProfile[].conflictingMask.mask"),
              Constant("the fifteen of every Blackwell board"))),
    Fills("nvmlDeviceGetDramEncryptionMode", filled(),
          Move("it is asked for",
               Ctl("set", 0, "dram-encryption-pending=1"),
               {"pending.encryptionState": (0, 1)}),
          Move("a reset", Ctl("reset-gpu", 0), {
              "current.encryptionState": (0, 1)},
               given=[Ctl("set", 0, "dram-encryption-pending=1")]),
          machine=("--gpus", "rtx-5090")),
    # how long it runs
    Fills("nvmlDeviceGetBBXTimeData_v1", filled(),
          Move("machine time", Ctl("clock", "step", "10m"), {
              "timeRun": (lambda s: 1800 <= s < 1900,
                          lambda s: 2400 <= s < 2500)}),
          machine=("--gpus", "a100", "--load", "idle:0", "--warm-up", "30m"),
          driver="610"),
    # many values
    field_values("nvmlDeviceGetFieldValues",
                 filled(1, fieldId=asked("field", POWER)),
                 Move("another power", Ctl("set", 0, "power=200W"), {
                     "value": (lambda mw: mw < 150000, 200000)}),
                 Move("the field asked for", chosen(
                     field=IDS["DEV_TOTAL_ENERGY_CONSUMPTION"]),
                      differ="valueType"),
                 Move("a field of newer boards", chosen(
                     field=IDS["PWR_SMOOTHING_ENABLED"]), {
                         "nvmlReturn": (0, 3)})),
    field_values("nvmlDeviceClearFieldValues", cleared,
                 Move("a field that is no counter", chosen(field=POWER), {
                     "nvmlReturn": (0, 3)}),
                 given=[Ctl("set", "permission=all")]),
    Fills("nvmlGpmMetricsGet", metrics,
          Move("it is busy", Load("train:0,util=90"), {
              "metrics[].value": (lambda told: told[0] < 5,
                                  lambda told: told[0] > 10)}),
          Move("the metric asked for", chosen(
              metric=pynvml.NVML_GPM_METRIC_PCIE_TX_PER_SEC),
               differ="metrics[].metricInfo.shortName metrics[].metricInfo."
               "longName metrics[].metricInfo.unit"),
          Move("a metric that the board lacks", chosen(metric=300),
               differ="metrics[].nvmlReturn"),
          machine=H100),
    Fills("nvmlGpmQueryDeviceSupport", filled(version=1),
          Move("another board", Another(*H100), {
              "isSupportedDevice": (0, 1)})),
    # events
    event(""),
    event("_v2", Move("in a MIG device", Ctl("fail", 0, "xid=43@2/1"), {
        "gpuInstanceId": (0xffffffff, 2),
        "computeInstanceId": (0xffffffff, 1)}, machine=SPLIT)),
    Fills("nvmlSystemEventSetCreate", filled(gpu=False),
          Move("another one", Waits(), differ="set")),
    Fills("nvmlSystemEventSetWait",
          filled(gpu=False, timeoutms=0, set=system_set, dataSize=ROOM,
                 data=room_of("nvmlSystemEventData_v1_t", ROOM)),
          Move("it comes back", Ctl("set", 0, "removed=0"), {
              "data[].eventType": ((1,), (2,))}),
          Move("another GPU", Ctl("set", 1, "removed=1"),
               differ="data[].gpuId"),
          Move("two at once", Ctl("set", "1,2", "removed=1"), {
              "numEvent": (1, 2)}),
          machine=("--gpus", "t4:3")),
    # confidential computing
    Fills("nvmlSystemGetConfComputeCapabilities", filled(gpu=False),
          Move("it is on", CONFIDENTIAL, {"cpuCaps": (0, 3)}),
          Move("another board", Another("--gpus", "t4"), {
              "gpusCaps": (1, 0)}), machine=H100),
    Fills("nvmlSystemGetConfComputeState", filled(gpu=False),
          Move("it is on for developers", DEVTOOLS, {
              "environment": (0, 2), "ccFeature": (0, 1),
              "devToolsMode": (0, 1)}), machine=H100),
    Fills("nvmlSystemGetConfComputeSettings", filled(gpu=False),
          Move("it is on for developers", DEVTOOLS, {
              "environment": (0, 2), "ccFeature": (0, 1),
              "devToolsMode": (0, 1), "multiGpuMode": (0, 2)}),
          machine=("--gpus", "b200:2")),
    Fills("nvmlSystemGetConfComputeKeyRotationThresholdInfo",
          filled(gpu=False),
          Move("it is set", Does(lambda c: c.being("root", set_advantage, c)),
               {"attackerAdvantage": (60, 55)}), machine=H100,
          given=[CONFIDENTIAL]),
]
