# SPDX-License-Identifier: Apache-2.0
"""Runs once for each of two packages and lists a package's names. Its arguments
are the package and, as JSON, rows [owner, name]; for each it prints the kind
and the signature, and of constants the value.

It also lists public names of the package that are not in the rows."""

import importlib
import inspect
import json
import re
import sys

PACKAGE = sys.argv[1]


def find(owner):
    part, _, cls = owner.partition(".")
    name = PACKAGE if part == "nvitop" else f"{PACKAGE}.{part}"
    module = importlib.import_module(name)
    return getattr(module, cls) if cls else module


def plain(value):
    """The value as text, without what differs between the packages."""
    if inspect.ismodule(value) or "lock" in type(value).__name__.lower():
        return ""
    if isinstance(value, re.Pattern):
        return str(sorted(value.groupindex))
    return re.sub(r"\b(nvitop|gpukit)\.[\w.]*\.| at 0x\w+", "", repr(value))


def default_of(parameter):
    if parameter.default is parameter.empty:
        return ""
    value = parameter.default
    return "=" + getattr(value, "__qualname__", plain(value))


def signature_of(thing):
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return "?"
    return "(" + ", ".join(
        ("*" * (p.kind - 1) if p.kind in (2, 4) else "") + p.name
        + (" *" if p.kind == p.KEYWORD_ONLY else "") + default_of(p)
        for p in parameters) + ")"


def bases_of(cls):
    return " < ".join(each.__name__ for each in cls.__mro__
                      if each is not object and not each.__name__.startswith(
                          "_"))


def kind_of(owner, name):
    if inspect.isclass(owner):
        static = inspect.getattr_static(owner, name, None)
        if isinstance(static, (staticmethod, classmethod)):
            return type(static).__name__
        if type(static).__name__ in ("property", "_tuplegetter"):
            setter = getattr(static, "fset", None)
            return "property" + (" set" if setter else "")
    value = getattr(owner, name)
    if inspect.isclass(value):
        return "class"
    return "callable" if callable(value) else "value"


def told(owner, name):
    owner = find(owner)
    kind = kind_of(owner, name)
    value = getattr(owner, name)
    if kind.startswith("property"):
        return kind
    if kind == "class":
        is_error = issubclass(value, BaseException)
        return f"class {bases_of(value)} " + (
            "" if is_error else signature_of(value))
    if inspect.ismodule(value):
        return "module"
    if "typing" in type(value).__module__:
        return plain(value)
    if kind == "value":
        return f"{type(value).__name__} {plain(value)}"
    return f"{kind} {signature_of(value)}"


def more(owner):
    """The public names that a module exports, or that a class has."""
    thing = find(owner)
    names = dir(thing) if inspect.isclass(thing) else getattr(
        thing, "__all__", ())
    return [name for name in names if name[0] != "_"]


def main():
    rows = [tuple(row) for row in json.loads(sys.stdin.read())]
    for owner in dict.fromkeys(owner for owner, _ in rows):
        try:
            rows += [(owner, name) for name in more(owner)]
        except (ImportError, AttributeError):
            continue
    out = {}
    for owner, name in dict.fromkeys(rows):
        try:
            out[f"{owner} {name}"] = told(owner, name)
        except (ImportError, AttributeError):
            out[f"{owner} {name}"] = "none"
    print(json.dumps(out))


main()
