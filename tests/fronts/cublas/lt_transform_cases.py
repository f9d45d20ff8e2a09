# SPDX-License-Identifier: Apache-2.0
"""Cases for transformations of matrices, streams and threads."""

import ctypes as c
import threading

import numpy as np

from lt_cases import case
from lt_client import *  # pylint: disable=wildcard-import,unused-wildcard-import
from lt_product import TYPES, Product, near, put_floats


def transform(lt, alpha, a, beta, b, to, scale=R_32F, **attributes):
    desc = Object(lt, "MatrixTransformDesc", TRANSFORM, scale)
    desc.set(**attributes)
    factors = [x if x is None or isinstance(x, c.c_void_p)
               else scalar(scale, x) for x in (alpha, beta)]
    return lt.call("MatrixTransform", lt.handle, desc.handle, factors[0],
                   c.c_void_p(a.at if a else 0), a and a.layout.handle,
                   factors[1], c.c_void_p(b.at if b else 0),
                   b and b.layout.handle, c.c_void_p(to.at),
                   to.layout.handle, None)


def counted(rows, cols, batches=1):
    x = np.arange(rows * cols * batches) * 37 % 251 - 125
    return x.reshape(batches, rows, cols).astype(np.float64)


@case(few=True, order=[COL, ROW, COL32, COL4_4R2_8C, COL32_2R_4R4],
      back=[COL, ROW, COL32], shape=[(5, 3), (33, 65), (8, 32)])
def orders_are_changed_there_and_back(lt, order, back, shape):
    values = counted(*shape)
    a = Matrix(lt, R_8I, values, back, pad=32)
    b = Matrix(lt, R_8I, values * 0, order)
    d = Matrix(lt, R_8I, values * 0, back)
    assert transform(lt, 1, a, 0, None, b) == SUCCESS
    assert np.array_equal(b.values(), values)
    assert transform(lt, 1, b, 0, None, d) == SUCCESS
    assert np.array_equal(d.values(), values) and b.outside()


@case(trans=[(N, T), (T, N), (T, T)], kind=[R_16F, R_32F, R_64F, R_32I, C_32F])
def sums_of_matrices_and_their_transposes(lt, trans, kind):
    complex_ = kind == C_32F
    shapes = [(7, 4) if t else (4, 7) for t in trans]
    x, y = (counted(*shape, 2) * (1 + 2j if complex_ else 1)
            for shape in shapes)
    a, b = Matrix(lt, kind, x, pad=2), Matrix(lt, kind, y, ROW)
    to = Matrix(lt, kind, np.zeros((2, 4, 7), x.dtype))
    scale = {R_64F: R_64F, C_32F: C_32F}.get(kind, R_32F)
    assert transform(lt, 2, a, -1, b, to, scale, trans_a=trans[0],
                     trans_b=trans[1]) == SUCCESS
    assert np.array_equal(to.values(), 2 * operated(x, trans[0]) -
                          operated(y, trans[1]))


@case()
def a_transformation_may_conjugate_and_change_types(lt):
    x = counted(4, 6) * (1 - 3j)
    a = Matrix(lt, C_32F, x)
    to = Matrix(lt, C_64F, np.zeros((1, 6, 4), complex))
    assert transform(lt, 2j, a, 0, None, to, C_32F, trans_a=H) == SUCCESS
    assert np.array_equal(to.values(), 2j * operated(x, H))


@case()
def factors_of_transformations_may_be_in_the_gpu(lt):
    a, b = Matrix(lt, R_32F, counted(4, 6)), Matrix(lt, R_8I, counted(4, 6))
    to = Matrix(lt, R_16F, counted(4, 6))
    alpha, beta = (c.c_void_p(put_floats(lt, [x])) for x in (0.5, 2))
    assert transform(lt, alpha, a, beta, b, to, pointer_mode=1) == SUCCESS
    assert np.array_equal(to.values(), 2.5 * counted(4, 6))


@case()
def wrong_transformations_are_refused(lt):
    a = Matrix(lt, R_32F, counted(4, 6))
    to = Matrix(lt, R_32F, counted(4, 6))
    narrow = Matrix(lt, R_32F, counted(4, 5))
    several = Matrix(lt, R_32F, counted(4, 6, 2))
    whole = Matrix(lt, C_32F, counted(4, 6) + 0j)
    assert transform(lt, 1, narrow, 0, None, to) == INVALID_VALUE
    assert transform(lt, 1, several, 0, None, to) == INVALID_VALUE
    assert transform(lt, None, a, 0, None, to) == INVALID_VALUE
    assert transform(lt, 1, a, None, a, to) == INVALID_VALUE
    assert transform(lt, 1, a, 0, None, to, trans_a=5) == INVALID_VALUE
    assert transform(lt, 1, a, 0, None, to, pointer_mode=2) == INVALID_VALUE
    assert transform(lt, 1, whole, 0, None, to) == NOT_SUPPORTED
    assert transform(lt, 1, a, 0, None, to, R_8I) == NOT_SUPPORTED
    to.layout.set(ld=3)
    assert transform(lt, 1, a, 0, None, to) == INVALID_VALUE
    assert np.array_equal(to.values(), counted(4, 6))




@case(few=True)
def products_keep_the_order_of_their_stream(lt):
    stream = c.c_void_p()
    lt.driver.call("cuStreamCreate", c.byref(stream), 1)
    p = Product(lt, TYPES["float"], 64, 64, 64)
    right = p.c.rounded()
    for _ in range(4):
        r = lt.matmul(p.desc, scalar(R_32F, 0), p.a.at, p.a.layout, p.b.at,
                      p.b.layout, scalar(R_32F, 3), p.c.at, p.c.layout,
                      p.c.at, p.c.layout, stream=stream)
        assert r == SUCCESS
        right = right * 3
    lt.driver.call("cuStreamSynchronize", stream)
    assert np.array_equal(p.c.values(), right)


@case(few=True)
def threads_have_products_of_their_own(lt):
    context = c.c_void_p()
    lt.driver.call("cuCtxGetCurrent", c.byref(context))
    products = [Product(lt, TYPES["half-float"], 32 + i, 40, 50 + i)
                for i in range(6)]
    status = []

    def work(p):
        stream = c.c_void_p()
        lt.driver.call("cuCtxSetCurrent", context)
        lt.driver.call("cuStreamCreate", c.byref(stream), 1)
        for _ in range(20):
            _, found = lt.heuristic(p.desc, p.a.layout, p.b.layout,
                                    p.c.layout, p.d.layout)
            status.append(lt.matmul(
                p.desc, scalar(R_32F, 1), p.a.at, p.a.layout, p.b.at,
                p.b.layout, scalar(R_32F, 1), p.c.at, p.c.layout, p.d.at,
                p.d.layout, found[0].algo, stream=stream))
        lt.driver.call("cuStreamSynchronize", stream)

    threads = [threading.Thread(target=work, args=[p]) for p in products]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert status == [SUCCESS] * 120
    for p in products:
        near(p.d.values(), p.sums() + p.c.rounded(), R_16F)
