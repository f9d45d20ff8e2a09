# SPDX-License-Identifier: Apache-2.0
"""Normalisation, cells, dropout and matrix products under names that PyTorch
has only for CUDA, on plain CPU tensors, are compared with the plain formula."""

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402

from cuda_only_library import has, load, rows  # noqa: E402

aten = torch.ops.aten
TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-5,
             torch.bfloat16: 3e-2, torch.float16: 5e-3}
DTYPES = list(TOLERANCE)


@pytest.fixture(autouse=True, scope="module")
def library():
    load()


def close(found, expected, dtype, times=1):
    tolerance = TOLERANCE[dtype] * times
    torch.testing.assert_close(found.double(), expected.double(),
                               rtol=tolerance, atol=tolerance)


def made(*sizes, dtype=torch.float32, seed=0):
    gen = torch.Generator().manual_seed(seed)
    return torch.randn(*sizes, generator=gen, dtype=torch.float64).to(dtype)


def leaves(*tensors, double=False):
    return [(x.double() if double else x).detach().clone().requires_grad_()
            for x in tensors]


def test_every_row_is_told():
    fates = {fate for fate, _ in rows().values()}
    assert fates <= {"own", "absent", "cpu", "schema", "refused"}
    assert rows()["cudnn_convolution"] == ("own", "aten::")
    assert not [name for name, (fate, _) in rows().items()
                if fate == "schema"]


def test_each_cuda_only_operator_is_ours_or_refused():
    """The dispatcher lists the operators."""
    names = torch._C._dispatch_get_registrations_for_dispatch_key("CUDA")
    if not names:
        pytest.skip("this PyTorch has no CUDA")
    forms = ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd",
             "CompositeExplicitAutogradNonFunctional")
    told = rows()
    prefixes = tuple(name[:-1] for name, (fate, _) in told.items()
                     if fate == "refused")
    left = [name[6:] for name in names if name.startswith("aten::")
            and not any(torch._C._dispatch_has_kernel_for_dispatch_key(
                name, key) for key in forms)]
    assert not [name for name in left if not name.startswith(prefixes)
                and name != "record_stream"]
    refused = [name for name in left if name.startswith(prefixes)]
    assert len(refused) <= 25


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5, 4), (2, 3, 2, 3, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16,
                                   torch.float16])
def test_cudnn_batch_norm(shape, dtype, training):
    """Weights and statistics stay in fp32, as cuDNN requires."""
    x = made(*shape, dtype=dtype)
    weight, bias = made(3, seed=1), made(3, seed=2)
    mean, var = made(3, seed=3), made(3, seed=4).abs() + 0.5
    means, variances = ([y.clone(), y.double()] for y in (mean, var))
    mine, plain = leaves(x, weight, bias), leaves(x, weight, bias, double=True)
    out, saved, invstd, reserve = aten.cudnn_batch_norm(
        *mine, means[0], variances[0], training, 0.1, 1e-5)
    expected = F.batch_norm(plain[0], means[1], variances[1], *plain[1:],
                            training, 0.1, 1e-5)
    assert out.dtype == dtype and reserve.dtype == torch.uint8
    close(out, expected, dtype)
    close(means[0], means[1], torch.float32, 20)
    close(variances[0], variances[1], torch.float32, 20)
    if not training:
        assert saved.shape == invstd.shape == (0,)
        return
    dims = [0, *range(2, len(shape))]
    assert saved.dtype == invstd.dtype == torch.float32
    close(saved, x.double().mean(dims), torch.float32)
    close(invstd, (x.double().var(dims, False) + 1e-5).rsqrt(), torch.float32,
          5)
    grad = made(*shape, dtype=dtype, seed=5)
    for one, other in zip(torch.autograd.grad(out, mine, grad),
                          torch.autograd.grad(expected, plain, grad.double())):
        close(one, other, dtype, 3)


