# SPDX-License-Identifier: Apache-2.0
"""Types of operands, as in src/types.cpp and src/wider.cpp: types that CUDA's
kernels refuse, and types that the CPU kernels lack."""

import torch

from . import python_driver

_FAMILIES = {
    "floating": (torch.float16, torch.bfloat16, torch.float32, torch.float64),
    "complex": (torch.complex64, torch.complex128),
    "integral": (torch.uint8, torch.int8, torch.int16, torch.int32,
                 torch.int64),
}
# The names that PyTorch's messages use for types. Other names are derived:
# torch.LongTensor gives "Long".
_NAMES = {torch.complex32: "ComplexHalf", torch.complex64: "ComplexFloat",
          torch.complex128: "ComplexDouble", torch.bool: "Bool"}
_WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32,
         torch.complex32: torch.complex64, torch.bool: torch.int64}


def _name(dtype):
    return _NAMES.get(dtype) or torch.empty(0, dtype=dtype).type()[6:-6]


_BY_NAME = {_name(one): one for one in (
    *(each for family in _FAMILIES.values() for each in family), *_NAMES)}


def _types(text):
    return frozenset(each for word in text.split() for each in
                     _FAMILIES.get(word) or (_BY_NAME[word],))


_refused = [(name, _types(takes), words) for name, takes, words in
            python_driver.facts("types")]
_wider = {name: _types(text) for name, text in python_driver.facts("wider")}


class Rules:
    """The rules for one operator. They are found by its name without the
    overload."""

    def __init__(self, name):
        names = name, name.removesuffix("_")  # matches the in-place form, too
        self._refused = [row[1:] for row in _refused if row[0] in names]
        self._wider = _wider.get(names[0]) or _wider.get(names[1])
        self._converts = "::cum" in name
        self.transforms = "::_fft_" in name

    def check(self, operands, dtype, written):
        """Raises CUDA's error for unsupported types. operands: all tensors
        that the operator reads; written: the tensors that it changes; dtype:
        the requested type of the result."""
        if not self._refused:
            return
        types = {one.dtype for one in operands}
        if self._converts:
            types = {dtype or next((one.dtype for one in written), None)}
        elif not all(one.numel() for one in operands):
            return
        if len(types) != 1 or None in types:
            return
        found, = types
        for takes, words in self._refused:
            if found in takes:
                continue
            if " " in words:
                raise RuntimeError(words.replace("TYPE", _name(found)))
            raise NotImplementedError(
                f"\"{words}\" not implemented for '{_name(found)}'")

    @staticmethod
    def check_signal(signal, dims, last=None):
        """Checks whether cuFFT supports the sizes of dimensions in float16."""
        sizes = [signal.size(dim) for dim in dims]
        sizes[-1:] = [sizes[-1] if last is None else last]
        if signal.dtype in (torch.float16, torch.complex32) and any(
                size <= 0 or size & size - 1 for size in sizes):
            raise RuntimeError(
                "cuFFT only supports dimensions whose sizes are powers of two "
                "when computing in half precision, but got a signal size of"
                f"{sizes}")

    def call(self, function, args, options, written):
        """Calls the CPU kernel. If the kernel does not support a type,
        converts the operands to a wider type, and rounds the result once.
        written: the names of arguments that the kernel fills."""
        short = next((one.dtype for one in (*args, *options.values())
                      if isinstance(one, torch.Tensor)
                      and one.dtype in (self._wider or ())), None)
        if short is None:
            return function(*args, **options)
        filled = []

        def wide(value, is_written=False):
            if not isinstance(value, torch.Tensor) or \
               value.dtype not in self._wider:
                return value
            made = value.to(_WIDE[value.dtype])
            if is_written:
                filled.append((value, made))
            return made

        in_place = written == [0]
        answer = function(
            *(wide(one, in_place and not at) for at, one in enumerate(args)),
            **{name: _WIDE.get(one, one) if name == "dtype" else
               wide(one, name in written) for name, one in options.items()})
        for to, made in filled:
            to.resize_(made.size()).copy_(made)
        return _narrow(answer, short, filled)


def _narrow(answer, short, filled):
    if isinstance(answer, (list, tuple)):
        return type(answer)([_narrow(one, short, filled) for one in answer])
    for to, made in filled:
        if answer is made:
            return to
    if answer.dtype == torch.complex64:
        return answer.to(torch.complex32)
    if answer.dtype == torch.float32:
        return answer.to(torch.float16 if short == torch.complex32 else short)
    return answer
