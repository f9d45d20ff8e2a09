# SPDX-License-Identifier: Apache-2.0
"""Checks level 2."""

from blas import *

STEPS = ((1, 1), (2, -1), (-3, 2))
# alpha and beta; with beta 0 the content of y does not count.
FACTORS = ((1.5, 0), (-1, 2), (0, 3), (2, 1))


def factors(pair, t):
    return tuple(held_in(t)(f * (1 + 0.5j) if is_complex(t) and f else f) for f in pair)


def full(matrix, keep):
    """Stored as it is, with a larger leading dimension; NaN where not kept."""
    whole = np.full((matrix.shape[0] + 2, matrix.shape[1]), NAN, matrix.dtype)
    whole[:matrix.shape[0]] = np.where(keep, matrix, NAN)
    return Array(whole), matrix.shape[0] + 2


def band(matrix, kl, ku):
    """Diagonals as rows."""
    m, n = matrix.shape
    whole = np.full((kl + ku + 3, n), NAN, matrix.dtype)
    for j in range(n):
        for i in range(max(0, j - ku), min(m, j + kl + 1)):
            whole[ku + i - j, j] = matrix[i, j]
    return Array(whole), kl + ku + 3


def packed(matrix, uplo):
    n = len(matrix)
    return Array(np.array([matrix[i, j] for j in range(n) for i in range(n)
                           if (i <= j if uplo == UPPER else i >= j)], matrix.dtype))


def in_band(shape, kl, ku):
    i, j = np.indices(shape)
    return (i - j <= kl) & (j - i <= ku)


def triangle_of(n, uplo):
    i, j = np.indices((n, n))
    return i <= j if uplo == UPPER else i >= j


def symmetric(stored, uplo, hermitian):
    """The matrix that a triangle represents."""
    part = np.where(triangle_of(len(stored), uplo), stored, 0)
    half = part - np.diag(np.diag(part))
    other = half.conj().T if hermitian else half.T
    diagonal = np.diag(part).real if hermitian else np.diag(part)
    return half + other + np.diag(diagonal)


def times(matrix, vector):
    return np.einsum("ij,j->i", wide(matrix), wide(vector))


def check_product(name, blas, t, matrix, x_y, steps, pair, arguments):
    """y = alpha matrix x + beta y, by a call with arguments(x, y, factors)."""
    alpha, beta = factors(pair, t)
    nx, ny = x_y
    x = Strided(nx, steps[0], t, [NAN] * nx if alpha == 0 else None)
    y = Strided(ny, steps[1], t, [NAN] * ny if beta == 0 else None)
    blas(name, *arguments(x.array, y.array, Value(alpha, t), Value(beta, t)))
    expected = np.zeros(ny, wide(matrix).dtype)
    if alpha != 0:
        expected = wide(alpha) * times(matrix, x.values)
    if beta != 0:
        expected = expected + wide(beta) * wide(y.values)
    same(name, y.get(), expected, t)


def stored_or_nan(array, pair):
    """With alpha 0 the matrix is not read."""
    if pair[0] == 0:
        array.write(np.full(array.size // np.dtype(array.dtype).itemsize, NAN,
                            array.dtype).tobytes())
    return array


for p, t in TYPES.items():
    for (m, n), how, steps, pair in product(((0, 3), (3, 0), (1, 1), (4, 7), (7, 4), (40, 33)),
                                            (N, T, C), STEPS, FACTORS):
        if m * n > 100 and steps != (1, 1):
            continue
        for blas, name in forms(p + "gemv_v2"):
            matrix = random((m, n), t)
            a, ld = full(matrix, True)
            stored_or_nan(a, pair)
            if m and n:
                check_product(name, blas, t, op(matrix, how), op(matrix, how).shape[::-1], steps, pair,
                              lambda x, y, al, be: (how, m, n, al, a, ld, x, steps[0], be, y, steps[1]))
            else:  # an empty matrix leaves y, even with beta 0
                y = Strided(max(m, n), steps[1], t)
                blas(name, how, m, n, Value(1, t), a, ld, y.array, 1, Value(0, t), y.array, steps[1])
                same(name, y.get(), y.values, t, 0)
        if m * n > 100 or not m or not n:
            continue
        for (kl, ku), (blas, name) in product(((0, 0), (2, 1), (1, 3), (9, 9)),
                                              forms(p + "gbmv_v2")):
            matrix = np.where(in_band((m, n), kl, ku), random((m, n), t), 0).astype(t)
            a, ld = band(matrix, kl, ku)
            stored_or_nan(a, pair)
            check_product(name, blas, t, op(matrix, how), op(matrix, how).shape[::-1], steps, pair,
                          lambda x, y, al, be: (how, m, n, kl, ku, al, a, ld, x, steps[0], be, y, steps[1]))
        free_all()

