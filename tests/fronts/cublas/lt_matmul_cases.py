# SPDX-License-Identifier: Apache-2.0
"""Cases that compare products of cuBLASLt with plain sums."""

import ctypes as c

import numpy as np

from lt_cases import case
from lt_client import *  # pylint: disable=wildcard-import,unused-wildcard-import
from lt_product import INTEGERS, TO_BYTES, TYPES, Product, near, numbers


@case(few=True, types=TYPES, trans=[(N, N), (T, N), (N, T), (H, T)])
def a_product_is_the_sum_of_products(lt, types, trans):
    p = Product(lt, TYPES[types], 12, 20, 36, trans=trans, pad=4)
    got = p.done(1.5, -0.5)
    near(got, 1.5 * p.sums() - 0.5 * p.c.rounded(), p.kinds[3])
    assert p.d.outside()


# Each computes as exactly as the others here.
OTHER = {65: "half", 69: "bf16", 71: "double", 75: "float", 78: "complex",
         79: "double-complex"}


@case(compute=OTHER)
def other_ways_to_compute_have_the_same_types(lt, compute):
    types = (compute, *TYPES[OTHER[compute]][1:])
    p = Product(lt, types, 12, 20, 36)
    near(p.done(1, 1), p.sums() + p.c.rounded(), p.kinds[3])


@case()
def pedantic_integers_are_integers(lt):
    p = Product(lt, (73, *INTEGERS[1:]), 4, 8, 12)
    assert np.array_equal(p.done(1, 0), p.sums())


@case(shape=[(1, 1, 1), (1, 7, 3), (5, 1, 2), (3, 4, 1), (0, 4, 4),
             (4, 0, 4), (33, 65, 129), (130, 70, 5)],
      types=["half-float", "float", "complex"])
def shapes_at_their_edges(lt, shape, types):
    p = Product(lt, TYPES[types], *shape)
    near(p.done(1, 2), p.sums() + 2 * p.c.rounded(), p.kinds[3])


@case(types=["half-float", "float", "double-complex"], beta=[0, 3])
def without_k_there_is_beta_times_c(lt, types, beta):
    p = Product(lt, TYPES[types], 4, 5, 0)
    near(p.done(7, beta), beta * p.c.rounded(), p.kinds[3])


@case(few=True, orders=[(ROW, COL, COL), (COL, ROW, COL), (COL, COL, ROW),
                        (ROW, ROW, ROW)],
      trans=[(N, N), (T, N), (N, T), (T, T), (H, H)],
      types=["half-float", "double-complex"])
def rows_may_lie_together(lt, orders, trans, types):
    p = Product(lt, TYPES[types], 6, 10, 8, trans=trans, orders=orders, pad=3)
    near(p.done(2, 1), 2 * p.sums() + p.c.rounded(), p.kinds[3])
    assert p.d.outside()


@case(few=True, types=["half-float", "bf16", "complex"])
def batches_have_strides(lt, types):
    p = Product(lt, TYPES[types], 5, 6, 7, batches=4, pad=1, gap=9)
    near(p.done(1, 1), p.sums() + p.c.rounded(), p.kinds[3])
    assert p.d.outside()


@case()
def one_matrix_may_serve_a_whole_batch(lt):
    p = Product(lt, TYPES["float"], 5, 6, 7, batches=3)
    p.a.layout.set(stride=0)
    right = product(np.repeat(p.a.rounded()[:1], 3, 0), p.b.rounded())
    near(p.done(1, 0), right, R_32F)


@case()
def batches_may_be_arrays_of_addresses(lt):
    p = Product(lt, TYPES["half-float"], 5, 6, 7, batches=3)
    for matrix in (p.a, p.b, p.c, p.d):
        size = size_of(matrix.kind, matrix.stride)
        order = (2, 0, 1)
        matrix.table = lt.driver.put(b"".join(
            (matrix.at + i * size).to_bytes(8, "little") for i in order))
        matrix.layout.set(mode=1, stride=0)
    got = lt.matmul(p.desc, scalar(R_32F, 1), p.a.table, p.a.layout,
                    p.b.table, p.b.layout, scalar(R_32F, 1), p.c.table,
                    p.c.layout, p.d.table, p.d.layout)
    assert got == SUCCESS
    near(p.d.values(), p.sums() + p.c.rounded(), R_16F)


@case(types=["half-float", "float", "complex"])
def d_may_be_c(lt, types):
    p = Product(lt, TYPES[types], 9, 8, 7)
    right = p.sums() + 2 * p.c.rounded()
    p.d = p.c
    near(p.done(1, 2), right, p.kinds[3])


