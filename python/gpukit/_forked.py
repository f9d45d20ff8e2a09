# SPDX-License-Identifier: Apache-2.0
"""Locks in a forked child, in which the threads that held them do not
exist."""

import _thread
import os
from weakref import WeakValueDictionary

_owners = WeakValueDictionary()


def mend_when_forked(owner):
    """Calls owner._mend_locks() in every forked child, as long as the owner
    exists."""
    _owners[id(owner)] = owner


def is_orphaned(lock):
    """Called in a forked child: whether a lock is held by a thread that does
    not exist there. The thread that forked still holds its own locks."""
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True


def _mend_all():
    for owner in list(_owners.values()):
        owner._mend_locks()


# Modules that the package imports on first use.
_LATE = ("collections", "contextlib", "ctypes", "datetime", "functools",
         "getpass", "operator", "pwd", "re", "threading",
         "gpukit._device_late", "gpukit._more_values", "gpukit._reasons",
         "gpukit.termcolor",
         "gpukit._host_process", "gpukit.collector", "gpukit.device",
         "gpukit.libcudart", "gpukit.process")
_late = list(_LATE)


def _finish_imports():
    """Called before a fork. If another thread is importing a module, that
    module would stay locked in the child for ever. Importing the module here
    waits for the other thread."""
    if not _late or not _thread._count():
        return
    from importlib import import_module

    from gpukit import host

    host._load()
    while _late:
        import_module(_late[-1])
        _late.pop()


os.register_at_fork(before=_finish_imports, after_in_child=_mend_all)