SYMMETRIC = {"symv": "SDCZ", "hemv": "CZ"}
BANDED = {"sbmv": "SD", "hbmv": "CZ"}
PACKED = {"spmv": "SD", "hpmv": "CZ"}
for n, uplo, steps, pair in product((0, 1, 2, 6), (LOWER, UPPER), STEPS, FACTORS):
    keep = triangle_of(n, uplo)
    for mv, types in SYMMETRIC.items():
        for p, suffix, blas in product(types, ("", "_64"), modes):
            t = TYPES[p]
            stored = random((n, n), t)
            a, ld = full(stored, keep)
            stored_or_nan(a, pair)
            check_product(p + mv + "_v2" + suffix, blas, t, symmetric(stored, uplo, mv[0] == "h"), (n, n), steps,
                          pair, lambda x, y, al, be: (uplo, n, al, a, ld, x, steps[0], be, y, steps[1])) if n else None
    for mv, types in BANDED.items():
        for p, suffix, blas, k in product(types, ("", "_64"), modes, (0, 2, 8)):
            if not n:
                continue
            t = TYPES[p]
            stored = np.where(in_band((n, n), k, k), random((n, n), t), 0).astype(t)
            a, ld = band(np.where(keep, stored, 0), *((0, k) if uplo == UPPER else (k, 0)))
            stored_or_nan(a, pair)
            check_product(p + mv + "_v2" + suffix, blas, t, symmetric(stored, uplo, mv[0] == "h"), (n, n), steps,
                          pair, lambda x, y, al, be: (uplo, n, k, al, a, ld, x, steps[0], be, y, steps[1]))
    for mv, types in PACKED.items():
        for p, suffix, blas in product(types, ("", "_64"), modes):
            if not n:
                continue
            t = TYPES[p]
            stored = random((n, n), t)
            a = stored_or_nan(packed(stored, uplo), pair)
            check_product(p + mv + "_v2" + suffix, blas, t, symmetric(stored, uplo, mv[0] == "h"), (n, n), steps,
                          pair, lambda x, y, al, be: (uplo, n, al, a, x, steps[0], be, y, steps[1]))
    free_all()


def solvable(n, t, keep):
    """Its diagonal is not small, so that solutions stay small."""
    return (np.where(keep, random((n, n), t), 0) / 4 + 3 * np.eye(n)).astype(t)


def check_triangle(name, blas, t, matrix, diag, how, inc, arguments):
    n = len(matrix)
    seen = matrix - np.diag(np.diag(matrix)) + np.eye(n) if diag == UNIT else matrix
    v = Strided(n, inc, t)
    blas(name, *arguments(v.array))
    if "mv" in name:
        same(name, v.get(), times(op(seen, how), v.values), t)
    else:
        same(name, times(op(seen, how), v.get()), v.values, t, 512)


for p, n, uplo, how, diag, inc in product("SDCZ", (0, 1, 2, 6), (LOWER, UPPER), (N, T, C),
                                          (NON_UNIT, UNIT), (1, -2)):
    t = TYPES[p]
    keep = triangle_of(n, uplo)
    for what, suffix, blas in product(("mv", "sv"), ("_v2", "_v2_64"), modes):
        matrix = solvable(n, t, keep)
        hidden = matrix + np.diag([NAN] * n).astype(t) if diag == UNIT and n else matrix
        a, ld = full(hidden, keep)
        check_triangle(p + "tr" + what + suffix, blas, t, matrix, diag, how, inc,
                       lambda v: (uplo, how, diag, n, a, ld, v, inc))
        ap = packed(hidden, uplo)
        check_triangle(p + "tp" + what + suffix, blas, t, matrix, diag, how, inc,
                       lambda v: (uplo, how, diag, n, ap, v, inc))
        for k in (0, 2, 7):
            seen = np.where(in_band((n, n), k, k), matrix, 0).astype(t)
            b, ld_b = band(np.where(np.eye(n) > 0, hidden, seen), *((0, k) if uplo == UPPER else (k, 0)))
            check_triangle(p + "tb" + what + suffix, blas, t, seen, diag, how, inc,
                           lambda v: (uplo, how, diag, n, k, b, ld_b, v, inc))
    free_all()


def outer(x, y):
    return np.einsum("i,j->ij", wide(x), wide(y))


for (m, n), steps, factor in product(((0, 2), (1, 1), (3, 5), (5, 3)), STEPS, (0, 1.5)):
    for ger, p, conjugated in (("ger", "S", 0), ("ger", "D", 0), ("geru", "C", 0), ("geru", "Z", 0),
                               ("gerc", "C", 1), ("gerc", "Z", 1)):
        t = TYPES[p]
        for blas, name in forms(p + ger + "_v2"):
            alpha = factors((factor, 0), t)[0]
            matrix = random((m, n), t)
            a, ld = full(matrix, True)
            x, y = Strided(m, steps[0], t), Strided(n, steps[1], t)
            blas(name, m, n, Value(alpha, t), x.array, steps[0], y.array, steps[1], a, ld)
            right = y.values.conj() if conjugated else y.values
            same(name, a.get()[:m], wide(matrix) + wide(alpha) * outer(x.values, right), t)
            assert np.isnan(a.get()[m:]).all()
    free_all()


