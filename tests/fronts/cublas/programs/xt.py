# SPDX-License-Identifier: Apache-2.0
"""Checks cublasXt: level 3 on matrices of the host and of the device; each
result is that of its _v2 namesake, which other programs compare with plain
loops."""

from blas import *

handle, number = ctypes.c_void_p(), ctypes.c_int()
v2 = modes[0]


def xt(symbol, *args):
    status = getattr(lib, "cublasXt" + symbol)(*args)
    if status == 0:
        checked.add("cublasXt" + symbol)
    return status


context = ctypes.c_void_p()
assert xt("Create", None) == INVALID_VALUE
assert xt("Create", ctypes.byref(handle)) == 0
assert xt("GetBlockDim", handle, ctypes.byref(number)) == 0 and number.value > 0
for name, right, wrong in (("BlockDim", 512, 0), ("PinningMemMode", 1, 2)):
    assert xt("Set" + name, handle, right) == 0
    assert xt("Set" + name, handle, wrong) == INVALID_VALUE
    assert xt("Get" + name, handle, ctypes.byref(number)) == 0 and number.value == right
    assert xt("Set" + name, None, right) == NOT_INITIALIZED
assert xt("DeviceSelect", handle, 0, None) == INVALID_VALUE
assert xt("DeviceSelect", handle, 1, (ctypes.c_int * 1)(999)) == INVALID_VALUE

m, n, k, ld = 5, 4, 3, 7

def matrices(rows, columns, t):
    whole = np.full((columns, ld), NAN, t)
    whole[:, :rows] = random((columns, rows), t) + 9 * np.eye(columns, rows)
    return whole.astype(t)


def call(name, t, head, shapes, factors, namesake):
    """head: how many arguments are int, then they and the size_t; shapes: of A
    and B as stored, then of the changed one."""
    for on_device in (False, True):
        given = [matrices(*shape, t) for shape in shapes]
        before = [g.copy() for g in given]
        values = [Value(f, kind) for f, kind in factors]
        hosts = [v.pointer(False) for v in values]
        places = [Array(g.ravel()) for g in given]
        mine = [p.at for p in places] if on_device else [g.ctypes.data_as(ctypes.c_void_p) for g in given]
        theirs = [Array(b.ravel()) for b in before]

        def arguments(pointers, scalars):
            inputs = [x for p in pointers[:-1] for x in (p, ld)]
            last = [scalars[1]] if len(scalars) > 1 else []
            return [scalars[0], *inputs, *last, pointers[-1], ld]

        ints = [ctypes.c_size_t(x) if i >= head[0] else ctypes.c_int(x) for i, x in enumerate(head[1:])]
        found = xt(name, handle, *ints, *[ctypes.c_size_t(x) if isinstance(x, int) else x
                                         for x in arguments(mine, hosts)])
        assert found == 0, (name, found)
        v2(namesake, *head[1:], *arguments(theirs, [Value(f, kind) for f, kind in factors]))
        driver("cuCtxSynchronize")
        after = places[-1].get().reshape(given[-1].shape) if on_device else given[-1]
        # What is between the columns is not written either.
        assert np.array_equal(after.view(np.uint8), theirs[-1].get().reshape(after.shape).view(np.uint8)), name
        for g, b in zip(given[:-1], before):
            assert np.array_equal(g.view(np.uint8), b.view(np.uint8))


ready = (ctypes.c_int * 2)(1, 0)
assert xt("Sgemm", handle, 0, 0, *[ctypes.c_size_t(1)] * 3, None, None, ctypes.c_size_t(1), None, ctypes.c_size_t(1),
          None, None, ctypes.c_size_t(1)) == NOT_INITIALIZED
driver("cuCtxGetCurrent", ctypes.byref(context))
assert xt("DeviceSelect", handle, 2, ready) == 0
now = ctypes.c_void_p()
driver("cuCtxGetCurrent", ctypes.byref(now))
assert now.value == context.value
# What is on a device must be on the one that computes.
assert xt("DeviceSelect", handle, 1, (ctypes.c_int * 1)(0)) == 0

