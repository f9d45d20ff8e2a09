# SPDX-License-Identifier: Apache-2.0
"""What the programs of this directory share: cuBLAS by ctypes, values on the
device, both pointer modes. A program checks a family of functions and prints
the names of those whose results it compared, one a line.

References are numpy's loops in long double, which call no BLAS."""

import atexit
import ctypes
import itertools
import sys

import numpy as np

MAJOR = int(sys.argv[1])
cuda = ctypes.CDLL("libcuda.so.1")
lib = ctypes.CDLL(f"libcublas.so.{MAJOR}")

N, T, C, CONJG = 0, 1, 2, 3
LOWER, UPPER = 0, 1
LEFT, RIGHT = 0, 1
NON_UNIT, UNIT = 0, 1
SUCCESS, NOT_INITIALIZED, INVALID_VALUE, NOT_SUPPORTED = 0, 1, 7, 15

# cudaDataType
R32, R64, R16, R8I, C32, C64, C16, C8I, R32I, BF16 = 0, 1, 2, 3, 4, 5, 6, 7, 10, 14

NAN = float("nan")
checked = set()
rng = np.random.default_rng(20130)


class Bf16:
    """numpy has no such type: values are floats, bits are uint16."""

    name, itemsize = "bf16", 2

    @staticmethod
    def bits(values):
        wide = np.ascontiguousarray(values, np.float32).view(np.uint32)
        rounded = (wide + 0x7fff + ((wide >> 16) & 1)) >> 16
        return np.where(np.isnan(values), 0x7fc0, rounded).astype(np.uint16)

    @staticmethod
    def values(bits):
        return (bits.astype(np.uint32) << 16).view(np.float32)


class Complex8:
    """Pairs of bytes, as numpy's complex64 here."""

    name = "complex8"


bf16, c8i = Bf16(), Complex8()
TYPES = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
EPS = {np.float16: 1e-3, np.float32: 1.2e-7, np.float64: 2.3e-16,
       np.complex64: 1.2e-7, np.complex128: 2.3e-16, bf16: 8e-3,
       np.int32: 0, np.int64: 0}
CODE = {np.float16: R16, np.float32: R32, np.float64: R64, np.complex64: C32,
        np.complex128: C64, bf16: BF16, np.int8: R8I, c8i: C8I, np.int32: R32I}


def is_complex(dtype):
    return dtype in (np.complex64, np.complex128, c8i)


def real_of(dtype):
    return {np.complex64: np.float32, np.complex128: np.float64}.get(dtype, dtype)


def held_in(dtype):
    """The numpy type that holds values of a type here."""
    return {bf16: np.float32, c8i: np.complex64}.get(dtype, dtype)


def wide(values):
    values = np.asarray(values)
    if values.dtype.kind == "c":
        return values.astype(np.clongdouble)
    return values.astype(np.longdouble)


def random(shape, dtype):
    """Small numbers that every type has exactly."""
    def some():
        return rng.integers(-8, 9, shape) / (1 if dtype in (np.int8, c8i) else 4)
    values = some() + (1j * some() if is_complex(dtype) else 0)
    return np.asarray(values).astype(held_in(dtype))


def to_bytes(values, dtype):
    if dtype is bf16:
        return bf16.bits(values).tobytes()
    if dtype is c8i:
        return np.stack([values.real, values.imag], -1).astype(np.int8).tobytes()
    return np.ascontiguousarray(values, dtype).tobytes()


def from_bytes(data, dtype, shape):
    if dtype is bf16:
        return bf16.values(np.frombuffer(data, np.uint16)).reshape(shape)
    return np.frombuffer(data, dtype).reshape(shape).copy()


def driver(name, *args):
    status = getattr(cuda, name)(*args)
    assert status == 0, (name, status)


allocated = []


class Memory:
    """Bytes on the device."""

    def __init__(self, data):
        self.size = len(data)
        self.at = ctypes.c_uint64()
        driver("cuMemAlloc_v2", ctypes.byref(self.at), ctypes.c_size_t(max(self.size, 1)))
        allocated.append(self.at)
        self.write(data)

    def write(self, data):
        if data:
            driver("cuMemcpyHtoD_v2", self.at, bytes(data), ctypes.c_size_t(len(data)))

    def read(self):
        data = ctypes.create_string_buffer(max(self.size, 1))
        if self.size:
            driver("cuMemcpyDtoH_v2", data, self.at, ctypes.c_size_t(self.size))
        return data.raw[:self.size]


class Array(Memory):
    """An array on the device, whose first dimension varies fastest."""

    def __init__(self, values, dtype=None):
        values = np.asarray(values)
        self.dtype = dtype or values.dtype.type
        self.shape = values.shape
        super().__init__(to_bytes(values.T, self.dtype))

    def get(self):
        return from_bytes(self.read(), self.dtype, self.shape[::-1]).T


