# SPDX-License-Identifier: Apache-2.0
"""Locks in a forked child, which does not have the threads that held them."""

import _thread
import os
from weakref import WeakValueDictionary

_owners = WeakValueDictionary()


def mend_when_forked(owner):
    """Calls owner._mend_locks() in every forked child, as long as the owner
    exists."""
    _owners[id(owner)] = owner


def is_orphaned(lock):
    """In a forked child: whether the lock is held by a thread that does not
    exist in the child. A lock held by the forking thread still belongs to that
    thread."""
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
    """Called before a fork. A module that another thread is importing would
    stay locked in the child for ever; importing it here waits for that
    thread."""
    if not _late or not _thread._count():
        return
    from importlib import import_module

    from gpukit import host

    host._load()
    while _late:
        import_module(_late[-1])
        _late.pop()


os.register_at_fork(before=_finish_imports, after_in_child=_mend_all)
