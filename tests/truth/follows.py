# SPDX-License-Identifier: Apache-2.0
"""Rows of the list of fields: for each field of the structs that a function
fills, the change that it follows, or why it never changes."""

import glob
import importlib
import itertools
import os
import time

import truth
from nvml_client import Refused, answer
from structs import fields_of


def any_value(_):
    """Accepts any value, as long as it differs before and after."""
    return True


class Constant(str):
    """The reason why a field is the same on every machine."""


class Move:  # pylint: disable=too-few-public-methods
    """A change, or a list of changes, in words, and what follows it:
    fields={name: (before, after)}, values or predicates; differ: names of those
    whose value differs afterwards. machine=, gpu=, load=, given= and ask= are
    for this move alone; otherwise the function's are used."""

    # pylint: disable-next=too-many-arguments
    def __init__(self, words, change, fields=None, *, differ="", **more):
        self.words, self.more = words, more
        self.change = change if isinstance(change, list) else [change]
        self.fields = dict.fromkeys(differ.split(), (any_value, any_value))
        self.fields |= fields or {}

    def prove(self, run, ask):
        """Checks the move; returns all values seen, before and after."""
        first = awaited(ask, run.client, {
            name: pair[0] for name, pair in self.fields.items()},
            f"{self.words}, before")
        for change in self.change:
            change.apply(run)
        last = awaited(ask, run.client, {
            name: another(first[name], pair[1])
            for name, pair in self.fields.items()}, f"{self.words}, after")
        return first, last


def gpu(index):
    """A change: another GPU of the machine is asked."""
    return truth.Does(lambda c: setattr(c, "gpu", index))


def chosen(**values):
    """A change of what is asked for; see asked()."""
    return truth.Does(lambda c: c.keep.update(values))


def asked(name, value):
    """An argument: what a change chose under that name, else the value."""
    return lambda c: c.keep.get(name, value)


def differs(was, now):
    """Lists differ where both have an element: a longer list alone is not a
    different value."""
    if isinstance(was, tuple):
        return any(one != other for one, other in zip(was, now))
    return was != now


def another(was, wanted):
    """A predicate: as wanted, and different from before."""
    return lambda now: differs(was, now) and truth.matches(now, wanted)


def awaited(ask, client, wanted, what):
    """Asks until all fields are as wanted."""
    end = time.monotonic() + truth.PATIENCE_S
    while True:
        told = answer(ask, client)
        wrong = [told] if isinstance(told, Refused) else [
            f"{name} is {told[name]!r}" for name, one in wanted.items()
            if not truth.matches(told[name], one)]
        if not wrong:
            return told
        assert time.monotonic() < end, f"{what}: {wrong}"
        time.sleep(0.02)


class Fills:
    """A function that fills structs: how it is called, the moves that its
    fields follow, and constant={field: Constant}."""

    # pylint: disable-next=too-many-arguments
    def __init__(self, function, ask, *moves, constant=None,
                 machine=truth.ONE_GPU, **more):
        self.function, self.ask, self.moves = function, ask, moves
        self.constant = constant or {}
        self.more = {"machine": machine, "gpu": 0, "load": None,
                     "driver": None, "given": ()} | more

    def how(self, field):
        """The proof of the field in words; None: there is none."""
        moved = [move.words for move in self.moves if field in move.fields]
        if field in self.constant:
            return f"constant: {self.constant[field]}"
        return f"follows: {moved[0]}" if moved else None

    def wrong(self):
        """Fields without a proof, with two, and names that are not fields."""
        known = fields_of(self.function)
        told = set(self.constant).union(*(one.fields for one in self.moves))
        return [*([] if self.moves else ["no move: constant in what?"]),
                *(f"{name}: neither follows a change nor is it Constant"
                  for name in known if name not in told),
                *(f"{name}: no such field" for name in told - set(known)),
                *(f"{name}: Constant, and follows a change"
                  for name in self.constant
                  if any(name in one.fields for one in self.moves))]

    def run(self, new_run):
        """Makes all moves; new_run() gives a Run for each."""
        seen = []
        for move in self.moves:
            seen += self.make(move, new_run())
        for name in self.constant:
            values = {told[name] for told in seen}
            assert not any(differs(*two) for two in
                           itertools.combinations(values, 2)), \
                f"{name} is no constant: {values}"
        return seen

    def make(self, move, run):
        how = self.more | {"ask": self.ask} | move.more
        run.client.function, run.client.gpu = self.function, how["gpu"]
        driver = how["driver"]
        try:
            run.start(*how["machine"],
                      *(("--driver", driver) if driver else ()),
                      front=truth.front_of(driver))
            for change in how["given"]:
                change.apply(run)
            if how["load"]:
                truth.Load(how["load"]).apply(run)
            return move.prove(run, how["ask"])
        finally:
            run.stop()


def all_fills():
    """The fills of every fills_*.py, sorted by function."""
    paths = sorted(glob.glob(os.path.join(truth.HERE, "fills_*.py")))
    names = [os.path.basename(path).removesuffix(".py") for path in paths]
    found = [one for name in names for one in importlib.import_module(
        name).FILLS]
    return sorted(found, key=lambda one: one.function)


def lines_of(fills):
    """Lines of LIST.txt: the fields and their proofs."""
    return "".join(f"    {struct}.{field}  {fills.how(field)}\n"
                   for field, struct in fields_of(fills.function).items())


def list_of(rows):
    """The text of LIST.txt."""
    fills = {one.function: lines_of(one) for one in all_fills()}
    told = {row.function: f"{row.kind}  tests/truth/test_truth.py::"
            f"test_true[{row.function}]" for row, _ in rows}
    return "".join(f"{name}  {told.get(name, 'see refused.txt')}\n"
                   f"{fills.get(name, '')}"
                   for name in sorted(told.keys() | fills.keys()))
