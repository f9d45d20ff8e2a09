"""Locks in a forked child, where the threads that held them are not."""

import _thread
import os
from weakref import WeakValueDictionary

_owners = WeakValueDictionary()


def mend_when_forked(owner):
    """Has owner._mend_locks() called in every child that is forked while the
    owner lives."""
    _owners[id(owner)] = owner


def is_orphaned(lock):
    """In a forked child: whether a thread holds the lock that is not here. A
    lock that the forking thread holds is still its own."""
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True


def _mend_all():
    for owner in list(_owners.values()):
        owner._mend_locks()


# What the package imports when it is first wanted.
_LATE = ("collections", "contextlib", "ctypes", "datetime", "functools",
         "getpass", "operator", "pwd", "re", "threading",
         "gpukit._device_late", "gpukit._more_values", "gpukit._reasons",
         "gpukit.termcolor",
         "gpukit._host_process", "gpukit.collector", "gpukit.device",
         "gpukit.libcudart", "gpukit.process")
_late = list(_LATE)


def _finish_imports():
    """Before a fork: a module that another thread is importing would be locked
    for ever in the child. Importing it here as well waits for that thread."""
    if not _late or not _thread._count():
        return
    from importlib import import_module

    from gpukit import host

    host._load()
    while _late:
        import_module(_late[-1])
        _late.pop()


os.register_at_fork(before=_finish_imports, after_in_child=_mend_all)
