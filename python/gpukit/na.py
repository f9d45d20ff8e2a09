# SPDX-License-Identifier: Apache-2.0
"""A missing value: `NA`, of type `NaType`. NA is the text "N/A", counts as nan
in arithmetic, and is sorted after all numbers. So reports can print, add up
and sort incomplete values.
"""

__all__ = ["NA", "NaType", "NotApplicable", "NotApplicableType"]

_NAN = float("nan")
_NUMBERS = (int, float)


def _is_operand(other):
    return other is NA or isinstance(other, _NUMBERS)


def _is_zero(other):
    return isinstance(other, _NUMBERS) and other == 0


class NaType(str):
    """The type of NA, its only instance.

    >>> NA == "N/A", bool(NA), int(NA), NA + 1
    (True, False, 0, nan)
    >>> sorted([3, NA, 1])
    [1, 3, 'N/A']
    """

    __slots__ = ()
    _only = None

    def __new__(cls):
        if NaType._only is None:
            NaType._only = super().__new__(cls, "N/A")
        return NaType._only

    def __reduce__(self):
        return NaType, ()

    def __reduce_ex__(self, protocol):
        return NaType, ()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __bool__(self):
        return False

    def __int__(self):
        return 0

    def __float__(self):
        return _NAN

    def __add__(self, other):
        if _is_operand(other):
            return _NAN
        return str.__add__(self, other)

    def __radd__(self, other):
        if _is_operand(other):
            return _NAN
        if isinstance(other, str):
            return other + str(self)
        return NotImplemented

    def __pos__(self):
        return _NAN

    def __neg__(self):
        return _NAN

    def __abs__(self):
        return _NAN

    def __round__(self, ndigits=None):
        return 0 if ndigits is None else round(_NAN, ndigits)

    def __lt__(self, x):
        if isinstance(x, _NUMBERS):
            return False
        return str.__lt__(self, x)

    def __le__(self, x):
        if isinstance(x, _NUMBERS):
            return False
        return str.__le__(self, x)

    def __gt__(self, x):
        if isinstance(x, _NUMBERS):
            return True
        return str.__gt__(self, x)

    def __ge__(self, x):
        if isinstance(x, _NUMBERS):
            return True
        return str.__ge__(self, x)

    def __format__(self, format_spec):
        """Formats NA as text, or as nan if the format specification is for
        numbers."""
        try:
            return str.__format__(self, format_spec)
        except ValueError:
            return _NAN.__format__(format_spec)


def _operator(name, result, divides):
    """Returns nan for NA `op` number (a pair of nan for divmod). Only dividing
    NA by 0 raises an exception."""

    def forward(self, other):
        if not _is_operand(other):
            return NotImplemented
        if divides and _is_zero(other):
            raise ZeroDivisionError("float division by zero")
        return result

    def backward(self, other):
        return result if _is_operand(other) else NotImplemented

    setattr(NaType, f"__{name}__", forward)
    setattr(NaType, f"__r{name}__", backward)


for _name, _result, _divides in (
        ("sub", _NAN, False), ("mul", _NAN, False), ("truediv", _NAN, True),
        ("floordiv", _NAN, True), ("mod", _NAN, True),
        ("divmod", (_NAN, _NAN), True)):
    _operator(_name, _result, _divides)

NA = NaType()
NotApplicable = NA
NotApplicableType = NaType
