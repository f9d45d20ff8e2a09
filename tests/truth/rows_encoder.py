# SPDX-License-Identifier: Apache-2.0
"""Sessions of the video encoder and of screen capture."""

import ctypes
import struct

import pynvml

from nvml_client import UINT, Refused
from rows_process import GRAPHICS, Holder
from truth import Changes, Ctl, Load, of_device

T4 = ("--gpus", "t4")
ENCODES = Load("train:0,util=100,enc=50")
TRAINS = 2  # of enum gkf_wave_kind
# struct gkf_wave: kind, util, memory, encoder, decoder, JPEG, optical flow,
# seed, load, nothing; period in ns
WAVE = struct.pack("10IQ", TRAINS, 1000, 300, 500, 0, 0, 0, 1, 0, 0,
                   60 * 10**9)
CAPTURES = Holder(GRAPHICS, WAVE)


def sessions(record, frames):
    """(width, whether frames come) of each session."""
    def ask(client):
        count, room = UINT(32), (record * 32)()
        code = client.raw(client.function, client.device,
                          ctypes.byref(count), room)
        if code:
            raise Refused(code)
        return [(one.hResolution, getattr(one, frames) > 0)
                for one in room[:count.value]]
    return ask


def counted(client):
    """(sessions, frames come, the latency of a frame is below a second)."""
    told = client.call(client.function, client.device, UINT, UINT, UINT)
    return told[0], told[1] > 0, 0 < told[2] < 1000000


ROWS = [
    Changes("nvmlDeviceGetEncoderCapacity",
            of_device(pynvml.NVML_ENCODER_QUERY_H264, UINT),
            Ctl("set", 0, "encoder=60"), machine=T4, before=100, after=40),
    Changes("nvmlDeviceGetEncoderStats", counted, ENCODES, machine=T4,
            before=(0, False, False), after=(1, True, True)),
    Changes("nvmlDeviceGetEncoderSessions",
            sessions(pynvml.c_nvmlEncoderSession_t, "averageFps"), ENCODES, machine=T4,
            before=[], after=[(1920, True)]),
    Changes("nvmlDeviceGetFBCStats", of_device(
        pynvml.c_nvmlFBCStats_t,
        pick=lambda told: (told["sessionsCount"], told["averageFPS"] > 0)),
        CAPTURES, machine=T4, load="train:0,util=10,enc=50",
        before=(0, False), after=(1, True)),
    Changes("nvmlDeviceGetFBCSessions",
            sessions(pynvml.c_nvmlFBCSession_t, "averageFPS"), CAPTURES, machine=T4,
            before=[], after=[(1920, True)]),
]
