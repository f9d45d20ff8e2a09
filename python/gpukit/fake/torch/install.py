"""Loads what build.py has built, and lets it replace CUDA's kernels."""

import ctypes
import sys

# What a library says of itself: gpukit_torch_install() in src/install.cpp.
_ANSWERS = {1: "the driver that was found is none of gpukit's, or too old"}

def library():
    """The library that is at work in this process, or None. The one that put
    it there may be a package of another name, or of an older gpukit."""
    torch = sys.modules.get("torch")
    path = getattr(torch, "_gpukit_library", None)
    return ctypes.CDLL(path) if path else None


def install():
    """Once a process. Raises RuntimeError where it cannot be."""
    import torch

    from . import build

    if getattr(torch, "_gpukit_library", None) or not torch.version.cuda:
        return
    path = build.find_or_build()
    opened = ctypes.CDLL(path)
    count = ctypes.c_uint()
    answer = opened.gpukit_torch_install(ctypes.byref(count))
    if answer:
        raise RuntimeError(_ANSWERS.get(answer, f"it answered {answer}"))
    torch._gpukit_library = path
