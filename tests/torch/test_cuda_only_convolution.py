# SPDX-License-Identifier: Apache-2.0
"""cuDNN's convolutions and the depthwise ones, on plain CPU tensors, are
compared with torch.nn.functional in float64."""

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402

from cuda_only_library import load  # noqa: E402

aten = torch.ops.aten
TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5,
             torch.bfloat16: 3e-2, torch.float16: 4e-3}
FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}
# dims, channels, results, groups, kernel, stride, padding, dilation
CASES = [(1, 4, 6, 1, 3, 1, 1, 1), (1, 4, 4, 2, 3, 2, 0, 2),
         (2, 3, 8, 1, 3, 1, 1, 1), (2, 8, 4, 4, 2, 2, 1, 1),
         (2, 5, 5, 5, 3, 1, 2, 2), (2, 4, 6, 1, 1, 1, 0, 1),
         (3, 3, 4, 1, 3, 1, 1, 1), (3, 4, 4, 2, 2, 2, 0, 1)]


@pytest.fixture(autouse=True, scope="module")
def library():
    load()


def operands(case, dtype, transposed=False, size=9):
    dims, channels, results, groups, kernel = case[:5]
    gen = torch.Generator().manual_seed(0)
    x = torch.randn(2, channels, *[size - i for i in range(dims)],
                    generator=gen)
    shape = ((channels, results // groups) if transposed
             else (results, channels // groups))
    weight = torch.randn(*shape, *[kernel] * dims, generator=gen)
    weight /= weight[0].numel() ** 0.5
    return x.to(dtype), weight.to(dtype)


def check(found, expected, dtype):
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected,
                               rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def check_both_ways(run, inputs, expected, dtype):
    leaves = [x.detach().requires_grad_() for x in inputs]
    doubles = [x.detach().double().requires_grad_() for x in inputs]
    found, wanted = run(*leaves), expected(*doubles)
    check(found, wanted, dtype)
    grad = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(
        1)).to(dtype)
    for one, other in zip(
            torch.autograd.grad(found, leaves, grad),
            torch.autograd.grad(wanted, doubles, grad.double())):
        torch.testing.assert_close(one.double(), other,
                                   rtol=4 * TOLERANCE[dtype],
                                   atol=8 * TOLERANCE[dtype])
    return found


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("case", CASES)
def test_cudnn_convolution(case, dtype):
    dims, _, _, groups, _, stride, padding, dilation = case
    plain = getattr(F, f"conv{dims}d")
    check_both_ways(
        lambda x, w: aten.cudnn_convolution(
            x, w, [padding] * dims, [stride] * dims, [dilation] * dims,
            groups, False, False, True),
        operands(case, dtype),
        lambda x, w: plain(x, w, None, stride, padding, dilation, groups),
        dtype)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("extra", [0, 1])
def test_cudnn_convolution_transpose(case, dtype, extra):
    dims, _, _, groups, _, stride, padding, dilation = case
    if extra >= max(stride, dilation):
        pytest.skip("output_padding is less than stride or dilation")
    plain = getattr(F, f"conv_transpose{dims}d")
    check_both_ways(
        lambda x, w: aten.cudnn_convolution_transpose(
            x, w, [padding] * dims, [extra] * dims, [stride] * dims,
            [dilation] * dims, groups, False, False, True),
        operands(case, dtype, transposed=True),
        lambda x, w: plain(x, w, None, stride, padding, extra, groups,
                           dilation), dtype)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("case", CASES)
def test_the_backward_pass(case, dtype, transposed):
    dims, _, _, groups, _, stride, padding, dilation = case
    x, w = operands(case, dtype, transposed)
    more = ([stride] * dims, [padding] * dims, [dilation] * dims, transposed,
            [0] * dims, groups)
    bias = [w.size(1) * groups if transposed else w.size(0)]
    shape = aten.convolution(x, w, None, *more).shape
    grad = torch.randn(shape, generator=torch.Generator().manual_seed(
        1)).to(dtype)
    found = torch.ops.gpukit.convolution_backward(
        grad, x, w, bias, *more, [True] * 3)
    wanted = aten.convolution_backward(
        grad.double(), x.double(), w.double(), bias, *more, [True] * 3)
    for one, other in zip(found, wanted):
        assert one.dtype == dtype
        torch.testing.assert_close(one.double(), other,
                                   rtol=4 * TOLERANCE[dtype],
                                   atol=8 * TOLERANCE[dtype])
    none = torch.ops.gpukit.convolution_backward(
        grad, x, w, bias, *more, [False, True, False])
    assert none[0] is None and none[2] is None
    assert torch.equal(none[1], found[1])


@pytest.mark.parametrize("which", ["input", "weight", "both"])
@pytest.mark.parametrize("case", [c for c in CASES if c[0] > 1])
def test_channels_last_goes_through(case, which):
    dims, _, _, groups, _, stride, padding, dilation = case
    x, w = operands(case, torch.float32)
    form = FORMATS[dims + 2]
    if which != "weight":
        x = x.to(memory_format=form)
    if which != "input":
        w = w.to(memory_format=form)
    more = [padding] * dims, [stride] * dims, [dilation] * dims, groups
    out = aten.cudnn_convolution(x, w, *more, False, False, True)
    # A kernel of one point has no memory order.
    if case[4] > 1 or which != "weight":
        assert out.is_contiguous(memory_format=form)
    plain = getattr(F, f"conv{dims}d")
    torch.testing.assert_close(out, plain(x, w, None, stride, padding,
                                          dilation, groups))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("case", CASES[2:5])
def test_relu_comes_with_it(case, dtype):
    dims, _, results, groups, _, stride, padding, dilation = case
    x, w = operands(case, dtype)
    bias = torch.randn(results).to(dtype)
    more = [stride] * dims, [padding] * dims, [dilation] * dims, groups
    plain = getattr(F, f"conv{dims}d")(
        x.double(), w.double(), bias.double(), stride, padding, dilation,
        groups)
    check(aten.cudnn_convolution_relu(x, w, bias, *more), plain.relu(), dtype)
    z = torch.randn(plain.shape).to(dtype)
    for alpha in (None, 0.5):
        check(aten.cudnn_convolution_add_relu(x, w, z, alpha, bias, *more),
              (plain + z.double() * (1 if alpha is None else alpha)).relu(),
              dtype)


@pytest.mark.parametrize("dims,name", [(2, "_conv_depthwise2d"),
                                       (3, "conv_depthwise3d")])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_depthwise(dims, name, times, dtype):
    x, w = operands((dims, 4, 4 * times, 4, 3), dtype)
    bias = torch.randn(4 * times).to(dtype)
    plain = getattr(F, f"conv{dims}d")
    op = getattr(aten, name)
    found = op(x, w, [3] * dims, bias, [2] * dims, [1] * dims, [1] * dims)
    check(found, plain(x.double(), w.double(), bias.double(), 2, 1, 1, 4),
          dtype)


def test_results_go_where_they_are_wanted():
    x, w = operands(CASES[2], torch.float32)
    more = [1, 1], [1, 1], [1, 1], 1, False, False, True
    expected = aten.cudnn_convolution(x, w, *more)
    out = torch.empty(0)
    assert aten.cudnn_convolution.out(x, w, *more, out=out) is out
    assert torch.equal(out, expected)
    x, w = operands((2, 4, 4, 4, 3), torch.float32)
    more = [3, 3], None, [1, 1], [1, 1], [1, 1]
    out = torch.empty(0)
    aten._conv_depthwise2d.out(x, w, *more, out=out)
    assert torch.equal(out, aten._conv_depthwise2d(x, w, *more))