for p, t in TYPES.items():
    r, cx = real_of(t), is_complex(t)
    a, b = t(1.5), t(-2)
    both = ((a, t), (b, t))
    for ta, tb in product((N, T, C), (N, T, C)):
        call(p + "gemm", t, [2, ta, tb, m, n, k], [(k, m) if ta else (m, k), (n, k) if tb else (k, n), (m, n)], both,
             p + "gemm_v2")
    for uplo, trans in product((LOWER, UPPER), (N, T)):
        shape = (k, n) if trans else (n, k)
        call(p + "syrk", t, [2, uplo, trans, n, k], [shape, (n, n)], both, p + "syrk_v2")
        call(p + "syr2k", t, [2, uplo, trans, n, k], [shape, shape, (n, n)], both, p + "syr2k_v2")
        call(p + "syrkx", t, [2, uplo, trans, n, k], [shape, shape, (n, n)], both, p + "syrkx")
        if cx:
            trans = C if trans else N
            real = ((r(1.5), r), (r(-2), r))
            call(p + "herk", t, [2, uplo, trans, n, k], [shape, (n, n)], real, p + "herk_v2")
            call(p + "her2k", t, [2, uplo, trans, n, k], [shape, shape, (n, n)], (both[0], real[1]), p + "her2k_v2")
            call(p + "herkx", t, [2, uplo, trans, n, k], [shape, shape, (n, n)], (both[0], real[1]), p + "herkx")
    for side, uplo in product((LEFT, RIGHT), (LOWER, UPPER)):
        size = m if side == LEFT else n
        for mm in ("symm", "hemm") if cx else ("symm",):
            call(p + mm, t, [2, side, uplo, m, n], [(size, size), (m, n), (m, n)], both, p + mm + "_v2")
        for trans, diag in product((N, T, C), (NON_UNIT, UNIT)):
            head = [4, side, uplo, trans, diag, m, n]
            call(p + "trsm", t, head, [(size, size), (m, n)], both[:1], p + "trsm_v2")
            call(p + "trmm", t, head, [(size, size), (m, n), (m, n)], both[:1], p + "trmm_v2")
        # A packed matrix gives the same as a full one.
        full, right, c = matrices(size, size, t), matrices(m, n, t), matrices(m, n, t)
        i, j = np.indices((size, size))
        keep = j >= i if uplo == LOWER else j <= i  # by columns: full[column, row]
        packed = np.ascontiguousarray(full[:, :size][keep])
        places = [Array(x.ravel()) for x in (full, right, c)]
        scalars = [Value(f, kind).pointer(False) for f, kind in both]
        sizes = [ctypes.c_size_t(x) for x in (m, n, ld)]
        assert xt(p + "spmm", handle, side, uplo, *sizes[:2], scalars[0], packed.ctypes.data_as(ctypes.c_void_p),
                  right.ctypes.data_as(ctypes.c_void_p), sizes[2], scalars[1], c.ctypes.data_as(ctypes.c_void_p),
                  sizes[2]) == 0
        v2(p + "symm_v2", side, uplo, m, n, Value(a, t), places[0], ld, places[1], ld, Value(b, t), places[2], ld)
        driver("cuCtxSynchronize")
        assert np.array_equal(c.view(np.uint8), places[2].get().reshape(c.shape).view(np.uint8)), p + "spmm"
    free_all()

# Errors are returned; an empty result is left alone.
x = np.ones(16, np.float32).ctypes.data_as(ctypes.c_void_p)
one = Value(1, np.float32).pointer(False)


def gemm(ta, m, n, k, lda):
    z = [ctypes.c_size_t(v) for v in (m, n, k, lda, 4)]
    return xt("Sgemm", handle, ta, 0, *z[:3], one, x, z[3], x, z[4], one, x, z[4])


assert gemm(0, 4, 4, 4, 4) == 0
assert gemm(0, 4, 4, 4, 3) == INVALID_VALUE
assert gemm(7, 4, 4, 4, 4) == INVALID_VALUE
assert gemm(0, 0, 4, 4, 4) == 0
assert gemm(0, 1 << 40, 4, 4, 1 << 40) != 0
assert xt("Destroy", handle) == 0
assert xt("Destroy", None) == NOT_INITIALIZED
checked -= {name for name in checked if "Xt" not in name}