def test_batch_norm_keeps_channels_last():
    x = made(2, 3, 5, 4).to(memory_format=torch.channels_last)
    ones, zeros = torch.ones(3), torch.zeros(3)
    out = aten.cudnn_batch_norm(x, ones, zeros, None, None, True, 0.1,
                                1e-5)[0]
    assert out.is_contiguous(memory_format=torch.channels_last)
    grad = aten.cudnn_batch_norm_backward(
        x, made(2, 3, 5, 4), ones, None, None, zeros, ones, 1e-5,
        torch.empty(0, dtype=torch.uint8))[0]
    assert grad.is_contiguous(memory_format=torch.channels_last)
    mean, invstd = aten.batch_norm_stats(x, 1e-5)
    out = aten.batch_norm_elemt(x, ones, zeros, mean, invstd, 1e-5)
    assert out.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_batch_norm_over_ranks_is_that_of_all_values(dtype, affine):
    """The pieces are called as by SyncBatchNorm, with ranks of different sizes.
    """
    sizes, channels, eps, momentum = (2, 5, 3), 4, 1e-5, 0.3
    x = made(sum(sizes), channels, 6, dtype=dtype)
    grad = made(*x.shape, dtype=dtype, seed=1)
    acc = torch.float64 if dtype == torch.float64 else torch.float32
    weight = made(channels, dtype=acc, seed=2) if affine else None
    bias = made(channels, dtype=acc, seed=3) if affine else None
    running = [made(channels, dtype=acc, seed=4),
               made(channels, dtype=acc, seed=5).abs()]
    kept = [y.double() for y in running]
    stats = [aten.batch_norm_stats(part, eps) for part in x.split(sizes)]
    assert stats[0][0].dtype == acc
    counts = torch.tensor([n * 6 for n in sizes], dtype=acc)
    mean, invstd = aten.batch_norm_gather_stats_with_counts(
        x, torch.stack([s[0] for s in stats]),
        torch.stack([s[1] for s in stats]), *running, momentum, eps, counts)
    plain = leaves(x, double=True) + (leaves(weight, bias, double=True)
                                      if affine else [])
    whole = F.batch_norm(plain[0], *kept, *(plain[1:] or (None, None)), True,
                         momentum, eps)
    for one, other in zip(running, kept):
        close(one, other, acc, 10)
    out = torch.cat([aten.batch_norm_elemt(part, weight, bias, mean, invstd,
                                           eps) for part in x.split(sizes)])
    assert out.dtype == dtype
    close(out, whole, dtype)
    wanted = torch.autograd.grad(whole, plain, grad.double())
    sums = [aten.batch_norm_backward_reduce(g, part, mean, invstd, weight,
                                            True, affine, affine)
            for g, part in zip(grad.split(sizes), x.split(sizes))]
    first, second = (sum(s[i] for s in sums) for i in (0, 1))
    found = torch.cat([aten.batch_norm_backward_elemt(
        g, part, mean, invstd, weight, first, second, counts.int())
        for g, part in zip(grad.split(sizes), x.split(sizes))])
    close(found, wanted[0], dtype)
    if affine:
        close(sum(s[2] for s in sums), wanted[1], acc, 50)
        close(sum(s[3] for s in sums), wanted[2], acc, 50)
    else:
        assert sums[0][2] is None and sums[0][3] is None


def test_equal_counts_may_be_one_number():
    mean, invstd = made(2, 3), made(2, 3, seed=1).abs() + 0.1
    x = torch.empty(5, 3)
    one = aten.batch_norm_gather_stats(x, mean, invstd, None, None, 0.1, 1e-5,
                                       5)
    other = aten.batch_norm_gather_stats_with_counts(
        x, mean, invstd, None, None, 0.1, 1e-5, torch.tensor([5., 5.]))
    for a, b in zip(one, other):
        torch.testing.assert_close(a, b)


