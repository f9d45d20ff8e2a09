"""Loads what build.py has built, and lets it replace CUDA's kernels."""

import ctypes

# What a library says of itself: gpukit_torch_install() in src/install.cpp.
_ANSWERS = {1: "the driver that was found is none of gpukit's, or too old"}

_library = None


def library():
    """The library that is at work in this process, or None."""
    return _library


def install():
    """Once a process. Raises RuntimeError where it cannot be."""
    global _library
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
    _library = opened
