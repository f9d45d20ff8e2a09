"""Processes and the host of /proc, where psutil is not installed: the part of
its names that gpukit itself needs, with its meaning and units."""

import os
import signal
import time

from gpukit._device_values import _named
from gpukit.process import STATES

__all__ = ["Process", "Error", "NoSuchProcess", "ZombieProcess",
           "AccessDenied", "TimeoutExpired", "cpu_count", "cpu_percent",
           "cpu_times", "virtual_memory", "swap_memory", "pids", "pid_exists",
           "boot_time", "getloadavg"]

PROCFS_PATH = "/proc"
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")

Times = _named("scputimes", "user nice system idle iowait irq softirq steal "
               "guest guest_nice", "Seconds of all CPUs.")
Memory = _named("svmem", "total available percent used free",
                "Memory of the host in bytes, and percent.")
Swap = _named("sswap", "total used free percent",
              "Swap of the host in bytes, and percent.")
ProcessMemory = _named("pmem", "rss vms shared text lib data dirty",
                       "Memory of a process in bytes.")
ProcessTimes = _named("pcputimes", "user system children_user "
                      "children_system iowait", "Seconds of a process.")
Ids = _named("puids", "real effective saved", "User ids.")


class Error(Exception):
    """A process cannot be asked; `pid` and `name` say which."""

    _text = "process cannot be asked"

    def __init__(self, pid=None, name=None, msg=""):
        super().__init__(msg or f"{self._text} (pid={pid})")
        self.pid, self.name, self.msg = pid, name, msg or self._text


class NoSuchProcess(Error):
    """The process ended."""

    _text = "process no longer exists"


class ZombieProcess(NoSuchProcess):
    """The process ended, and its parent has not waited for it."""

    _text = "process is a zombie"


class AccessDenied(Error):
    """The process belongs to somebody else."""

    _text = "access denied"


class TimeoutExpired(Error):
    """The process has not ended in time."""

    _text = "timeout"


def _text(*parts):
    with open(os.path.join(PROCFS_PATH, *parts), "rb") as f:
        return f.read().decode(errors="surrogateescape")


def _memory_lines():
    rows = (line.split() for line in _text("meminfo").splitlines())
    return {row[0][:-1]: int(row[1]) * 1024 for row in rows if len(row) > 1}


def _percent(part, whole):
    return round(100.0 * part / whole, 1) if whole else 0.0


def virtual_memory():
    """Memory of the host in bytes: total, available, percent, used, free."""
    rows = _memory_lines()
    total = rows["MemTotal"]
    available = rows.get("MemAvailable", rows["MemFree"])
    return Memory(total, available, _percent(total - available, total),
                  total - available, rows["MemFree"])


def swap_memory():
    """Swap of the host in bytes: total, used, free, percent."""
    rows = _memory_lines()
    total, free = rows.get("SwapTotal", 0), rows.get("SwapFree", 0)
    return Swap(total, total - free, free, _percent(total - free, total))


def cpu_count(logical=True):
    """How many CPUs there are; with logical=False, how many cores."""
    if logical:
        return os.cpu_count()
    cores = set()
    root = "/sys/devices/system/cpu"
    for name in os.listdir(root):
        path = os.path.join(root, name, "topology")
        if name[3:].isdigit() and os.path.isdir(path):
            cores.add(tuple(_text(path, part).strip() for part in
                            ("physical_package_id", "core_id")))
    return len(cores) or None


def cpu_times():
    """Seconds of all CPUs, by what they did."""
    line = _text("stat").split("\n", 1)[0].split()[1:]
    values = [int(field) / _TICKS for field in line[:10]]
    return Times(*values, *[0.0] * (10 - len(values)))


def _busy(times):
    total = sum(times) - times.guest - times.guest_nice
    return total - times.idle - times.iowait, total


_last_times = None


def cpu_percent(interval=None):
    """How busy the CPUs are in percent, since the last call; 0.0 at the first
    one. interval: over so many seconds from now."""
    global _last_times
    if interval:
        _last_times = _busy(cpu_times())
        time.sleep(interval)
    now, before = _busy(cpu_times()), _last_times
    _last_times = now
    if before is None or now[1] <= before[1]:
        return 0.0
    return _percent(max(now[0] - before[0], 0), now[1] - before[1])


def pids():
    """The ids of all processes."""
    return sorted(int(name) for name in os.listdir(PROCFS_PATH)
                  if name.isdigit())


def pid_exists(pid):
    """Whether there is such a process."""
    return os.path.exists(os.path.join(PROCFS_PATH, str(pid)))