@pytest.mark.skipif("not has('_fused_rms_norm_backward')")
@pytest.mark.parametrize("shape,normal", [((4, 8), (8,)), ((2, 3, 8), (3, 8)),
                                          ((8,), (8,)), ((2, 3, 8), (8,))])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rms_norm_backward(shape, normal, dtype):
    x, weight = made(*shape, dtype=dtype), made(*normal, dtype=dtype, seed=1)
    grad = made(*shape, dtype=dtype, seed=2)
    plain = leaves(x, weight, double=True)
    dims = list(range(len(shape) - len(normal), len(shape)))
    rstd = (plain[0].pow(2).mean(dims, True) + 1e-6).rsqrt()
    for i, w in enumerate((weight, None)):
        out = plain[0] * rstd * (plain[1] if w is not None else 1)
        wanted = torch.autograd.grad(out, plain[:2 - i], grad.double(),
                                     retain_graph=True)
        acc = torch.float64 if dtype == torch.float64 else torch.float32
        found = aten._fused_rms_norm_backward(
            grad, x, list(normal), rstd.detach().to(acc), w, [True, not i])
        for one, other in zip(found, wanted):
            assert one.dtype == dtype
            close(one, other, dtype, 2)


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lstm_cell(dtype, biased):
    n, h = 3, 5
    inputs = [made(n, 4 * h, dtype=dtype), made(n, 4 * h, dtype=dtype, seed=1),
              made(n, h, dtype=dtype, seed=2)]
    if biased:
        inputs += [made(4 * h, dtype=dtype, seed=s) for s in (3, 4)]
    mine, plain = leaves(*inputs), leaves(*inputs, double=True)
    hy, cy, workspace = aten._thnn_fused_lstm_cell(*mine)
    i, f, g, o = (plain[0] + plain[1]
                  + (plain[3] + plain[4] if biased else 0)).chunk(4, 1)
    c = f.sigmoid() * plain[2] + i.sigmoid() * g.tanh()
    out = o.sigmoid() * c.tanh()
    assert workspace.shape == (n, 4 * h) and hy.dtype == dtype
    close(hy, out, dtype)
    close(cy, c, dtype)
    grads = made(n, h, dtype=dtype, seed=5), made(n, h, dtype=dtype, seed=6)
    for which in ((0,), (1,), (0, 1)):
        found = torch.autograd.grad(
            [(hy, cy)[w] for w in which], mine, [grads[w] for w in which],
            retain_graph=True)
        wanted = torch.autograd.grad(
            [(out, c)[w] for w in which], plain,
            [grads[w].double() for w in which], retain_graph=True)
        for one, other in zip(found, wanted):
            close(one, other, dtype, 3)


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gru_cell(dtype, biased):
    n, h = 3, 5
    inputs = [made(n, 3 * h, dtype=dtype), made(n, 3 * h, dtype=dtype, seed=1),
              made(n, h, dtype=dtype, seed=2)]
    if biased:
        inputs += [made(3 * h, dtype=dtype, seed=s) for s in (3, 4)]
    mine, plain = leaves(*inputs), leaves(*inputs, double=True)
    hy, workspace = aten._thnn_fused_gru_cell(*mine)
    a = (plain[0] + (plain[3] if biased else 0)).chunk(3, 1)
    b = (plain[1] + (plain[4] if biased else 0)).chunk(3, 1)
    r, z = (a[0] + b[0]).sigmoid(), (a[1] + b[1]).sigmoid()
    new = (a[2] + r * b[2]).tanh()
    out = (1 - z) * new + z * plain[2]
    assert workspace.shape == (n, 5 * h) and hy.dtype == dtype
    close(hy, out, dtype)
    grad = made(n, h, dtype=dtype, seed=5)
    for one, other in zip(torch.autograd.grad(hy, mine, grad),
                          torch.autograd.grad(out, plain, grad.double())):
        close(one, other, dtype, 3)


