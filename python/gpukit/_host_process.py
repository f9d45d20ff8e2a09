# SPDX-License-Identifier: Apache-2.0
"""A process of the host. This module is loaded on first use, because psutil is
slow to load."""

import datetime
import os
import time
from abc import ABC
from _thread import RLock
from weakref import WeakValueDictionary

from gpukit import host
from gpukit._forked import is_orphaned, mend_when_forked
from gpukit.process import GpuProcess
from gpukit.snapshot import Snapshot
from gpukit.utils import command_join, timedelta2human


class HostProcess(host.Process, ABC):
    """A process by its id; this process if none is given. Has all of
    psutil.Process if psutil is installed.

    There is only one such object per process at a time. Raises
    host.NoSuchProcess if there is no such process.
    """

    INSTANCE_LOCK = RLock()
    INSTANCES = WeakValueDictionary()

    _begun = None  # when the process began, if that has been read

    @classmethod
    def _mend_locks(cls):
        if is_orphaned(cls.INSTANCE_LOCK):
            cls.INSTANCE_LOCK = RLock()

    def __new__(cls, pid=None):
        pid = os.getpid() if pid is None else pid
        with cls.INSTANCE_LOCK:
            self = cls.INSTANCES.get(pid)
            if self is None or not self.is_running():
                self = object.__new__(cls)
                host.Process.__init__(self, pid)
                self._username = self._name_seen = None
                cls.INSTANCES[pid] = self
            return self

    def __init__(self, pid=None):
        pass

    def __reduce__(self):
        return type(self), (self.pid,)

    def __repr__(self):
        try:
            self._name_seen = self.name()
            status = str(self.status())
        except host.PsutilError:
            status = "terminated"
        about = [f"pid={self.pid}"]
        if self._name_seen is not None:
            about.append(f"name={self._name_seen!r}")
        about.append(f"status={status!r}")
        if self._begun is not None:
            about.append(f"started={_clock(self._begun)!r}")
        return f"{type(self).__name__}({', '.join(about)})"

    __str__ = __repr__

    def create_time(self):
        """When the process began, in seconds since 1970."""
        self._begun = super().create_time()
        return self._begun

    def username(self):
        """The owner's name."""
        if self._username is None:
            self._username = super().username()
        return self._username

    def cmdline(self):
        """The arguments; empty ones at the end are left out."""
        args = list(super().cmdline())
        while args and not args[-1]:
            args.pop()
        return args

    def command(self):
        """The arguments as one text."""
        return command_join(self.cmdline())

    def running_time(self):
        """How long the process has been running, as a timedelta."""
        return datetime.timedelta(seconds=self.running_time_in_seconds())

    def running_time_human(self):
        """How long the process has been running, as text."""
        return timedelta2human(self.running_time())

    def running_time_in_seconds(self):
        """How long the process has been running, in seconds."""
        return max(time.time() - self.create_time(), 0.0)

    elapsed_time = running_time
    elapsed_time_human = running_time_human
    elapsed_time_in_seconds = running_time_in_seconds

    def rss_memory(self):
        """The host memory of the process in bytes."""
        return self.memory_info().rss

    def parent(self):
        """The parent process, or None."""
        found = super().parent()
        return None if found is None else HostProcess(found.pid)

    def children(self, recursive=False):
        """The child processes; with recursive=True, all descendants."""
        found = []
        for child in super().children(recursive):
            try:
                found.append(HostProcess(child.pid))
            except host.NoSuchProcess:
                continue
        return found

    def as_snapshot(self, attrs=None, ad_value=None):
        """The current values of the process: psutil's values, the command and
        the running time. ad_value replaces values that cannot be read or that
        a zombie does not have."""
        own = {"command", "running_time", "running_time_human"}
        asked = None if attrs is None else [a for a in attrs if a not in own]
        items = self.as_dict(asked, ad_value) if asked != [] else {}
        for name in own if attrs is None else own.intersection(attrs):
            try:
                items[name] = getattr(self, name)()
            except (host.AccessDenied, host.ZombieProcess):
                items[name] = ad_value
        return Snapshot(self, **items)


mend_when_forked(HostProcess)
HostProcess.register(GpuProcess)  # it has all methods that a HostProcess has


def _clock(seconds):
    """The time of day, preceded by the date unless that is today."""
    then = datetime.datetime.fromtimestamp(seconds)
    today = then.date() == datetime.date.today()
    return then.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S")


HostProcess.__module__ = "gpukit.process"
