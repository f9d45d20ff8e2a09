# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators on the GPUs of a made-up machine.

`import torch` calls activate(), through an entry point that only `gpukit fake`
puts on Python's path. On any other machine it does nothing, and any error here
becomes a warning, never an error of `import torch`.
"""

import os

__all__ = ["activate"]


def _is_made_up():
    """Whether this process would find our driver. Does not load it."""
    if not os.environ.get("GPUKIT_MACHINE"):
        return False
    if os.environ.get("GPUKIT_TORCH") == "0":
        return False
    paths = (os.environ.get("LD_LIBRARY_PATH", "") + ":"
             + os.environ.get("LD_AUDIT", "")).split(":")
    return any(os.path.exists(os.path.join(
        path if os.path.isdir(path) else os.path.dirname(path),
        "libgpukit-fake.so")) for path in paths if path)


def activate():
    """Replaces CUDA's kernels with ours, if the GPUs are made up."""
    if not _is_made_up():
        return
    try:
        from . import install

        install.install()
        if os.environ.get("GPUKIT_TORCH_REPORT"):
            from . import report

            report.begin(os.environ["GPUKIT_TORCH_REPORT"])
    except Exception as error:  # whatever happens, `import torch` must succeed
        import warnings

        warnings.warn(f"gpukit: PyTorch's operators will not run on the "
                      f"made-up GPUs: {type(error).__name__}: {error}",
                      RuntimeWarning, stacklevel=2)