@case(key=["ld", "stride"])
def d_is_c_with_the_same_layout_alone(lt, key):
    p = Product(lt, TYPES["float"], 4, 4, 4, batches=2, gap=40)
    p.c.at = p.d.at
    assert p.run(1, 1) == SUCCESS
    p.d.layout.set(**{key: p.d.layout.get(key) + 1})
    assert p.run(1, 1) == INVALID_VALUE
    assert p.run(1, 0) == SUCCESS


@case()
def c_may_be_one_column_for_all(lt):
    p = Product(lt, TYPES["float"], 5, 6, 7)
    p.c.layout.set(ld=0)
    near(p.done(1, 1), p.sums() + p.c.rounded()[:, :, :1], R_32F)


@case()
def without_a_layout_c_is_like_d(lt):
    p = Product(lt, TYPES["float"], 5, 6, 7)
    r = lt.matmul(p.desc, scalar(R_32F, 1), p.a.at, p.a.layout, p.b.at,
                  p.b.layout, scalar(R_32F, 1), p.c.at, None, p.d.at,
                  p.d.layout)
    assert r == SUCCESS
    near(p.d.values(), p.sums() + p.c.rounded(), R_32F)


@case(few=True, types=["half-float", "float", "complex"])
def c_is_not_read_where_beta_is_0(lt, types):
    p = Product(lt, TYPES[types], 5, 6, 7)
    p.c = Matrix(lt, p.kinds[2], np.full((1, 5, 6), np.nan))
    near(p.done(1, 0), p.sums(), p.kinds[3])
    r = lt.matmul(p.desc, scalar(p.scale, 2), p.a.at, p.a.layout, p.b.at,
                  p.b.layout, scalar(p.scale, 0), 0, p.c.layout, p.d.at,
                  p.d.layout)
    assert r == SUCCESS
    near(p.d.values(), 2 * p.sums(), p.kinds[3])


@case()
def what_is_no_number_stays_none(lt):
    p = Product(lt, TYPES["half-float"], 4, 4, 4)
    values = p.a.rounded()
    values[0, 1, 2] = np.nan
    p.a = Matrix(lt, R_16F, values)
    got = p.done(1, 0)
    assert np.isnan(got[0, 1]).all() and not np.isnan(got[0, [0, 2, 3]]).any()


@case()
def nothing_of_a_and_b_is_read_where_alpha_is_0(lt):
    p = Product(lt, TYPES["float"], 4, 4, 4)
    p.a = Matrix(lt, R_32F, np.full((1, 4, 4), np.nan))
    near(p.done(0, 2), 2 * p.c.rounded(), R_32F)


@case()
def too_large_a_half_is_infinite(lt):
    p = Product(lt, TYPES["half-float"], 2, 2, 2)
    p.a = Matrix(lt, R_16F, np.full((1, 2, 2), 1000))
    p.b = Matrix(lt, R_16F, [[[100, -100], [0, 0]]])
    assert np.array_equal(p.done(1, 0)[0], [[np.inf, -np.inf]] * 2)


@case(types=["half-float", "float", "complex", "half"],
      mode=[DEVICE, VECTORS, VECTOR_ZERO, VECTOR_HOST])
def factors_may_be_in_the_gpu(lt, types, mode):
    p = Product(lt, TYPES[types], 5, 6, 7, pointer_mode=mode)
    count = 1 if mode == DEVICE else 5
    alpha, beta = numbers(7, p.scale, count), numbers(8, p.scale, count)
    if mode == VECTORS:
        beta[1] = 0
    a, b = (c.c_void_p(lt.driver.put(encode(p.scale, x)))
            for x in (alpha, beta))
    if mode == VECTOR_ZERO:
        b, beta = c.c_void_p(None), np.zeros(1)
    if mode == VECTOR_HOST:
        b, beta = 2.5, np.array([2.5])
    right = (alpha[:, None] * p.sums() + beta[:, None] * p.c.rounded())
    near(p.done(a, b), right, p.kinds[3])


@case()
def each_of_a_batch_may_have_a_vector_alpha(lt):
    p = Product(lt, TYPES["float"], 5, 6, 7, batches=3,
                pointer_mode=VECTOR_HOST, alpha_stride=8)
    alpha = numbers(7, R_32F, 3, 8)
    at = c.c_void_p(lt.driver.put(encode(R_32F, alpha.ravel())))
    near(p.done(at, 1), alpha[:, :5, None] * p.sums() + p.c.rounded(), R_32F)


