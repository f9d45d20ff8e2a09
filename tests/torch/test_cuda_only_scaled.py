# SPDX-License-Identifier: Apache-2.0
"""Products of fp8 and fp4 matrices with scales, on plain CPU tensors, are
compared with values and scales multiplied in float64. Where PyTorch has a CPU
form of the name, which supports fewer scales, ours is gpukit::NAME."""

import pytest

torch = pytest.importorskip("torch")

from cuda_only_library import has, load, rows  # noqa: E402

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2


@pytest.fixture(autouse=True, scope="module")
def library():
    load()


def operator(name):
    space = rows()[name][1].rstrip(":")
    return getattr(getattr(torch.ops, space), name)


def values(rows_, columns, dtype=E4M3, seed=0):
    gen = torch.Generator().manual_seed(seed)
    return torch.randn(rows_, columns, generator=gen).to(dtype)


def scales(*shape, seed=3):
    gen = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=gen) + 0.5


def close(found, expected, dtype=None):
    tolerance = {torch.float32: 1e-5, torch.bfloat16: 2e-2,
                 torch.float16: 3e-3}[dtype or found.dtype]
    torch.testing.assert_close(
        found.double(), expected, rtol=tolerance,
        atol=tolerance * expected.abs().max().item())


def spread(scale, high, wide, rows_, columns):
    return (scale.double().repeat_interleave(high, 0)
            .repeat_interleave(wide, 1)[:rows_, :columns])


@pytest.mark.parametrize("out_dtype", [torch.float32, torch.bfloat16,
                                       torch.float16])
@pytest.mark.parametrize("types", [(E4M3, E4M3), (E4M3, E5M2), (E5M2, E4M3)])
def test_a_scale_a_matrix(types, out_dtype):
    a, b = values(5, 32, types[0]), values(16, 32, types[1], 1).t()
    sa, sb = scales(1), scales(1, seed=4)
    found = operator("_scaled_mm")(a, b, sa, sb, out_dtype=out_dtype)
    assert found.dtype == out_dtype
    close(found, a.double() @ b.double() * sa.double() * sb.double())


def test_a_bias_is_added():
    a, b, bias = values(5, 32), values(16, 32, seed=1).t(), scales(16)
    found = operator("_scaled_mm")(a, b, scales(1), scales(1),
                                   bias.bfloat16(), out_dtype=torch.bfloat16)
    close(found, a.double() @ b.double() * scales(1).double() ** 2
          + bias.bfloat16().double())


def test_a_result_in_fp8_is_scaled_and_stops_at_the_largest():
    a, b = values(16, 32), values(16, 32, seed=1).t()
    one = torch.ones(1)
    found = operator("_scaled_mm")(a, b, one, one, None, one * 1000,
                                   out_dtype=E4M3)
    exact = a.double() @ b.double() * 1000
    assert found.dtype == E4M3
    assert torch.equal(found.double(),
                       exact.clamp(-448, 448).float().to(E4M3).double())
    assert (found.double().abs() == 448).any()


def test_a_scale_a_row():
    a, b = values(5, 256), values(16, 256, seed=1).t()
    sa, sb = scales(5, 1), scales(1, 16, seed=4)
    found = operator("_scaled_mm")(a, b, sa, sb, out_dtype=torch.bfloat16)
    close(found, (a.double() * sa.double()) @ (b.double() * sb.double()))


