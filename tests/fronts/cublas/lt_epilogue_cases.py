# SPDX-License-Identifier: Apache-2.0
"""Cases that compare epilogues of cuBLASLt with plain arithmetic."""

import numpy as np

from lt_cases import case
from lt_client import *  # pylint: disable=wildcard-import,unused-wildcard-import
from lt_product import EPILOGUE_TYPES, TYPES, Product, near, numbers, vector


@case(few=True, types=EPILOGUE_TYPES, what=[0, RELU, GELU])
def a_bias_is_added_to_each_column(lt, types, what):
    p = Product(lt, TYPES[types], 12, 9, 10, epilogue=BIAS | what)
    kind = p.kinds[3]
    at, bias = vector(lt, kind, 12)
    p.desc.set(bias=at)
    right = 0.5 * p.sums() + p.c.rounded() + bias[:, None]
    right = {0: right, RELU: np.maximum(right, 0), GELU: gelu(right)}[what]
    near(p.done(0.5, 1), right, kind)


@case(few=True, types=EPILOGUE_TYPES, what=[RELU, GELU])
def activations_alone(lt, types, what):
    p = Product(lt, TYPES[types], 12, 9, 10, epilogue=what)
    right = 0.5 * p.sums()
    right = np.maximum(right, 0) if what == RELU else gelu(right)
    near(p.done(0.5, 0), right, p.kinds[3])


@case(order=[COL, ROW])
def a_bias_has_one_for_each_row_in_any_order(lt, order):
    p = Product(lt, TYPES["half-float"], 12, 9, 10, orders=(COL, COL, order),
                epilogue=BIAS)
    at, bias = vector(lt, R_16F, 12)
    p.desc.set(bias=at)
    near(p.done(1, 0), p.sums() + bias[:, None], R_16F)


@case()
def each_of_a_batch_may_have_a_bias(lt):
    p = Product(lt, TYPES["float"], 4, 5, 6, batches=3, epilogue=BIAS,
                bias_stride=7)
    at, bias = vector(lt, R_32F, 21)
    p.desc.set(bias=at)
    near(p.done(1, 0), p.sums() + bias.reshape(3, 7)[:, :4, None], R_32F)


def bits_of(data, ld, m, n):
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    return bits[:ld * n].reshape(n, ld).T[:m]


@case(types=EPILOGUE_TYPES, bias=[0, BIAS], ld=[128, 256])
def relu_tells_what_it_let_pass(lt, types, bias, ld):
    m, n = 130 if ld == 256 else 20, 9
    aux = lt.driver.put(b"\xa5" * (ld // 8 * n))
    p = Product(lt, TYPES[types], m, n, 10, epilogue=RELU | AUX | bias,
                aux=aux, aux_ld=ld)
    at, values = vector(lt, p.kinds[3], m)
    p.desc.set(bias=at)
    x = p.sums() + (values[:, None] if bias else 0)
    near(p.done(1, 0), np.maximum(x, 0), p.kinds[3])
    assert np.array_equal(bits_of(lt.driver.get(aux, ld // 8 * n), ld, m, n),
                          x[0] > 0)


@case(types=EPILOGUE_TYPES, bias=[0, BIAS])
def gelu_tells_what_it_was_given(lt, types, bias):
    m, n, ld = 20, 9, 24
    kind = TYPES[types][5]
    aux = lt.driver.put(encode(kind, np.zeros(ld * n)))
    p = Product(lt, TYPES[types], m, n, 10, epilogue=GELU | AUX | bias,
                aux=aux, aux_ld=ld)
    at, values = vector(lt, kind, m)
    p.desc.set(bias=at)
    x = 0.25 * p.sums() + (values[:, None] if bias else 0)
    near(p.done(0.25, 0), gelu(x), kind)
    told = decode(kind, lt.driver.get(aux, size_of(kind, ld * n)), ld * n)
    near(told.reshape(n, ld).T[:m], x[0], kind)


@case(types=EPILOGUE_TYPES, grad=[0, BGRAD])
def the_gradient_of_relu_is_let_pass_by_its_bits(lt, types, grad):
    m, n, ld = 20, 9, 128
    mask = np.random.default_rng(4).integers(0, 256, ld // 8 * n, np.uint8)
    p = Product(lt, TYPES[types], m, n, 10, epilogue=DRELU | grad,
                aux=lt.driver.put(mask.tobytes()), aux_ld=ld)
    bias = lt.driver.put(encode(p.kinds[3], np.zeros(m)))
    p.desc.set(bias=bias)
    right = p.sums() * bits_of(mask.tobytes(), ld, m, n)
    near(p.done(1, 0), right, p.kinds[3])
    told = decode(p.kinds[3], lt.driver.get(bias, size_of(p.kinds[3], m)), m)
    near(told, right[0].sum(1) if grad else np.zeros(m), p.kinds[3])


@case(types=EPILOGUE_TYPES, grad=[0, BGRAD])
def the_gradient_of_gelu_is_that_of_its_input(lt, types, grad):
    m, n, ld = 20, 9, 24
    p = Product(lt, TYPES[types], m, n, 10, epilogue=DGELU | grad, aux_ld=ld)
    kind = p.kinds[3]
    given = numbers(5, kind, ld * n)
    bias = lt.driver.put(encode(kind, np.zeros(m)))
    p.desc.set(bias=bias, aux=lt.driver.put(encode(kind, given)))
    right = p.sums() * gelu_gradient(given.reshape(n, ld).T[:m])
    near(p.done(1, 0), right, kind)
    told = decode(kind, lt.driver.get(bias, size_of(kind, m)), m)
    near(told, right[0].sum(1) if grad else np.zeros(m), kind)


@case(types=EPILOGUE_TYPES, what=[BGRADA, BGRADB], trans=[(N, N), (T, T)])
def a_bias_gradient_may_be_a_sum_over_k(lt, types, what, trans):
    m, n = 8, 6
    p = Product(lt, TYPES[types], m, n, 10, trans=trans, epilogue=what)
    kind, count = p.kinds[3], m if what == BGRADA else n
    bias = lt.driver.put(encode(kind, np.zeros(count)))
    p.desc.set(bias=bias)
    near(p.done(1, 0), p.sums(), kind)
    told = decode(kind, lt.driver.get(bias, size_of(kind, count)), count)
    right = (operated(p.a.rounded(), trans[0])[0].sum(1) if what == BGRADA
             else operated(p.b.rounded(), trans[1])[0].sum(0))
    near(told, right, kind)


@case(types=["half-to-float", "bf16-to-float"], what=[BIAS, BGRADB])
def a_bias_beside_floats_may_have_the_type_of_a(lt, types, what):
    p = Product(lt, TYPES[types], 8, 6, 10, epilogue=what)
    kind, count = p.kinds[0], 8 if what == BIAS else 6
    at, bias = vector(lt, kind, count)
    p.desc.set(bias=at, bias_type=kind)
    near(p.done(1, 0), p.sums() + (bias[:, None] if what == BIAS else 0),
         p.kinds[3])
    told = decode(kind, lt.driver.get(at, size_of(kind, count)), count)
    near(told, bias if what == BIAS else p.b.rounded()[0].sum(0), kind)
