"""Locks in a forked child, where the threads that held them are not."""

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


os.register_at_fork(after_in_child=_mend_all)
