# SPDX-License-Identifier: Apache-2.0
"""Compares each function of a BLAS, the library sys.argv[1], with numpy's loops
in long double, which call no BLAS, and prints the names of those compared."""

import ctypes
import itertools
import sys

import numpy as np

lib = ctypes.CDLL(sys.argv[1])
rng = np.random.default_rng(1979)

COLUMNS, UPPER, LOWER, NON_UNIT, UNIT, LEFT, RIGHT = 102, 121, 122, 131, 132, 141, 142
TRANS = {"N": 111, "T": 112, "C": 113}
TYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
SMALL, LARGE = 23, 210  # LARGE: LAPACK works by blocks
NAN = float("nan")
compared = set()


def is_complex(letter):
    return letter in "cz"


def wide(array):
    return array.astype(np.clongdouble if np.iscomplexobj(array)
                        else np.longdouble)


def random(letter, rows, cols):
    values = rng.standard_normal((rows, cols))
    if is_complex(letter):
        values = values + 1j * rng.standard_normal((rows, cols))
    return np.asfortranarray(values, TYPES[letter])


def adjoint(array, how="C"):
    return {"N": array, "T": array.T, "C": array.conj().T}[how]


def close(name, got, want):
    """Within the rounding of sums of this length."""
    assert got.shape == want.shape, name
    eps = np.finfo(got.dtype).eps
    scale = max(1.0, float(np.abs(want).max()))
    worst = float(np.abs(wide(got) - want).max()) / scale
    assert worst <= 20 * max(got.shape) * eps, (name, got.shape, worst)
    compared.add(name)


def at(array):
    return ctypes.c_void_p(array.ctypes.data)


def scalar(letter, value):
    """As CBLAS takes it: complex ones by address."""
    if is_complex(letter):
        array = np.array([value], TYPES[letter])
        scalar.kept = getattr(scalar, "kept", [])[-8:] + [array]
        return at(array)
    kind = ctypes.c_float if letter == "s" else ctypes.c_double
    return kind(value)


def padded(array, fill=NAN):
    """The array in the upper rows of a higher one."""
    out = np.full((array.shape[0] + 3, array.shape[1]), fill, array.dtype, "F")
    out[:-3] = array
    return out


def only(array, uplo, fill=NAN):
    """The array without what a function must not read."""
    keep = np.triu if uplo == UPPER else np.tril
    mask = keep(np.ones(array.shape)) == 0
    out = array.copy("F")
    out[mask] = fill
    return out


def cblas(name, *args):
    function = getattr(lib, "cblas_" + name)
    function.restype = None
    function(COLUMNS, *(at(a) if isinstance(a, np.ndarray) else a for a in args))


def result(name, output, want):
    """Compares, and looks for writes beyond the result."""
    close("cblas_" + name, output[:-3], want)
    assert np.isnan(output[-3:]).all(), name


# ---- BLAS ----

def check_gemm(letter, shape, ta, tb, beta):
    m, n, k = shape
    a = random(letter, *((m, k) if ta == "N" else (k, m)))
    b = random(letter, *((k, n) if tb == "N" else (n, k)))
    c = random(letter, m, n) if beta else np.full((m, n), NAN, TYPES[letter], "F")
    out = padded(c)
    cblas(letter + "gemm", TRANS[ta], TRANS[tb], m, n, k, scalar(letter, 1.5),
          padded(a), a.shape[0] + 3, padded(b), b.shape[0] + 3,
          scalar(letter, beta), out, m + 3)
    want = 1.5 * (adjoint(wide(a), ta) @ adjoint(wide(b), tb))
    result(letter + "gemm", out, want + beta * wide(c) if beta else want)