@pytest.mark.parametrize("left", [1, 128])
@pytest.mark.parametrize("right", [1, 128])
def test_a_scale_a_block(left, right):
    m, n, k = 256, 384, 256
    a, b = values(m, k), values(n, k, seed=1).t()
    sa, sb = scales(m // left, k // 128), scales(n // right, k // 128, seed=4)
    found = operator("_scaled_mm")(a, b, sa, sb.t(), out_dtype=torch.bfloat16)
    close(found, (a.double() * spread(sa, left, 128, m, k))
          @ (b.t().double() * spread(sb, right, 128, n, k)).t())


def test_scales_that_fit_nothing_are_refused():
    a, b = values(16, 32), values(16, 32, seed=1).t()
    with pytest.raises(RuntimeError, match="Invalid scaling"):
        operator("_scaled_mm")(a, b, scales(7, 1), scales(1, 16))
    with pytest.raises(RuntimeError, match="col_major"):
        operator("_scaled_mm")(a, b.contiguous(), scales(1), scales(1))


def swizzle(scale):
    """Tiles of 128 rows x 4, as cuBLAS documents them: the byte of row r and
    column c is at (r % 32) * 16 + r / 32 * 4 + c."""
    high, wide = -(-scale.size(0) // 128), -(-scale.size(1) // 4)
    out = torch.ones(high * wide * 512)
    for r in range(scale.size(0)):
        for c in range(scale.size(1)):
            tile = r // 128 * wide + c // 4
            out[tile * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4] = (
                scale[r, c])
    return out


@pytest.mark.skipif("not hasattr(torch, 'float8_e8m0fnu')")
@pytest.mark.parametrize("m,n,k", [(33, 48, 96), (130, 16, 256)])
def test_a_scale_a_block_of_32(m, n, k):
    a, b = values(m, k), values(n, k, seed=1).t()
    sa, sb = (2.0 ** torch.randint(-3, 4, (rows_, k // 32))
              for rows_ in (m, n))
    packed = [swizzle(s).to(torch.float8_e8m0fnu) for s in (sa, sb)]
    found = operator("_scaled_mm")(a, b, *packed, out_dtype=torch.bfloat16)
    close(found, (a.double() * spread(sa, 1, 32, m, k))
          @ (b.t().double() * spread(sb, 1, 32, n, k)).t())


E2M1 = [0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6]


@pytest.mark.skipif("not hasattr(torch, 'float4_e2m1fn_x2')")
def test_fp4_with_a_scale_a_block_of_16():
    m, n, k = 33, 16, 64
    codes = [torch.randint(0, 16, (rows_, k)) for rows_ in (m, n)]
    a, b = ((c[:, ::2] | c[:, 1::2] << 4).byte().view(torch.float4_e2m1fn_x2)
            for c in codes)
    wide = [torch.tensor(E2M1, dtype=torch.float64)[c] for c in codes]
    sa, sb = (scales(rows_, k // 16).to(E4M3) for rows_ in (m, n))
    found = operator("_scaled_mm")(
        a, b.t(), swizzle(sa.float()).to(E4M3), swizzle(sb.float()).to(E4M3),
        out_dtype=torch.bfloat16)
    close(found, (wide[0] * spread(sa, 1, 16, m, k))
          @ (wide[1] * spread(sb, 1, 16, n, k)).t())


@pytest.mark.skipif("not has('_scaled_mm_v2')")
@pytest.mark.parametrize("recipe,left,right", [
    (0, (1,), (1,)), (1, (32, 1), (16, 1)), (4, (32, 2), (16, 2)),
    (5, (1, 2), (1, 2))])
def test_recipes(recipe, left, right):
    m, n, k = 32, 16, 256
    a, b = values(m, k), values(n, k, seed=1).t()
    sa, sb = scales(*left), scales(*right, seed=4)
    high, wide = {0: (m, k), 1: (1, k), 4: (1, 128), 5: (128, 128)}[recipe]
    found = operator("_scaled_mm_v2")(
        a, b, [sa], [recipe], [0], [sb.t() if recipe else sb], [recipe], [0],
        None, torch.bfloat16)
    expected = ((a.double() * spread(sa.view(-1, sa.size(-1)), high, wide, m,
                                     k))
                @ (b.t().double() * spread(sb.view(-1, sb.size(-1)),
                                           max(high, n) if not recipe
                                           else high, wide, n, k)).t())
    close(found, expected)
    if has("_scaled_addmm.out"):
        c = torch.randn(m, n).bfloat16()
        out = torch.empty(m, n, dtype=torch.bfloat16)
        torch.ops.aten._scaled_addmm.out(
            c, a, b, [sa], [recipe], [0], [sb.t() if recipe else sb],
            [recipe], [0], beta=0.5, alpha=2, out=out)
        close(out, 0.5 * c.double() + 2 * expected)


GROUPS = [16, 48, 64]


@pytest.mark.skipif("not has('_scaled_grouped_mm')")
@pytest.mark.parametrize("kind", ["2x3", "3x2", "2x2", "3x3"])
def test_groups(kind):
    g, m, n, k = 3, 32, 16, 64
    ends = torch.tensor(GROUPS, dtype=torch.int32)
    total = GROUPS[-1]
    starts = [0, *GROUPS[:-1]]
    sizes = {"2x3": ((total, k), (g, n, k)), "3x2": ((g, m, k), (total, k)),
             "2x2": ((m, total), (n, total)), "3x3": ((g, m, k), (g, n, k))}
    left, right = sizes[kind]
    a, b = torch.randn(left).to(E4M3), torch.randn(right).to(E4M3)
    if kind == "2x2":
        sa, sb = scales(g * m), scales(g * n, seed=4)
    else:
        sa, sb = scales(*left[:-1]), scales(*right[:-1], seed=4)
    found = torch.ops.aten._scaled_grouped_mm(
        a, b.transpose(-1, -2), sa, sb, None if kind == "3x3" else ends,
        out_dtype=torch.bfloat16)
    a, b, sa, sb = (x.double() for x in (a, b, sa, sb))
    parts = []
    for i, (x, y) in enumerate(zip(starts, GROUPS)):
        one = {"2x3": (a[x:y], b[i] if b.dim() == 3 else b, sa[x:y],
                       sb[i] if b.dim() == 3 else sb),
               "3x2": (a[i] if a.dim() == 3 else a, b[x:y],
                       sa[i] if a.dim() == 3 else sa, sb[x:y]),
               "2x2": (a[:, x:y], b[:, x:y], sa[i * m:i * m + m],
                       sb[i * n:i * n + n]),
               "3x3": (a[i] if a.dim() == 3 else a,
                       b[i] if b.dim() == 3 else b,
                       sa[i] if a.dim() == 3 else sa,
                       sb[i] if b.dim() == 3 else sb)}[kind]
        p, q, s, t = one
        parts.append(p @ q.t() * s[:, None] * t)
    expected = {"2x3": torch.cat, "3x2": lambda p: torch.cat(p, 1),
                "2x2": torch.stack, "3x3": torch.stack}[kind](parts)
    assert found.dtype == torch.bfloat16
    close(found, expected)
