# SPDX-License-Identifier: Apache-2.0
"""`ttl_cache` keeps the results of a function for some time."""

import time
from _thread import RLock

from gpukit._forked import is_orphaned, mend_when_forked

__all__ = ["ttl_cache"]

_NO_KEYWORDS = object()


def _make_key(args, kwargs, typed):
    key = args
    if kwargs:
        key += (_NO_KEYWORDS,) + tuple(sorted(kwargs.items()))
    if typed:
        key += tuple(type(arg) for arg in args)
        key += tuple(type(arg) for _, arg in sorted(kwargs.items()))
    return key


class _Cache:
    """A dict from key to (result, expiry time). The least recently used key
    comes first."""

    def __init__(self, function, maxsize, ttl, timer, typed):
        from collections import OrderedDict

        self.function, self.maxsize, self.ttl = function, maxsize, ttl
        self.timer, self.typed, self.lock = timer, typed, RLock()
        self.rows = OrderedDict()
        self.hits = self.misses = 0
        mend_when_forked(self)

    def _mend_locks(self):
        if is_orphaned(self.lock):
            self.lock = RLock()

    def find(self, key):
        """Returns the entry of a key, or None. The key becomes the most
        recently used one."""
        with self.lock:
            row = self.rows.get(key)
            if row is not None and self.timer() < row[1]:
                self.rows.move_to_end(key)
                self.hits += 1
                return row
            self.rows.pop(key, None)
            self.misses += 1
            return None

    def put(self, key, result):
        if self.maxsize == 0:
            return
        with self.lock:
            self.rows[key] = (result, self.timer() + self.ttl)
            self.rows.move_to_end(key)
            self.expire()
            while self.maxsize is not None and len(self.rows) > self.maxsize:
                self.rows.popitem(last=False)

    def expire(self):
        now = self.timer()
        for key in [k for k, row in self.rows.items() if row[1] <= now]:
            del self.rows[key]

    def call(self, args, kwargs):
        key = _make_key(args, kwargs, self.typed)
        row = self.find(key)
        if row is None:
            row = (self.function(*args, **kwargs),)
            self.put(key, row[0])
        return row[0]

    def clear(self):
        with self.lock:
            self.rows.clear()
            self.hits = self.misses = 0

    def info(self):
        from functools import _CacheInfo

        with self.lock:
            self.expire()
            return _CacheInfo(self.hits, self.misses, self.maxsize,
                              len(self.rows))


def _decorate(function, maxsize, ttl, timer, typed):
    from functools import update_wrapper

    cache = _Cache(function, maxsize, ttl, timer, typed)

    def wrapper(*args, **kwargs):
        return cache.call(args, kwargs)

    wrapper.cache_info = cache.info
    wrapper.cache_clear = cache.clear
    wrapper.cache_parameters = lambda: {
        "maxsize": maxsize, "ttl": ttl, "timer": timer, "typed": typed}
    return update_wrapper(wrapper, function)


def ttl_cache(maxsize=128, *, ttl=600.0, timer=time.monotonic, typed=False):
    """Keeps results of a function for `ttl` seconds.

    maxsize: the number of entries; the least recently used one is dropped
    first. None: no limit; 0: keep nothing. timer: a clock in seconds. typed: 1
    and 1.0 are different arguments. Threads may share the function.

    Raises ValueError for a negative ttl, TypeError for a wrong maxsize.
    """
    if ttl < 0.0:
        raise ValueError("ttl must not be negative")
    if callable(maxsize):
        return _decorate(maxsize, 128, ttl, timer, typed)
    if maxsize is not None and not isinstance(maxsize, int):
        raise TypeError("maxsize must be an integer, a function or None")
    size = None if maxsize is None else max(maxsize, 0)
    return lambda function: _decorate(function, size, ttl, timer, typed)
