# SPDX-License-Identifier: Apache-2.0
"""Builds the CUDA programs of tests/cuda as a user would: nvcc for *.cu, the C
compiler for *_driver.c. The results are in build/cuda-programs, rebuilt when a
source or a linked library is newer. The programs do not depend on gpukit;
status 77 says that there is nothing to check."""

import fcntl
import glob
import os
import re
import subprocess

from conftest import BUILD, FAKE_DIR, PRELOAD, ROOT

SOURCES = os.path.join(ROOT, "tests", "cuda")
TOOLKIT = os.path.join(ROOT, "build", "cuda", "nvidia", "cu13")
TOOLKIT_12 = os.path.join(ROOT, "build", "cuda12", "nvidia", "cuda_runtime")
NVCC = os.path.join(TOOLKIT, "bin", "nvcc")
OUT = os.path.join(BUILD, "cuda-programs")
KERNELS = os.path.join(SOURCES, "kernels.ptx")
SKIPPED = 77

# One architecture for all GPUs: every GPU since 2018 compiles it for itself.
ARCH = ["-arch=compute_75"]


def names(pattern):
    """The programs whose source names end in pattern."""
    found = (os.path.basename(path)[:-len(pattern)] for path in
             glob.glob(os.path.join(SOURCES, "*" + pattern)))
    return sorted(set(found) - {"kernels"})


RUNTIME = names(".cu")
DRIVER = [name + "_driver" for name in names("_driver.c")]


def environment(**more):
    """The environment without nvcc flags from outside."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("NVCC_")}
    env.update(more)
    return env


def run(*args, **kwargs):
    done = subprocess.run(args, capture_output=True, text=True, check=False,
                          timeout=300, **kwargs)
    assert done.returncode == 0, (args, done.stdout, done.stderr)
    return done.stdout


def flags_of(source):
    """The nvcc options that a program requests below the line of its licence.
    """
    with open(source, encoding="utf-8") as file:
        asks = re.match(r".*\n// nvcc: (.*)", file.read())
    return asks[1].split() if asks else []


def made(target, sources, make):
    """Returns target, made by make(temporary) unless it is newer than its
    sources."""
    os.makedirs(OUT, exist_ok=True)
    with open(target + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        newest = max(os.path.getmtime(source) for source in sources)
        if not os.path.exists(target) or os.path.getmtime(target) < newest:
            make(target + ".new")
            os.replace(target + ".new", target)
    return target


def headers():
    return glob.glob(os.path.join(SOURCES, "*.h"))


def compiled(name):
    """The object file of a program, from which both kinds are linked."""
    source = os.path.join(SOURCES, name + ".cu")
    return made(
        os.path.join(OUT, name + ".o"), [source, NVCC, *headers()],
        lambda to: run(NVCC, *ARCH, *flags_of(source), "-x", "cu", "-c",
                       source, "-o", to, env=environment()))


def shared(name):
    """A program with the runtime as a shared library."""
    thing = compiled(name)
    return made(os.path.join(OUT, name), [thing],
                lambda to: run(NVCC, *ARCH, "-cudart", "shared", thing, "-o",
                               to, env=environment()))


def runtime_directory(major=13):
    """The directory for `-L`: our libcudart.so and libcudart_static.a."""
    return os.path.join(FAKE_DIR, f"cuda{major}")


def static_flags(where):
    """An archive with a sanitizer needs its libraries; others do not."""
    return f"-L{where}" + (" -lasan -lubsan" if PRELOAD else "")


def static(name):
    """A program with our runtime linked in, only by nvcc's environment."""
    thing, where = compiled(name), runtime_directory()
    return made(os.path.join(OUT, name + "-static"),
                [thing, os.path.join(where, "libcudart_static.a")],
                lambda to: run(
                    NVCC, *ARCH, thing, "-o", to,
                    env=environment(NVCC_APPEND_FLAGS=static_flags(where))))


def driver(name):
    """A program of the driver API; CUDA's compiler is not used."""
    source = os.path.join(SOURCES, name + ".c")
    library = os.path.join(FAKE_DIR, "libcuda.so.1")
    return made(
        os.path.join(OUT, name), [source, library, *headers()],
        lambda to: run("cc", "-std=gnu17", "-Wall", "-Wextra", "-Werror",
                       "-O1", f"-I{TOOLKIT}/include",
                       f'-DKERNELS="{KERNELS}"', source, library, "-o", to,
                       "-lpthread"))


BUILDERS = {"shared": shared, "static": static, "driver": driver}

# Every program in every way in which it is built: (way, name).
PROGRAMS = ([("shared", name) for name in RUNTIME] +
            [("static", name) for name in RUNTIME] +
            [("driver", name) for name in DRIVER])