def check_rank(name, t, hermitian, uplo, n, matrix, update, found):
    """The triangle is updated, and the rest of the storage is not touched."""
    keep = triangle_of(n, uplo)
    expected = wide(matrix) + update
    if hermitian:
        expected = expected - np.diag(1j * np.diag(expected).imag)
    same(name, np.where(keep, found, 0), np.where(keep, expected, 0), t)


RANK1 = {"syr": "SDCZ", "her": "CZ", "spr": "SD", "hpr": "CZ"}
RANK2 = {"syr2": "SDCZ", "her2": "CZ", "spr2": "SD", "hpr2": "CZ"}
for n, uplo, steps, same_vector in product((0, 1, 2, 6), (LOWER, UPPER), STEPS, (False, True)):
    keep = triangle_of(n, uplo)
    for r, types in (RANK2 if same_vector else {**RANK1, **RANK2}).items():
        for p, suffix, blas, factor in product(types, ("_v2", "_v2_64"), modes, (0, 1.5)):
            t, name, hermitian = TYPES[p], p + r + suffix, r[0] == "h"
            two, is_packed = r.endswith("2"), r[1] == "p"
            at = real_of(t) if hermitian and not two else t
            alpha = factors((factor, 0), at)[0]
            matrix = symmetric(random((n, n), t), uplo, hermitian).astype(t)
            a, ld = (packed(matrix, uplo), None) if is_packed else full(matrix, keep)
            x = Strided(n, steps[0], t)
            y, step = (x, steps[0]) if same_vector else (Strided(n, steps[1], t), steps[1])
            xs, ys = wide(x.values), wide(y.values)
            blas(name, uplo, n, Value(alpha, at), x.array, steps[0],
                 *((y.array, step) if two else ()), a, *((ld,) if ld else ()))
            conj = np.conj if hermitian else (lambda v: v)
            right = ys if two else xs
            update = wide(alpha) * outer(xs, conj(right))
            if two:
                update = update + conj(wide(alpha)) * outer(ys, conj(xs))
            if is_packed:
                found = np.zeros((n, n), t)
                found.T[keep.T] = a.get()
            else:
                found = a.get()[:n]
                assert np.isnan(found[~keep]).all()
            check_rank(name, t, hermitian, uplo, n, matrix, update, found)
    free_all()

# Errors are returned, and nothing is done.
one, x, a = Value(1, np.float32), Array(np.ones(9, np.float32)), Array(np.ones(9, np.float32))
for blas in modes:
    for args in ((3, 3, 3, one, a, 3, x, 1, one, x, 1), (N, -1, 3, one, a, 3, x, 1, one, x, 1),
                 (N, 3, -1, one, a, 3, x, 1, one, x, 1), (N, 3, 3, one, a, 2, x, 1, one, x, 1),
                 (N, 3, 3, one, a, 3, x, 0, one, x, 1), (N, 3, 3, one, a, 3, x, 1, one, x, 0),
                 (N, 3, 3, None, a, 3, x, 1, one, x, 1), (N, 3, 3, one, a, 3, x, 1, None, x, 1)):
        assert blas.status("Sgemv_v2", *args) == INVALID_VALUE, args
    assert blas.status("Sgbmv_v2", N, 3, 3, 1, 1, one, a, 2, x, 1, one, x, 1) == INVALID_VALUE
    assert blas.status("Sgbmv_v2", N, 3, 3, -1, 1, one, a, 3, x, 1, one, x, 1) == INVALID_VALUE
    assert blas.status("Ssymv_v2", 2, 3, one, a, 3, x, 1, one, x, 1) == INVALID_VALUE
    assert blas.status("Strmv_v2", LOWER, N, 2, 3, a, 3, x, 1) == INVALID_VALUE
    assert blas.status("Strsv_v2", LOWER, 3, 0, 3, a, 3, x, 1) == INVALID_VALUE
    assert blas.status("Stpsv_v2", LOWER, N, 0, 3, a, x, 0) == INVALID_VALUE
    assert blas.status("Stbsv_v2", LOWER, N, 0, 3, 2, a, 2, x, 1) == INVALID_VALUE
    assert blas.status("Sger_v2", 3, 3, one, x, 1, x, 1, a, 2) == INVALID_VALUE
    assert blas.status("Ssyr_v2", LOWER, 3, one, x, 0, a, 3) == INVALID_VALUE
    assert blas.status("Sspr2_v2", 2, 3, one, x, 1, x, 1, a) == INVALID_VALUE
    # 64 bits are used: in 32 this leading dimension would be 0.
    assert blas.status("Sgemv_v2_64", N, 1, 1, one, a, 1 << 33, x, 1, one, x, 1) == SUCCESS
    assert blas.status("Sgemv_v2", N, 1, 1, one, a, 1 << 33, x, 1, one, x, 1) == INVALID_VALUE
assert (a.get() == 1).all()
