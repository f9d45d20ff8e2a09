# SPDX-License-Identifier: Apache-2.0
"""Checks level 1."""

from blas import *

SIZES = (0, 1, 2, 7, 300)
STEPS = ((1, 1), (2, 3), (-1, 2), (3, -2))


def vectors(n, steps, dtype):
    return Strided(n, steps[0], dtype), Strided(n, steps[1], dtype)


for p, t in TYPES.items():
    for n, steps in product(SIZES, STEPS):
        for blas, name in forms(p + "copy_v2"):
            x, y = vectors(n, steps, t)
            blas(name, n, x.array, steps[0], y.array, steps[1])
            same(name, y.get(), x.values, t, 0)
        for blas, name in forms(p + "swap_v2"):
            x, y = vectors(n, steps, t)
            blas(name, n, x.array, steps[0], y.array, steps[1])
            same(name, y.get(), x.values, t, 0)
            same(name, x.get(), y.values, t, 0)
        for blas, name in forms(p + "axpy_v2"):
            x, y = vectors(n, steps, t)
            a = random((), t)[()]
            blas(name, n, Value(a, t), x.array, steps[0], y.array, steps[1])
            same(name, y.get(), wide(a) * wide(x.values) + wide(y.values), t)
        dots = {"dotu": wide, "dotc": lambda v: wide(v).conj()} if is_complex(t) else {"dot": wide}
        for dot, first in dots.items():
            for blas, name in forms(p + dot + "_v2"):
                x, y = vectors(n, steps, t)
                result = Value(5, t)
                blas(name, n, x.array, steps[0], y.array, steps[1], result)
                same(name, result.get(), (first(x.values) * wide(y.values)).sum(), t, 8 * (n + 1))
    free_all()

ROTATIONS = (("Srot", "S", np.float32, np.float32), ("Drot", "D", np.float64, np.float64),
             ("Crot", "C", np.float32, np.complex64), ("Csrot", "C", np.float32, np.float32),
             ("Zrot", "Z", np.float64, np.complex128), ("Zdrot", "Z", np.float64, np.float64))
for rot, p, ct, st in ROTATIONS:
    for n, steps in product(SIZES, STEPS):
        for blas, name in forms(rot + "_v2"):
            x, y = vectors(n, steps, TYPES[p])
            c, s = random((), ct)[()], random((), st)[()]
            blas(name, n, x.array, steps[0], y.array, steps[1], Value(c, ct), Value(s, st))
            xs, ys = wide(x.values), wide(y.values)
            same(name, x.get(), wide(c) * xs + wide(s) * ys, TYPES[p])
            same(name, y.get(), wide(c) * ys - wide(s).conj() * xs, TYPES[p])
    free_all()

for p, flag, steps in product("SD", (-2, -1, 0, 1), STEPS):
    t, n = TYPES[p], 5
    for blas, name in forms(p + "rotm_v2"):
        x, y = vectors(n, steps, t)
        h = random(4, t)
        blas(name, n, x.array, steps[0], y.array, steps[1], Value([flag, *h], t, 5))
        matrix = {-2: [[1, 0], [0, 1]], -1: [[h[0], h[2]], [h[1], h[3]]],
                  0: [[1, h[2]], [h[1], 1]], 1: [[h[0], 1], [-1, h[3]]]}[flag]
        expected = np.einsum("ij,jk->ik", wide(matrix), wide(np.stack([x.values, y.values])))
        same(name, x.get(), expected[0], t)
        same(name, y.get(), expected[1], t)
free_all()

