"""The C++ part: built by the first program that needs it, against the headers
of the PyTorch that it uses, and kept for all later ones."""

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
# Numbers are the same on each CPU: no product is added without being rounded.
_FLAGS = ("-O2", "-fPIC", "-fvisibility=hidden", "-fno-math-errno",
          "-ffp-contract=off", "-w")
# Several threads, of the library of GCC's that PyTorch has loaded: not linked.
_OF_GCC = ("-fopenmp",)
_LIBRARIES = ("-ltorch_cpu", "-lc10", "-lc10_cuda", "-ltorch_cuda", "-ldl")


class NoCompiler(RuntimeError):
    """There is no C++ compiler here."""


def compiler():
    """The command of a C++ compiler, as a list; NoCompiler."""
    asked = os.environ.get("CXX", "").split()
    if asked and shutil.which(asked[0]):
        return asked
    for name in _COMPILERS:
        if shutil.which(name):
            return [name]
    raise NoCompiler("there is no C++ compiler (c++, g++, clang++; or CXX)")


def _sources():
    names = sorted(os.listdir(SOURCES))
    return [os.path.join(SOURCES, name) for name in names
            if name.endswith((".cpp", ".h", ".inc"))]


def _abi():
    import torch

    return int(torch._C._GLIBCXX_USE_CXX11_ABI)


def _digest():
    """What a library is built from."""
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
    """What a library was built from and for, as the name of its folder."""
    import torch

    return _key(torch.__version__, _abi())


def cache():
    """The folder of all built libraries."""
    above = os.environ.get("XDG_CACHE_HOME") or os.path.join(
        os.path.expanduser("~"), ".cache")
    return os.path.join(above, "gpukit", "torch")


def _is_ours(path):
    """Nobody but this user, or root, can have written it."""
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
    """The path of the built library of this PyTorch; None: not built yet."""
    return _find(key())


def find_for(version):
    """The same of a PyTorch that is not imported; it has one of the ABIs."""
    return _find(_key(version, 1)) or _find(_key(version, 0))


def find_or_build():
    """The same, built if need be. NoCompiler, RuntimeError."""
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
    """One process builds; the others wait for it and find its work."""

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
    """Builds beside and renames: the folder is there when it is whole."""
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
    """Where no cache can be kept."""
    import atexit

    folder = tempfile.mkdtemp(prefix="gpukit-torch-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _build(folder)
    return os.path.join(folder, NAME)


# What PyTorch's own table of operators has and the dispatcher does not tell:
# whose tensors CUDA's own kernels check, or nobody; whose functions torchgen
# makes in another way, and names so.
_MARKS = {"unchecked.inc": r"(?m)^  device_check: NoCheck",
          "structured.inc": r"(?m)^  structured(_delegate)?:"}


@functools.lru_cache(maxsize=None)
def marked(name):
    """The operators that one of these tables has."""
    import torchgen

    path = os.path.join(os.path.dirname(torchgen.__file__), "packaged",
                        "ATen", "native", "native_functions.yaml")
    with open(path, encoding="utf-8") as f:
        blocks = re.split(r"(?m)^- func: ", f.read())[1:]
    return frozenset("aten::" + block.split("(")[0] for block in blocks
                     if re.search(_MARKS[name], block))


def _write_tables(folder):
    """Lines of C tables: names of operators, sorted."""
    for name in _MARKS:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.writelines(f'"{one}",\n' for one in sorted(marked(name)))


def _standard(version):
    """Of C++, as PyTorch's headers want it."""
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


# What most files include, read once for all of them where the compiler is GCC.
_PRELUDE = "#include <ATen/ATen.h>\n#include <torch/library.h>\n"


def _prelude(words, folder):
    """More words, with which files compile faster; none if that fails."""
    path = os.path.join(folder, "prelude.h")
    with open(path, "w", encoding="utf-8") as f:
        f.write(_PRELUDE)
    said = _run([*words, "-x", "c++-header", path, "-o", path + ".gch"])
    return [] if said else ["-include", path]


def _compile(words, folder, source):
    """One file. Must not import: the main thread is importing torch."""
    made = os.path.join(folder, os.path.basename(source)[:-4] + ".o")
    return made, _run([*words, "-c", source, "-o", made])


def _start(words):
    # The machine's libraries are no business of the compiler's.
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
