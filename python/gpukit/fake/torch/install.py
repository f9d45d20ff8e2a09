# SPDX-License-Identifier: Apache-2.0
"""Loads the library built by build.py and makes it replace CUDA's kernels."""

import atexit
import ctypes
import os
import sys

# Return codes of gpukit_torch_install() in src/install.cpp.
_ANSWERS = {1: "the driver that was found is not gpukit's, or too old"}

# Never freed: an autograd thread may be the last one to use these objects.
_last = []


def library():
    """The library that is active in this process, or None. A package with
    another name, or an older gpukit, may have loaded it."""
    torch = sys.modules.get("torch")
    path = getattr(torch, "_gpukit_library", None)
    return ctypes.CDLL(path) if path else None


def table():
    """Lines of key, operator, fate and reason, separated by tabs, from the
    library or from the kernels in Python. None if neither is active."""
    found = library()
    if found:
        found.gpukit_torch_table.restype = ctypes.c_char_p
        return found.gpukit_torch_table().decode()
    return getattr(sys.modules.get("torch"), "_gpukit_table", None)


def _spaces(torch):
    names = torch._C._dispatch_get_registrations_for_dispatch_key("CUDA")
    return {name.split("::")[0] for name in names}


def _cover_libraries(torch, cover):
    """Covers operators of libraries that are loaded later, such as
    torchvision. If an operator has kernels for both the CPU and CUDA, it uses
    the CPU's."""
    load = torch.ops.load_library

    def load_library(path):
        before = _spaces(torch)
        load(path)
        for space in _spaces(torch) - before:
            cover(space)

    torch.ops.load_library = load_library


def _drop_kernels_of_python():
    """PyTorch 2.13 and later register CUDA kernels written in Python (with
    Triton, for example), after ours. This prevents that."""
    try:
        from torch._native.registry import deregister_op_overrides
    except ImportError:
        return
    deregister_op_overrides(disable_dispatch_keys="CUDA")


def _await_autograd():
    """Waits for autograd's threads at the end of a program. After a backward
    pass, the thread of a device still releases objects, and a thread that
    releases Python objects after Python has shut down aborts the process. On a
    real GPU this is over before the program has its result; on a made-up GPU
    the result is there at once. Therefore one more node is sent through the
    thread of each device."""
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
        pass  # the device has failed; the program knows already


def _stand_in_for_ptxas():
    """Replaces the ptxas of Triton, which compiles kernels for torch.compile.
    Triton's own ptxas would turn PTX into machine code, which no made-up GPU
    can run."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ptxas")
    if os.access(path, os.X_OK):
        for name in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
            os.environ.setdefault(name, path)


def _library():
    """The path of the C++ part. None if it is not requested or cannot be
    built; stderr then has the reason."""
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
    """Installs the library. Returns a function that covers the operators of
    another namespace."""
    from . import table

    opened = ctypes.CDLL(path)
    count = ctypes.c_uint()
    answer = opened.gpukit_torch_install(ctypes.byref(count))
    if answer:
        raise RuntimeError(_ANSWERS.get(answer, f"it returned {answer}"))
    torch._gpukit_library = path
    table.keep(path)
    return lambda space: opened.gpukit_torch_cover(space.encode())


def _install_python(torch):
    from . import python_kernel

    python_kernel.install()
    torch._gpukit_table = python_kernel.table()
    return python_kernel.cover


def install():
    """Installs the kernels, once per process. Raises RuntimeError if that
    fails."""
    import torch

    from . import sleep

    if table() or not torch.version.cuda:
        return
    path = _library()
    _drop_kernels_of_python()
    cover = _install_library(torch, path) if path else _install_python(torch)
    atexit.register(_await_autograd)
    _stand_in_for_ptxas()
    sleep.install()
    _cover_libraries(torch, cover)
