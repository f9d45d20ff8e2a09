# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterable
from typing import Any, Literal

from typing_extensions import TypeAlias

Color: TypeAlias = Literal[
    "black", "grey", "red", "green", "yellow", "blue", "magenta", "cyan",
    "light_grey", "dark_grey", "light_red", "light_green", "light_yellow",
    "light_blue", "light_magenta", "light_cyan", "white"]
Highlight: TypeAlias = Literal[
    "on_black", "on_grey", "on_red", "on_green", "on_yellow", "on_blue",
    "on_magenta", "on_cyan", "on_light_grey", "on_dark_grey", "on_light_red",
    "on_light_green", "on_light_yellow", "on_light_blue", "on_light_magenta",
    "on_light_cyan", "on_white"]
Attribute: TypeAlias = Literal[
    "bold", "dark", "underline", "blink", "reverse", "concealed", "strike"]

COLORS: dict[str, int]
HIGHLIGHTS: dict[str, int]
ATTRIBUTES: dict[str, int]
RESET: str

def colored(
    text: object,
    /,
    color: Color | None = None,
    on_color: Highlight | None = None,
    attrs: Iterable[Attribute] | None = None,
    *,
    no_color: bool | None = None,
    force_color: bool | None = None,
) -> str: ...
def cprint(
    text: object,
    /,
    color: Color | None = None,
    on_color: Highlight | None = None,
    attrs: Iterable[Attribute] | None = None,
    *,
    no_color: bool | None = None,
    force_color: bool | None = None,
    **kwargs: Any,
) -> None: ...
