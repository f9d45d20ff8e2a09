# SPDX-License-Identifier: Apache-2.0
"""The numbers are compared with NVIDIA's own host generators, which need no
GPU, where those are installed: they are equal except for those that
docs/FAKE.md names."""

import ctypes
import glob
import os

import pytest

from conftest import FAKE_DIR

XORWOW, MRG32K3A, PHILOX, SOBOL32, SOBOL64 = 101, 121, 161, 201, 203
LEGACY = 103
FLOAT, DOUBLE = ctypes.c_float, ctypes.c_double
BITS, BITS_64 = ctypes.c_uint, ctypes.c_ulonglong

# function: (type of its numbers, the parameters after the count)
KINDS = {
    "curandGenerate": (BITS, ()),
    "curandGenerateUniform": (FLOAT, ()),
    "curandGenerateUniformDouble": (DOUBLE, ()),
    "curandGenerateNormal": (FLOAT, (FLOAT(1), FLOAT(2))),
    "curandGenerateNormalDouble": (DOUBLE, (DOUBLE(1), DOUBLE(2))),
    "curandGenerateLogNormal": (FLOAT, (FLOAT(0), FLOAT(0.5))),
    "curandGenerateLogNormalDouble": (DOUBLE, (DOUBLE(0), DOUBLE(0.5))),
}
ROUNDING = {FLOAT: 1e-6, DOUBLE: 1e-14}
SETTERS = {
    "order": ("curandSetGeneratorOrdering", ctypes.c_int),
    "seed": ("curandSetPseudoRandomGeneratorSeed", BITS_64),
    "offset": ("curandSetGeneratorOffset", BITS_64),
    "dimensions": ("curandSetQuasiRandomGeneratorDimensions", BITS),
}


@pytest.fixture(scope="module")
def both():
    found = glob.glob("/usr/local/cuda*/lib64/libcurand.so.10")
    if not found:
        pytest.skip("no cuRAND of NVIDIA's here")
    return [ctypes.CDLL(path) for path in (
        found[0], os.path.join(FAKE_DIR, "libcurand.so.10"))]


def generator(library, kind, **settings):
    made = ctypes.c_void_p()
    assert library.curandCreateGeneratorHost(ctypes.byref(made), kind) == 0
    for name, value in settings.items():
        function, number = SETTERS[name]
        assert getattr(library, function)(made, number(value)) == 0
    return made


def generate(library, made, function, count):
    number, more = KINDS[function]
    to = (number * count)()
    assert getattr(library, function)(made, to, ctypes.c_size_t(count),
                                      *more) == 0
    return list(to)


def distance(ours, theirs):
    return max(abs(x - y) / max(1, abs(y)) for x, y in zip(ours, theirs))


@pytest.mark.parametrize("settings", [
    {}, {"order": LEGACY}, {"seed": 12345678901234567}, {"offset": 5},
    {"offset": (1 << 33) + 12345}])
@pytest.mark.parametrize("kind", [XORWOW, MRG32K3A, PHILOX])
def test_pseudorandom_bits_and_uniform_numbers_are_equal(both, kind, settings):
    for function in list(KINDS)[:3]:
        theirs, ours = (
            generate(library, generator(library, kind, **settings), function,
                     300000) for library in both)
        assert ours == theirs, function


@pytest.mark.parametrize("kind", [XORWOW, MRG32K3A, PHILOX])
def test_pseudorandom_normal_numbers_are_equal_but_for_rounding(both, kind):
    for function in list(KINDS)[3:]:
        theirs, ours = (generate(library, generator(library, kind, seed=3),
                                 function, 100000) for library in both)
        assert distance(ours, theirs) <= ROUNDING[KINDS[function][0]], function


@pytest.mark.parametrize("kind", [XORWOW, MRG32K3A, PHILOX])
def test_what_follows_another_distribution_is_equal(both, kind):
    made = [generator(library, kind) for library in both]
    for function, count in [
            ("curandGenerateUniformDouble", 10), ("curandGenerate", 5000),
            ("curandGenerateUniform", 262145), ("curandGenerateNormal", 82000),
            ("curandGenerateUniformDouble", 262147), ("curandGenerate", 90000)]:
        theirs, ours = (generate(library, one, function, count)
                        for library, one in zip(both, made))
        assert distance(ours, theirs) <= ROUNDING[FLOAT], function


@pytest.mark.parametrize("settings", [
    {}, {"dimensions": 7, "offset": 123456789},
    {"dimensions": 20000, "offset": 3}])
@pytest.mark.parametrize("kind", [SOBOL32, SOBOL64])
def test_sobol_numbers_are_equal(both, kind, settings):
    for function in list(KINDS)[1 if kind == SOBOL64 else 0:]:
        theirs, ours = (
            generate(library, generator(library, kind, **settings), function,
                     140000) for library in both)
        if "ormal" in function:
            assert distance(ours, theirs) <= ROUNDING[KINDS[function][0]]
        else:
            assert ours == theirs, function


@pytest.mark.parametrize("bits,kind", [(32, 101), (64, 103)])
def test_direction_vectors_are_equal(both, bits, kind):
    number = {32: BITS, 64: BITS_64}[bits]
    tables = []
    for library in both:
        at = ctypes.POINTER(number * (20000 * bits))()
        call = getattr(library, f"curandGetDirectionVectors{bits}")
        assert call(ctypes.byref(at), kind) == 0
        tables.append(bytes(at.contents))
    assert tables[0] == tables[1]
