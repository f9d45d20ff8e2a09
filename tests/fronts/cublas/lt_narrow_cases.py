# SPDX-License-Identifier: Apache-2.0
"""Cases for floats of 8 and 4 bits and their scales, as documented."""

import numpy as np

from lt_cases import case
from lt_client import *  # pylint: disable=wildcard-import,unused-wildcard-import
from lt_product import B200, H100, Product, float8, near, numbers, put_floats, vector


FLOAT8 = [(E4M3, E4M3), (E4M3, E5M2), (E5M2, E4M3)]


def get_float(lt, at):
    return decode(R_32F, lt.driver.get(at, 4), 1)[0]


@case(H100, few=True, pair=FLOAT8, to=[R_16BF, R_16F, R_32F])
def floats_of_8_bits_have_scales(lt, pair, to):
    p = Product(lt, float8(*pair, to, to), 32, 48, 64, trans=(T, N))
    p.desc.set(a_scale=put_floats(lt, [0.5]), b_scale=put_floats(lt, [-0.25]),
               fast=1)
    right = -0.125 * 2 * p.sums() + p.c.rounded()
    near(p.done(2, 1), right, to)


@case(H100, few=True, pair=FLOAT8, c_kind=[R_16BF, R_16F],
      to=[E4M3, E5M2])
def floats_of_8_bits_are_scaled_rounded_and_measured(lt, pair, c_kind, to):
    if to == E5M2 and pair == (E4M3, E4M3):
        return
    p = Product(lt, float8(*pair, c_kind, to), 32, 48, 64, trans=(T, N))
    amax = put_floats(lt, [-1])
    p.desc.set(a_scale=put_floats(lt, [0.5]), d_scale=put_floats(lt, [4]),
               c_scale=put_floats(lt, [2]), amax_d=amax)
    x = 0.5 * p.sums() + 2 * p.c.rounded()
    got = p.done(1, 1)
    assert np.array_equal(got, SMALL[to][small_codes(to, 4 * x)])
    assert abs(get_float(lt, amax) - np.abs(x).max()) < 1e-4


@case(H100, what=[RELU, GELU | AUX, BIAS, RELU | BIAS | AUX])
def floats_of_8_bits_have_epilogues(lt, what):
    m, n = 32, 48
    p = Product(lt, float8(E4M3, E4M3, R_16BF, E4M3), m, n, 64, trans=(T, N),
                epilogue=what, aux_ld=128)
    at, bias = vector(lt, R_16BF, m)
    aux, amax = lt.driver.put(bytes(128 * n)), put_floats(lt, [-1])
    p.desc.set(bias=at, aux=aux)
    if what == GELU | AUX:
        p.desc.set(aux_scale=put_floats(lt, [8]), aux_amax=amax)
    x = 0.125 * p.sums() + (bias[:, None] if what & BIAS else 0)
    right = gelu(x) if what & GELU else np.maximum(x, 0) if what & RELU else x
    near(p.done(0.125, 0), right, E4M3)
    if what == GELU | AUX:
        told = decode(E4M3, lt.driver.get(aux, 128 * n), 128 * n)
        near(told.reshape(n, 128).T[:m] / 8, x[0], E4M3)
        assert abs(get_float(lt, amax) - np.abs(x).max()) < 1e-4


@case(H100)
def a_scale_for_each_row_of_a_and_column_of_b(lt):
    m, n = 32, 48
    p = Product(lt, float8(E4M3, E4M3, R_16BF, R_16BF), m, n, 64,
                trans=(T, N), a_mode=OUTER_VEC, b_mode=OUTER_VEC)
    rows, cols = numbers(3, R_32F, m), numbers(4, R_32F, n)
    p.desc.set(a_scale=put_floats(lt, rows), b_scale=put_floats(lt, cols))
    near(p.done(1, 0), rows[:, None] * cols * p.sums(), R_16BF)


def spread(scales, inner, outer, block):
    """A scale for each block of block[0] inner x block[1] outer, spread to each
    element."""
    full = np.repeat(np.repeat(scales, block[0], 0), block[1], 1)
    return full[:inner, :outer]


@case(H100, modes=[(VEC128, VEC128), (VEC128, BLK128), (BLK128, VEC128)],
      k=[128, 320])
