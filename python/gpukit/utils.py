"""Sizes, times and shares as text and back; colours; command lines."""

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
    """A size in bytes as text: 1023B, 1.00MiB, 20.00GiB. NA stays NA, and so
    becomes a text without a number.

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
    """A text such as "1.5GiB" in bytes; k is 1000, ki is 1024, in any case.

    Raises ValueError for a negative number or another text.
    """
    if isinstance(s, int):
        if s < 0:
            raise ValueError(f"a size is not negative: {s!r}")
        return s
    if not isinstance(s, str):
        raise TypeError(f"a size is a number of bytes or a text, not {s!r}")
    text = s.strip().lower()
    text = text[1:].lstrip() if text.startswith("+") else text
    digits = next((at for at, c in enumerate(text)
                   if not c.isdecimal() and c != "."), len(text))
    number, unit = text[:digits], text[digits:].strip()
    whole, point, fraction = number.partition(".")
    if not whole.isdecimal() or (point and not fraction.isdecimal()):
        raise ValueError(f"no size: {s!r}")
    unit = unit[:-1] if unit.endswith("b") else unit
    powers = {"": 1}
    for power, letter in enumerate("kmgtp", 1):
        powers[letter], powers[letter + "i"] = 1000**power, 1024**power
    if unit not in powers:
        raise ValueError(f"no size: {s!r}")
    if not point:
        return int(whole) * powers[unit]
    return int(float(number) * powers[unit])


def timedelta2human(dt, /, *, round=False):
    """A time (seconds or timedelta) as m:ss, h:mm:ss, or days from 4 on.

    round: days from 1 on. NA stays NA, and so becomes what is no time.
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
    """A share in percent as text: 3%, 3.1%. NA stays NA, and so becomes what is
    no number."""
    if not isinstance(utilization, (int, float)) \
            or utilization != utilization:
        return NA
    if isinstance(utilization, float):
        return f"{utilization:.1f}%"
    return f"{utilization}%"


_WORDS = {word: True for word in ("true", "yes", "on", "enabled", "1")}
_WORDS.update((word, False) for word in ("false", "no", "off", "disabled",
                                         "0"))


def boolify(string, /, default=None):
    """Whether a text says yes; without a known word, `default`, or whether
    there is any text."""
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
    """Has `colored` use colours, or not; also in programs started from here
    (FORCE_COLOR, NO_COLOR)."""
    global COLOR
    COLOR = bool(value)
    os.environ.pop("NO_COLOR" if COLOR else "FORCE_COLOR", None)
    os.environ["FORCE_COLOR" if COLOR else "NO_COLOR"] = "1"


def colored(text, /, color=None, on_color=None, attrs=None):
    """The text in a colour, on a terminal, with FORCE_COLOR in the environment
    or after set_color(True).

    color: red, light_blue, ...; on_color: on_red, ...; attrs: bold, dark,
    underline, blink, reverse, concealed, strike. KeyError for other names.
    """
    if not COLOR:
        return str(text)
    from gpukit import termcolor

    return termcolor.colored(text, color, on_color, attrs)


def memoize_when_activated(method, /):
    """A method that is called once while its object has a dict `_cache`, as
    devices have within oneshot(). Its arguments make no difference."""
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
    """What costs an import: made when it is first asked for."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = _LATE[name]()
    return value


# Letters that never need quotes.
_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                  "0123456789-_=+./,:@%")


def add_quotes(s):
    """An argument as one word of a shell."""
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
    """A command line as one text. A single argument that is no program's path
    is a title that the process gave itself: it stays as it is."""
    if len(cmdline) == 1 and not (os.path.isabs(cmdline[0])
                                  and os.path.isfile(cmdline[0])):
        return cmdline[0]
    return " ".join(add_quotes(arg) for arg in cmdline)
