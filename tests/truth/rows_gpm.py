# SPDX-License-Identifier: Apache-2.0
"""Performance monitoring: what happened between two samples."""

import ctypes

import pynvml

from nvml_client import UINT, Refused, made
from truth import Changes, Constant, Ctl, Load, Sets, of_device

H100 = ("--gpus", "h100")
BUSY = Load("train:0,util=90")
SAMPLE = ctypes.c_void_p


def sample(client):
    """Takes a new sample."""
    handle = SAMPLE()
    client.raw("nvmlGpmSampleAlloc", ctypes.byref(handle))
    code = client.raw("nvmlGpmSampleGet", client.device, handle)
    if code:
        client.raw("nvmlGpmSampleFree", handle)
        raise Refused(code)
    return handle


def metric(client, number):
    """The metric over the time since the last call; the first call has no time.
    """
    now = sample(client)
    last = client.keep.get("sample", now)
    client.keep["sample"] = now
    get = pynvml.c_nvmlGpmMetricsGet_t(
        version=pynvml.NVML_GPM_METRICS_GET_VERSION, numMetrics=1,
        sample1=ctypes.cast(last, pynvml.c_nvmlGpmSample_t),
        sample2=ctypes.cast(now, pynvml.c_nvmlGpmSample_t))
    get.metrics[0].metricId = number
    code = client.raw("nvmlGpmMetricsGet", ctypes.byref(get))
    if last is not now:
        client.raw("nvmlGpmSampleFree", last)
    if code or get.metrics[0].nvmlReturn:
        raise Refused(code or get.metrics[0].nvmlReturn)
    return get.metrics[0].value


def busy(client):
    """Percent; 0 while there is no data."""
    try:
        return metric(client, pynvml.NVML_GPM_METRIC_GRAPHICS_UTIL)
    except Refused as refused:
        if refused != Refused("NO_DATA"):
            raise
        return 0.0


def of_gpm(function):
    """A row for one of the functions that a metric needs."""
    return Changes(function, busy, BUSY, machine=H100, before=0.0,
                   after=lambda told: told > 10)


def is_taken(client):
    """Whether a sample can be taken into it."""
    if "sample" not in client.keep:
        client.keep["sample"] = sample(client)
    return client.raw("nvmlGpmSampleGet", client.device,
                      client.keep["sample"]) == 0


class Frees:  # pylint: disable=too-few-public-methods
    """Frees the sample."""

    def apply(self, run):
        client = run.client
        assert client.raw("nvmlGpmSampleFree", client.keep["sample"]) == 0


def streaming(client):
    return client.call("nvmlGpmQueryIfStreamingEnabled", client.device, UINT)


ROWS = [
    of_gpm("nvmlGpmSampleAlloc"),
    of_gpm("nvmlGpmSampleGet"),
    of_gpm("nvmlGpmMetricsGet"),
    Changes("nvmlGpmSampleFree", is_taken, Frees(), machine=H100,
            before=True, after=False),
    Constant("nvmlGpmQueryDeviceSupport", of_device(
        made(pynvml.c_nvmlGpmSupport_t,
             version=pynvml.NVML_GPM_SUPPORT_VERSION),
        pick=lambda told: told["isSupportedDevice"]),
        expect=lambda profile: int(profile["compute_major"] >= 9)),
    Changes("nvmlGpmQueryIfStreamingEnabled", streaming,
            Ctl("set", 0, "gpm-streaming=1"), machine=H100, before=0,
            after=1),
    Sets("nvmlGpmSetStreamingEnabled",
         lambda c: c.call("nvmlGpmSetStreamingEnabled", c.device, 1),
         streaming, machine=H100, before=0, after=1, root=False),
]
