# SPDX-License-Identifier: Apache-2.0
"""Conversion of sizes, times and shares to text and back; colours; command
lines."""

import os
import sys

from gpukit import _core
from gpukit.caching import ttl_cache
from gpukit.na import NA, NaType, NotApplicable, NotApplicableType
from gpukit.snapshot import Snapshot

__all__ = ["NA", "NaType", "NotApplicable", "NotApplicableType", "UINT_MAX",
           "ULONGLONG_MAX", "KiB", "MiB", "GiB", "TiB", "PiB", "SIZE_UNITS",
           "bytes2human", "human2bytes", "timedelta2human",
           "utilization2string", "colored", "set_color", "boolify",
           "Snapshot", "ttl_cache", "command_join"]

UINT_MAX = 0xFFFFFFFF
ULONGLONG_MAX = 0xFFFFFFFFFFFFFFFF
KiB, MiB, GiB, TiB, PiB = (1 << shift for shift in (10, 20, 30, 40, 50))
SIZE_UNITS = {None: 1, "": 1, "B": 1,
              "KiB": KiB, "MiB": MiB, "GiB": GiB, "TiB": TiB, "PiB": PiB,
              "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
              "PB": 10**15}


def bytes2human(b, /, *, min_unit=1):
    """Formats bytes as 1023B, 1.00MiB, 20.00GiB. Returns NA for NA and for
    texts without a number.

    min_unit: the smallest unit to use, in bytes. Raises TypeError for None,
    OverflowError for infinity.
    """
    if not isinstance(b, int):
        try:
            b = round(float(b))
        except ValueError:
            return NA
    return _core.size_text(b, min_unit)


def human2bytes(s, /):
    """Parses a text such as "1.5GiB" into bytes; k is 1000, ki is 1024, in
    upper or lower case.

    Raises ValueError for a negative number or another text.
    """
    if isinstance(s, int):
        if s < 0:
            raise ValueError(f"size must not be negative: {s!r}")
        return s
    if not isinstance(s, str):
        raise TypeError(f"size must be a number of bytes or a text, not {s!r}")
    text = s.strip().lower()
    text = text[1:].lstrip() if text.startswith("+") else text
    digits = next((at for at, c in enumerate(text)
                   if not c.isdecimal() and c != "."), len(text))
    number, unit = text[:digits], text[digits:].strip()
    whole, point, fraction = number.partition(".")
    if not whole.isdecimal() or (point and not fraction.isdecimal()):
        raise ValueError(f"not a size: {s!r}")
    unit = unit[:-1] if unit.endswith("b") else unit
    powers = {"": 1}
    for power, letter in enumerate("kmgtp", 1):
        powers[letter], powers[letter + "i"] = 1000**power, 1024**power
    if unit not in powers:
        raise ValueError(f"not a size: {s!r}")
    if not point:
        return int(whole) * powers[unit]
    return int(float(number) * powers[unit])


def timedelta2human(dt, /, *, round=False):
    """Formats a time (seconds or timedelta) as m:ss or h:mm:ss; from 4 days
    on, as days.

    round: format times of 1 day or more as days. Returns NA for NA and for
    anything that is not a time.
    """
    if hasattr(dt, "total_seconds"):
        dt = dt.total_seconds()
    if not isinstance(dt, (int, float)):
        return NA
    seconds = dt
    if seconds < 0:
        return "-" + timedelta2human(-seconds, round=round)
    if seconds >= 4 * 86400 or (round and seconds >= 86400):
        return f"{seconds / 86400:.1f} days"
    hours, rest = divmod(int(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}"


def utilization2string(utilization, /):
    """Formats a share in percent as 3% or 3.1%. Returns NA for NA and for
    anything that is not a number."""
    if not isinstance(utilization, (int, float)) \
            or utilization != utilization:
        return NA
    if isinstance(utilization, float):
        return f"{utilization:.1f}%"
    return f"{utilization}%"


_WORDS = dict.fromkeys(("true", "yes", "on", "enabled", "1"), True)
_WORDS.update((word, False) for word in ("false", "no", "off", "disabled",
                                         "0"))


def boolify(string, /, default=None):
    """Whether a text means yes. For an unknown word, returns `default`. If
    there is no default, returns whether the text is not empty."""
    known = _WORDS.get(string.lower())
    if known is not None:
        return known
    return bool(string) if default is None else bool(default)


def _wants_color():
    if os.environ.get("NO_COLOR") or os.environ.get("FORCE_COLOR"):
        return not os.environ.get("NO_COLOR")
    try:
        return sys.stdout.isatty()
    except (AttributeError, ValueError):
        return False


COLOR = _wants_color()


def set_color(value):
    """Turns the colours of `colored` on or off, also for child processes
    (FORCE_COLOR, NO_COLOR)."""
    global COLOR
    COLOR = bool(value)
    os.environ.pop("NO_COLOR" if COLOR else "FORCE_COLOR", None)
    os.environ["FORCE_COLOR" if COLOR else "NO_COLOR"] = "1"


def colored(text, /, color=None, on_color=None, attrs=None):
    """Returns the text in colour on a terminal, with FORCE_COLOR in the
    environment, or after set_color(True).

    color: red, light_blue, ...; on_color: on_red, ...; attrs: bold, dark,
    underline, blink, reverse, concealed, strike. Raises KeyError for other
    names.
    """
    if not COLOR:
        return str(text)
    from gpukit import termcolor

    return termcolor.colored(text, color, on_color, attrs)


def memoize_when_activated(method, /):
    """Decorates a method. Its result is kept while the object has a dict
    `_cache`, as a device has within oneshot(). Arguments are ignored."""
    def memoized(self, *args, **kwargs):
        cache = getattr(self, "_cache", None)
        if cache is None:
            return method(self, *args, **kwargs)
        if method not in cache:
            cache[method] = method(self, *args, **kwargs)
        return cache[method]

    from functools import update_wrapper

    return update_wrapper(memoized, method)


def _size_pattern():
    import re

    return re.compile(r"\s*\+?\s*(?P<size>[0-9]+(\.[0-9]+)?)\s*"
                      r"(?P<unit>([KMGTP]I?)?)B?\s*\Z", re.IGNORECASE)


def _method():
    from typing import Callable, TypeVar

    return TypeVar("Method", bound=Callable)


_LATE = {"SIZE_PATTERN": _size_pattern, "Method": _method}


def __getattr__(name):
    """Makes attributes on first use, because they need an import."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = _LATE[name]()
    return value


# Characters that never need quoting.
_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                  "0123456789-_=+./,:@%")


def add_quotes(s):
    """Quotes an argument as one word of a shell."""
    if s == "":
        return '""'
    if _BARE.issuperset(s):
        return s
    found = set(s)
    if found & set("$`\\!") or ('"' in s and "'" not in s):
        return "'" + s.replace("'", "'\"'\"'") + "'"
    if found & set("'\"&;|<>()[]{}*?~#") or any(c.isspace() for c in s):
        return '"' + s.replace('"', '\\"') + '"'
    return s


def command_join(cmdline):
    """Joins a command line into one text. A single argument that is not the
    path of a program is returned unchanged: it is a title that the process has
    set for itself.
    """
    if len(cmdline) == 1 and not (os.path.isabs(cmdline[0])
                                  and os.path.isfile(cmdline[0])):
        return cmdline[0]
    return " ".join(add_quotes(arg) for arg in cmdline)