def check_gemv(letter, trans):
    a = random(letter, 31, 17)
    shape = (17, 31) if trans == "N" else (31, 17)
    x, y = random(letter, shape[0], 2), random(letter, shape[1], 1)
    out = y.copy("F")
    # Every second number of x, which is stored by rows.
    rows = np.ascontiguousarray(x)
    cblas(letter + "gemv", TRANS[trans], 31, 17, scalar(letter, -0.5), padded(a),
          34, rows, 2, scalar(letter, 2), out, 1)
    close(f"cblas_{letter}gemv", out,
          -0.5 * adjoint(wide(a), trans) @ wide(x[:, :1]) + 2 * wide(y))


def symmetric(letter, n, hermitian):
    a = random(letter, n, n)
    a = a + (adjoint(a) if hermitian else a.T)
    return np.asfortranarray(a)


def check_symm(letter, name, side, uplo):
    hermitian = name == "hemm"
    m, n = 29, 18
    a = symmetric(letter, m if side == LEFT else n, hermitian)
    b, c = random(letter, m, n), random(letter, m, n)
    out = padded(c)
    cblas(letter + name, side, uplo, m, n, scalar(letter, 2),
          padded(only(a, uplo)) if not hermitian else padded(only(a, uplo)),
          a.shape[0] + 3, padded(b), m + 3, scalar(letter, 3), out, m + 3)
    product = wide(a) @ wide(b) if side == LEFT else wide(b) @ wide(a)
    result(letter + name, out, 2 * product + 3 * wide(c))


def real_scalar(letter, value):
    kind = ctypes.c_float if letter in "sc" else ctypes.c_double
    return kind(value)


def check_syrk(letter, name, uplo, trans):
    """syrk, herk, and with two factors syr2k, her2k."""
    hermitian, two, n, k = name[0] == "h", "2" in name, 33, 20
    a, b = (random(letter, *((n, k) if trans == "N" else (k, n)))
            for _ in range(2))
    c = symmetric(letter, n, hermitian)
    out = padded(only(c, uplo, 77))
    turned = "C" if hermitian else "T"
    left, right = ((wide(x) if trans == "N" else adjoint(wide(x), turned))
                   for x in (a, b))
    beta = real_scalar if hermitian else scalar
    alpha = real_scalar if hermitian and not two else scalar
    cblas(letter + name, uplo, TRANS[trans], n, k, alpha(letter, 0.5), padded(a),
          a.shape[0] + 3, *((padded(b), b.shape[0] + 3) if two else ()),
          beta(letter, 2), out, n + 3)
    product = left @ adjoint(right, turned) + right @ adjoint(left, turned) \
        if two else left @ adjoint(left, turned)
    close(f"cblas_{letter}{name}", out[:-3],
          only(0.5 * product + 2 * wide(c), uplo, 77))


def check_triangle(letter, side, uplo, trans, diag):
    m, n = 41, 26
    rows = m if side == LEFT else n
    a = random(letter, rows, rows) / rows + 2 * np.eye(rows, dtype=TYPES[letter])
    b = random(letter, m, n)
    factor = wide(only(a, uplo, 0))
    if diag == UNIT:
        np.fill_diagonal(factor, 1)
    factor = adjoint(factor, trans)
    given = only(a, uplo)
    if diag == UNIT:
        np.fill_diagonal(given, NAN)

    def times(x):
        return factor @ x if side == LEFT else x @ factor

    out = padded(b)
    args = (side, uplo, TRANS[trans], diag, m, n, scalar(letter, 2), padded(given),
            rows + 3)
    cblas(letter + "trmm", *args, out, m + 3)
    result(letter + "trmm", out, times(2 * wide(b)))
    out = padded(np.asfortranarray(times(wide(b)), TYPES[letter]))
    cblas(letter + "trsm", *args, out, m + 3)
    result(letter + "trsm", out, 2 * wide(b))


