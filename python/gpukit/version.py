# SPDX-License-Identifier: Apache-2.0
"""The version of the package, which is the version of the C library in it."""

from gpukit._core import __version__

__all__ = ["__version__"]