# One vector: with increments that are not positive nothing is left.
for p, t in TYPES.items():
    for n, inc in product(SIZES, (1, 3, 0, -1)):
        acting = n if inc > 0 else 0
        norm = {"S": "S", "D": "D", "C": "Sc", "Z": "Dz"}[p]
        r = real_of(t)
        for blas, name in forms(norm + "nrm2_v2"):
            x, result = Strided(n, inc or 1, t), Value(5, r)
            blas(name, n, x.array, inc, result)
            part = wide(x.values)[:acting]
            same(name, result.get(), np.sqrt((np.abs(part) ** 2).sum()), r)
        for blas, name in forms(norm + "asum_v2"):
            x, result = Strided(n, inc or 1, t), Value(5, r)
            blas(name, n, x.array, inc, result)
            part = wide(x.values)[:acting]
            same(name, result.get(), (np.abs(part.real) + np.abs(part.imag)).sum(), r)
        for which, pick in (("amax", np.argmax), ("amin", np.argmin)):
            for blas, name in forms(f"I{p.lower()}{which}_v2"):
                index = np.int64 if name.endswith("_64") else np.int32
                x, result = Strided(n, inc or 1, t), Value(5, index)
                blas(name, n, x.array, inc, result)
                part = wide(x.values)[:acting]
                size = np.abs(part.real) + np.abs(part.imag)
                assert result.get() == (pick(size) + 1 if acting else 0), (name, x.values)
        for scal, at in ((p + "scal", t),) + {"C": (("Csscal", r),), "Z": (("Zdscal", r),)}.get(p, ()):
            for blas, name in forms(scal + "_v2"):
                x, a = Strided(n, inc or 1, t), random((), at)[()]
                blas(name, n, Value(a, at), x.array, inc)
                same(name, x.get(), wide(x.values) * (wide(a) if acting else 1), t)
    free_all()

# Sums of squares that exceed the range of the type, and NaN.
for blas in modes:
    for p, large, small in (("S", 3e38, 1e-44), ("D", 1e308, 5e-324)):
        t = TYPES[p]
        for values in ([large / 2, large / 2], [small, 0], [0, np.inf], [1, NAN]):
            values = np.array(values, t)
            result = Value(5, t)
            blas(p + "nrm2_v2", 2, Array(values), 1, result)
            same(p + "nrm2", result.get(), np.sqrt((wide(values) ** 2).sum()), t, 8)
        result = Value(5, t)
        blas(p + "asum_v2", 3, Array(np.array([1, NAN, 2], t)), 1, result)
        assert np.isnan(result.get())
        index = Value(0, np.int32)
        blas(f"I{p.lower()}amax_v2", 4, Array(np.array([1, NAN, -5, 5], t)), 1, index)
        assert index.get() == 3
        x = Array(np.array([NAN, np.inf, 2], t))
        blas(p + "scal_v2", 3, Value(0, t), x, 1)
        assert np.isnan(x.get()[:2]).all() and x.get()[2] == 0
    # Of an infinite complex number only the parts are scaled.
    x = Array(np.array([complex(np.inf, 1)], np.complex64))
    blas("Csscal_v2", 1, Value(2, np.float32), x, 1)
    assert x.get()[0] == complex(np.inf, 2)
    # Increment 0 adds everything in one place.
    y = Array(np.array([1], np.float32))
    blas("Saxpy_v2", 4, Value(1, np.float32), Array(np.arange(4, dtype=np.float32)), 1, y, 0)
    assert y.get()[0] == 7
free_all()


def check_rotg(p, a, b):
    """[c s; -conj(s) c] (a, b) = (r, 0), and it is a rotation."""
    t, r = TYPES[p], real_of(TYPES[p])
    for blas in modes:
        points = [Value(a, t), Value(b, t), Value(9, r), Value(9, t)]
        blas(p + "rotg_v2", *points)
        length, z, c, s = (wide(v.get()) for v in points)
        same("rotg", c * wide(a) + s * wide(b), length, t)
        same("rotg", c * wide(b) - np.conj(s) * wide(a), wide(0), t)
        same("rotg", c * c + np.abs(s) ** 2, wide(1), t)
        if p in "SD":
            # LINPACK restores c and s from this.
            larger = s if abs(a) > abs(b) else (1 / c if c else 1)
            same("rotg", z, wide(larger if length else 0), t)


