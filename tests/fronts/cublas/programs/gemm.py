# SPDX-License-Identifier: Apache-2.0
"""Checks products of matrices: one, batched, strided, grouped, of all types;
and batches of products with vectors."""

from blas import *

SHAPES = ((0, 2, 2), (2, 0, 2), (3, 2, 0), (1, 1, 1), (4, 3, 5), (17, 9, 33))
FACTORS = ((1, 0), (2, -1), (0, 3), (-1.5, 0.5))

# Types of A and B, of C, of the factors, from the documentation.
COMPUTES = {
    64: [(np.float16, np.float16, np.float16)],
    72: [(np.int8, np.int32, np.int32)],
    68: [(bf16, bf16, np.float32), (np.float16, np.float16, np.float32),
         (np.int8, np.float32, np.float32), (bf16, np.float32, np.float32),
         (np.float16, np.float32, np.float32), (np.float32, np.float32, np.float32),
         (c8i, np.complex64, np.complex64), (np.complex64, np.complex64, np.complex64)],
    77: [(np.float32, np.float32, np.float32), (np.complex64, np.complex64, np.complex64)],
    70: [(np.float64, np.float64, np.float64), (np.complex128, np.complex128, np.complex128)],
}
ALIKE = {64: (64, 65), 72: (72, 73), 68: (68, 69), 77: (74, 75, 77, 78), 70: (70, 71, 79)}


def multiply(a, b):
    return np.einsum("ik,kj->ij", wide(a), wide(b))


