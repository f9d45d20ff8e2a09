# SPDX-License-Identifier: Apache-2.0
"""Checks factorizations of many matrices by multiplying the factors."""

from blas import *


def multiply(a, b):
    return np.einsum("ik,kj->ij", wide(a), wide(b))


def regular(n, t):
    """Far from singular, with rows that must be exchanged."""
    return (random((n, n), t) + 9 * np.eye(n)[::-1]).astype(t)


def permuted(matrix, pivots):
    """Rows exchanged as LAPACK's pivots say, counted from 1."""
    rows = matrix.copy()
    for i, p in enumerate(pivots):
        rows[[i, p - 1]] = rows[[p - 1, i]]
    return rows


def ints(count):
    return Array(np.full(count, -7, np.int32))


COUNT = 3
for (p, t), n in product(TYPES.items(), (1, 2, 5, 32)):
    for blas, with_pivots in product(modes, (True, False)):
        matrices = [regular(n, t) if with_pivots else (regular(n, t)[::-1]).copy() for _ in range(COUNT)]
        lu = [padded(m, n + 1) for m in matrices]
        pivots, info = ints(n * COUNT), ints(COUNT)
        blas(p + "getrfBatched", n, Addresses(lu), n + 1, pivots if with_pivots else None, info, COUNT)
        assert (info.get() == 0).all()
        order = pivots.get().reshape(COUNT, n) if with_pivots else [range(1, n + 1)] * COUNT
        for m, f, rows in zip(matrices, lu, order):
            f = f.get()
            assert np.isnan(f[n:]).all()
            lower, upper = np.tril(f[:n], -1) + np.eye(n), np.triu(f[:n])
            same("getrf", multiply(lower, upper), permuted(m, rows), t, 512)
            if with_pivots:  # the largest of a column is taken
                parts = np.abs(lower.real) + np.abs(lower.imag)
                assert (parts <= (2 if is_complex(t) else 1) + 1e-5).all()
        inverse, info = [padded(np.zeros((n, n), t), n + 2) for _ in range(COUNT)], ints(COUNT)
        blas(p + "getriBatched", n, Addresses(lu), n + 1, pivots if with_pivots else None, Addresses(inverse), n + 2,
             info, COUNT)
        assert (info.get() == 0).all()
        for m, found in zip(matrices, inverse):
            same("getri", multiply(m, found.get()[:n]), np.eye(n), t, 4096)
        for trans, nrhs in product((N, T, C), (0, 1, 3)):
            right = [random((n, nrhs), t) for _ in range(COUNT)]
            b, told = [padded(r, n + 1) for r in right], np.array([99], np.int32)
            blas(p + "getrsBatched", trans, n, nrhs, Addresses(lu), n + 1, pivots if with_pivots else None,
                 Addresses(b), n + 1, told, COUNT)
            assert told[0] == 0
            for m, r, x in zip(matrices, right, b):
                same("getrs", multiply(op(m, trans), x.get()[:n]), r, t, 4096)
        if with_pivots:
            again, info = [padded(np.zeros((n, n), t), n) for _ in range(COUNT)], ints(COUNT)
            whole = [padded(m, n + 3) for m in matrices]
            blas(p + "matinvBatched", n, Addresses(whole), n + 3, Addresses(again), n, info, COUNT)
            assert (info.get() == 0).all()
            for m, w, found in zip(matrices, whole, again):
                assert (w.get()[:n] == m).all()
                same("matinv", multiply(m, found.get()), np.eye(n), t, 4096)
    free_all()

# The first zero pivot is reported for each matrix.
for p, t in TYPES.items():
    for blas in modes:
        singular = np.array([[1, 2, 3], [2, 4, 6], [1, 2, 3]], t)
        for pivots in (ints(6), None):
            both, info = [Array(singular), Array(np.eye(3, dtype=t))], ints(2)
            blas(p + "getrfBatched", 3, Addresses(both), 3, pivots, info, 2)
            assert list(info.get()) == [2, 0]
        out, info = [Array(np.zeros((3, 3), t)) for _ in range(2)], ints(2)
        blas(p + "matinvBatched", 3, Addresses([Array(singular), Array(np.eye(3, dtype=t))]), 3, Addresses(out), 3,
             info, 2)
        assert list(info.get()) == [2, 0] and (out[1].get() == np.eye(3)).all()
    free_all()

