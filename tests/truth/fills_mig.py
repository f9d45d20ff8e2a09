# SPDX-License-Identifier: Apache-2.0
"""Fields of the structs about split GPUs."""

from follows import Constant, Fills, Move, asked, chosen, gpu
from rows_mig import (A100_40, H100, SPLIT, allowed, compute_instance,
                      gpu_instance, mig)
from structs import filled, listed
from truth import Another

WHOLE = (*H100, "--mig", "0=7g.80gb")
NO_ENCODER = Constant("no board that can be split has an encoder")
NO_PEERS = Constant("no profile of a part has peer-to-peer")
BOTH = ("--gpus", "h100-80gb-hbm3:2", "--mig", "0-1=3g.40gb(1c+1c)+1g.10gb")


def instance(c):
    allowed(c)
    return gpu_instance(c, c.keep.get("gi", 2))


def part(c):
    allowed(c)
    return compute_instance(c, c.keep.get("gi", 2), c.keep.get("ci", 0))


def permitted(c):
    """Lets everybody call what only root may; returns the profile."""
    allowed(c)
    return c.keep.get("profile", 9)


def attributes(version, **more):
    return Fills(
        f"nvmlDeviceGetAttributes{version}", filled(mig, gpu=False),
        Move("another MIG device", Another(*WHOLE), {
            "multiprocessorCount": (60, 132), "sharedCopyEngineCount": (3, 8),
            "sharedDecoderCount": (3, 7), "sharedJpegCount": (3, 7),
            "sharedOfaCount": (0, 1)} | more),
        machine=SPLIT, constant={"sharedEncoderCount": NO_ENCODER})


def gpu_profile(version, number, other, **names):
    return Fills(
        f"nvmlDeviceGetGpuInstanceProfileInfo{version}",
        filled(asked("profile", number)),
        Move("the profile asked for", chosen(profile=other), {
            "id": (9, 0), "sliceCount": (3, 7), "instanceCount": (2, 1),
            "multiprocessorCount": (60, 132), "copyEngineCount": (3, 8),
            "decoderCount": (3, 7), "jpegCount": (3, 7), "ofaCount": (0, 1),
            "memorySizeMB": (40448, 81152)} | names),
        Move("another board", A100_40, {
            "multiprocessorCount": (60, 42), "decoderCount": (3, 2),
            "memorySizeMB": (40448, 19968)}),
        machine=H100, constant={"encoderCount": NO_ENCODER,
                                "isP2pSupported": NO_PEERS})


NAMED = {"name": ("MIG 3g.40gb", "MIG 7g.80gb")}


def compute_profile(version, **names):
    return Fills(
        f"nvmlGpuInstanceGetComputeInstanceProfileInfo{version}",
        filled(instance, asked("profile", 0), 0, gpu=False),
        Move("the profile asked for", chosen(profile=2), {
            "id": (0, 2), "sliceCount": (1, 3), "instanceCount": (3, 1),
            "multiprocessorCount": (16, 60)} | names),
        Move("another GPU instance", [Another(*WHOLE), chosen(gi=0)], {
            "sharedCopyEngineCount": (3, 8), "sharedDecoderCount": (3, 7),
            "sharedJpegCount": (3, 7), "sharedOfaCount": (0, 1)}),
        machine=SPLIT, constant={"sharedEncoderCount": NO_ENCODER})


def places(function, **more):
    return Fills(function, listed(permitted, first_count=False, at=-1),
                 Move("the profile asked for", chosen(profile=19), {
                     "start": (4, 6), "size": (4, 1)}, **more), machine=H100)


def compute_instance_info(version, start=None, size=None):
    return Fills(
        f"nvmlComputeInstanceGetInfo{version}", filled(part, gpu=False),
        Move("another compute instance", chosen(ci=1), {
            "id": (0, 1)} | (start or {})),
        Move("another GPU instance", chosen(gi=7), differ="gpuInstance"),
        Move("another GPU", gpu(1), differ="device gpuInstance"),
        Move("another split", Another(*SPLIT), {
            "profileId": (0, 2)} | (size or {})),
        machine=BOTH)


FILLS = [
    attributes(""),
    attributes("_v2", gpuInstanceSliceCount=(3, 7),
               computeInstanceSliceCount=(3, 7), memorySizeMB=(40448, 81152)),
    gpu_profile("", 2, 4),
    gpu_profile("V", 2, 4, **NAMED),
    gpu_profile("ByIdV", 9, 0, **NAMED),
    compute_profile(""),
    compute_profile("V", name=("MIG 1c.3g.40gb", "MIG 3g.40gb")),
    places("nvmlDeviceGetGpuInstancePossiblePlacements"),
    places("nvmlDeviceGetGpuInstancePossiblePlacements_v2"),
    Fills("nvmlGpuInstanceGetComputeInstancePossiblePlacements",
          listed(instance, asked("profile", 0), gpu=False, first_count=False,
                 at=-1),
          Move("the profile asked for", chosen(profile=2), {
              "start": (2, 0), "size": (1, 3)}), machine=SPLIT),
    compute_instance_info(""),
    compute_instance_info("_v2", {"placement.start": (0, 1)},
                          {"placement.size": (1, 3)}),
    Fills("nvmlGpuInstanceGetInfo", filled(instance, gpu=False),
          Move("another GPU instance", chosen(gi=7), {
              "id": (2, 7), "profileId": (9, 19), "placement.start": (4, 0),
              "placement.size": (4, 1)}),
          Move("another GPU", gpu(1), differ="device"),
          machine=BOTH),
]