@pytest.mark.parametrize("keep", [0.0, 0.3, 1.0])
def test_fused_dropout_takes_what_is_kept(keep):
    x = (made(100, 100) + 10).bfloat16()
    out, mask = aten._fused_dropout(x, keep)
    assert mask.dtype == torch.uint8
    assert abs(mask.double().mean().item() - keep) < 0.03
    wide = x.float() * mask
    assert torch.equal(out, (wide * (1 / (keep or 1))).bfloat16())
    assert torch.equal(aten._masked_scale(x, mask, 1 / 0.9),
                       (wide * (1 / 0.9)).bfloat16())


@pytest.mark.parametrize("p, train", [(0.0, True), (0.1, True), (1.0, True),
                                      (0.1, False), (0.1, None)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_scales_before_it_rounds(dtype, p, train):
    x = made(100, 100, dtype=dtype)
    out, mask = torch.ops.gpukit.native_dropout(x, p, train)
    left = p if train is not False else 0
    assert mask.dtype == torch.bool
    assert abs(mask.double().mean().item() - (1 - left)) < 0.03
    scale = 1 / (1 - left) if left < 1 else 0
    assert torch.equal(out, (x.float() * mask * scale).to(dtype))


@pytest.mark.skipif("not has('mm.dtype')")
@pytest.mark.parametrize("out_dtype", [None, torch.float32])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16,
                                   torch.float32])
def test_products_may_be_wider_than_their_operands(dtype, out_dtype):
    wanted = out_dtype or dtype
    a, b = made(4, 40, dtype=dtype), made(40, 6, dtype=dtype, seed=1)
    exact = a.double() @ b.double()
    found = aten.mm.dtype(a, b, wanted)
    assert found.dtype == wanted
    close(found, exact, wanted)
    c = made(4, 6, dtype=wanted, seed=2)
    close(aten.addmm.dtype(c, a, b, wanted, beta=0.5, alpha=2),
          0.5 * c.double() + 2 * exact, wanted)
    many = [x.expand(3, *x.shape) for x in (a, b, c)]
    close(aten.bmm.dtype(*many[:2], wanted), exact.expand(3, 4, 6), wanted)
    close(aten.baddbmm.dtype(many[2], *many[:2], wanted),
          (c.double() + exact).expand(3, 4, 6), wanted)
    out = torch.empty(0, dtype=wanted)
    assert aten.mm.dtype_out(a, b, wanted, out=out) is out
    assert torch.equal(out, found)


@pytest.mark.skipif("not has('mm.dtype')")
def test_products_go_where_they_are_wanted():
    a, b, c = (made(4, 4, dtype=torch.bfloat16, seed=i) for i in range(3))
    many = [x.expand(3, 4, 4) for x in (a, b, c)]
    for name, given in (("mm", (a, b)), ("bmm", many[:2]),
                        ("addmm", (c, a, b)), ("baddbmm", many[2:] + many[:2])):
        op = getattr(aten, name)
        out = torch.empty(0)
        assert op.dtype_out(*given, torch.float32, out=out) is out
        assert torch.equal(out, op.dtype(*given, torch.float32))


def test_norms_go_where_they_are_wanted():
    x, ones = made(4, 3, 5), torch.ones(3)
    more = x, ones, ones, ones, ones, 1e-5
    out = torch.empty(0)
    aten.batch_norm_elemt.out(*more, out=out)
    assert torch.equal(out, aten.batch_norm_elemt(*more))
    if not has("cudnn_batch_norm.out"):
        return
    more = x, ones, ones, None, None, True, 0.1, 1e-5
    outs = [torch.empty(0) for _ in range(3)]
    outs.append(torch.empty(0, dtype=torch.uint8))
    aten.cudnn_batch_norm.out(*more, **{f"out{i}": o
                                        for i, o in enumerate(outs)})
    for one, other in zip(outs, aten.cudnn_batch_norm(*more)):
        assert torch.equal(one, other)


@pytest.mark.skipif("not has('mm.dtype')")
def test_a_product_is_never_narrowed():
    a = made(4, 4)
    with pytest.raises(RuntimeError, match="out_dtype"):
        aten.mm.dtype(a, a, torch.bfloat16)


