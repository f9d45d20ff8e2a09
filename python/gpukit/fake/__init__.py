# SPDX-License-Identifier: Apache-2.0
"""Makes up a machine with GPUs for the running process.

    import gpukit.fake
    machine = gpukit.fake.use("h100:2")     # before any client of NVML
    import gpukit                           # or pynvml, torch, numba...

`gpukit fake` starts a program on a made-up machine; `use()` moves the running
program to one. It starts a machine and loads the machine's libraries; code in
this process that later opens libnvidia-ml.so.1, libcuda.so.1 or libcudart.so.N
finds them. It also sets the environment for child processes.

It needs the command `gpukit`; GPUKIT_COMMAND gives its path if it is not in
PATH.
"""

import os

__all__ = ["use", "Machine"]

_LIBRARIES = ("libnvidia-ml.so.1", "libcuda.so.1", "libcudart.so.12",
              "libcudart.so.13")
# The environment variables of the launcher that connect a program with its
# machine.
_VARIABLES = ("GPUKIT_MACHINE", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONPATH",
              "GPUKIT_TORCH")

_used = None


def _find_command():
    """Finds the command `gpukit`: the path in GPUKIT_COMMAND, else the one in
    this build tree, else the one that is installed."""
    import shutil

    from gpukit._command import find

    here = os.path.dirname(os.path.abspath(__file__))
    asked = os.environ.get("GPUKIT_COMMAND")
    built = os.path.normpath(os.path.join(here, "..", "..", "..", "bin",
                                          "gpukit"))
    if asked:
        if shutil.which(asked):
            return asked
        raise FileNotFoundError(
            f"GPUKIT_COMMAND is not a program: {asked!r}")
    if os.access(built, os.X_OK):
        return built
    found = find()
    if found:
        return found
    raise FileNotFoundError(
        "the command gpukit is not in PATH: install gpukit, or set "
        "GPUKIT_COMMAND")


def _loaded_already():
    """Returns the name of a driver library that is loaded in this process, or
    None."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as f:
        for line in f:
            path = line.split(maxsplit=5)[-1].strip()
            name = os.path.basename(path)
            if name.startswith(("libnvidia-ml.so", "libcuda.so")):
                return path
    return None


def _load(directories):
    """Loads the libraries. From now on, opening a library by one of their
    names finds them."""
    import ctypes

    for name in _LIBRARIES:
        for directory in directories:
            path = os.path.join(directory, name)
            if os.path.exists(path):
                ctypes.CDLL(path)
                break


def _prepare_torch(environment):
    """PyTorch looks for extensions only at the end of `import torch`. By then
    it has loaded NVIDIA's runtime, which needs a made-up driver."""
    import sys
    import warnings

    folder = environment["PYTHONPATH"].split(":")[0]
    if not os.path.isdir(os.path.join(folder, "_gpukit_torch")):
        return
    if folder not in sys.path:
        sys.path.append(folder)
    if "torch" in sys.modules:
        warnings.warn("gpukit.fake.use(): PyTorch was imported before, and "
                      "will not find these GPUs", RuntimeWarning, stacklevel=3)


class Machine:
    """A running made-up machine, made by `use()`.

    It ends with this process, or on close(). `path` is its file.
    """

    def __init__(self, command, process, environment):
        self._command = command
        self._process = process
        self.path = environment["GPUKIT_MACHINE"]
        self.environment = environment

    def ctl(self, *args):
        """Runs `gpukit fake ctl` on the machine and returns its output.

        >>> machine.ctl("set", 0, "temperature=90")
        ''
        """
        import subprocess

        words = [self._command, "fake", "ctl", "--name", self.path]
        done = subprocess.run(words + [str(arg) for arg in args], text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or done.stdout.strip())
        return done.stdout

    def close(self):
        """Ends the machine. Its libraries stay loaded and report the GPUs as
        lost."""
        if self._process.stdin.closed:
            return
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()

    def __repr__(self):
        return f"Machine({self.path!r})"


def use(gpus="a100-sxm4-80gb:8", *options):
    """Starts a machine and moves this process to it.

    gpus: as for `gpukit fake --gpus`, such as "h100:2". options: further
    options of `gpukit fake`, such as "--load=train:0,mem=3GiB" or
    "--driver=535". Raises RuntimeError if a driver library is already loaded,
    or if `gpukit fake` fails; TypeError for arguments that are not text;
    ValueError for an option that starts no machine; FileNotFoundError without
    the command.
    """
    global _used

    _check_words(gpus, options)
    if _used:
        raise RuntimeError(f"this process already uses {_used!r}")
    loaded = _loaded_already()
    if loaded:
        raise RuntimeError(f"too late: {loaded} is already loaded")
    machine = _start(_find_command(), gpus, options)
    os.environ.update((name, value) for name, value
                      in machine.environment.items() if value)
    _load(machine.environment["LD_LIBRARY_PATH"].split(":"))
    _prepare_torch(machine.environment)
    _used = machine
    return machine


def _check_words(gpus, options):
    if not isinstance(gpus, str):
        raise TypeError(f"gpus must be a text such as 'h100:2': {gpus!r}")
    for option in options:
        if not isinstance(option, str):
            raise TypeError("an option must be a text such as "
                            f"'--load=train:0': {option!r}")
        if option in ("--", "--help", "-?", "--usage"):
            raise ValueError(f"not an option that starts a machine: {option!r}")


def _start(command, gpus, options):
    import subprocess

    say = "\n".join(f'printf "%s\\n" "{name}=${name}"'
                    for name in _VARIABLES)
    process = subprocess.Popen(
        [command, "fake", "--quiet", "--gpus", gpus, *options, "--", "sh",
         "-c", say + "\nexec cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    rows = [process.stdout.readline().rstrip("\n").partition("=")
            for _ in _VARIABLES]
    if [row[0] for row in rows] != list(_VARIABLES):
        said = process.communicate()[1].strip()
        raise RuntimeError(said or f"{command} started no machine")
    return Machine(command, process, {name: value for name, _, value in rows})