class Addresses(Memory):
    """An array of addresses on the device."""

    def __init__(self, arrays):
        super().__init__(np.array([a.at.value for a in arrays], np.uint64).tobytes())


def free_all():
    while allocated:
        driver("cuMemFree_v2", allocated.pop())


class Value:
    """A scalar argument, in and out: on the host or on the device."""

    def __init__(self, value, dtype, count=1):
        self.dtype, self.count = dtype, count
        values = np.broadcast_to(np.asarray(value, held_in(dtype)), (count,))
        self.raw = bytearray(to_bytes(values, dtype))
        self.place = None

    def pointer(self, on_device):
        if on_device:
            self.place = Memory(bytes(self.raw))
            return self.place.at
        self.place = (ctypes.c_char * len(self.raw)).from_buffer(self.raw)
        return self.place

    def get(self):
        data = self.place.read() if isinstance(self.place, Memory) else bytes(self.raw)
        values = from_bytes(data, self.dtype, (self.count,))
        return values[0] if self.count == 1 else values


class Blas:
    """A handle; `on_device` is its pointer mode."""

    def __init__(self, on_device=False):
        self.handle = ctypes.c_void_p()
        assert lib.cublasCreate_v2(ctypes.byref(self.handle)) == 0
        self.on_device = on_device
        assert lib.cublasSetPointerMode_v2(self.handle, int(on_device)) == 0

    def convert(self, arg):
        if isinstance(arg, Value):
            return arg.pointer(self.on_device)
        if isinstance(arg, Memory):
            return arg.at
        if isinstance(arg, (int, np.integer)):
            return ctypes.c_longlong(int(arg))
        if isinstance(arg, np.ndarray):
            return arg.ctypes.data_as(ctypes.c_void_p)
        return arg

    def status(self, symbol, *args):
        return getattr(lib, "cublas" + symbol)(
            self.handle, *[self.convert(arg) for arg in args])

    def __call__(self, symbol, *args):
        found = self.status(symbol, *args)
        assert found == SUCCESS, (symbol, found, args)
        checked.add("cublas" + symbol)


# Every check is made in both pointer modes, and for the functions with 64-bit
# dimensions as for those with 32 bits.
modes = [Blas(False), Blas(True)]


def forms(name, *suffixes):
    """(blas, symbol) for a name, its 64-bit twin, and both modes."""
    for suffix in suffixes or ("", "_64"):
        for blas in modes:
            yield blas, name + suffix


def is_near(found, expected, dtype, slack=64):
    found, expected = wide(found), wide(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    scale = np.where(np.isfinite(expected), np.abs(expected), 0)
    largest = scale.max() if scale.size else 0
    tolerance = slack * EPS[dtype] * (1 + largest)
    both_nan = np.isnan(found) & np.isnan(expected)
    with np.errstate(invalid="ignore"):
        near = (np.abs(found - expected) <= tolerance) | (found == expected)
    return bool(np.all(near | both_nan))


def same(what, found, expected, dtype, slack=64):
    assert is_near(found, expected, dtype, slack), \
        f"{what}: found\n{found}\nexpected\n{expected}"


def op(matrix, how):
    """op(A) in the terms of cublasOperation_t."""
    if how == N:
        return matrix
    return matrix.T if how == T else matrix.conj().T


class Strided:
    """A vector of n elements `inc` apart; NaN is in between."""

    def __init__(self, n, inc, dtype, values=None):
        self.n, self.inc, self.dtype = n, inc, dtype
        self.values = random(n, dtype) if values is None else np.asarray(values)
        space = 1 + (n - 1) * abs(inc) if n > 0 else 0
        flat = np.full(space, NAN, held_in(dtype))
        flat[self.places()] = self.values
        self.array = Array(flat, dtype)

    def places(self):
        first = (1 - self.n) * self.inc if self.inc < 0 else 0
        return [first + i * self.inc for i in range(self.n)]

    def get(self):
        """The elements; checks that what is between them is unchanged."""
        flat = self.array.get()
        between = np.ones(flat.size, bool)
        between[self.places()] = False
        assert np.all(np.isnan(flat[between]))
        return flat[self.places()]


def padded(matrix, ld, dtype=None):
    """A matrix whose columns are `ld` apart; NaN is in between."""
    matrix = np.asarray(matrix)
    dtype = dtype or matrix.dtype.type
    whole = np.full((ld, matrix.shape[1]), 0 if dtype in (np.int8, np.int32, c8i) else NAN,
                    held_in(dtype))
    whole[:matrix.shape[0]] = matrix
    return Array(whole, dtype)


@atexit.register
def tell():
    print("\n".join(sorted(checked)))


product = itertools.product
