# SPDX-License-Identifier: Apache-2.0
"""Checks level 3 except gemm."""

from blas import *

FACTORS = ((1.5, 0), (-1, 2), (0, 3), (2, 1), (0, 0))
SIZES = ((0, 2), (2, 0), (1, 1), (3, 5), (4, 3), (140, 4))


def triangle_of(n, uplo):
    i, j = np.indices((n, n))
    return i <= j if uplo == UPPER else i >= j


def symmetric(stored, uplo, hermitian):
    part = np.where(triangle_of(len(stored), uplo), stored, 0)
    half = part - np.diag(np.diag(part))
    other = half.conj().T if hermitian else half.T
    diagonal = np.diag(part).real if hermitian else np.diag(part)
    return half + other + np.diag(diagonal)


def factor(f, t):
    return held_in(t)(f * (1 + 0.5j) if is_complex(t) else f)


def multiply(a, b):
    return np.einsum("ik,kj->ij", wide(a), wide(b))


def unread(matrix, condition):
    return matrix * NAN if condition else matrix


for name_, types in (("symm", "SDCZ"), ("hemm", "CZ")):
    for p, (m, n), side, uplo, pair in product(types, SIZES, (LEFT, RIGHT), (LOWER, UPPER), FACTORS):
        t = TYPES[p]
        if max(m, n) > 100 and (p in "DC" or pair != FACTORS[1]):
            continue
        for blas, name in forms(p + name_ + "_v2"):
            alpha, beta = factor(pair[0], t), factor(pair[1], t)
            size = m if side == LEFT else n
            stored, b, c = random((size, size), t), random((m, n), t), random((m, n), t)
            kept = np.where(triangle_of(size, uplo), stored, NAN).astype(t)
            a_, b_ = padded(unread(kept, alpha == 0), size + 1), padded(unread(b, alpha == 0), m + 2)
            c_ = padded(unread(c, beta == 0), m + 3)
            blas(name, side, uplo, m, n, Value(alpha, t), a_, size + 1, b_, m + 2, Value(beta, t), c_, m + 3)
            a = symmetric(stored, uplo, name_ == "hemm")
            expected = np.zeros((m, n), wide(c).dtype)
            if alpha != 0:
                expected = wide(alpha) * (multiply(a, b) if side == LEFT else multiply(b, a))
            if beta != 0:
                expected = expected + wide(beta) * wide(c)
            same(name, c_.get()[:m], expected, t)
            assert np.isnan(c_.get()[m:]).all()
        free_all()


class Update:
    """C = alpha op(A) op(B)' + ... + beta C in a triangle."""

    def __init__(self, t, hermitian, n, k, uplo, trans, pair, alpha_type, beta_type):
        self.t, self.n, self.uplo, self.hermitian = t, n, uplo, hermitian
        self.alpha, self.beta = factor(pair[0], alpha_type), factor(pair[1], beta_type)
        shape = (n, k) if trans == N else (k, n)
        self.a, self.b = random(shape, t), random(shape, t)
        self.op_a, self.op_b = op(wide(self.a), trans), op(wide(self.b), trans)
        self.ld = shape[0] + 1
        c = symmetric(random((n, n), t), uplo, hermitian).astype(t)
        self.c = wide(c)
        keep = triangle_of(n, uplo)
        self.a_ = padded(unread(self.a, self.alpha == 0), self.ld)
        self.b_ = padded(unread(self.b, self.alpha == 0), self.ld)
        self.c_ = padded(np.where(keep, unread(c, self.beta == 0), NAN).astype(t), n + 2)

    def turned(self, matrix):
        return matrix.conj().T if self.hermitian else matrix.T

    def check(self, name, update):
        expected = update * 0 if self.alpha == 0 else update
        if self.beta != 0:
            expected = expected + wide(self.beta) * self.c
        if self.hermitian:
            expected = expected - np.diag(1j * np.diag(expected).imag)
        keep = triangle_of(self.n, self.uplo)
        found = self.c_.get()
        same(name, np.where(keep, found[:self.n], 0), np.where(keep, expected, 0), self.t)
        assert np.isnan(found[:self.n][~keep]).all() and np.isnan(found[self.n:]).all()