class Product:
    """One product: its matrices on the device, and the expected C."""

    def __init__(self, shape, ops, pair, types):
        (self.m, self.n, self.k), (self.ta, self.tb) = shape, ops
        ab, c, scale = types
        self.types, self.code = types, (CODE[ab], CODE[c])
        self.alpha, self.beta = (self.factor(f, scale) for f in pair)
        rows_a, rows_b = (self.m, self.k), (self.k, self.n)
        a = random(rows_a if self.ta == N else rows_a[::-1], ab)
        b = random(rows_b if self.tb == N else rows_b[::-1], ab)
        self.c0 = random((self.m, self.n), c)
        # For integers a leading dimension is a multiple of four bytes.
        self.lda, self.ldb = (-(-max(x.shape[0], 1) // 4) * 4 + 4 for x in (a, b))
        self.ldc = self.m + 1
        unread = self.alpha == 0 and ab not in (np.int8, c8i)
        self.a = padded(a * NAN if unread else a, self.lda, ab)
        self.b = padded(b * NAN if unread else b, self.ldb, ab)
        unread = self.beta == 0 and c is not np.int32
        self.c = padded(self.c0 * NAN if unread else self.c0, self.ldc, c)
        self.expected = np.zeros((self.m, self.n), wide(self.c0).dtype)
        if self.alpha != 0:
            self.expected = wide(self.alpha) * multiply(op(a, self.ta), op(b, self.tb))
        if self.beta != 0:
            self.expected = self.expected + wide(self.beta) * wide(self.c0)

    @staticmethod
    def factor(f, scale):
        f = round(f) if scale is np.int32 else f
        return held_in(scale)(f * (1 - 0.5j) if is_complex(scale) else f)

    def factors(self):
        return Value(self.alpha, self.types[2]), Value(self.beta, self.types[2])

    def check(self, name):
        found = self.c.get()
        same(name, found[:self.m], self.expected, self.types[1], 256)
        rest = found[self.m:]
        assert np.all((rest == 0) | np.isnan(rest))


FIXED = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128, "H": np.float16}
ALL_OPS = tuple(product((N, T, C), (N, T, C)))
NAMES = [(p + "gemm" + ("" if p == "H" else "_v2"), t) for p, t in FIXED.items()]
NAMES += [("Cgemm3m", np.complex64), ("Zgemm3m", np.complex128)]
for (base, t), shape, pair in product(NAMES, SHAPES, FACTORS):
    for ops in ALL_OPS if shape == (4, 3, 5) else ALL_OPS[1:4]:
        for blas, name in forms(base):
            p = Product(shape, ops, pair, (t, t, t))
            alpha, beta = p.factors()
            blas(name, *ops, p.m, p.n, p.k, alpha, p.a, p.lda, p.b, p.ldb, beta, p.c, p.ldc)
            p.check(name)
    free_all()

for compute, sets in COMPUTES.items():
    for types, shape, pair, given in product(sets, SHAPES, FACTORS[:3], ALIKE[compute]):
        for blas, name in forms("GemmEx"):
            p = Product(shape, (T, N), pair, types)
            alpha, beta = p.factors()
            blas(name, T, N, p.m, p.n, p.k, alpha, p.a, p.code[0], p.lda, p.b, p.code[0], p.ldb,
                 beta, p.c, p.code[1], p.ldc, given, -1)
            p.check((name, types))
            if compute != 68:
                continue
            is_c = is_complex(types[2])
            for ex in ("CgemmEx", "Cgemm3mEx") if is_c else ("SgemmEx",):
                q = Product(shape, (N, C), pair, types)
                alpha, beta = q.factors()
                blas(ex + name[6:], N, C, q.m, q.n, q.k, alpha, q.a, q.code[0], q.lda, q.b, q.code[0],
                     q.ldb, beta, q.c, q.code[1], q.ldc)
                q.check((ex, types))
    free_all()

# Batches. All of one have one alpha; strided ones are contiguous.


def strided(products, field):
    """The matrices of a batch one after the other, and the stride."""
    arrays = [getattr(p, field) for p in products]
    whole = Memory(b"".join(a.read() for a in arrays))
    code = products[0].types[1 if field == "c" else 0]
    itemsize = 2 if code in (bf16, c8i) else np.dtype(code).itemsize
    return whole, arrays[0].size // itemsize


def take_back(products, whole):
    size = products[0].c.size
    data = whole.read()
    for i, p in enumerate(products):
        p.c.write(data[i * size:(i + 1) * size])


def batch(shape, ops, pair, types, count):
    return [Product(shape, ops, pair, types) for _ in range(count)]


BATCHED = [(p + "gemm", t) for p, t in FIXED.items()] + [("Cgemm3m", np.complex64)]
for (base, t), shape, pair, count in product(BATCHED, SHAPES[2:5], FACTORS[:3], (0, 1, 3)):
    for blas, suffix in forms(""):
        products = batch(shape, (N, T), pair, (t, t, t), count) or batch(shape, (N, T), pair, (t, t, t), 1)
        p = products[0]
        head = (N, T, p.m, p.n, p.k)
        alpha, beta = p.factors()
        blas(base + "Batched" + suffix, *head, alpha, Addresses([q.a for q in products]), p.lda,
             Addresses([q.b for q in products]), p.ldb, beta, Addresses([q.c for q in products]), p.ldc, count)
        for q in products[:count]:
            q.check(base + "Batched")
        products = batch(shape, (N, T), pair, (t, t, t), max(count, 1))
        p = products[0]
        alpha, beta = p.factors()
        (a, sa), (b, sb), (c, sc) = (strided(products, f) for f in "abc")
        blas(base + "StridedBatched" + suffix, *head, alpha, a, p.lda, sa, b, p.ldb, sb, beta, c, p.ldc, sc,
             count)
        take_back(products, c)
        for q in products[:count]:
            q.check(base + "StridedBatched")
    free_all()

for compute, sets in COMPUTES.items():
    for types, (blas, suffix) in product(sets, forms("")):
        shape, pair, ops = (4, 3, 8), (2, -1), (T, N)
        products = batch(shape, ops, pair, types, 2)
        p = products[0]
        alpha, beta = p.factors()
        blas("GemmBatchedEx" + suffix, *ops, *shape, alpha, Addresses([q.a for q in products]), p.code[0], p.lda,
             Addresses([q.b for q in products]), p.code[0], p.ldb, beta, Addresses([q.c for q in products]),
             p.code[1], p.ldc, 2, compute, 99)
        for q in products:
            q.check(("GemmBatchedEx", types))
        products = batch(shape, ops, pair, types, 2)
        p = products[0]
        alpha, beta = p.factors()
        (a, sa), (b, sb), (c, sc) = (strided(products, f) for f in "abc")
        # Stride 0: one B for all.
        if types[0] is c8i:  # pairs of bytes are not read back here
            continue
        products[1].expected = wide(p.alpha) * multiply(
            op(products[1].a.get()[:p.k], T), p.b.get()[:p.k]) + wide(p.beta) * wide(products[1].c0)
        blas("GemmStridedBatchedEx" + suffix, *ops, *shape, alpha, a, p.code[0], p.lda, sa, b, p.code[0], p.ldb,
             0, beta, c, p.code[1], p.ldc, sc, 2, compute, -1)
        take_back(products, c)
        for q in products:
            q.check(("GemmStridedBatchedEx", types))
    free_all()

# Groups, each with its own shape and factors. The arrays are on the host.


def check_groups(name, blas, suffix, types, extra):
    groups = [batch(shape, ops, pair, types, count) for shape, ops, pair, count in
              (((4, 3, 5), (N, N), (2, 1), 2), ((1, 1, 1), (N, N), (1, 0), 0), ((2, 6, 3), (T, N), (-1, 0), 3))]
    first = [(g or batch((1, 1, 1), (N, N), (1, 0), types, 1))[0] for g in groups]
    integer = np.int64 if suffix else np.int32
    every = [p for g in groups for p in g]

    def numbers(field, dtype=integer):
        return np.array([getattr(p, field) for p in first], dtype)

    alphas = Value([p.alpha for p in first], types[2], len(first))
    betas = Value([p.beta for p in first], types[2], len(first))
    a, b, c = (Addresses([getattr(p, f) for p in every]) for f in "abc")
    code = ([CODE[types[0]]], [CODE[types[0]]], [CODE[types[1]]]) if extra else ([], [], [])
    blas(name + suffix, numbers("ta", np.int32), numbers("tb", np.int32), numbers("m"), numbers("n"), numbers("k"),
         alphas, a, *code[0], numbers("lda"), b, *code[1], numbers("ldb"), betas, c, *code[2], numbers("ldc"),
         len(groups), np.array([len(g) for g in groups], integer), *extra)
    for p in every:
        p.check(name)


for blas, suffix in forms(""):
    for p in "SD":
        check_groups(p + "gemmGroupedBatched", blas, suffix, (TYPES[p],) * 3, [])
    for types in COMPUTES[68][:2] + COMPUTES[68][5:6]:
        check_groups("GemmGroupedBatchedEx", blas, suffix, types, [68])
    check_groups("GemmGroupedBatchedEx", blas, suffix, COMPUTES[70][0], [70])
free_all()

# gemv in batches.
GEMV = {"S": (np.float32,) * 3, "D": (np.float64,) * 3, "C": (np.complex64,) * 3, "Z": (np.complex128,) * 3,
        "HSH": (np.float16, np.float16, np.float32), "HSS": (np.float16, np.float32, np.float32),
        "TST": (bf16, bf16, np.float32), "TSS": (bf16, np.float32, np.float32)}
for p, types in GEMV.items():
    ab, ct, scale = types
    for (m, n), how, pair, steps, count in product(((1, 1), (4, 7)), (N, T, C), FACTORS, ((1, 1), (2, -3)), (1, 3)):
        for blas, suffix in forms(""):
            alpha, beta = (Product.factor(f, scale) for f in pair)
            nx, ny = (n, m) if how == N else (m, n)

            def operands():
                matrices = [random((m, n), ab) for _ in range(count)]
                arrays = [padded(x * NAN if alpha == 0 else x, m + 1, ab) for x in matrices]
                xs = [Strided(nx, steps[0], ab) for _ in range(count)]
                ys = [Strided(ny, steps[1], ct, [NAN] * ny if beta == 0 else None) for _ in range(count)]
                return matrices, arrays, xs, ys

            def check(name, matrices, xs, found):
                for matrix, x, (y, is_now) in zip(matrices, xs, found):
                    expected = np.zeros(ny, wide(matrix).dtype)
                    if alpha != 0:
                        expected = wide(alpha) * np.einsum("ij,j->i", op(wide(matrix), how), wide(x.values))
                    if beta != 0:
                        expected = expected + wide(beta) * wide(y.values)
                    same(name, is_now, expected, ct)

            matrices, arrays, xs, ys = operands()
            blas(p + "gemvBatched" + suffix, how, m, n, Value(alpha, scale), Addresses(arrays), m + 1,
                 Addresses([x.array for x in xs]), steps[0], Value(beta, scale), Addresses([y.array for y in ys]),
                 steps[1], count)
            check(p + "gemvBatched", matrices, xs, [(y, y.get()) for y in ys])

            matrices, arrays, xs, ys = operands()
            whole = [Memory(b"".join(x.read() for x in group)) for group in
                     (arrays, [x.array for x in xs], [y.array for y in ys])]
            lengths = [1 + (k - 1) * abs(s) for k, s in ((nx, steps[0]), (ny, steps[1]))]
            blas(p + "gemvStridedBatched" + suffix, how, m, n, Value(alpha, scale), whole[0], m + 1, (m + 1) * n,
                 whole[1], steps[0], lengths[0], Value(beta, scale), whole[2], steps[1], lengths[1], count)
            data, size = whole[2].read(), ys[0].array.size
            for i, y in enumerate(ys):
                y.array.write(data[i * size:(i + 1) * size])
            check(p + "gemvStridedBatched", matrices, xs, [(y, y.get()) for y in ys])
    free_all()

# Errors are returned, and nothing is done.
one, a = Value(1, np.float32), Array(np.ones(16, np.float32))
RIGHT_CALL = [N, N, 2, 2, 2, one, a, 2, a, 2, one, a, 2]
for blas in modes:
    for place, value in ((0, 3), (0, -1), (1, 7), (2, -1), (3, -1), (4, -1), (5, None), (7, 1), (9, 1), (10, None),
                         (12, 1)):
        wrong = RIGHT_CALL[:]
        wrong[place] = value
        assert blas.status("Sgemm_v2", *wrong) == INVALID_VALUE, wrong
        assert blas.status("Sgemm_v2_64", *wrong) == INVALID_VALUE, wrong

    def ex(at, bt, ct, compute, algo=-1, ld=4):
        return blas.status("GemmEx", N, N, 2, 2, 2, one, a, at, ld, a, bt, ld, one, a, ct, ld, compute, algo)

    assert ex(R32, R32, R32, 68) == SUCCESS
    a.write(np.ones(16, np.float32).tobytes())
    assert ex(R32, R32, R32, 0) == INVALID_VALUE
    assert ex(R32, R32, R32, 76) == INVALID_VALUE
    assert ex(R32, R32, R32, 68, 24) == INVALID_VALUE
    assert ex(R32, R16, R32, 68) == NOT_SUPPORTED
    assert ex(R16, R16, R32, 64) == NOT_SUPPORTED
    assert ex(R16, R16, R16, 77) == NOT_SUPPORTED
    assert ex(R8I, R8I, R32I, 72, ld=6) == NOT_SUPPORTED
    assert ex(99, 99, 99, 68) == NOT_SUPPORTED
    assert blas.status("SgemmEx", N, N, 2, 2, 2, one, a, C32, 2, a, C32, 2, one, a, C32, 2) == NOT_SUPPORTED
    # All groups are checked before the first is computed.
    two = np.array([2, 2], np.int32)
    for wrong in (np.array([2, -1], np.int32), np.array([2, 1], np.int32)):
        m, ld = (wrong, two) if wrong[1] < 0 else (two, wrong)
        assert blas.status(
            "SgemmGroupedBatched", 0 * two, 0 * two, m, two, two, Value([1, 1], np.float32, 2), Addresses([a, a]), two,
            Addresses([a, a]), two, Value([1, 1], np.float32, 2), Addresses([a, a]), ld, 2,
            np.array([1, 1], np.int32)) == INVALID_VALUE
    # More than OpenBLAS can count is refused by the 64-bit twins.
    assert blas.status("Sgemm_v2_64", N, N, 1 << 32, 1, 1, one, a, 1 << 32, a, 1, one, a, 1 << 32) == NOT_SUPPORTED
    assert blas.status("SgemmBatched", N, N, 2, 2, 2, one, a, 2, a, 2, one, a, 2, -1) == INVALID_VALUE
assert (a.get() == 1).all()