# Without pivots, where their squares overflow or underflow.
for (p, t), f in product((("D", np.float64), ("Z", np.complex128)), (1e-200, 1e-170, 1, 1e200)):
    for unit in (1,) if t is np.float64 else (1, 1j, 0.6 + 0.8j, 0.8 - 0.6j):
        lu, info = Array(np.array([[2 * unit * f, unit * f], [(1 if t is np.float64 else 1 + 3j) * f, 5 * f]], t)), ints(1)
        modes[0](p + "getrfBatched", 2, Addresses([lu]), 2, None, info, 1)
        quotient = (1 if t is np.float64 else 1 + 3j) / (2 * unit)
        assert info.get()[0] == 0
        same("getrf", lu.get()[1], [quotient, f * (5 - quotient * unit)], t)
        assert abs(lu.get()[1, 1] / f - (5 - quotient * unit)) < 1e-12
    free_all()

for (p, t), (m, n) in product(TYPES.items(), ((1, 1), (5, 3), (3, 5), (4, 4))):
    for blas in modes:
        matrices = [random((m, n), t) for _ in range(COUNT)]
        qr = [padded(x, m + 1) for x in matrices]
        tau = [Array(np.full(min(m, n), NAN, t)) for _ in range(COUNT)]
        told = np.array([99], np.int32)
        blas(p + "geqrfBatched", m, n, Addresses(qr), m + 1, Addresses(tau), told, COUNT)
        assert told[0] == 0
        for matrix, f, factors in zip(matrices, qr, tau):
            f, factors = f.get()[:m], factors.get()
            product_ = wide(np.triu(f))
            for i in reversed(range(min(m, n))):  # Q is H1 H2 ..., H = 1 - tau v v'
                v = wide(np.concatenate([np.zeros(i), [1], f[i + 1:, i]]))
                product_ = product_ - wide(factors[i]) * np.outer(v, np.einsum("i,ij->j", v.conj(), product_))
            same("geqrf", product_, matrix, t, 512)
    free_all()

for (p, t), (m, n), nrhs in product(TYPES.items(), ((1, 1), (5, 3), (4, 4)), (0, 1, 2)):
    for blas in modes:
        matrices = [(random((m, n), t) + 9 * np.eye(m, n)).astype(t) for _ in range(COUNT)]
        right = [random((m, nrhs), t) for _ in range(COUNT)]
        a, c = [padded(x, m + 1) for x in matrices], [padded(x, m + 2) for x in right]
        told, infos = np.array([99], np.int32), ints(COUNT)
        blas(p + "gelsBatched", N, m, n, nrhs, Addresses(a), m + 1, Addresses(c), m + 2, told, infos, COUNT)
        assert told[0] == 0 and (not nrhs or (infos.get() == 0).all())
        for matrix, b, found in zip(matrices, right, c):
            x = wide(found.get()[:n])
            # The residual is orthogonal to all columns.
            rest = multiply(matrix, x) - wide(b)
            same("gels", multiply(matrix.conj().T, rest), np.zeros((n, nrhs)), t, 2 ** 16)
        assert blas.status(p + "gelsBatched", T, m, n, nrhs, Addresses(a), m + 1, Addresses(c), m + 2, told, infos,
                           COUNT) == NOT_SUPPORTED
    free_all()

a, told = Addresses([Array(np.ones((3, 3), np.float32))]), np.array([99], np.int32)
info = ints(1)
for blas in modes:
    for symbol, right, places in (
            ("SgetrfBatched", [2, a, 2, None, info, 1], ((0, -1), (2, 1), (5, -1))),
            ("SgetriBatched", [2, a, 2, None, a, 2, info, 1], ((0, -1), (2, 1), (5, 1), (7, -1))),
            ("SgetrsBatched", [N, 2, 1, a, 2, None, a, 2, told, 1],
             ((0, 3), (1, -1), (2, -1), (4, 1), (7, 1), (9, -1))),
            ("SgeqrfBatched", [2, 2, a, 2, a, told, 1], ((0, -1), (1, -1), (3, 1), (6, -1))),
            ("SgelsBatched", [N, 2, 2, 1, a, 2, a, 2, told, info, 1], ((1, -1), (2, -1), (3, -1), (5, 1), (7, 1), (10, -1))),
            ("SmatinvBatched", [2, a, 2, a, 2, info, 1], ((0, -1), (0, 33), (2, 1), (4, 1), (6, -1)))):
        for place, value in places:
            wrong = right[:]
            wrong[place] = value
            told[0] = 99
            assert blas.status(symbol, *wrong) == INVALID_VALUE, (symbol, wrong)
            if symbol in ("SgetrsBatched", "SgeqrfBatched", "SgelsBatched"):
                assert told[0] == -(place + 1), (symbol, wrong, told)
assert info.get()[0] == -7
