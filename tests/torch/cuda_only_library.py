# SPDX-License-Identifier: Apache-2.0
"""Loads the CPU kernels of CUDA-only operators into this process."""

import ctypes
import os
import sys

import torch

from conftest import BUILD

sys.path.append(os.path.join(BUILD, "python"))

_loaded = []


def load():
    """The library; GPUKIT_TORCH_LIBRARY may name one that is already built."""
    if not _loaded:
        path = (getattr(torch, "_gpukit_library", None)
                or os.environ.get("GPUKIT_TORCH_LIBRARY"))
        if not path:
            from gpukit.fake.torch import build

            path = build.find_or_build()
        library = ctypes.CDLL(path)
        library.gpukit_cuda_only_rows.restype = ctypes.c_char_p
        _loaded.append(library)
    return _loaded[0]


def rows():
    """The state of each name: {name: (fate, reason)}."""
    lines = load().gpukit_cuda_only_rows().decode().splitlines()
    return {name: (fate, reason)
            for name, fate, reason in (line.split("\t") for line in lines)}


def has(name):
    return rows().get(name, ("absent",))[0] == "own"