for p in "SD":
    for a, b in ((3, 4), (-4, 3), (0, 2), (2, 0), (0, 0), (-1, -1), (1e-3, 5)):
        check_rotg(p, TYPES[p](a), TYPES[p](b))
for p in "CZ":
    for a, b in ((3 + 1j, 4 - 2j), (0, 2j), (1j, 0), (-2, 1 + 1j)):
        check_rotg(p, TYPES[p](a), TYPES[p](b))


def check_rotmg(p, d1, d2, x1, y1):
    """H (x1, y1) = (x1', 0) in the metric of d, which H transforms too."""
    t = TYPES[p]
    for blas in modes:
        points = [Value(v, t) for v in (d1, d2, x1)]
        param = Value([9] * 5, t, 5)
        blas(p + "rotmg_v2", *points, Value(y1, t), param)
        e1, e2, x = (wide(v.get()) for v in points)
        flag, h11, h21, h12, h22 = wide(param.get())
        if flag == -2:
            assert d2 * y1 == 0 and (e1, e2, x) == (d1, d2, x1)
            continue
        if flag == 0:
            h11 = h22 = 1
        elif flag == 1:
            h12, h21 = 1, -1
        same("rotmg", h11 * x1 + h12 * y1, x, t)
        same("rotmg", h21 * x1 + h22 * y1, wide(0), t)
        same("rotmg", e1 * x * x, wide(d1 * x1 * x1 + d2 * y1 * y1), t, 512)
        h = np.array([[h11, h12], [h21, h22]])
        metric = np.einsum("ji,jk,kl->il", h, np.diag([e1, e2]), h)
        same("rotmg", metric, np.diag(wide([d1, d2])), t, 512)


for p in "SD":
    for point in ((1, 2, 3, 4), (4, 1, 3, 1), (1, 0, 3, 4), (1e-9, 1e-8, 1, 2),
                  (1e9, 3e9, 0.5, 2), (2, 3, 1, 0), (2, 3, 0, 1)):
        check_rotmg(p, *point)
    for blas in modes:  # a negative d1 has no such rotation
        points = [Value(v, TYPES[p]) for v in (-1, 2, 3)]
        param = Value([9] * 5, TYPES[p], 5)
        blas(p + "rotmg_v2", *points, Value(4, TYPES[p]), param)
        assert [float(v.get()) for v in points] == [0, 0, 0]
        assert list(param.get()) == [-1, 0, 0, 0, 0]
free_all()

# The forms with explicit types: narrow ones are computed in float.
EXECUTION = {np.float16: np.float32, bf16: np.float32, np.float32: np.float32,
             np.float64: np.float64, np.complex64: np.complex64,
             np.complex128: np.complex128}