def check_blas(letter):
    for ta, tb in itertools.product(TRANS, TRANS):
        for shape in ((1, 1, 1), (5, 9, 3), (70, 51, 43)):
            check_gemm(letter, shape, ta, tb, 0.5)
    check_gemm(letter, (310, 190, 270), "N", "T", 0)
    for trans in TRANS:
        check_gemv(letter, trans)
    for side, uplo in itertools.product((LEFT, RIGHT), (UPPER, LOWER)):
        check_symm(letter, "symm", side, uplo)
        if is_complex(letter):
            check_symm(letter, "hemm", side, uplo)
        for trans, diag in itertools.product(TRANS, (UNIT, NON_UNIT)):
            check_triangle(letter, side, uplo, trans, diag)
    for uplo, trans in itertools.product((UPPER, LOWER), "NT"):
        for name in ("syrk", "syr2k"):
            check_syrk(letter, name, uplo, trans)
        for name in ("herk", "her2k") if is_complex(letter) else ():
            check_syrk(letter, name, uplo, trans.replace("T", "C"))


# ---- LAPACK ----

def lapack(name, *args):
    """Integers by address, and the lengths of texts at the end, as Fortran."""
    info = ctypes.c_int(-99)
    function = getattr(lib, name + "_")
    function.restype = None
    function(*(at(a) if isinstance(a, np.ndarray) else
               ctypes.c_char_p(a.encode()) if isinstance(a, str) else
               ctypes.byref(ctypes.c_int(a)) for a in args),
             ctypes.byref(info),
             *(ctypes.c_size_t(1) for a in args if isinstance(a, str)))
    assert info.value == 0, (name, info.value)


def with_work(name, *args, more=()):
    """Asks how much work memory it needs, first."""
    work = np.zeros(1, TYPES[name[0]])
    lapack(name, *args, work, -1, *more)
    size = int(work[0].real)
    lapack(name, *args, np.zeros(size, TYPES[name[0]]), size, *more)


def sound(letter, n):
    """A matrix with a small condition number."""
    return np.asfortranarray(random(letter, n, n) / n ** 0.5
                             + 3 * np.eye(n, dtype=TYPES[letter]))


def permuted(array, pivots):
    for row, other in enumerate(pivots):
        array[[row, other - 1]] = array[[other - 1, row]]
    return array


def check_lu(letter, n):
    a, x = sound(letter, n)[::-1].copy("F"), random(letter, n, 3)
    lu, pivots = a.copy("F"), np.zeros(n, np.int32)
    lapack(letter + "getrf", n, n, lu, n, pivots)
    lower, upper = np.tril(wide(lu), -1) + np.eye(n), np.triu(wide(lu))
    close(letter + "getrf", permuted(a.copy(), pivots), lower @ upper)
    for trans in TRANS:
        b = np.asfortranarray(adjoint(wide(a), trans) @ wide(x), TYPES[letter])
        lapack(letter + "getrs", trans, n, 3, lu, n, pivots, b, n)
        close(letter + "getrs", b, wide(x))
    with_work(letter + "getri", n, lu, n, pivots)
    close(letter + "getri", np.asarray(wide(lu) @ wide(a), TYPES[letter]),
          wide(np.eye(n)))


def check_cholesky(letter, n, uplo):
    a = sound(letter, n)
    a = np.asfortranarray(a @ adjoint(a))
    x, which = random(letter, n, 2), UPPER if uplo == "U" else LOWER
    factor = only(a, which, 7)
    lapack(letter + "potrf", uplo, n, factor, n)
    half = wide(only(factor, which, 0))
    close(letter + "potrf", a, adjoint(half) @ half if uplo == "U"
          else half @ adjoint(half))
    b = np.asfortranarray(wide(a) @ wide(x), TYPES[letter])
    lapack(letter + "potrs", uplo, n, 2, factor, n, b, n)
    close(letter + "potrs", b, wide(x))
    lapack(letter + "potri", uplo, n, factor, n)
    one = wide(only(factor, which, 0))
    full = one + adjoint(one) - np.diag(np.diag(one))
    close(letter + "potri", np.asarray(full @ wide(a), TYPES[letter]),
          wide(np.eye(n)))


