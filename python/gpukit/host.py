# SPDX-License-Identifier: Apache-2.0
"""The host: psutil's functions if psutil is installed, otherwise gpukit's
functions with the same names; and also load, uptime and the process tree."""

import os
import time

_OWN = ("getuser", "hostname", "load_average", "uptime", "memory_percent",
        "swap_percent", "ppid_map", "reverse_ppid_map",
        "WINDOWS_SUBSYSTEM_FOR_LINUX", "WSL", "PsutilError", "getloadavg")


def _load():
    """Returns an attribute of psutil or of its replacement. Both are imported
    on first use."""
    own = globals()
    if "_source" in own:
        return own
    try:
        import psutil as source
    except ImportError:
        from gpukit import _procfs as source
    names = [name for name in source.__all__ if hasattr(source, name)]
    own.update({name: getattr(source, name) for name in names
                if name not in own},
               PsutilError=source.Error, getloadavg=source.getloadavg,
               PROCFS_PATH=source.PROCFS_PATH, _source=source,
               __all__=list(dict.fromkeys([*names, *_OWN])))
    return own


def __getattr__(name):
    why = ""
    if name == "__all__" or not name.startswith("__"):
        loaded = _load()
        if name in loaded:
            return loaded[name]
        if loaded["_source"].__name__ != "psutil":
            why = "; psutil, which may have it, is not installed"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{why}")


def __dir__():
    return sorted(_load())


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
    return time.time() - _load()["boot_time"]()


def memory_percent():
    """Memory of the host in use, in percent."""
    return _load()["virtual_memory"]().percent


def swap_percent():
    """Swap of the host in use, in percent."""
    return _load()["swap_memory"]().percent


def ppid_map():
    """A dict from each pid to its parent's pid."""
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
    """A dict from each pid to the pids of its children. For an unknown pid the
    list is empty."""
    from collections import defaultdict

    found = defaultdict(list)
    for pid, parent in ppid_map().items():
        found[parent].append(pid)
    return found
