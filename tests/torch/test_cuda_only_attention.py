# SPDX-License-Identifier: Apache-2.0
"""Attention under the names of CUDA's fused kernels, on plain CPU tensors, is
compared with the formula in float64 and PyTorch's own derivatives of it."""

import math

import pytest

torch = pytest.importorskip("torch")

from cuda_only_library import has, load  # noqa: E402

aten = torch.ops.aten
TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-5,
             torch.bfloat16: 3e-2, torch.float16: 5e-3}
SHAPES = [  # batch, heads, heads of k, queries, keys, head size
    (1, 1, 1, 1, 1, 8), (2, 4, 4, 5, 5, 8), (2, 4, 2, 7, 11, 16),
    (3, 6, 1, 33, 17, 24), (1, 2, 2, 64, 200, 64)]


@pytest.fixture(autouse=True, scope="module")
def library():
    load()


def visible(m, n, causal=False, corner=0, left=-1, right=-1):
    """The keys that each query sees; corner: n - m where the diagonal ends in
    the lower right corner."""
    distance = torch.arange(n) - torch.arange(m)[:, None] - corner
    seen = torch.ones(m, n, dtype=torch.bool)
    if causal:
        right = 0
    if right >= 0:
        seen &= distance <= right
    if left >= 0:
        seen &= distance >= -left
    return seen


def formula(q, k, v, seen=None, bias=None, scale=None, factors=None):
    """q: ..., H, M, D in float64. Returns the result and the logsumexp."""
    group = q.size(-3) // k.size(-3)
    k, v = (x.repeat_interleave(group, -3) for x in (k, v))
    s = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.size(-1)))
    if bias is not None:
        s = s + bias
    if seen is not None:
        s = s.masked_fill(~seen, -math.inf)
    empty = (s == -math.inf).all(-1)
    s = s.masked_fill(empty[..., None], 0)
    lse = s.logsumexp(-1)
    p = (s - lse[..., None]).exp().masked_fill(empty[..., None], 0)
    if factors is not None:
        p = p * factors
    return p @ v, lse.masked_fill(empty, math.inf)


def operands(shape, dtype, packed=True, seed=0, head_size_v=None):
    """As linear layers make them (B, M, H, D transposed), or dense."""
    gen = torch.Generator().manual_seed(seed)
    b, h, hk, m, n, d = shape
    sizes = [(b, m, h, d), (b, n, hk, d), (b, n, hk, head_size_v or d)]
    made = [torch.randn(size, generator=gen, dtype=torch.float64).to(dtype)
            for size in sizes]
    made = [x.transpose(1, 2) for x in made]
    return [x if packed else x.contiguous() for x in made]


def wide(*tensors):
    return [x.detach().double().requires_grad_() for x in tensors]


def check(found, expected, dtype):
    assert found.dtype == dtype
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(found.double(), expected, rtol=tolerance,
                               atol=tolerance)


