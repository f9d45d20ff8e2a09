# SPDX-License-Identifier: Apache-2.0
"""Builds gpukit-nvitop, which is Python only. Its version is gpukit's; a source
distribution has it in its own metadata."""

import os
import re

from setuptools import find_packages, setup

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ((os.path.join(HERE, "PKG-INFO"), r"^Version: ([0-9.]+)$"),
           (os.path.join(HERE, "..", "..", "CMakeLists.txt"),
            r"^project\(gpukit VERSION ([0-9.]+)"))


def version():
    path, pattern = next(row for row in SOURCES if os.path.exists(row[0]))
    with open(path, encoding="utf-8") as f:
        return re.search(pattern, f.read(), re.MULTILINE)[1]


setup(version=version(), install_requires=[f"gpukit=={version()}"],
      packages=find_packages(HERE, include=["nvitop", "nvitop.*"]))