def a_scale_for_each_128_of_k(lt, modes, k):
    m, n = 132, 260
    m, n = 144, 272
    p = Product(lt, float8(E4M3, E5M2, R_32F, R_32F), m, n, k, trans=(T, N),
                a_mode=modes[0], b_mode=modes[1])
    full, blocks = [], -(-k // 128)
    for i, (mode, outer) in enumerate(zip(modes, (m, n))):
        if mode == VEC128:
            scales = numbers(i, R_32F, blocks, outer) + 2.5
            data, block = scales, (128, 1)
        else:
            scales = numbers(i, R_32F, blocks, -(-outer // 128)) + 2.5
            block = (128, 128)
            data = np.zeros((scales.shape[1], -(-blocks // 4) * 4))
            data[:, :blocks] = scales.T
        p.desc.set(**{"ab"[i] + "_scale": put_floats(lt, data)})
        full.append(spread(scales, k, outer, block))
    a = operated(p.a.rounded(), T)[0] * full[0].T
    b = p.b.rounded()[0] * full[1]
    near(p.done(1, 0), product(a[None], b[None]), R_32F)


def tiled(codes):
    """codes[outer][block] in cuBLASLt's layout: tiles of 128 x 4."""
    outer, blocks = codes.shape
    across = -(-blocks // 4)
    data = bytearray(across * -(-outer // 128) * 512)
    for o in range(outer):
        for i in range(blocks):
            tile = o // 128 * across + i // 4
            at = tile * 512 + o % 32 * 16 + o % 128 // 32 * 4 + i % 4
            data[at] = codes[o, i]
    return bytes(data)


def untiled(data, outer, blocks):
    across = -(-blocks // 4)
    return np.array([[data[(o // 128 * across + i // 4) * 512 + o % 32 * 16 +
                           o % 128 // 32 * 4 + i % 4] for i in range(blocks)]
                     for o in range(outer)])


def block_scaled(lt, p, mode, k):
    """Scales for A and B; returns their values at each element of op(A) and
    op(B)."""
    length = 16 if mode == VEC16 else 32
    full = []
    for i, outer in enumerate((p.d.rows, p.d.cols)):
        random = np.random.default_rng(20 + i)
        shape = (outer, -(-k // length))
        if mode == VEC16:
            codes = random.integers(0x30, 0x48, shape)
            values = SMALL[E4M3][codes]
        else:
            codes = random.integers(124, 131, shape)
            values = 2.0 ** (codes - 127)
        p.desc.set(**{"ab"[i] + "_scale": lt.driver.put(tiled(codes))})
        full.append(spread(values.T, k, outer, (length, 1)))
    return full


@case(B200, few=True, trans=[(T, N), (N, T)], k=[64, 160])
def a_power_of_two_for_each_32_of_k(lt, trans, k):
    m, n = 160, 144
    p = Product(lt, float8(E4M3, E5M2, R_16BF, R_16BF), m, n, k, trans=trans,
                a_mode=VEC32, b_mode=VEC32)
    sa, sb = block_scaled(lt, p, VEC32, k)
    a = operated(p.a.rounded(), trans[0])[0] * sa.T
    b = operated(p.b.rounded(), trans[1])[0] * sb
    near(p.done(1, 0), product(a[None], b[None]), R_16BF)


@case(B200, to=[E4M3, E5M2])
def d_in_blocks_gets_powers_of_two(lt, to):
    m, n, k = 80, 16, 64
    p = Product(lt, float8(E4M3, E5M2, R_16BF, to), m, n, k, trans=(T, N),
                a_mode=VEC32, b_mode=VEC32, d_out_mode=VEC32)
    sa, sb = block_scaled(lt, p, VEC32, k)
    size = -(-n // 128) * 512
    out = lt.driver.put(b"\xee" * size)
    p.desc.set(d_out=out)
    x = product(operated(p.a.rounded(), T) * sa.T, p.b.rounded() * sb)[0]
    x[32:64, 3] = x[32:64, 3]
    got = p.done(1, 0)[0]
    codes = untiled(lt.driver.get(out, size), n, 3)
    largest = {E4M3: 448, E5M2: 57344}[to]
    for j in range(n):
        for i in range(3):
            block = x[32 * i:32 * i + 32, j]
            power = int(np.ceil(np.log2(np.abs(block).max() / largest)))
            assert codes[j, i] == power + 127, (i, j)
            right = SMALL[to][small_codes(to, block / 2.0 ** power)]
            assert np.array_equal(got[32 * i:32 * i + 32, j], right)


@case(B200, few=True, to=[R_16BF, R_32F])
def floats_of_4_bits(lt, to):
    m, n, k = 160, 32, 96
    p = Product(lt, float8(E2M1, E2M1, to, to), m, n, k, trans=(T, N),
                a_mode=VEC16, b_mode=VEC16)
    sa, sb = block_scaled(lt, p, VEC16, k)
    right = product(operated(p.a.rounded(), T) * sa.T, p.b.rounded() * sb)
    near(p.done(1, 2), right + 2 * p.c.rounded(), to)


@case(B200)
def d_of_4_bits_gets_a_scale_for_each_16(lt):
    m, n, k = 64, 32, 64
    p = Product(lt, float8(E2M1, E2M1, R_16BF, E2M1), m, n, k, trans=(T, N),
                a_mode=VEC16, b_mode=VEC16, d_out_mode=VEC16)
    sa, sb = block_scaled(lt, p, VEC16, k)
    size = -(-n // 128) * 512
    out = lt.driver.put(b"\xee" * size)
    p.desc.set(d_out=out, d_scale=put_floats(lt, [0.5]))
    x = 0.5 * product(operated(p.a.rounded(), T) * sa.T,
                      p.b.rounded() * sb)[0]
    got = p.done(1, 0)[0]
    codes = untiled(lt.driver.get(out, size), n, 4)
    for j in range(n):
        for i in range(4):
            block = x[16 * i:16 * i + 16, j]
            code = small_codes(E4M3, [np.abs(block).max() / 6])[0]
            assert codes[j, i] == code, (i, j)
            factor = np.float64(np.float32(1 / SMALL[E4M3][code]))
            right = SMALL[E2M1][small_codes(E2M1, block * factor)]
            assert np.array_equal(got[16 * i:16 * i + 16, j], right)


def first_only(lt, kind, column, k):
    """op(A) with this first column and 0 elsewhere, k contiguous."""
    values = np.zeros((1, k, len(column)))
    values[0, 0] = column
    return Matrix(lt, kind, values)


@case(B200, alpha=[1, 2.0 ** -134, 1.5 * 2.0 ** -134, 0.75 * 2.0 ** -134])
def scales_of_blocks_are_rounded_up_where_they_must(lt, alpha):
    """448 * 2^-n needs 2^-n exactly; denormal scales are documented separately.
    """
    m, n, k = 32, 16, 32
    p = Product(lt, float8(E4M3, E5M2, R_16BF, E4M3), m, n, k, trans=(T, N),
                a_mode=VEC32, b_mode=VEC32, d_out_mode=VEC32)
    p.a = first_only(lt, E4M3, [448] + [1] * 31, k)
    p.b = first_only(lt, E5M2, [1] * n, k)
    ones = lt.driver.put(b"\x7f" * 512)
    out = lt.driver.put(b"\xee" * 512)
    p.desc.set(a_scale=ones, b_scale=ones, d_out=out)
    # A denormal float scale loses its last bits: 2^-149.
    scale = np.float64(np.float32(alpha))
    code = (127 if alpha == 1 else
            0 if scale <= 2.0 ** -127 else 1)
    got = p.done(alpha, 0)[0, :, 0]
    assert untiled(lt.driver.get(out, 512), 1, 1)[0, 0] == code
    right = np.array([448] + [1] * 31) * alpha / 2.0 ** (code - 127)
    assert np.array_equal(got, SMALL[E4M3][small_codes(E4M3, right)])


@case(B200)
def halves_of_steps_go_to_the_even_one(lt):
    m, n, k = 32, 32, 64
    p = Product(lt, float8(E2M1, E2M1, R_16BF, E2M1), m, n, k, trans=(T, N),
                a_mode=VEC16, b_mode=VEC16, d_out_mode=VEC16)
    p.b = first_only(lt, E2M1, [1] * n, k)
    values = np.zeros((1, m, n))
    values[0, 1:8] = np.array([[0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5]]).T
    p.a = first_only(lt, E2M1, [6] + [0] * 15 + [6] + [0] * 15, k)
    p.c = Matrix(lt, R_16BF, values)
    ones = lt.driver.put(b"\x38" * 512)
    out = lt.driver.put(b"\xee" * 512)
    p.desc.set(a_scale=ones, b_scale=ones, d_out=out)
    got = p.done(1, 1)[0, :, 0]
    assert untiled(lt.driver.get(out, 512), 1, 2).tolist() == [[0x38, 0x38]]
    assert list(got[:9]) == [6, 0, 1, 1, 2, 2, 4, 4, 0]
