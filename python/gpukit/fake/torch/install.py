"""Loads what build.py has built, and lets it replace CUDA's kernels."""

import atexit
import ctypes
import os
import sys

# What a library says of itself: gpukit_torch_install() in src/install.cpp.
_ANSWERS = {1: "the driver that was found is none of gpukit's, or too old"}

# Never freed: a thread of autograd may have the last look at them.
_last = []


def library():
    """The library that is at work in this process, or None. The one that put
    it there may be a package of another name, or of an older gpukit."""
    torch = sys.modules.get("torch")
    path = getattr(torch, "_gpukit_library", None)
    return ctypes.CDLL(path) if path else None


def table():
    """Lines of key, operator, fate and reason, parted by tabs: of the library,
    or of what works in its place; None where nothing does."""
    found = library()
    if found:
        found.gpukit_torch_table.restype = ctypes.c_char_p
        return found.gpukit_torch_table().decode()
    return getattr(sys.modules.get("torch"), "_gpukit_table", None)


def _spaces(torch):
    names = torch._C._dispatch_get_registrations_for_dispatch_key("CUDA")
    return {name.split("::")[0] for name in names}


def _cover_libraries(torch, cover):
    """Operators of libraries that are loaded later, torchvision's for one: what
    they have for both, the CPU and CUDA, runs by the CPU's kernel."""
    load = torch.ops.load_library

    def load_library(path):
        before = _spaces(torch)
        load(path)
        for space in _spaces(torch) - before:
            cover(space)

    torch.ops.load_library = load_library


def _drop_kernels_of_python():
    """PyTorch from 2.13 or so has kernels for CUDA that are written in Python,
    Triton's for one, and registers them when we have done: never, then."""
    try:
        from torch._native.registry import deregister_op_overrides
    except ImportError:
        return
    deregister_op_overrides(disable_dispatch_keys="CUDA")


def _await_autograd():
    """At the end of a program. When a backward is over, the thread of its device
    still drops what it held; a thread that drops objects of Python's after
    Python has gone ends the process. On a GPU it is long done when the program
    has its result; here the result is there at once. So one more node goes
    through each device's thread, which comes after."""
    import torch

    if not torch.cuda.is_initialized():
        return
    try:
        for index in range(torch.cuda.device_count()):
            if torch._C._cuda_hasPrimaryContext(index):
                leaf = torch.zeros((), device=f"cuda:{index}",
                                   requires_grad=True)
                _last.append(leaf)
                with torch.enable_grad():
                    leaf.clone().backward()
    except RuntimeError:
        pass  # the device has failed, and the program knows


def _stand_in_for_ptxas():
    """Triton, which torch.compile asks for kernels, has its own ptxas make
    machine code of its PTX. No GPU is here that would run that."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ptxas")
    if os.access(path, os.X_OK):
        for name in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
            os.environ.setdefault(name, path)


def _library():
    """The path of the C++ part; None, and why on stderr, where it cannot be or
    is not wanted."""
    from . import build

    if os.environ.get("GPUKIT_TORCH") == "python":
        return None
    try:
        return build.find_or_build()
    except RuntimeError as error:
        sys.stderr.write(f"gpukit: {error}; PyTorch's operators run by kernels "
                         "in Python, which are slower: install g++, or name a "
                         "compiler in CXX\n")
    return None


def _install_library(torch, path):
    """Answers what covers the operators of one more namespace."""
    from . import table

    opened = ctypes.CDLL(path)
    count = ctypes.c_uint()
    answer = opened.gpukit_torch_install(ctypes.byref(count))
    if answer:
        raise RuntimeError(_ANSWERS.get(answer, f"it answered {answer}"))
    torch._gpukit_library = path
    table.keep(path)
    return lambda space: opened.gpukit_torch_cover(space.encode())


def _install_python(torch):
    from . import python_kernel

    python_kernel.install()
    torch._gpukit_table = python_kernel.table()
    return python_kernel.cover


def install():
    """Once a process. Raises RuntimeError where it cannot be."""
    import torch

    if table() or not torch.version.cuda:
        return
    path = _library()
    _drop_kernels_of_python()
    cover = _install_library(torch, path) if path else _install_python(torch)
    atexit.register(_await_autograd)
    _stand_in_for_ptxas()
    _cover_libraries(torch, cover)