UPDATES = [(p + r, p, r[0] == "h") for r, types in
           (("syrk", "SDCZ"), ("herk", "CZ"), ("syr2k", "SDCZ"), ("her2k", "CZ"), ("syrkx", "SDCZ"), ("herkx", "CZ"))
           for p in types]
for (base, p, hermitian), (n, k), uplo, pair in product(UPDATES, ((0, 2), (3, 0), (1, 1), (4, 6), (140, 3)),
                                                        (LOWER, UPPER), FACTORS):
    t = TYPES[p]
    if n > 100 and (p in "DC" or pair != FACTORS[1]):
        continue
    ways = (N, C) if hermitian else (N, T) if is_complex(t) else (N, T, C)
    real = real_of(t)
    for trans, (blas, suffix) in product(ways, forms("")):
        one, two, x = base[1:].endswith("rk"), base.endswith("2k"), base.endswith("x")
        u = Update(t, hermitian, n, k, uplo, trans, pair, real if one and hermitian else t,
                   real if hermitian else t)
        name = base + ("" if x else "_v2") + suffix
        alpha, beta = Value(u.alpha, real if one and hermitian else t), Value(u.beta, real if hermitian else t)
        if one:
            blas(name, uplo, trans, n, k, alpha, u.a_, u.ld, beta, u.c_, n + 2)
            update = wide(u.alpha) * multiply(u.op_a, u.turned(u.op_a))
        else:
            if x and hermitian:  # the result must be Hermitian
                u.b, u.op_b, u.b_, u.alpha = u.a, u.op_a, u.a_, t(u.alpha.real)
                alpha = Value(u.alpha, t)
            blas(name, uplo, trans, n, k, alpha, u.a_, u.ld, u.b_, u.ld, beta, u.c_, n + 2)
            update = wide(u.alpha) * multiply(u.op_a, u.turned(u.op_b))
            if two:
                other = np.conj(wide(u.alpha)) if hermitian else wide(u.alpha)
                update = update + other * multiply(u.op_b, u.turned(u.op_a))
        u.check(name, update)
    free_all()

for ex, hermitian in (("Csyrk", False), ("Cherk", True)):
    for kind, at, uplo, trans, pair in product(("Ex", "3mEx"), (c8i, np.complex64), (LOWER, UPPER),
                                               (N, C if hermitian else T), FACTORS):
        for blas, suffix in forms(""):
            t, n, k = np.complex64, 4, 5
            ft = np.float32 if hermitian else t
            u = Update(t, hermitian, n, k, uplo, trans, pair, ft, ft)
            a = random(u.a.shape, at)
            blas(ex + kind + suffix, uplo, trans, n, k, Value(u.alpha, ft), padded(a, u.ld, at), CODE[at], u.ld,
                 Value(u.beta, ft), u.c_, C32, n + 2)
            full = op(wide(a), trans)
            u.check(ex + kind, wide(u.alpha) * multiply(full, u.turned(full)))
        free_all()

