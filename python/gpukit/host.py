"""The host: psutil's functions where it is installed, else gpukit's own of
the same names; and load, uptime and the tree of processes."""

import os
import time

try:
    import psutil as _source
except ImportError:
    from gpukit import _procfs as _source

_OWN = ("getuser", "hostname", "load_average", "uptime", "memory_percent",
        "swap_percent", "ppid_map", "reverse_ppid_map",
        "WINDOWS_SUBSYSTEM_FOR_LINUX", "WSL", "PsutilError", "getloadavg")

globals().update((name, getattr(_source, name)) for name in _source.__all__
                 if hasattr(_source, name))
PsutilError = _source.Error
getloadavg = _source.getloadavg
PROCFS_PATH = _source.PROCFS_PATH
__all__ = [*dict.fromkeys([*(name for name in _source.__all__
                             if hasattr(_source, name)), *_OWN])]

WSL = WINDOWS_SUBSYSTEM_FOR_LINUX = os.environ.get("WSL_DISTRO_NAME")


def getuser():
    """The name of the user of this process."""
    import getpass

    return getpass.getuser()


def hostname():
    """The name of the host."""
    return os.uname().nodename


def load_average():
    """Mean number of running processes over 1, 5 and 15 minutes."""
    return os.getloadavg()


def uptime():
    """Seconds since the host was started."""
    return time.time() - _source.boot_time()


def memory_percent():
    """Memory of the host in use, in percent."""
    return _source.virtual_memory().percent


def swap_percent():
    """Swap of the host in use, in percent."""
    return _source.swap_memory().percent


def ppid_map():
    """pid -> the parent's, of all processes."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as f:
                found[int(name)] = int(f.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue
    return found


def reverse_ppid_map():
    """pid -> the pids of its children."""
    found = {}
    for pid, parent in ppid_map().items():
        found.setdefault(parent, []).append(pid)
    return found