def boot_time():
    """When the host was started, in seconds since 1970."""
    for line in _text("stat").splitlines():
        if line.startswith("btime "):
            return float(line.split()[1])
    return 0.0


def getloadavg():
    """Mean number of running processes over 1, 5 and 15 minutes."""
    return os.getloadavg()


class Process:
    """A process by its id; ours without one.

    Methods raise NoSuchProcess when it ended, AccessDenied when it is
    somebody else's.
    """

    def __init__(self, pid=None):
        self._pid = os.getpid() if pid is None else pid
        self._cpu = self._hash = None
        self._create_time = None
        self._start = self._stat()[19]

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

    def _read(self, name):
        try:
            return _text(str(self._pid), name)
        except PermissionError:
            raise AccessDenied(self._pid) from None
        except OSError:
            raise NoSuchProcess(self._pid) from None

    def _link(self, name):
        try:
            return os.readlink(f"{PROCFS_PATH}/{self._pid}/{name}")
        except PermissionError:
            raise AccessDenied(self._pid) from None
        except OSError:
            if self.is_running():
                raise ZombieProcess(self._pid) from None
            raise NoSuchProcess(self._pid) from None

    def _stat(self):
        """The fields of stat from the state on."""
        return self._read("stat").rpartition(")")[2].split()

    def is_running(self):
        """Whether the process is there, and no other one has its id."""
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
        """running, sleeping, zombie, ..."""
        return STATES.get(self._stat()[0], "?")

    def ppid(self):
        """The parent's id."""
        return int(self._stat()[1])

    def parent(self):
        """The parent, or None."""
        try:
            return type(self)(self.ppid())
        except NoSuchProcess:
            return None

    def children(self, recursive=False):
        """The processes that this one has started; recursive: theirs too."""
        by_parent = {}
        for pid in pids():
            try:
                each = type(self)(pid)
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
        """The arguments; none for a zombie."""
        text = self._read("cmdline").rstrip("\0")
        return text.split("\0") if text else []

    def cwd(self):
        """The working directory."""
        return self._link("cwd")

    def exe(self):
        """The path of the program."""
        return self._link("exe")

    def environ(self):
        """The environment that the process was started with."""
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
        """The name of the real user; its number without a name."""
        import pwd

        uid = self.uids().real
        try:
            return pwd.getpwuid(uid).pw_name
        except KeyError:
            return str(uid)

    def create_time(self):
        """When the process began, in seconds since 1970."""
        if self._create_time is None:
            self._create_time = boot_time() + int(self._start) / _TICKS
        return self._create_time

    def num_threads(self):
        """The number of threads."""
        return int(self._stat()[17])

    def nice(self):
        """The nice value."""
        return int(self._stat()[16])

    def cpu_times(self):
        """Seconds of CPU, of the process and of its ended children."""
        stat = self._stat()
        wait = int(stat[39]) if len(stat) > 39 else 0
        return ProcessTimes(*(int(part) / _TICKS for part in stat[11:15]),
                            wait / _TICKS)

    def cpu_percent(self, interval=None):
        """CPU in percent of one core since the last call; 0.0 at the first.
        interval: over so many seconds from now."""
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
        """Its share of the memory of the host in percent."""
        return 100.0 * getattr(self.memory_info(), memtype) / \
            virtual_memory().total

    def send_signal(self, sig):
        """Sends a signal. NoSuchProcess when the id is another one's now."""
        if not self.is_running():
            raise NoSuchProcess(self._pid)
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
        """Lets the process go on (SIGCONT)."""
        self.send_signal(signal.SIGCONT)

    def wait(self, timeout=None):
        """Waits for the end; the exit status of a child. TimeoutExpired."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.is_running():
            try:
                done, status = os.waitpid(self._pid, os.WNOHANG)
                if done:
                    return os.waitstatus_to_exitcode(status)
            except ChildProcessError:
                pass
            if end is not None and time.monotonic() >= end:
                raise TimeoutExpired(self._pid)
            time.sleep(0.01)
        return None

    _DICT = ("cmdline", "cpu_percent", "cpu_times", "create_time", "cwd",
             "environ", "exe", "memory_info", "memory_percent", "name",
             "nice", "num_threads", "pid", "ppid", "status", "uids",
             "username")

    def as_dict(self, attrs=None, ad_value=None):
        """Values by name; ad_value for those that may not be read."""
        found = {}
        for name in attrs or self._DICT:
            value = getattr(self, name)
            try:
                found[name] = value() if callable(value) else value
            except (AccessDenied, ZombieProcess):
                found[name] = ad_value
        return found

    def oneshot(self):
        """For programs written for psutil: values are cheap here."""
        import contextlib

        return contextlib.nullcontext()