for p, (m, n), side, uplo, trans, diag in product("SDCZ", SIZES, (LEFT, RIGHT), (LOWER, UPPER), (N, T, C),
                                                  (NON_UNIT, UNIT)):
    t = TYPES[p]
    size = m if side == LEFT else n
    if size > 100 and (trans == C or p in "DC"):
        continue
    keep = triangle_of(size, uplo)
    for (blas, suffix), f in product(forms(""), (1.5, 0)):
        alpha = factor(f, t)
        matrix = (np.where(keep, random((size, size), t), 0) / (2 * size + 2) + 2 * np.eye(size)).astype(t)
        seen = matrix - np.diag(np.diag(matrix)) + np.eye(size) if diag == UNIT else matrix
        stored = np.where(keep, matrix, NAN).astype(t)
        if diag == UNIT and size:
            np.fill_diagonal(stored, NAN)
        a_ = padded(unread(stored, alpha == 0), size + 1)
        b = random((m, n), t)
        full = op(wide(seen), trans)
        head = (side, uplo, trans, diag, m, n, Value(alpha, t), a_, size + 1)

        b_, c_ = padded(unread(b, alpha == 0), m + 1), padded(np.full((m, n), NAN, t), m + 2)
        blas(p + "trmm_v2" + suffix, *head, b_, m + 1, c_, m + 2)
        expected = wide(alpha) * (multiply(full, b) if side == LEFT else multiply(b, full))
        same("trmm", c_.get()[:m], expected, t)
        assert np.isnan(c_.get()[m:]).all()
        b_ = padded(unread(b, alpha == 0), m + 1)
        blas(p + "trmm_v2" + suffix, *head, b_, m + 1, b_, m + 1)  # in place
        same("trmm in place", b_.get()[:m], expected, t)

        b_ = padded(unread(b, alpha == 0), m + 1)
        blas(p + "trsm_v2" + suffix, *head, b_, m + 1)
        x = b_.get()[:m]
        again = multiply(full, x) if side == LEFT else multiply(x, full)
        same("trsm", again, wide(alpha) * wide(b), t, 512)
        assert np.isnan(b_.get()[m:]).all()

        right = [random((m, n), t) for _ in range(2)]
        b_ = [padded(unread(r, alpha == 0), m + 1) for r in right]
        blas(p + "trsmBatched" + suffix, *head[:7], Addresses([a_, a_]), size + 1, Addresses(b_), m + 1, 2)
        for r, found in zip(right, b_):
            x = found.get()[:m]
            again = multiply(full, x) if side == LEFT else multiply(x, full)
            same("trsmBatched", again, wide(alpha) * wide(r), t, 512)
    free_all()

# Errors are returned, and nothing is done.
one, a = Value(1, np.float32), Array(np.ones(16, np.float32))
for blas in modes:
    for symbol, right, places in (
            ("Ssymm_v2", [LEFT, UPPER, 2, 2, one, a, 2, a, 2, one, a, 2],
             ((0, 2), (1, 2), (2, -1), (3, -1), (4, None), (6, 1), (8, 1), (9, None), (11, 1))),
            ("Ssyrk_v2", [UPPER, N, 2, 2, one, a, 2, one, a, 2],
             ((0, 2), (1, 3), (2, -1), (3, -1), (4, None), (6, 1), (7, None), (9, 1))),
            ("Ssyr2k_v2", [UPPER, N, 2, 2, one, a, 2, a, 2, one, a, 2], ((0, 7), (6, 1), (8, 1), (11, 1))),
            ("Ssyrkx", [UPPER, N, 2, 2, one, a, 2, a, 2, one, a, 2], ((0, 7), (6, 1), (8, 1), (11, 1))),
            ("Strmm_v2", [LEFT, UPPER, N, NON_UNIT, 2, 2, one, a, 2, a, 2, a, 2],
             ((0, 2), (1, 2), (2, 3), (3, 2), (4, -1), (5, -1), (6, None), (8, 1), (10, 1), (12, 1))),
            ("Strsm_v2", [LEFT, UPPER, N, NON_UNIT, 2, 2, one, a, 2, a, 2],
             ((0, 2), (1, 2), (2, 3), (3, 2), (4, -1), (5, -1), (6, None), (8, 1), (10, 1))),
            ("Cherk_v2", [UPPER, N, 2, 2, one, a, 2, one, a, 2], ((1, T),)),
            ("Csyrk_v2", [UPPER, N, 2, 2, one, a, 2, one, a, 2], ((1, C),)),
            ("StrsmBatched", [LEFT, UPPER, N, NON_UNIT, 2, 2, one, a, 2, a, 2, 1], ((11, -1),))):
        for place, value in places:
            wrong = right[:]
            wrong[place] = value
            assert blas.status(symbol, *wrong) == INVALID_VALUE, (symbol, wrong)
    assert blas.status("CsyrkEx", UPPER, N, 2, 2, one, a, R8I, 2, one, a, C32, 2) == NOT_SUPPORTED
assert (a.get() == 1).all()
