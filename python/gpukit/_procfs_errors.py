# SPDX-License-Identifier: Apache-2.0
"""The errors of processes, with psutil's names, for systems without psutil."""


class Error(Exception):
    """A process could not be read: `pid` and `name` identify it, `msg` is the
    reason."""

    _text = "process cannot be asked"

    def __init__(self, pid=None, name=None, msg=None):
        self.pid, self.name, self.msg = pid, name, msg or self._text
        super().__init__(pid, name, msg)

    def __repr__(self):
        return (f"{type(self).__name__}(pid={self.pid!r}, name={self.name!r}, "
                f"msg={self.msg!r})")

    def __str__(self):
        about = [f"{key}={value!r}" for key, value in
                 (("pid", self.pid), ("name", self.name)) if value is not None]
        return self.msg + (f" ({', '.join(about)})" if about else "")


class NoSuchProcess(Error):
    """The process has ended."""

    _text = "process no longer exists"


class ZombieProcess(NoSuchProcess):
    """The process has ended, but its parent has not waited for it."""

    _text = "process is a zombie"


class AccessDenied(Error):
    """The process belongs to another user."""

    _text = "access denied"


class TimeoutExpired(Error):
    """The process has not ended in time."""

    def __init__(self, seconds, pid=None, name=None):
        super().__init__(pid, name, f"still running after {seconds} seconds")
        self.seconds, self.args = seconds, (seconds, pid, name)
