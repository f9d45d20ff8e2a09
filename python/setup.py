# SPDX-License-Identifier: Apache-2.0
"""Builds gpukit: libgpukit is compiled into the extension module, which uses
the stable ABI, so that one wheel serves CPython 3.9 and later."""

import glob
import os
import re
import shutil

from setuptools import Extension, find_packages, setup
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
# In a source distribution, the C sources are copied into this folder.
INSIDE = os.path.join(HERE, "libgpukit")
ROOT = INSIDE if os.path.isdir(INSIDE) else os.path.dirname(HERE)
PARTS = ("CMakeLists.txt", "LICENSE", "include", "src/abi", "src/base",
         "src/core")


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as f:
        return re.search(r"project\(gpukit VERSION ([0-9.]+)", f.read())[1]


def sources():
    """setuptools requires paths relative to this folder."""
    found = []
    for folder in (os.path.join(HERE, "src"),
                   os.path.join(ROOT, "src", "core"),
                   os.path.join(ROOT, "src", "base")):
        found += sorted(glob.glob(os.path.join(folder, "**", "*.c"),
                                  recursive=True))
    return [os.path.relpath(path, HERE) for path in found]


class SourceDistribution(sdist):
    """Includes the C sources, which are outside this folder."""

    def make_release_tree(self, base_dir, files):
        inside = [path for path in files if not path.startswith("..")]
        super().make_release_tree(base_dir, inside)
        for part in PARTS:
            to = os.path.join(base_dir, "libgpukit", part)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            copy = shutil.copytree if os.path.isdir(
                os.path.join(ROOT, part)) else shutil.copy
            copy(os.path.join(ROOT, part), to)


CORE = Extension(
    "gpukit._core",
    sources(),
    include_dirs=[os.path.relpath(os.path.join(ROOT, part), HERE)
                  for part in ("include", "src")],
    define_macros=[("_GNU_SOURCE", None),
                   ("Py_LIMITED_API", "0x03090000"),
                   ("GPUKIT_VERSION", f'"{version()}"')],
    extra_compile_args=["-std=gnu17", "-O2", "-fvisibility=hidden",
                        "-fno-semantic-interposition", "-ffp-contract=off"],
    extra_link_args=["-Wl,-z,relro,-z,now",
                     "-Wl,--version-script=src/exports.map"],
    libraries=["pthread", "dl"],
    py_limited_api=True,
)

setup(
    version=version(),
    packages=find_packages(HERE, include=["gpukit", "gpukit.*"]),
    package_data={"gpukit": ["py.typed", "*.pyi"],
                  "gpukit.callbacks": ["*.pyi"], "gpukit.fake": ["*.pyi"],
                  "gpukit.fake.torch": ["src/*.cpp", "src/*.h", "src/*.inc",
                                        "ptxas"]},
    ext_modules=[CORE],
    cmdclass={"sdist": SourceDistribution},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
