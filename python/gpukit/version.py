"""The version of the package, which is that of the C library within."""

from gpukit._core import __version__

__all__ = ["__version__"]
