# SPDX-License-Identifier: Apache-2.0
"""Checks cuBLAS' extensions: geam, dgmm, tpttr, trttp."""

from blas import *

FACTORS = ((1.5, 0), (0, 2), (-1, 2), (0, 0))


def factor(f, t):
    return t(f * (1 + 0.5j) if is_complex(t) else f)


for (p, t), (m, n), ta, tb, pair in product(TYPES.items(), ((0, 2), (1, 1), (3, 5)), (N, T, C), (N, T, C), FACTORS):
    for blas, name in forms(p + "geam"):
        alpha, beta = (factor(f, t) for f in pair)
        a = random((m, n) if ta == N else (n, m), t)
        b = random((m, n) if tb == N else (n, m), t)
        a_ = padded(a * NAN if alpha == 0 else a, len(a) + 1)
        b_ = padded(b * NAN if beta == 0 else b, len(b) + 2)
        c_ = padded(np.full((m, n), NAN, t), m + 3)
        blas(name, ta, tb, m, n, Value(alpha, t), a_, len(a) + 1, Value(beta, t), b_, len(b) + 2, c_, m + 3)
        expected = wide(alpha) * op(wide(a), ta) + wide(beta) * op(wide(b), tb)
        same(name, c_.get()[:m], expected, t)
        assert np.isnan(c_.get()[m:]).all()
        if ta == N:  # in place of A
            blas(name, ta, tb, m, n, Value(alpha, t), a_, m + 1, Value(beta, t), b_, len(b) + 2, a_, m + 1)
            same(name, a_.get()[:m], expected, t)
        elif m:  # a transposed one is not possible
            assert blas.status(name, ta, N, m, n, Value(alpha, t), a_, 9, Value(beta, t), b_, 9, a_,
                               9) == INVALID_VALUE
    free_all()

for (p, t), (m, n), side, inc in product(TYPES.items(), ((0, 2), (1, 1), (3, 5)), (LEFT, RIGHT), (1, 2, -3)):
    for blas, name in forms(p + "dgmm"):
        a = random((m, n), t)
        x = Strided(m if side == LEFT else n, inc, t)
        a_, c_ = padded(a, m + 1), padded(np.full((m, n), NAN, t), m + 2)
        blas(name, side, m, n, a_, m + 1, x.array, inc, c_, m + 2)
        xs = wide(x.values)
        expected = xs[:, None] * wide(a) if side == LEFT else wide(a) * xs
        same(name, c_.get()[:m], expected, t)
        assert np.isnan(c_.get()[m:]).all()
        blas(name, side, m, n, a_, m + 1, x.array, inc, a_, m + 1)
        same(name, a_.get()[:m], expected, t)
    free_all()

for (p, t), n, uplo in product(TYPES.items(), (0, 1, 4), (LOWER, UPPER)):
    for blas in modes:
        i, j = np.indices((n, n))
        keep = i <= j if uplo == UPPER else i >= j
        matrix = random((n, n), t)
        ap = matrix.T[keep.T]  # column by column
        a_ = padded(np.full((n, n), NAN, t), n + 1)
        blas(p + "tpttr", uplo, n, Array(ap), a_, n + 1)
        found = a_.get()
        assert (found[:n][keep] == matrix[keep]).all()
        assert np.isnan(found[:n][~keep]).all() and np.isnan(found[n:]).all()
        ap_ = Array(np.full(ap.size, NAN, t))
        blas(p + "trttp", uplo, n, a_, n + 1, ap_)
        assert (ap_.get() == ap).all()
    free_all()

one, a = Value(1, np.float32), Array(np.ones(16, np.float32))
b, c = Array(np.ones(16, np.float32)), Array(np.ones(16, np.float32))
for blas in modes:
    for symbol, right, places in (
            ("Sgeam", [N, N, 2, 2, one, a, 2, one, b, 2, c, 2],
             ((0, 3), (1, 3), (2, -1), (3, -1), (4, None), (6, 1), (7, None), (9, 1), (11, 1))),
            ("Sdgmm", [LEFT, 2, 2, a, 2, b, 1, c, 2], ((0, 2), (1, -1), (2, -1), (4, 1), (8, 1))),
            ("Stpttr", [UPPER, 2, a, b, 2], ((0, 2), (1, -1), (4, 1))),
            ("Strttp", [UPPER, 2, a, 2, b], ((0, 2), (1, -1), (3, 1)))):
        for place, value in places:
            wrong = right[:]
            wrong[place] = value
            assert blas.status(symbol, *wrong) == INVALID_VALUE, (symbol, wrong)
assert (c.get() == 1).all()