for t, e in EXECUTION.items():
    code, by = CODE[t], CODE[e]
    r = real_of(t)
    for n, steps in product((0, 1, 5), ((1, 1), (2, -3))):
        for suffix, blas in product(("", "_64"), modes):
            x, y = vectors(n, steps, t)
            xs, ys, a = wide(x.values), wide(y.values), random((), e)[()]
            blas("AxpyEx" + suffix, n, Value(a, e), by, x.array, code, steps[0], y.array, code,
                 steps[1], by)
            same("AxpyEx", y.get(), wide(a) * xs + ys, t)
            blas("CopyEx" + suffix, n, x.array, code, steps[0], y.array, code, steps[1])
            same("CopyEx", y.get(), xs, t, 0)
            z = Strided(n, steps[1], t)
            blas("SwapEx" + suffix, n, x.array, code, steps[0], z.array, code, steps[1])
            same("SwapEx", z.get(), xs, t, 0)
            same("SwapEx", x.get(), z.values, t, 0)
            x = Strided(n, steps[0], t)
            xs = wide(x.values)
            for dot, first in (("DotEx", xs), ("DotcEx", xs.conj())):
                result = Value(5, t)
                blas(dot + suffix, n, x.array, code, steps[0], y.array, code, steps[1], result,
                     code, by)
                same(dot, result.get(), (first * wide(y.get())).sum(), t)
            result = Value(5, r)
            blas("Nrm2Ex" + suffix, n, x.array, code, steps[0], result, CODE[r], CODE[real_of(e)])
            same("Nrm2Ex", result.get(), np.sqrt((np.abs(xs) ** 2).sum()), r)
            result = Value(5, r)
            blas("AsumEx" + suffix, n, x.array, code, steps[0], result, CODE[r], by)
            same("AsumEx", result.get(), (np.abs(xs.real) + np.abs(xs.imag)).sum(), r)
            index = np.int64 if suffix else np.int32
            size = np.abs(xs.real) + np.abs(xs.imag)
            for which, pick in (("IamaxEx", np.argmax), ("IaminEx", np.argmin)):
                result = Value(5, index)
                blas(which + suffix, n, x.array, code, steps[0], result)
                assert result.get() == (pick(size) + 1 if n else 0)
            blas("ScalEx" + suffix, n, Value(a, e), by, x.array, code, steps[0], by)
            same("ScalEx", x.get(), wide(a) * xs, t)
            x, y = vectors(n, steps, t)
            c, s = random((), r)[()], random((), r)[()]
            blas("RotEx" + suffix, n, x.array, code, steps[0], y.array, code, steps[1],
                 Value(c, r), Value(s, r), CODE[r], by)
            same("RotEx", x.get(), wide(c) * wide(x.values) + wide(s) * wide(y.values), t)
            same("RotEx", y.get(), wide(c) * wide(y.values) - wide(s) * wide(x.values), t)
            if is_complex(t):
                continue
            x, y = vectors(n, steps, t)
            h = random(4, t)
            blas("RotmEx" + suffix, n, x.array, code, steps[0], y.array, code, steps[1],
                 Value([-1, *h], t, 5), code, by)
            same("RotmEx", x.get(), wide(h[0]) * wide(x.values) + wide(h[2]) * wide(y.values), t)
            same("RotmEx", y.get(), wide(h[1]) * wide(x.values) + wide(h[3]) * wide(y.values), t)
    for blas in modes:
        points = [Value(3, t), Value(4, t), Value(0, t), Value(0, t)]
        blas("RotgEx", points[0], points[1], code, points[2], points[3], code, by)
        if not is_complex(t):
            same("RotgEx", [p.get() for p in points], [5, 1 / .6, .6, .8], t, 2)
            points, param = [Value(v, t) for v in (1, 2, 3)], Value([9] * 5, t, 5)
            blas("RotmgEx", points[0], code, points[1], code, points[2], code, Value(4, t), code,
                 param, code, by)
            # By hand: q2 = 32 > q1 = 9, h11 = 3/8, h22 = 3/4, u = 41/32.
            same("RotmgEx", param.get()[[0, 1, 4]], [1, .375, .75], t, 2)
            same("RotmgEx", [p.get() for p in points], [64 / 41, 32 / 41, 5.125], t, 2)
    free_all()

# Types that cannot be combined.
one, x = Value(1, np.float32), Array(np.ones(4, np.float32))
blas = modes[0]
assert blas.status("ScalEx", 4, one, R32, x, R64, 1, R64) == NOT_SUPPORTED
assert blas.status("ScalEx", 4, one, R32, x, R32, 1, R64) == NOT_SUPPORTED
assert blas.status("CopyEx", 4, x, R32, 1, x, R16, 1) == NOT_SUPPORTED
assert blas.status("CopyEx", 4, x, 99, 1, x, 99, 1) == NOT_SUPPORTED
assert blas.status("Nrm2Ex", 4, x, R32, 1, one, R64, R32) == NOT_SUPPORTED
assert blas.status("DotEx", 4, x, R8I, 1, x, R8I, 1, one, R32, R32) == NOT_SUPPORTED
assert blas.status("IamaxEx", 4, x, -1, 1, one) == NOT_SUPPORTED
assert (x.get() == 1).all()
