"""Builds gpukit with all of libgpukit inside its extension module, for the
stable ABI: one wheel for CPython 3.9 and all that follow."""

import glob
import os
import re

from setuptools import Extension, find_packages, setup

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as f:
        return re.search(r"project\(gpukit VERSION ([0-9.]+)", f.read())[1]


def sources():
    """Relative to here, as setuptools wants them."""
    found = []
    for folder in (os.path.join(HERE, "src"),
                   os.path.join(ROOT, "src", "core"),
                   os.path.join(ROOT, "src", "base")):
        found += sorted(glob.glob(os.path.join(folder, "*.c")))
    return [os.path.relpath(path, HERE) for path in found]


CORE = Extension(
    "gpukit._core",
    sources(),
    include_dirs=["../include", "../src"],
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
                  "gpukit.fake.torch": ["src/*.cpp", "src/*.h"]},
    ext_modules=[CORE],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