@case(kind=[R_32F, C_32F])
def factors_of_vectors_that_are_0_read_no_c(lt, kind):
    types = TYPES["float" if kind == R_32F else "complex"]
    p = Product(lt, types, 2, 3, 4, pointer_mode=VECTORS)
    p.c = Matrix(lt, kind, [[[np.nan] * 3, [1] * 3]])
    a, b = (c.c_void_p(lt.driver.put(encode(kind, np.array(x))))
            for x in ([1, 1], [0, 2]))
    right = p.sums() + [[[0] * 3, [2] * 3]]
    near(p.done(a, b), right, kind)


@case()
def nothing_is_emulated_and_that_is_told(lt):
    p = Product(lt, (78, *TYPES["float"][1:]), 4, 4, 4)
    told = lt.driver.put(b"\x07" * 8)
    described = Object(lt, "EmulationDesc", EMULATION).set(told=told)
    p.desc.set(emulation=described.handle.value)
    near(p.done(1, 0), p.sums(), R_32F)
    assert lt.driver.get(told, 8) == b"\xff" * 4 + b"\x07" * 4


# Integers.
@case(few=True, trans=[(N, N), (T, N), (N, T), (T, T)])
def integers_are_exact(lt, trans):
    p = Product(lt, INTEGERS, 8, 12, 400, trans=trans)
    assert np.array_equal(p.done(3, -2), 3 * p.sums() - 2 * p.c.rounded())


@case()
def integers_wrap(lt):
    p = Product(lt, INTEGERS, 4, 4, 4, trans=(T, N))
    right = (p.sums().astype(np.int64) * 1000003 * 7 +
             p.c.rounded().astype(np.int64)).astype(np.int32)
    assert np.array_equal(p.done(1000003 * 7, 1), right)
    assert np.any(np.abs(p.sums() * 7000021) > np.iinfo(np.int32).max)


@case(few=True)
def bytes_are_rounded_to_even_and_stop_at_their_ends(lt):
    p = Product(lt, TO_BYTES, 8, 8, 16, trans=(T, N))
    right = np.clip(np.rint(p.sums() * 2 ** -9 + 0.5 * p.c.rounded()), -128,
                    127)
    got = p.done(2 ** -9, 0.5)
    assert np.array_equal(got, right)
    assert np.any(right == 127) or np.any(right == -128)


@case(types=[INTEGERS, TO_BYTES],
      order_b=[COL4_4R2_8C, COL32_2R_4R4],
      shape=[(4, 5, 6), (40, 33, 65)])
def integers_have_orders_of_tiles(lt, types, order_b, shape):
    p = Product(lt, types, *shape, trans=(N, T),
                orders=(COL32, order_b, COL32))
    alpha = 1 if types == INTEGERS else 2 ** -6
    right = p.sums() * alpha
    if types == TO_BYTES:
        right = np.clip(np.rint(right), -128, 127)
    assert np.array_equal(p.done(alpha, 0), right)


# Planes of complex numbers.
@case(kind=[C_16F, C_16BF], to=["same", "float"],
      trans=[(N, N), (T, H), (H, N)])
def complex_numbers_may_lie_in_planes(lt, kind, to, trans):
    m, n, k, batches = 5, 6, 7, 2
    d_kind = C_32F if to == "float" else kind
    ta, tb = trans
    shapes = [(batches, k, m) if ta else (batches, m, k),
              (batches, n, k) if tb else (batches, k, n), (batches, m, n)]
    real = {C_16F: R_16F, C_16BF: R_16BF, C_32F: R_32F}
    made, values = [], []
    for i, (shape, of) in enumerate(zip(shapes, [kind, kind, d_kind])):
        x = numbers(i, C_32F, *shape)
        planes = [Matrix(lt, real[of], part) for part in (x.real, x.imag)]
        planes[0].layout = lt.layout(of, *shape[1:], shape[1],
                                     batches=batches, stride=planes[0].stride,
                                     plane=planes[1].at - planes[0].at)
        made.append(planes)
        values.append(planes[0].rounded() + 1j * planes[1].rounded())
    desc = lt.matmul_desc(COMPUTE_32F, C_32F, trans_a=ta, trans_b=tb)
    a, b, d = (planes[0] for planes in made)
    right = ((2 - 1j) * product(operated(values[0], ta),
                                operated(values[1], tb)) + 1j * values[2])
    assert lt.matmul(desc, scalar(C_32F, 2 - 1j), a.at, a.layout, b.at,
                     b.layout, scalar(C_32F, 1j), d.at, d.layout, d.at,
                     d.layout) == SUCCESS
    near(made[2][0].values() + 1j * made[2][1].values(), right, real[d_kind])
