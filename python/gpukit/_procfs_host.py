# SPDX-License-Identifier: Apache-2.0
"""The host from /proc, for systems without psutil. Provides the functions that
gpukit needs, with psutil's names, meanings and units."""

import os
import time

from gpukit._device_values import _named

PROCFS_PATH = "/proc"
TICKS = os.sysconf("SC_CLK_TCK")

Times = _named("scputimes", "user nice system idle iowait irq softirq steal "
               "guest guest_nice", "Seconds of CPUs.")
Memory = _named("svmem", "total available percent used free active inactive "
                "buffers cached shared slab",
                "Memory of the host in bytes, and percent.")
Swap = _named("sswap", "total used free percent sin sout",
              "Swap of the host in bytes, and percent.")


def read(*parts):
    """The text of a file in /proc."""
    with open(os.path.join(PROCFS_PATH, *map(str, parts)), "rb") as f:
        return f.read().decode(errors="surrogateescape")


def _rows(name, unit):
    """Reads a file with lines of the form "name number" as a dict from name to
    bytes. unit: how many bytes one unit of the file's numbers is."""
    rows = (line.split() for line in read(name).splitlines())
    return {row[0].rstrip(":"): int(row[1]) * unit
            for row in rows if len(row) > 1}


def percent(part, whole):
    """part / whole in percent; 0.0 if whole is 0."""
    return round(100.0 * part / whole, 1) if whole else 0.0


def virtual_memory():
    """Memory of the host in bytes: total, available, percent, used, free,
    active, inactive, buffers, cached, shared, slab."""
    rows = _rows("meminfo", 1024)
    total, free = rows["MemTotal"], rows["MemFree"]
    available = rows.get("MemAvailable", free)
    cached = rows.get("Cached", 0) + rows.get("SReclaimable", 0)
    return Memory(total, available, percent(total - available, total),
                  total - available, free, rows.get("Active", 0),
                  rows.get("Inactive", 0), rows.get("Buffers", 0), cached,
                  rows.get("Shmem", 0), rows.get("Slab", 0))


def swap_memory():
    """Swap of the host in bytes: total, used, free, percent; sin and sout:
    bytes swapped in and out since the host was started."""
    rows = _rows("meminfo", 1024)
    total, free = rows.get("SwapTotal", 0), rows.get("SwapFree", 0)
    try:
        moved = _rows("vmstat", os.sysconf("SC_PAGE_SIZE"))
    except OSError:
        moved = {}
    return Swap(total, total - free, free, percent(total - free, total),
                moved.get("pswpin", 0), moved.get("pswpout", 0))


def cpu_count(logical=True):
    """The number of CPUs; with logical=False, the number of cores."""
    if logical:
        return os.cpu_count()
    cores = set()
    root = "/sys/devices/system/cpu"
    for name in os.listdir(root):
        path = os.path.join(root, name, "topology")
        if name[3:].isdigit() and os.path.isdir(path):
            cores.add(tuple(read(path, part).strip() for part in
                            ("physical_package_id", "core_id")))
    return len(cores) or None


def cpu_times(percpu=False):
    """CPU time in seconds by activity, for all CPUs together; percpu: a list
    with one item per CPU."""
    lines = [line.split() for line in read("stat").splitlines()
             if line.startswith("cpu")]
    times = [Times(*(int(field) / TICKS for field in
                     (line[1:] + ["0"] * 10)[:10])) for line in lines]
    return times[1:] if percpu else times[0]


def _busy_percent(before, now):
    """The percentage of busy time between two readings. A counter that has
    decreased counts as unchanged."""
    spent = Times(*(max(new - old, 0) for old, new in zip(before, now)))
    total = sum(spent) - spent.guest - spent.guest_nice
    return percent(total - spent.idle - spent.iowait, total)


_last_times = {}  # percpu -> the reading of the last call


def cpu_percent(interval=None, percpu=False):
    """CPU use in percent since the last call; the first call returns 0.0.
    interval: measure over that many seconds, beginning now. percpu: a list
    with one item per CPU. Raises ValueError for a negative interval."""
    if interval is not None and interval < 0:
        raise ValueError(f"interval must not be negative: {interval!r}")
    if interval:
        before = cpu_times(percpu)
        time.sleep(interval)
    else:
        before = _last_times.get(percpu)
    now = _last_times[percpu] = cpu_times(percpu)
    if not percpu:
        return _busy_percent(before or now, now)
    return [_busy_percent(*pair) for pair in zip(before or now, now)]


def pids():
    """The ids of all processes."""
    return sorted(int(name) for name in os.listdir(PROCFS_PATH)
                  if name.isdigit())


def pid_exists(pid):
    """Whether a process with this id exists. Ids of threads do not count."""
    try:
        return f"\nTgid:\t{int(pid)}\n" in read(pid, "status")
    except OSError:
        return False


def boot_time():
    """When the host was started, in seconds since 1970."""
    for line in read("stat").splitlines():
        if line.startswith("btime "):
            return float(line.split()[1])
    return 0.0


def getloadavg():
    """Mean number of running processes over 1, 5 and 15 minutes."""
    return os.getloadavg()
