# SPDX-License-Identifier: Apache-2.0
"""Processes from /proc, for systems without psutil. Provides the part of
psutil that gpukit needs, with the same names, meanings and units."""

import os
import signal
import time

from gpukit import _procfs_host as _host
from gpukit._device_values import _named
from gpukit._procfs_errors import (AccessDenied, Error, NoSuchProcess,
                                   TimeoutExpired, ZombieProcess)
from gpukit._procfs_host import (PROCFS_PATH, boot_time, cpu_count,
                                 cpu_percent, cpu_times, getloadavg,
                                 pid_exists, pids, swap_memory,
                                 virtual_memory)
from gpukit.process import STATES

_STATUS = {"STATUS_" + text.upper().replace("-", "_"): text
           for text in STATES.values()}
_SYSTEMS = {name: name in ("LINUX", "POSIX") for name in (
    "AIX", "BSD", "FREEBSD", "LINUX", "MACOS", "NETBSD", "OPENBSD", "OSX",
    "POSIX", "SUNOS", "WINDOWS")}
globals().update(_STATUS, **_SYSTEMS)

__all__ = ["Process", "Error", "NoSuchProcess", "ZombieProcess",
           "AccessDenied", "TimeoutExpired", "cpu_count", "cpu_percent",
           "cpu_times", "virtual_memory", "swap_memory", "pids", "pid_exists",
           "boot_time", "getloadavg", "PROCFS_PATH", *_STATUS, *_SYSTEMS]

_PAGE = os.sysconf("SC_PAGE_SIZE")

ProcessMemory = _named("pmem", "rss vms shared text lib data dirty",
                       "Memory of a process in bytes.")
ProcessTimes = _named("pcputimes", "user system children_user "
                      "children_system iowait", "Seconds of a process.")
Ids = _named("puids", "real effective saved", "User ids.")