def check_qr(letter, m, n):
    a, c = random(letter, m, n), random(letter, m, n)
    qr, tau = a.copy("F"), np.zeros(n, TYPES[letter])
    kind = "un" if is_complex(letter) else "or"
    with_work(letter + "geqrf", m, n, qr, m, tau)
    q = qr.copy("F")
    with_work(f"{letter}{kind}gqr", m, n, n, q, m, tau)
    close(f"{letter}{kind}gqr", q.conj().T @ q, wide(np.eye(n)))
    close(letter + "geqrf", a, wide(q) @ np.triu(wide(qr[:n])))
    turned = c.copy("F")
    with_work(f"{letter}{kind}mqr", "L", "C" if is_complex(letter) else "T", m, n,
              n, qr, m, tau, turned, m)
    close(f"{letter}{kind}mqr", turned[:n], adjoint(wide(q)) @ wide(c))
    turned = c.T.copy("F")
    with_work(f"{letter}{kind}mqr", "R", "N", n, m, n, qr, m, tau, turned, n)
    close(f"{letter}{kind}mqr", np.asfortranarray(turned[:, :n]),
          wide(c.T) @ wide(q))
    b = np.asfortranarray(c[:, :1])
    solved, least = a.copy("F"), b.copy("F")
    with_work(letter + "gels", "N", m, n, 1, solved, m, least, m)
    rest = wide(a) @ wide(least[:n]) - wide(b)
    close(letter + "gels", np.asarray(adjoint(wide(a)) @ rest, TYPES[letter]) / m,
          wide(np.zeros((n, 1))))


def check_singular_values(letter, m, n):
    a = random(letter, m, n)
    real = np.zeros(0, TYPES[letter]).real.dtype
    few = min(m, n)
    s, u = np.zeros(few, real), np.zeros((m, m), TYPES[letter], "F")
    v = np.zeros((n, n), TYPES[letter], "F")
    more = (np.zeros(5 * few, real),) if is_complex(letter) else ()
    with_work(letter + "gesvd", "A", "A", m, n, a.copy("F"), m, s, u, m, v, n,
              more=more)
    assert (s >= 0).all() and (np.diff(s) <= 0).all()
    close(letter + "gesvd", u.conj().T @ u, wide(np.eye(m)))
    close(letter + "gesvd", v.conj().T @ v, wide(np.eye(n)))
    close(letter + "gesvd", a, wide(u[:, :few]) * s @ wide(v[:few]))


def check_eigenvalues(letter, n, uplo):
    a = symmetric(letter, n, True)
    real = a.real.dtype
    name = letter + ("heevd" if is_complex(letter) else "syevd")
    vectors = only(a, UPPER if uplo == "U" else LOWER, 7)
    values = np.zeros(n, real)
    size = 1 + 6 * n + 2 * n * n
    work = (np.zeros(size, TYPES[letter]), size)
    rwork = (np.zeros(size, real), size) if is_complex(letter) else ()
    lapack(name, "V", uplo, n, vectors, n, values, *work, *rwork,
           np.zeros(3 + 5 * n, np.int32), 3 + 5 * n)
    assert (np.diff(values) >= 0).all()
    close(name, vectors.conj().T @ vectors, wide(np.eye(n)))
    close(name, a, wide(vectors) * values @ adjoint(wide(vectors)))


def check_lapack(letter):
    for n in (1, SMALL, LARGE):
        check_lu(letter, n)
        for uplo in "UL":
            check_cholesky(letter, n, uplo)
            check_eigenvalues(letter, n, uplo)
    for m, n in ((1, 1), (SMALL, 7), (LARGE, LARGE - 40)):
        check_qr(letter, m, n)
        check_singular_values(letter, m, n)
        check_singular_values(letter, n, m)


for each in TYPES:
    check_blas(each)
    check_lapack(each)
print("\n".join(sorted(compared)))
