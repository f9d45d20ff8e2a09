# SPDX-License-Identifier: Apache-2.0
"""Builds the C++ part. The first program that needs it compiles it with the
headers of its PyTorch; later programs reuse the library."""

import functools
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "src")
NAME = "libgpukit-torch.so"
_COMPILERS = ("c++", "g++", "clang++")
# -ffp-contract=off: without fused multiply-add, results are the same on all
# CPUs.
_FLAGS = ("-O2", "-fPIC", "-fvisibility=hidden", "-fno-math-errno",
          "-ffp-contract=off", "-w")
# Enables OpenMP threads. GCC's OpenMP runtime need not be linked, because
# PyTorch has already loaded it.
_OF_GCC = ("-fopenmp",)
_LIBRARIES = ("-ltorch_cpu", "-lc10", "-lc10_cuda", "-ltorch_cuda", "-ldl")


class NoCompiler(RuntimeError):
    """No C++ compiler was found."""


def compiler():
    """The command of a C++ compiler as a list. Raises NoCompiler."""
    asked = os.environ.get("CXX", "").split()
    if asked and shutil.which(asked[0]):
        return asked
    for name in _COMPILERS:
        if shutil.which(name):
            return [name]
    raise NoCompiler("no C++ compiler was found (c++, g++, clang++; or CXX)")


def _sources():
    names = sorted(os.listdir(SOURCES))
    return [os.path.join(SOURCES, name) for name in names
            if name.endswith((".cpp", ".h", ".inc"))]


def _abi():
    import torch

    return int(torch._C._GLIBCXX_USE_CXX11_ABI)