@pytest.mark.skipif("not has('_weight_int4pack_mm')")
@pytest.mark.parametrize("inner", [2, 4, 8])
@pytest.mark.parametrize("group", [32, 64])
def test_weights_of_four_bits(inner, group):
    m, n, k = 3, 16, 256
    gen = torch.Generator().manual_seed(0)
    values = torch.randint(0, 16, (n, k), generator=gen)
    packed = aten._convert_weight_to_int4pack(
        (values[:, ::2] << 4 | values[:, 1::2]).byte(), inner)
    assert packed.shape == (n // 8, k // 16 // inner, 32, inner // 2)
    assert packed.dtype == torch.int32
    scales = torch.rand(k // group, n, 2, generator=gen).bfloat16()
    x = torch.randn(m, k, generator=gen).bfloat16()
    found = aten._weight_int4pack_mm(x, packed, group, scales)
    wide = scales.double().permute(1, 0, 2).repeat_interleave(group, 1)
    weight = (values - 8) * wide[..., 0] + wide[..., 1]
    close(found / 32, x.double() @ weight.t() / 32, torch.bfloat16)


@pytest.mark.skipif("not has('_convert_weight_to_int4pack')")
def test_a_word_of_four_bit_weights_by_hand():
    """Lane 5 of the first tiles: row 1, columns 2 3 10 11 and the same of the
    next tile, the even ones in the low half."""
    values = torch.zeros(8, 32, dtype=torch.int64)
    for place, column in enumerate((2, 10, 18, 26, 3, 11, 19, 27)):
        values[1, column] = place + 1
    packed = aten._convert_weight_to_int4pack(
        (values[:, ::2] << 4 | values[:, 1::2]).byte(), 2)
    assert packed[0, 0, 5, 0].item() & 0xffffffff == 0x87654321
    assert packed.count_nonzero() == 1


def test_cudnns_grids():
    theta = made(2, 2, 3)
    grid = aten.cudnn_affine_grid_generator(theta, 2, 3, 4, 5)
    torch.testing.assert_close(
        grid, F.affine_grid(theta, (2, 3, 4, 5), align_corners=True))
    grad = made(2, 4, 5, 2, seed=1)
    leaf = theta.clone().requires_grad_()
    F.affine_grid(leaf, (2, 3, 4, 5), align_corners=True).backward(grad)
    torch.testing.assert_close(
        aten.cudnn_affine_grid_generator_backward(grad, 2, 3, 4, 5),
        leaf.grad)
    mine = leaves(made(2, 3, 6, 7, seed=2), grid)
    plain = leaves(made(2, 3, 6, 7, seed=2), grid)
    out = aten.cudnn_grid_sampler(*mine)
    wanted = F.grid_sample(*plain, align_corners=True)
    torch.testing.assert_close(out, wanted)
    grad = made(*out.shape, seed=3)
    for one, other in zip(torch.autograd.grad(out, mine, grad),
                          torch.autograd.grad(wanted, plain, grad)):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("as_tensors", [False, True])
def test_cudnns_ctc_loss(as_tensors):
    lengths = [9, 12], [3, 4]
    probs = made(12, 2, 6)
    targets = torch.tensor([1, 2, 3, 1, 1, 5, 4], dtype=torch.int32)
    mine, plain = leaves(probs)[0], leaves(probs)[0]
    given = [torch.tensor(n) for n in lengths] if as_tensors else lengths
    assert not aten._use_cudnn_ctc_loss(probs, targets, *given, 0)
    loss, _ = aten._cudnn_ctc_loss(mine.log_softmax(2), targets, *given, 0,
                                   False, False)
    wanted = F.ctc_loss(plain.log_softmax(2), targets, *lengths,
                        reduction="none")
    torch.testing.assert_close(loss, wanted)
    loss.sum().backward()
    wanted.sum().backward()
    torch.testing.assert_close(mine.grad, plain.grad, atol=1e-5, rtol=1e-5)


NETWORKS = {"relu": (0, torch.nn.RNN), "tanh": (1, torch.nn.RNN),
            "lstm": (2, torch.nn.LSTM), "gru": (3, torch.nn.GRU)}


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("layers,bidirectional,batch_first,bias", [
    (1, False, False, True), (2, True, True, True), (2, False, False, False)])
def test_cudnns_recurrent_networks(kind, layers, bidirectional, batch_first,
                                   bias):
    mode, module = NETWORKS[kind]
    torch.manual_seed(0)
    net = module(4, 5, layers, bias=bias, batch_first=batch_first,
                 bidirectional=bidirectional,
                 **({"nonlinearity": kind} if mode < 2 else {}))
    x = made(3, 7, 4) if batch_first else made(7, 3, 4)
    state = [made(layers * (1 + bidirectional), 3, 5, seed=i)
             for i in range(2 if kind == "lstm" else 1)]
    mine = leaves(x, *state)
    weights = leaves(*net._flat_weights)
    out, hy, cy, reserve, _ = aten._cudnn_rnn(
        mine[0], weights, 4 if bias else 2, None, mine[1],
        mine[2] if kind == "lstm" else None, mode, 5, 0, layers, batch_first,
        0.0, True, bidirectional, [], None)
    plain = leaves(x, *state)
    wanted, last = net(plain[0], tuple(plain[1:]) if kind == "lstm"
                       else plain[1])
    torch.testing.assert_close(out, wanted)
    last = list(last) if kind == "lstm" else [last]
    for one, other in zip((hy, cy), last):
        torch.testing.assert_close(one, other)
    grads = [made(*t.shape, seed=9) for t in (wanted, *last)]
    found = torch.autograd.grad([out, hy, cy][:1 + len(last)],
                                [*mine, *weights], grads)
    expected = torch.autograd.grad([wanted, *last],
                                   [*plain, *net._flat_weights], grads)
    for one, other in zip(found, expected):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)
    flat = torch._cudnn_rnn_flatten_weight(
        weights, 4 if bias else 2, 4, mode, 5, 0, layers, batch_first,
        bidirectional)
    assert flat.numel() == sum(w.numel() for w in weights)


def test_a_networks_backward_drops_what_forward_dropped():
    torch.manual_seed(0)
    net = torch.nn.LSTM(4, 5, 3)
    x, (h, c) = leaves(made(7, 3, 4))[0], (made(3, 3, 5), made(3, 3, 5))
    more = (4, None, h, c, 2, 5, 0, 3, False, 0.5, True, False, [], None)
    weights = list(net._flat_weights)
    out = aten._cudnn_rnn(x, weights, *more)[0]
    assert not torch.equal(out, aten._cudnn_rnn(x, weights, *more)[0])
    torch.manual_seed(1)
    one = aten._cudnn_rnn(x, weights, *more)[0]
    grad, = torch.autograd.grad(one.sum(), x)
    step = 1e-2
    with torch.no_grad():
        moved = []
        for sign in (1, -1):
            torch.manual_seed(1)
            y = x.clone()
            y[3, 1, 2] += sign * step
            moved.append(aten._cudnn_rnn(y, weights, *more)[0].sum())
    assert grad[3, 1, 2].item() == pytest.approx(
        ((moved[0] - moved[1]) / (2 * step)).item(), abs=2e-4)


def test_a_packed_network():
    torch.manual_seed(0)
    net = torch.nn.GRU(4, 5)
    lengths = [7, 4, 2]
    packed = torch.nn.utils.rnn.pack_padded_sequence(made(7, 3, 4), lengths)
    wanted, last = net(packed)
    out, hy = aten._cudnn_rnn(
        packed.data, list(net._flat_weights), 4, None, torch.zeros(1, 3, 5),
        None, 3, 5, 0, 1, False, 0.0, True, False,
        packed.batch_sizes.tolist(), None)[:2]
    torch.testing.assert_close(out, wanted.data)
    torch.testing.assert_close(hy, last)
