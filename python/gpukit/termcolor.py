# SPDX-License-Identifier: Apache-2.0
"""Coloured text with terminal escape sequences."""

import os
import sys

_NAMES = ("red", "green", "yellow", "blue", "magenta", "cyan")
COLORS = {"black": 30, "grey": 30}
COLORS.update((name, 31 + i) for i, name in enumerate(_NAMES))
COLORS.update(light_grey=37, dark_grey=90)
COLORS.update(("light_" + name, 91 + i) for i, name in enumerate(_NAMES))
COLORS["white"] = 97
HIGHLIGHTS = {"on_" + name: code + 10 for name, code in COLORS.items()}
ATTRIBUTES = {"bold": 1, "dark": 2, "underline": 4, "blink": 5, "reverse": 7,
              "concealed": 8, "strike": 9}
RESET = "\033[0m"

_NAMED = {"Color": COLORS, "Highlight": HIGHLIGHTS, "Attribute": ATTRIBUTES}


def __getattr__(name):
    """Makes the types of the arguments on first use, because they need
    `typing`."""
    if name not in _NAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from typing import Literal

    return Literal[tuple(_NAMED[name])]


def _wanted(no_color, force_color):
    """Whether to use colours. The arguments decide; if they do not, the
    environment; if that does not either, whether stdout is a terminal."""
    if no_color or force_color:
        return not no_color
    env = os.environ
    if "ANSI_COLORS_DISABLED" in env or env.get("NO_COLOR"):
        return False
    if env.get("FORCE_COLOR"):
        return True
    try:
        return env.get("TERM") != "dumb" and os.isatty(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return False


def colored(text, /, color=None, on_color=None, attrs=None, *, no_color=None,
            force_color=None):
    """Returns the text in colour if the output is a terminal.

    color: red, light_blue, ...; on_color: on_red, ...; attrs: bold, dark,
    underline, blink, reverse, concealed, strike. no_color: never use colour,
    force_color: always use it; NO_COLOR and FORCE_COLOR in the environment do
    the same. Raises KeyError for other names.
    """
    text = str(text)
    if not _wanted(no_color, force_color):
        return text
    codes = [] if color is None else [COLORS[color]]
    codes += [] if on_color is None else [HIGHLIGHTS[on_color]]
    codes += [ATTRIBUTES[name] for name in attrs or ()]
    for code in codes:
        text = f"\033[{code}m{text}"
    return text + RESET


def cprint(text, /, color=None, on_color=None, attrs=None, *, no_color=None,
           force_color=None, **kwargs):
    """Prints colored(text); further arguments go to print()."""
    print(colored(text, color, on_color, attrs, no_color=no_color,
                  force_color=force_color), **kwargs)
