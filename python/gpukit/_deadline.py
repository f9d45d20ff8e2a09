# SPDX-License-Identifier: Apache-2.0
"""Deadlines for calls of other libraries that may wait for a GPU: a thread
makes the call, and the caller continues at the deadline. Calls of gpukit
itself have their deadline in the core."""

import os
import time
from _thread import allocate_lock, get_ident, start_new_thread
from queue import SimpleQueue

from gpukit import _core
from gpukit._errors import NVMLError

_TIMEOUT = 10
# The first call has more time: the driver may have to be loaded first.
STARTS_SLOWER = 5
_lines = {}  # device -> its _Line
_threads = set()  # the threads of all _Lines


class _Line:
    """Makes one call at a time in a thread, so that at most one thread waits
    for a GPU that does not answer. Callers hold no lock, because Ctrl-C may
    come at any moment."""

    def __init__(self):
        self._calls, self._since = SimpleQueue(), None
        start_new_thread(self._run, ())

    def _run(self):
        _threads.add(get_ident())
        while True:
            call = self._calls.get()
            if call.left:
                continue
            self._since = time.monotonic()
            try:
                call.result = call.function(*call.args, **call.kwargs)
            except BaseException as error:  # raised again in the caller
                call.error = error
            self._since = None
            call.done.release()
            del call

    def call(self, call, seconds):
        """Makes a call in the thread. Raises NVMLError_Timeout at the
        deadline."""
        since, now = self._since, time.monotonic()
        # If the previous call is still running, wait only until its own
        # deadline.
        patience = seconds if since is None else since + seconds - now
        if patience <= 0:
            raise NVMLError(_TIMEOUT)
        self._calls.put(call)
        if not call.done.acquire(timeout=patience):
            left = now + seconds - time.monotonic()
            if since == self._since or not call.done.acquire(
                    timeout=max(left, 0)):
                call.left = True
                raise NVMLError(_TIMEOUT)
        if call.error is not None:
            raise call.error
        return call.result


class _Call:
    __slots__ = ("function", "args", "kwargs", "done", "left", "result",
                 "error")

    def __init__(self, function, args, kwargs):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.done, self.left = allocate_lock(), False
        self.done.acquire()
        self.result = self.error = None


def _device_in(args):
    """The handle of the device, which is the first argument of a call, or
    None."""
    import ctypes

    if not args or not isinstance(args[0], (ctypes._Pointer, ctypes.c_void_p)):
        return None
    return ctypes.cast(args[0], ctypes.c_void_p).value


def call_within(function, args, kwargs, at=None, slower=1):
    """Calls function(*args, **kwargs) in another thread and returns the
    result. Raises NVMLError_Timeout at the deadline, or at once if the
    previous call for the device has been running for that long.

    at: the device, if it is not the first argument. slower: the factor by
    which this deadline is longer than usual."""
    if get_ident() in _threads:
        return function(*args, **kwargs)
    if at is None:
        at = _device_in(args)
    line = _lines.get(at)
    if line is None:
        line = _lines.setdefault(at, _Line())
    return line.call(_Call(function, args, kwargs),
                     slower * _core.deadline())


def _forget():
    _lines.clear()
    _threads.clear()


os.register_at_fork(after_in_child=_forget)
