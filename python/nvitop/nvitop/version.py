# SPDX-License-Identifier: Apache-2.0
"""The version: of nvitop's API, then gpukit's."""

from gpukit import __version__ as _gpukit

__all__ = ["__version__"]

__version__ = f"1.7.2+gpukit.{_gpukit}"