def _digest():
    """A hash of the library's sources and flags."""
    digest = hashlib.sha256(repr((_FLAGS, _OF_GCC,
                                  _LIBRARIES)).encode())
    for path in _sources():
        digest.update(os.path.basename(path).encode() + b"\0")
        with open(path, "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()[:16]


def _key(version, abi):
    return f"{version}-abi{abi}-{_digest()}"


def key():
    """The name of the folder of a library. It depends on the sources and on
    PyTorch."""
    import torch

    return _key(torch.__version__, _abi())


def cache():
    """The folder for all built libraries."""
    above = os.environ.get("XDG_CACHE_HOME") or os.path.join(
        os.path.expanduser("~"), ".cache")
    return os.path.join(above, "gpukit", "torch")


def _is_ours(path):
    """Whether only this user and root can have written the file."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (found.st_uid in (0, os.geteuid())
            and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            and not stat.S_ISLNK(found.st_mode))


def _find(name):
    folder = os.path.join(cache(), name)
    path = os.path.join(folder, NAME)
    return path if _is_ours(folder) and _is_ours(path) else None


def find():
    """The path of the library built for this PyTorch, or None."""
    return _find(key())


def find_for(version):
    """The path of the library built for a version of PyTorch, which need not
    be imported, with either C++ ABI; or None."""
    return _find(_key(version, 1)) or _find(_key(version, 0))


def find_or_build():
    """The path of the library for this PyTorch. Builds it if necessary. Raises
    NoCompiler or RuntimeError."""
    found = find()
    if found:
        return found
    try:
        os.makedirs(cache(), mode=0o700, exist_ok=True)
        folder = cache() if _is_ours(cache()) else None
    except OSError:
        folder = None
    if not folder:
        return _build_for_this_process()
    with _Alone(os.path.join(folder, "lock")):
        return find() or _build_into(folder)


class _Alone:
    """Lets only one process build. The others wait and use its result."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        import fcntl

        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT
                             | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        os.close(self._file)


def _build_into(folder):
    """Builds in another folder and then renames it, so that `folder` never
    contains incomplete libraries."""
    beside = tempfile.mkdtemp(prefix=".", dir=folder)
    wanted = os.path.join(folder, key())
    try:
        _build(beside)
        shutil.rmtree(wanted, ignore_errors=True)
        os.rename(beside, wanted)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return os.path.join(wanted, NAME)


def _build_for_this_process():
    """Builds in a temporary folder, because no cache can be used."""
    import atexit

    folder = tempfile.mkdtemp(prefix="gpukit-torch-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _build(folder)
    return os.path.join(folder, NAME)


# Patterns that find facts in PyTorch's own table of operators that the
# dispatcher does not know. unchecked: operators whose CUDA kernels check the
# devices of tensors themselves, or not at all. structured: operators whose
# functions are generated by torchgen, under other names.
_MARKS = {"unchecked.inc": r"(?m)^  device_check: NoCheck",
          "structured.inc": r"(?m)^  structured(_delegate)?:"}


@functools.cache
def marked(name):
    """The operators that one of these patterns finds."""
    import torchgen

    path = os.path.join(os.path.dirname(torchgen.__file__), "packaged",
                        "ATen", "native", "native_functions.yaml")
    with open(path, encoding="utf-8") as f:
        blocks = re.split(r"(?m)^- func: ", f.read())[1:]
    return frozenset("aten::" + block.split("(")[0] for block in blocks
                     if re.search(_MARKS[name], block))


def _write_tables(folder):
    """Writes the names of the operators, sorted, as lines for tables in C."""
    for name in _MARKS:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.writelines(f'"{one}",\n' for one in sorted(marked(name)))


def _standard(version):
    """Returns the C++ standard that PyTorch's headers need."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    return "-std=c++20" if numbers >= [2, 10] else "-std=c++17"


def _flags(folder):
    import torch

    headers = os.path.join(os.path.dirname(torch.__file__), "include")
    return [_standard(torch.__version__), *_FLAGS, f"-D_GLIBCXX_USE_CXX11_ABI={_abi()}", "-isystem", headers,
            "-isystem", os.path.join(headers, "torch", "csrc", "api",
                                     "include"), "-I", folder]


def _is_gcc(command):
    done = _start([*command, "-dM", "-E", "-x", "c++", os.devnull])
    return "__GNUC__" in done.stdout and "__clang__" not in done.stdout


# Headers that most files include. GCC precompiles them once for all files.
_PRELUDE = "#include <ATen/ATen.h>\n#include <torch/library.h>\n"


def _prelude(words, folder):
    """Makes the precompiled headers and returns the options that use them, or
    no options if that fails."""
    path = os.path.join(folder, "prelude.h")
    with open(path, "w", encoding="utf-8") as f:
        f.write(_PRELUDE)
    said = _run([*words, "-x", "c++-header", path, "-o", path + ".gch"])
    return [] if said else ["-include", path]


def _compile(words, folder, source):
    """Compiles one file. Must not import anything, because the main thread is
    in `import torch`."""
    made = os.path.join(folder, os.path.basename(source)[:-4] + ".o")
    return made, _run([*words, "-c", source, "-o", made])


def _start(words):
    # An environment in which the compiler does not load the made-up machine's
    # libraries.
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("LD_AUDIT", "LD_LIBRARY_PATH",
                                   "LD_PRELOAD")}
    return subprocess.run(words, capture_output=True, text=True, check=False,
                          env=environment)


def _run(words):
    done = _start(words)
    return "" if not done.returncode else (
        done.stderr.strip() or f"{words[0]} ended with {done.returncode}")


def _jobs():
    return max(1, len(os.sched_getaffinity(0)))


def _build(folder):
    from concurrent.futures import ThreadPoolExecutor

    import torch

    command = compiler()
    sys.stderr.write(f"gpukit: building its operators for PyTorch "
                     f"{torch.__version__}, this once\n")
    _write_tables(folder)
    files = [path for path in _sources() if path.endswith(".cpp")]
    words = [*command, *_flags(folder)]
    if _is_gcc(command):
        words += _OF_GCC
        words += _prelude(words, folder)
    with ThreadPoolExecutor(_jobs()) as pool:
        made = list(pool.map(
            lambda path: _compile(words, folder, path), files))
    _raise([said for _, said in made if said])
    libraries = os.path.join(os.path.dirname(torch.__file__), "lib")
    path = os.path.join(folder, NAME)
    said = _run([*command, "-shared", "-o", path, *[m for m, _ in made],
                 "-L" + libraries, *_LIBRARIES])
    _raise([said] if said else [])
    for name in os.listdir(folder):
        if name != NAME:
            os.unlink(os.path.join(folder, name))
    _sync(path)
    _sync(folder)


def _raise(said):
    if said:
        lines = said[0].splitlines()
        wrong = [line for line in lines if "error" in line] or lines
        raise RuntimeError(f"its C++ part cannot be built: {wrong[0]}")


def _sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