def check_both_ways(run, inputs, expected, dtype, lse_of=lambda r: r[1]):
    """Compares results and gradients; run returns (out, lse, ...) for its
    leaves."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    result = run(*leaves)
    doubles = wide(*inputs)
    out, lse = expected(*doubles)
    check(result[0], out, dtype)
    torch.testing.assert_close(lse_of(result).double(), lse,
                               rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    grad = torch.randn(out.shape, dtype=torch.float64,
                       generator=torch.Generator().manual_seed(1)).to(dtype)
    found = torch.autograd.grad(result[0], leaves, grad)
    wanted = torch.autograd.grad(out, doubles, grad.double())
    for one, other in zip(found, wanted):
        check(one, other, dtype)
    return result, found


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("shape", SHAPES)
def test_flash(shape, dtype, causal, packed):
    inputs = operands(shape, dtype, packed)
    m, n = shape[3:5]
    seen = visible(m, n, causal, corner=n - m)
    result, grads = check_both_ways(
        lambda *x: aten._scaled_dot_product_flash_attention(
            *x, 0.0, causal),
        inputs, lambda *x: formula(*x, seen=seen), dtype)
    assert result[0].stride() == inputs[0].stride()
    assert [g.stride() for g in grads] == [x.stride() for x in inputs]
    assert result[1].shape == (shape[0], shape[1], m)
    assert result[1].is_contiguous()
    assert result[2] is None and result[3] is None
    assert result[4:6] == (m, n)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("shape", SHAPES)
def test_efficient(shape, dtype, causal):
    shape = (*shape[:2], shape[1], *shape[3:])
    inputs = operands(shape, dtype, head_size_v=shape[5] + 8)
    m, n = shape[3:5]
    seen = visible(m, n, causal)
    result, grads = check_both_ways(
        lambda *x: aten._scaled_dot_product_efficient_attention(
            *x, None, True, 0.0, causal),
        inputs, lambda *x: formula(*x, seen=seen), dtype,
        lambda r: r[1][..., :m])
    assert result[1].shape == (shape[0], shape[1], -(-m // 32) * 32)
    assert (result[1][..., m:] == math.inf).all()
    for x in (result[0], *grads):
        assert x.transpose(1, 2).is_contiguous()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("shape", SHAPES)
def test_cudnn(shape, dtype, causal):
    inputs = operands(shape, dtype, packed=shape[0] > 1,
                      head_size_v=shape[5] + 8)
    m, n = shape[3:5]
    seen = visible(m, n, causal)
    result, grads = check_both_ways(
        lambda *x: aten._scaled_dot_product_cudnn_attention(
            *x, None, True, 0.0, causal),
        inputs, lambda *x: formula(*x, seen=seen), dtype,
        lambda r: r[1].squeeze(-1))
    assert result[1].shape == (shape[0], shape[1], m, 1)
    assert [g.stride() for g in grads] == [x.stride() for x in inputs]


@pytest.mark.parametrize("sizes", [(2, 4, 7, 11), (1, 4, 7, 11),
                                   (2, 1, 7, 11), (1, 1, 1, 11)])
@pytest.mark.parametrize("name", ["efficient", "cudnn"])
def test_a_bias_is_added_and_spread(name, sizes):
    inputs = operands((2, 4, 4, 7, 11, 16), torch.float32)
    bias = torch.randn(sizes, generator=torch.Generator().manual_seed(5))
    op = getattr(aten, f"_scaled_dot_product_{name}_attention")
    check_both_ways(
        lambda *x: op(*x, bias.expand(2, 4, 7, 11), True), inputs,
        lambda *x: formula(*x, bias=bias.double()), torch.float32,
        lambda r: r[1].reshape(2, 4, -1)[..., :7])


@pytest.mark.parametrize("keys", [11, 16])
def test_a_bias_has_a_gradient_in_rows_of_sixteen(keys):
    inputs = operands((2, 4, 4, 7, keys, 16), torch.float32)
    bias = torch.randn(2, 4, 7, keys)
    _, grads = check_both_ways(
        lambda q, k, v, b: aten._scaled_dot_product_efficient_attention(
            q, k, v, b, True), [*inputs, bias],
        lambda q, k, v, b: formula(q, k, v, bias=b), torch.float32,
        lambda r: r[1][..., :7])
    assert grads[3].stride(2) == 16


@pytest.mark.parametrize("name", ["efficient", "cudnn"])
def test_a_query_that_sees_nothing_gives_zeros(name):
    inputs = operands((1, 2, 2, 4, 6, 8), torch.float32)
    bias = torch.zeros(1, 2, 4, 6)
    bias[:, :, 1] = -math.inf
    op = getattr(aten, f"_scaled_dot_product_{name}_attention")
    result, grads = check_both_ways(
        lambda *x: op(*x, bias, True), inputs,
        lambda *x: formula(*x, bias=bias.double()), torch.float32,
        lambda r: r[1].reshape(1, 2, -1)[..., :4])
    assert not result[0][:, :, 1].any() and not grads[0][:, :, 1].any()


def test_a_scale_may_be_given():
    inputs = operands((2, 4, 4, 7, 11, 16), torch.float32)
    for name, more in (("flash", (0.0, False, False)),
                       ("efficient", (None, True)), ("cudnn", (None, True))):
        op = getattr(aten, f"_scaled_dot_product_{name}_attention")
        out = op(*inputs, *more, scale=0.7)[0]
        check(out, formula(*wide(*inputs), scale=0.7)[0], torch.float32)


@pytest.mark.parametrize("left,right,causal", [
    (3, -1, False), (-1, 2, False), (2, 1, False), (3, -1, True), (0, 0, False)])
def test_flash_looks_through_a_window(left, right, causal):
    b, h, m, n, d = 2, 3, 13, 19, 8
    q, k, v = operands((b, h, h, m, n, d), torch.float32)
    seen = visible(m, n, causal, n - m, left, right)
    found = aten._flash_attention_forward(
        *(x.transpose(1, 2) for x in (q, k, v)), None, None, m, n, 0.0,
        causal, False, window_size_left=left, window_size_right=right)
    doubles = wide(q, k, v)
    out, lse = formula(*doubles, seen=seen)
    check(found[0].transpose(1, 2), out, torch.float32)
    torch.testing.assert_close(found[1].double(), lse, rtol=1e-5, atol=1e-5)
    grad = torch.randn_like(found[0])
    empty = torch.empty(0)
    grads = aten._flash_attention_backward(
        grad, *(x.transpose(1, 2) for x in (q, k, v)), *found[:2], None, None,
        m, n, 0.0, causal, found[2], empty, window_size_left=left,
        window_size_right=right)
    wanted = torch.autograd.grad(out, doubles, grad.transpose(1, 2).double())
    for one, other in zip(grads, wanted):
        check(one.transpose(1, 2), other, torch.float32)


def test_flash_has_alibi_slopes():
    q, k, v = operands((2, 3, 3, 9, 12, 8), torch.float32)
    slopes = torch.tensor([0.5, 0.25, 0.125])
    distance = (torch.arange(12) - torch.arange(9)[:, None] - 3).abs()
    bias = -slopes.double()[:, None, None] * distance
    found = aten._flash_attention_forward(
        *(x.transpose(1, 2) for x in (q, k, v)), None, None, 9, 12, 0.0,
        False, False, alibi_slopes=slopes)
    out, lse = formula(*wide(q, k, v), bias=bias)
    check(found[0].transpose(1, 2), out, torch.float32)
    torch.testing.assert_close(found[1].double(), lse, rtol=1e-5, atol=1e-5)


def packs(lengths_q, lengths_k, heads, heads_k, size, dtype=torch.float32):
    gen = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(sum(n), h, size, generator=gen).to(dtype)
               for n, h in ((lengths_q, heads), (lengths_k, heads_k),
                            (lengths_k, heads_k)))
    starts = [torch.tensor([0, *n]).cumsum(0).int()
              for n in (lengths_q, lengths_k)]
    return q, k, v, *starts


def parts(tensor, starts):
    return [tensor[a:b].transpose(0, 1)
            for a, b in zip(starts[:-1].tolist(), starts[1:].tolist())]


LENGTHS = ([3, 7, 1, 12], [5, 7, 2, 9])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ["flash", "efficient", "cudnn"])
def test_packed_sequences_do_not_see_each_other(name, causal):
    heads_k = 4 if name == "efficient" else 2
    q, k, v, cq, ck = packs(*LENGTHS, 4, heads_k, 8)
    most = [max(n) for n in LENGTHS]
    if name == "cudnn" and not has("_cudnn_attention_forward"):
        pytest.skip("this PyTorch has no _cudnn_attention_forward")
    grad = torch.randn(q.shape)
    if name == "flash":
        out, lse, state, rest, _ = aten._flash_attention_forward(
            q, k, v, cq, ck, *most, 0.0, causal, False)
        grads = aten._flash_attention_backward(
            grad, q, k, v, out, lse, cq, ck, *most, 0.0, causal, state, rest)
    elif name == "efficient":
        x = [t[None] for t in (q, k, v)]
        kind = 2 if causal else 0
        out, lse, state, rest, _, _ = aten._efficient_attention_forward(
            *x, None, cq, ck, *most, 0.0, kind, True)
        assert lse.shape == (4, 4, 32)
        grads = aten._efficient_attention_backward(
            grad[None], *x, None, out, cq, ck, *most, lse, 0.0, state, rest,
            kind, False)
        out, grads = out[0], [g[0] for g in grads[:3]]
    else:
        result = aten._cudnn_attention_forward(
            q, k, v, None, cq, ck, *most, True, 0.0, causal)
        out, lse, state, rest = result[0], result[1], result[6], result[7]
        grads = aten._cudnn_attention_backward(
            grad, q, k, v, out, lse, state, rest, None, cq, ck, *most, 0.0,
            causal)
    doubles = wide(q, k, v)
    for i, (a, b, c) in enumerate(zip(
            parts(doubles[0], cq), parts(doubles[1], ck),
            parts(doubles[2], ck))):
        m, n = a.size(1), b.size(1)
        corner = 0 if name == "cudnn" else n - m
        expected, logs = formula(a, b, c, visible(m, n, causal, corner))
        check(parts(out, cq)[i], expected, torch.float32)
        mine = (lse[:, cq[i]:cq[i + 1]] if lse.dim() == 2
                else lse[i, :, :m])
        torch.testing.assert_close(mine.double(), logs, rtol=1e-5, atol=1e-5)
        expected.backward(parts(grad, cq)[i].double(), retain_graph=True)
    for one, other in zip(grads, doubles):
        check(one, other.grad, torch.float32)


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_efficient_takes_what_keys_are_used(kind):
    q, k, v = operands((2, 2, 2, 4, 9, 8), torch.float32)
    used = torch.tensor([5, 8], dtype=torch.int32)
    found = aten._efficient_attention_forward(
        *(x.transpose(1, 2) for x in (q, k, v)), None, None, None, None, None,
        0.0, kind, True, seqlen_k=used)
    for b, n in enumerate(used.tolist()):
        seen = visible(4, n, kind > 0, n - 4 if kind == 2 else 0)
        out, _ = formula(*(x[b].double() for x in
                           (q, k[:, :, :n], v[:, :, :n])), seen=seen)
        check(found[0][b].transpose(0, 1), out, torch.float32)


@pytest.mark.parametrize("kind", [1, 2])
def test_efficient_has_a_causal_window(kind):
    q, k, v = operands((1, 2, 2, 9, 12, 8), torch.float32)
    found = aten._efficient_attention_forward(
        *(x.transpose(1, 2) for x in (q, k, v)), None, None, None, None, None,
        0.0, kind, True, window_size=4)
    seen = visible(9, 12, True, 3 if kind == 2 else 0, left=3)
    out, _ = formula(*wide(q, k, v), seen=seen)
    check(found[0].transpose(1, 2), out, torch.float32)


def test_efficient_gradients_may_share_their_storage():
    q, k, v = (x.transpose(1, 2)
               for x in operands((2, 3, 3, 6, 6, 8), torch.float32))
    out, lse, seed, offset, _, _ = aten._efficient_attention_forward(
        q, k, v, None, None, None, None, None, 0.0, 0, True)
    more = (torch.ones_like(out), q, k, v, None, out, None, None, 6, 6, lse,
            0.0, seed, offset, 0, False)
    apart = aten._efficient_attention_backward(*more)
    shared = aten._efficient_attention_backward(
        *more, shared_storage_dqdkdv=True)
    for one, other in zip(apart[:3], shared[:3]):
        assert torch.equal(one, other)
    assert len({g.untyped_storage().data_ptr() for g in shared[:3]}) == 1


def dropout_factors(shape, p, seed, offset):
    numbers = torch.empty(shape)
    aten._fill_mem_eff_dropout_mask_(numbers, p, seed, offset)
    return (numbers > p).double() / (1 - p)


@pytest.mark.parametrize("p", [0.1, 0.5])
@pytest.mark.parametrize("name", ["flash", "efficient", "cudnn"])
def test_backward_drops_what_forward_dropped(name, p):
    shape = (2, 3, 3, 37, 41, 16)
    inputs = operands(shape, torch.float32)
    more = {"flash": (p, False), "efficient": (None, True, p),
            "cudnn": (None, True, p)}[name]
    op = getattr(aten, f"_scaled_dot_product_{name}_attention")
    leaves = [x.detach().requires_grad_() for x in inputs]
    result = op(*leaves, *more)
    first = 2 if name == "efficient" else 6
    state, second = result[first:first + 2]
    seed, offset = (state.view(torch.int64).tolist() if state.numel() == 2
                    else (state.item(), second.item()))
    factors = dropout_factors((2, 3, 37, 41), p, seed, offset)
    doubles = wide(*inputs)
    out, _ = formula(*doubles, factors=factors)
    check(result[0], out, torch.float32)
    grad = torch.randn_like(result[0])
    for one, other in zip(torch.autograd.grad(result[0], leaves, grad),
                          torch.autograd.grad(out, doubles, grad.double())):
        check(one, other, torch.float32)
    kept = (factors > 0).double().mean().item()
    assert abs(kept - (1 - p)) < 0.02


def test_two_calls_drop_differently_and_a_seed_repeats_them():
    inputs = operands((1, 2, 2, 16, 16, 8), torch.float32)
    runs = []
    for _ in range(2):
        torch.manual_seed(7)
        runs.append([aten._scaled_dot_product_flash_attention(
            *inputs, 0.5)[0] for _ in range(2)])
    assert torch.equal(runs[0][0], runs[1][0])
    assert torch.equal(runs[0][1], runs[1][1])
    assert not torch.equal(runs[0][0], runs[0][1])


def philox(seed, counter):
    """Philox4x32-10 as its paper defines it."""
    key = [seed & 0xffffffff, seed >> 32]
    c = [counter & 0xffffffff, counter >> 32, 0, 0]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ key[0], b & 0xffffffff,
             (a >> 32) ^ c[3] ^ key[1], a & 0xffffffff]
        key = [(key[0] + 0x9E3779B9) & 0xffffffff,
               (key[1] + 0xBB67AE85) & 0xffffffff]
    return c


def test_the_model_of_philox_has_its_papers_known_answer():
    assert philox(0, 0) == [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]


@pytest.mark.parametrize("seed", [0, 42, 2**63 - 1])
@pytest.mark.parametrize("offset", [0, 3, 4, 2**34 + 1])
def test_the_numbers_are_philoxs(seed, offset):
    found = torch.empty(1, 1, 3, 5)
    aten._fill_mem_eff_dropout_mask_(found, 0.5, seed, offset)
    words = [philox(seed, (offset + i) // 4)[(offset + i) % 4]
             for i in range(15)]
    expected = torch.tensor([(w + 0.5) / 2**32 for w in words],
                            dtype=torch.float64)
    torch.testing.assert_close(found.flatten().double(), expected, rtol=1e-6,
                               atol=1e-9)


def test_flash_takes_a_logsumexp_of_more_keys_than_it_has():
    """As in ring attention: the gradients for a part of the keys."""
    q, k, v = operands((1, 2, 2, 6, 10, 8), torch.float32)
    doubles = wide(q, k, v)
    whole, lse = formula(*doubles)
    grad = torch.randn_like(q)
    wanted = torch.autograd.grad(whole, doubles, grad.double())
    found = [aten._scaled_dot_product_flash_attention_backward(
        grad, q, k[:, :, part], v[:, :, part], whole.detach().float(),
        lse.detach().float(), None, None, 6, 5, 0.0, False,
        torch.zeros(2, dtype=torch.int64), torch.zeros(()))
        for part in (slice(0, 5), slice(5, 10))]
    check(found[0][0] + found[1][0], wanted[0], torch.float32)
    for i in (1, 2):
        check(torch.cat([found[0][i], found[1][i]], 2), wanted[i],
              torch.float32)


@pytest.mark.skipif("not has('_flash_attention_forward_no_dropout_inplace')")
@pytest.mark.parametrize("name", ["flash", "cudnn"])
def test_keys_may_lie_in_pages(name):
    pages = torch.randn(6, 4, 2, 8), torch.randn(6, 4, 2, 8)
    table = torch.tensor([[5, 0], [2, 3]], dtype=torch.int32)
    used = torch.tensor([6, 8], dtype=torch.int32)
    q = torch.randn(5, 4, 8)
    starts = torch.tensor([0, 2, 5], dtype=torch.int32)
    out = torch.empty_like(q)
    if name == "flash":
        lse = aten._flash_attention_forward_no_dropout_inplace(
            out, q, *pages, starts, None, 3, 8, 0.0, True, False,
            seqused_k=used, block_table=table)
    else:
        lse = aten._cudnn_attention_forward_no_dropout_inplace(
            out, q, *pages, starts, None, 3, 8, False, seqused_k=used,
            block_table=table)
    for b in range(2):
        k, v = (x[table[b].long()].flatten(0, 1)[:used[b]].transpose(0, 1)
                .double() for x in pages)
        part = q[starts[b]:starts[b + 1]].transpose(0, 1).double()
        m, n = part.size(1), k.size(1)
        expected, logs = formula(part, k, v,
                                 visible(m, n, name == "flash", n - m))
        check(parts(out, starts)[b], expected, torch.float32)
        torch.testing.assert_close(
            lse[:, starts[b]:starts[b + 1]].double(), logs, rtol=1e-5,
            atol=1e-5)