class Process:
    """A process by its id; this process if none is given.

    Methods raise NoSuchProcess if it has ended, ZombieProcess if it is a
    zombie and no longer has the value, AccessDenied if it belongs to another
    user.
    """

    def __init__(self, pid=None):
        self._pid = os.getpid() if pid is None else pid
        if not isinstance(pid, (int, type(None))):
            raise TypeError(f"pid must be an int: {pid!r}")
        if self._pid < 0:
            raise ValueError(f"pid must not be negative: {pid}")
        self._cpu = self._create_time = self._exit = None
        self._start = self._stat()[19]

    def __getattr__(self, name):
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}; "
            "psutil, which may have it, is not installed")

    @property
    def pid(self):
        """The process's id."""
        return self._pid

    def __eq__(self, other):
        if not isinstance(other, Process):
            return NotImplemented
        return (self._pid, self._start) == (other._pid, other._start)

    def __hash__(self):
        return hash((self._pid, self._start))

    def _ask(self, ask, name):
        try:
            return ask(self._pid, name)
        except PermissionError:
            self._check_zombie()
            raise AccessDenied(self._pid) from None
        except (FileNotFoundError, ProcessLookupError):
            self._check_zombie()
            raise NoSuchProcess(self._pid) from None

    def _read(self, name):
        return self._ask(_host.read, name)

    def _check_zombie(self):
        try:
            stat = _host.read(self._pid, "stat").rpartition(")")[2].split()
        except OSError:
            return
        if stat[0] == "Z":
            raise ZombieProcess(self._pid)

    def _link(self, name):
        def follow(pid, name):
            return os.readlink(f"{_host.PROCFS_PATH}/{pid}/{name}")

        try:
            path = self._ask(follow, name)
        except ZombieProcess:
            raise
        except NoSuchProcess:
            if self.is_running():
                return ""  # a kernel thread
            raise
        there = path.removesuffix(" (deleted)")
        return path if os.path.exists(path) else there

    def _stat(self):
        """The fields of /proc/PID/stat, beginning with the state."""
        return self._read("stat").rpartition(")")[2].split()

    def is_running(self):
        """Whether the process still exists. False if its id was reused."""
        try:
            return self._stat()[19] == self._start
        except Error:
            return False

    def name(self):
        """The process's short name."""
        text = self._read("stat")
        name = text[text.index("(") + 1:text.rindex(")")]
        if len(name) >= 15:
            try:
                full = os.path.basename((self.cmdline() or [""])[0])
            except Error:
                return name
            return full if full.startswith(name) else name
        return name

    def status(self):
        """The state: running, sleeping, zombie, ..."""
        return STATES.get(self._stat()[0], "?")

    def ppid(self):
        """The parent's id."""
        return int(self._stat()[1])

    def parent(self):
        """The parent, or None."""
        self._check_same()
        try:
            found = Process(self.ppid())
        except NoSuchProcess:
            return None
        return found if int(found._start) <= int(self._start) else None

    def parents(self):
        """The ancestors: the parent, its parent, and so on."""
        found = []
        above = self.parent()
        while above is not None:
            found.append(above)
            above = above.parent()
        return found

    def children(self, recursive=False):
        """The child processes; with recursive=True, all descendants."""
        self._check_same()
        by_parent = {}
        for pid in pids():
            try:
                each = Process(pid)
                by_parent.setdefault(each.ppid(), []).append(each)
            except Error:
                continue
        found, left = [], [self._pid]
        while left:
            below = by_parent.get(left.pop(), [])
            found += below
            if recursive:
                left += [each.pid for each in below]
        return found

    def cmdline(self):
        """The arguments. Raises ZombieProcess for a zombie."""
        text = self._read("cmdline")
        if not text:
            self._check_zombie()
        if text.endswith("\0"):
            text = text[:-1]
        elif " " in text and "\0" not in text:
            return text.split()  # the program has overwritten its arguments
        return text.split("\0") if text else []

    def cwd(self):
        """The working directory."""
        return self._link("cwd")

    def exe(self):
        """The path of the program."""
        return self._link("exe")

    def environ(self):
        """The environment with which the process was started."""
        rows = (row.partition("=") for row in self._read("environ").split(
            "\0"))
        return {name: value for name, equals, value in rows if equals}

    def uids(self):
        """Real, effective and saved user id."""
        for line in self._read("status").splitlines():
            if line.startswith("Uid:"):
                return Ids(*(int(part) for part in line.split()[1:4]))
        raise NoSuchProcess(self._pid)

    def username(self):
        """The name of the real user, or the user id if it has no name."""
        import pwd

        uid = self.uids().real
        try:
            return pwd.getpwuid(uid).pw_name
        except KeyError:
            return str(uid)

    def create_time(self):
        """When the process began, in seconds since 1970."""
        if self._create_time is None:
            self._create_time = boot_time() + int(self._start) / _host.TICKS
        return self._create_time

    def num_threads(self):
        """The number of threads."""
        return int(self._stat()[17])

    def nice(self, value=None):
        """Returns the nice value, or sets it to `value`."""
        if value is None:
            return int(self._stat()[16])
        self._check_same()
        try:
            return os.setpriority(os.PRIO_PROCESS, self._pid, value)
        except PermissionError:
            raise AccessDenied(self._pid) from None

    def cpu_times(self):
        """Seconds of CPU used by the process and by its ended children."""
        stat = self._stat()
        wait = int(stat[39]) if len(stat) > 39 else 0
        return ProcessTimes(*(int(part) / _host.TICKS
                              for part in stat[11:15]), wait / _host.TICKS)

    def cpu_percent(self, interval=None):
        """CPU use in percent of one core since the last call; the first call
        returns 0.0. interval: measure over that many seconds, beginning
        now."""
        if interval is not None and interval < 0:
            raise ValueError(f"interval must not be negative: {interval!r}")
        if interval:
            self._cpu = self._cpu_now()
            time.sleep(interval)
        now, before = self._cpu_now(), self._cpu
        self._cpu = now
        if before is None or now[0] <= before[0]:
            return 0.0
        return round(100 * (now[1] - before[1]) / (now[0] - before[0]), 1)

    def _cpu_now(self):
        times = self.cpu_times()
        return time.monotonic(), times.user + times.system

    def memory_info(self):
        """Memory of the process in bytes: rss, vms, ..."""
        vms, rss, shared, text, lib, data, dirty = (
            int(part) * _PAGE for part in self._read("statm").split()[:7])
        return ProcessMemory(rss, vms, shared, text, lib, data, dirty)

    def memory_percent(self, memtype="rss"):
        """The share of the host's memory that the process uses, in percent."""
        return 100.0 * getattr(self.memory_info(), memtype) / \
            virtual_memory().total

    def _check_same(self):
        if not self.is_running():
            raise NoSuchProcess(self._pid)

    def send_signal(self, sig):
        """Sends a signal. Raises NoSuchProcess if the id belongs to another
        process now."""
        self._check_same()
        try:
            os.kill(self._pid, sig)
        except PermissionError:
            raise AccessDenied(self._pid) from None
        except ProcessLookupError:
            raise NoSuchProcess(self._pid) from None

    def kill(self):
        """Ends the process at once (SIGKILL)."""
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        """Asks the process to end (SIGTERM)."""
        self.send_signal(signal.SIGTERM)

    def suspend(self):
        """Stops the process (SIGSTOP)."""
        self.send_signal(signal.SIGSTOP)

    def resume(self):
        """Continues the process (SIGCONT)."""
        self.send_signal(signal.SIGCONT)

    def wait(self, timeout=None):
        """Waits for the process to end. Returns the exit status of a child, or
        -N if signal N ended it. Raises TimeoutExpired after `timeout`
        seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while self._exit is None and self.is_running():
            try:
                done, status = os.waitpid(self._pid, os.WNOHANG)
                if done:
                    self._exit = os.waitstatus_to_exitcode(status)
                    continue
            except ChildProcessError:
                pass
            if end is not None and time.monotonic() >= end:
                raise TimeoutExpired(timeout, self._pid)
            time.sleep(0.01)
        return self._exit

    _DICT = ("cmdline", "cpu_percent", "cpu_times", "create_time", "cwd",
             "environ", "exe", "memory_info", "memory_percent", "name",
             "nice", "num_threads", "pid", "ppid", "status", "uids",
             "username")

    def as_dict(self, attrs=None, ad_value=None):
        """Returns a dict of values by name. ad_value replaces values that
        cannot be read. Raises ValueError for names that need psutil."""
        wrong = set(attrs or ()).difference(self._DICT)
        if wrong:
            raise ValueError(f"not available without psutil: {sorted(wrong)}")
        found = {}
        for name in attrs or self._DICT:
            value = getattr(self, name)
            try:
                found[name] = value() if callable(value) else value
            except (AccessDenied, ZombieProcess):
                found[name] = ad_value
        return found

    def oneshot(self):
        """Does nothing: reading values is cheap here. Exists for programs
        written for psutil."""
        import contextlib

        return contextlib.nullcontext()
