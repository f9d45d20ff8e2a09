# SPDX-License-Identifier: Apache-2.0
"""Operators for python_kernel.py that PyTorch has only for CUDA, or whose CPU
kernels support less. They are functions of CPU tensors with the same results
as those in src/cuda_only_*. Operands shorter than float32 are summed in
float32."""

import torch

from . import python_random

_SHORT = (torch.float16, torch.bfloat16)


def _wide(tensor):
    return tensor.float() if tensor.dtype in _SHORT else tensor


def _scaled(tensor, scale):
    """Multiplies by a number, which is not rounded to the type of the tensor
    first."""
    return tensor.mul_(torch.tensor(scale, dtype=torch.double))


# Norms.

def _cudnn_batch_norm(x, weight, bias, mean, var, training, momentum, eps):
    out, kept_mean, kept_invstd = torch.native_batch_norm(
        x, weight, bias, mean, var, training, momentum, eps)
    none = torch.empty(0, dtype=weight.dtype)
    reserve = torch.empty(0, dtype=torch.uint8)
    if not training:
        return out, none, none.clone(), reserve
    return (out, kept_mean.to(weight.dtype), kept_invstd.to(weight.dtype),
            reserve)


def _cudnn_batch_norm_backward(x, grad, weight, mean, var, kept_mean,
                               kept_invstd, eps, reserve):
    return torch.ops.aten.native_batch_norm_backward(
        grad, x, weight, mean, var, kept_mean, kept_invstd, True, eps,
        [True, True, True])


def _rms_norm_backward(grad, x, shape, rstd, weight, wanted):
    inner = list(range(x.dim() - len(shape), x.dim()))
    outer = list(range(x.dim() - len(shape)))
    wide, normal = _wide(grad), _wide(x) * _wide(rstd)
    of_x = of_weight = None
    if wanted[1] and weight is not None:
        of_weight = wide * normal
        of_weight = (of_weight.sum(outer) if outer else of_weight).to(
            weight.dtype)
    if wanted[0]:
        wide = wide if weight is None else wide * _wide(weight)
        of_x = ((wide - normal * (wide * normal).mean(inner, True))
                * _wide(rstd)).to(x.dtype)
    return of_x, of_weight


# SyncBatchNorm: statistics of this rank and of all ranks; backward pass.

def _by_channel(values, like):
    return _wide(values).reshape([1, -1] + [1] * (like.dim() - 2))


def _sums(tensor):
    return tensor.sum([0, *range(2, tensor.dim())])


def _batch_stats(x, eps):
    dims, wide = [0, *range(2, x.dim())], _wide(x)
    return wide.mean(dims), (wide.var(dims, unbiased=False) + eps).rsqrt_()


def _batch_elemt(x, weight, bias, mean, invstd, eps):
    wide = (_wide(x) - _by_channel(mean, x)) * _by_channel(invstd, x)
    wide = wide if weight is None else wide * _by_channel(weight, x)
    wide = wide if bias is None else wide + _by_channel(bias, x)
    return wide.to(x.dtype)


def _batch_gather(x, mean, invstd, running_mean, running_var, momentum, eps,
                  counts):
    """mean and invstd have the shape (ranks, channels); counts has the number
    of values of each rank."""
    weights = counts.to(mean.dtype).view(-1, 1)
    total = weights.sum()
    center = (mean * weights).sum(0) / total
    squares = ((invstd.pow(-2) - eps + (mean - center).square())
               * weights).sum(0)
    for running, value in ((running_mean, center),
                           (running_var, squares / (total - 1))):
        if running is not None:
            running.mul_(1 - momentum).add_(value.to(running.dtype),
                                            alpha=momentum)
    return center, (squares / total + eps).rsqrt_()


def _batch_reduce(grad, x, mean, invstd, weight, of_x, of_weight, of_bias):
    total = _sums(_wide(grad))
    product = _sums(_wide(grad) * (_wide(x) - _by_channel(mean, x)))
    dtype = total.dtype if weight is None else weight.dtype
    return (total if of_x else None, product if of_x else None,
            (product * invstd).to(dtype) if of_weight else None,
            total.to(dtype) if of_bias else None)


def _batch_backward(grad, x, mean, invstd, weight, total, product, counts):
    count = counts.sum()
    made = _wide(grad) - _by_channel(total / count, x) - (
        _wide(x) - _by_channel(mean, x)) * _by_channel(
            product / count * invstd.square(), x)
    made *= _by_channel(invstd, x)
    made = made if weight is None else made * _by_channel(weight, x)
    return made.to(x.dtype)


# Dropout.

def _native_dropout(drawing, x, p, train):
    mask = torch.empty_like(x, dtype=torch.bool)
    if train is False:
        return x.clone(), mask.fill_(True)
    mask.bernoulli_(1 - p, generator=drawing.generator())
    if p == 1:  # avoids 0 times infinity
        return torch.zeros_like(x), mask
    return _scaled(x * mask, 1 / (1 - p)), mask


def _fused_dropout(drawing, x, p):
    """p is the share of elements that are kept. The mask consists of bytes 0
    and 1."""
    mask = torch.empty_like(x, dtype=torch.uint8)
    mask.bernoulli_(p, generator=drawing.generator())
    kept = x * mask.to(x.dtype)
    return _scaled(kept, 1 / p) if p > 0 else kept, mask


def _masked_scale(x, mask, scale):
    return _scaled(x * mask.to(x.dtype), scale)


# Recurrent cells. nn.LSTM and nn.GRU use them because cuDNN is reported as
# unavailable.

def _gates(gates, bias, count):
    wide = _wide(gates)
    return (wide if bias is None else wide + _wide(bias)).chunk(count, 1)


def _lstm_cell(gates, hidden, cx, bias=None, hidden_bias=None):
    i, f, g, o = (one + other for one, other in zip(
        _gates(gates, bias, 4), _gates(hidden, hidden_bias, 4)))
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * _wide(cx) + i * g
    return tuple(one.to(gates.dtype) for one in (
        o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)))


def _lstm_cell_backward(grad_h, grad_c, cx, cy, kept, has_bias):
    if grad_h is None and grad_c is None:
        return None, None, None
    i, f, g, o = _wide(kept).chunk(4, 1)
    tanh = _wide(cy).tanh()
    h = torch.zeros_like(tanh) if grad_h is None else _wide(grad_h)
    c = h * o * (1 - tanh * tanh)
    c = c if grad_c is None else c + _wide(grad_c)
    gates = torch.cat([c * g * i * (1 - i), c * _wide(cx) * f * (1 - f),
                       c * i * (1 - g * g), h * tanh * o * (1 - o)], 1)
    gates = gates.to(kept.dtype)
    return gates, (c * f).to(kept.dtype), gates.sum(0) if has_bias else None


def _gru_cell(gates, hidden, hx, bias=None, hidden_bias=None):
    (r, z, n), (hr, hz, hn) = (_gates(gates, bias, 3),
                               _gates(hidden, hidden_bias, 3))
    r, z, h = (r + hr).sigmoid(), (z + hz).sigmoid(), _wide(hx)
    n = (n + r * hn).tanh()
    return ((n + z * (h - n)).to(gates.dtype),
            torch.cat([r, z, n, h, hn], 1).to(gates.dtype))


def _gru_cell_backward(grad, kept, has_bias):
    r, z, n, h, hn = _wide(kept).chunk(5, 1)
    wide = _wide(grad)
    of_n = wide * (1 - z) * (1 - n * n)
    of_r, of_z = of_n * hn * r * (1 - r), wide * (h - n) * z * (1 - z)
    gates, hidden = (torch.cat([of_r, of_z, last], 1).to(kept.dtype)
                     for last in (of_n, of_n * r))
    return (gates, hidden, (wide * z).to(kept.dtype),
            *((gates.sum(0), hidden.sum(0)) if has_bias else (None, None)))


def _flatten_weight(weights, *_):
    """Returns the weight buffer for cuDNN. Nothing reads it."""
    return torch.cat([one.reshape(-1) for one in weights])


# Attention. The shape of q is (B, H, M, D); k and v may have fewer heads.

def _scores(q, k, bias, causal, scale):
    scores = (_wide(q) * scale) @ k.mT
    if bias is not None and bias.dtype == torch.bool:
        scores.masked_fill_(~bias, -torch.inf)
    elif bias is not None:
        scores += bias
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril_()
        scores.masked_fill_(~seen, -torch.inf)
    return scores


def _repeated(q, one):
    """Repeats the heads of `one` (k or v), so that there is one for each head
    of q."""
    group = q.size(1) // max(one.size(1), 1)
    return one if group < 2 else one.repeat_interleave(group, 1)


def _heads(q, one):
    return _repeated(q, _wide(one))


def _kept(seed, p, scores):
    """Draws the factors by which scores are multiplied: 0 for dropped scores,
    1 / (1 - p) for others."""
    source = torch.Generator().manual_seed(int(seed))
    return (torch.rand(scores.shape, generator=source) >= p).to(
        scores.dtype) * (1 / (1 - p) if p < 1 else 0)


def _scale(q, scale):
    return q.size(-1) ** -0.5 if scale is None else scale


def _lying(made):
    """Gives the result the memory layout of fused kernels, in which the order
    is B, M, H, D."""
    return made.transpose(1, 2).contiguous().transpose(1, 2)


def _suits_cpu(q, v, bias, p):
    """Whether PyTorch's CPU kernel supports this case."""
    return bias is None and not p and q.size(3) == v.size(3) and q.numel() \
        and v.numel()


def _attend(drawing, q, k, v, bias, p, causal, scale):
    """Returns the result, the logsumexp and the seed of the dropout."""
    seed = torch.zeros((), dtype=torch.int64)
    if _suits_cpu(q, v, bias, p):
        out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            q, _repeated(q, k), _repeated(q, v), 0., causal, scale=scale)
        return _lying(out), lse, seed
    if p:
        seed.random_(generator=drawing.generator())
    scores = _scores(q, _heads(q, k), bias, causal, _scale(q, scale))
    lse = scores.logsumexp(-1)
    lse.masked_fill_(lse == -torch.inf, torch.inf)
    scores = (scores - lse[..., None]).exp_()
    if p:
        scores *= _kept(seed, p, scores)
    return _lying((scores @ _heads(q, v)).to(q.dtype)), lse, seed


def _attend_backward(grad, q, k, v, bias, out, lse, seed, p, causal, scale):
    """Returns the gradients of q, k and v. Also returns the gradient of the
    bias, unless PyTorch's CPU kernel is used, which does not compute it."""
    if _suits_cpu(q, v, bias, p):
        op = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
        found = op(grad, q, _repeated(q, k), _repeated(q, v), out,
                   lse[..., :q.size(2)], 0., causal, scale=scale)
        return (*(_lying(_grouped(one, like))
                  for one, like in zip(found, (q, k, v))), None)
    scale, wide = _scale(q, scale), _wide(grad)
    scores = _scores(q, _heads(q, k), bias, causal, scale)
    scores = (scores - lse[..., :q.size(2), None]).exp_()
    kept = _kept(seed, p, scores) if p else 1
    of_v = (scores * kept).mT @ wide
    delta = (wide * _wide(out)).sum(-1, True)
    of_scores = scores * ((wide @ _heads(q, v).mT) * kept - delta)
    of_q = of_scores @ _heads(q, k) * scale
    of_k = of_scores.mT @ _wide(q) * scale
    return tuple(_lying(_grouped(one, like).to(like.dtype)) for one, like in (
        (of_q, q), (of_k, k), (of_v, v))) + (of_scores,)


def _grouped(grad, like):
    """Sums the gradients of all heads that share one k or v."""
    if grad.size(1) == like.size(1):
        return grad
    return grad.unflatten(1, (like.size(1), -1)).sum(2)


def _random_state(seed):
    """Since PyTorch 2.7, seed and offset are one tensor with two values."""
    op = torch.ops.aten._scaled_dot_product_flash_attention.default
    if op._schema.returns[6].name != "rng_state":
        return seed, torch.zeros_like(seed)
    return (torch.stack([seed, torch.zeros_like(seed)]).view(torch.uint64),
            torch.zeros((), dtype=torch.uint64))


def _flash(drawing, q, k, v, p=0., causal=False, debug=False, *, scale=None):
    if debug or causal and q.size(2) != k.size(2):
        raise NotImplementedError(
            "flash attention with a debug mask, or causal and not square, is "
            "not executed on a made-up GPU without the C++ part")
    out, lse, seed = _attend(drawing, q, k, v, None, p, causal, scale)
    return (out, lse, None, None, q.size(2), k.size(2), *_random_state(seed),
            torch.empty(0, dtype=q.dtype))


def _flash_backward(grad, q, k, v, out, lse, cum_q, cum_k, max_q, max_k, p,
                    causal, seed, _, *, scale=None):
    seed = seed.view(torch.int64).flatten()[0]
    return _attend_backward(grad, q, k, v, None, out, lse, seed, p, causal,
                            scale)[:3]


def _efficient(drawing, q, k, v, bias, wants_lse, p=0., causal=False, *,
               scale=None):
    out, lse, seed = _attend(drawing, q, k, v, bias, p, causal, scale)
    rows = -(-q.size(2) // 32) * 32 if wants_lse else 0
    padded = torch.full((*lse.shape[:2], rows), torch.inf, dtype=lse.dtype)
    if wants_lse:
        padded[..., :q.size(2)] = lse
    return out, padded, seed, torch.zeros_like(seed)


def _efficient_backward(grad, q, k, v, bias, out, lse, seed, _, p, wanted,
                        causal=False, *, scale=None):
    if grad is None:
        return None, None, None, None
    *found, of_scores = _attend_backward(grad, q, k, v, bias, out, lse, seed,
                                         p, causal, scale)
    of_bias = of_scores.sum_to_size(bias.shape).to(bias.dtype) \
        if wanted[3] and bias is not None else None
    return (*found, of_bias)


def _cudnn(drawing, q, k, v, bias, wants_lse, p=0., causal=False, debug=False,
           *, scale=None):
    out, lse, seed = _attend(drawing, q, k, v, bias, p, causal, scale)
    return (out, lse[..., None], None, None, q.size(2), k.size(2), seed,
            torch.zeros_like(seed), torch.empty(0, dtype=q.dtype))


def _cudnn_backward(grad, q, k, v, out, lse, seed, _, bias, cum_q, cum_k,
                    max_q, max_k, p, causal, *, scale=None):
    return _attend_backward(grad, q, k, v, bias, out, lse[..., 0], seed, p,
                            causal, scale)[:3]


# Convolutions. For transposed convolutions, the CPU sums in the type of the
# result and rounds at every step.

def _convolution(x, weight, bias, stride, padding, dilation, transposed,
                 output_padding, groups):
    how = stride, padding, dilation, transposed, output_padding, groups
    if not transposed or x.dtype not in _SHORT:
        return torch.ops.aten.convolution(x, weight, bias, *how)
    return torch.ops.aten.convolution(
        x.float(), weight.float(), None if bias is None else bias.float(),
        *how).to(x.dtype)


# Integers.

def _int8_mm(a, b):
    """Checks sizes as cuBLAS does."""
    for name, one in (("self", a), ("mat2", b)):
        if one.dim() != 2:
            raise RuntimeError(f"Expected {name} to be of dimension 2 but got "
                               f"{one.dim()}")
    if a.size(0) <= 16:
        raise RuntimeError("self.size(0) needs to be greater than 16, but got "
                           f"{a.size(0)}")
    for name, size in (("self", a.size(1)), ("mat2", b.size(1))):
        if not size or size % 8:
            raise RuntimeError(f"{name}.size(1) needs to be greater than 0 and "
                               f"a multiple of 8, but got {size}")
    return torch._int_mm(a, b)


def _int8_mm_out(a, b, *, out):
    return out.copy_(_int8_mm(a, b))


def _histc(x, bins=100, low=0, high=0):
    """histc as CUDA has it: it also counts integers, and its result has the
    type of its operand."""
    if x.is_floating_point() or x.is_complex() or x.dtype == torch.bool:
        return torch.histc(x, bins, low, high)
    if bins <= 0:
        raise RuntimeError("bins must be > 0")
    low, high = int(low), int(high)
    if low == high and x.numel():
        low, high = int(x.min()), int(x.max())
    if low == high:
        low, high = low - 1, high + 1
    if low > high:
        raise RuntimeError("max must be larger than min")
    inside = x[(x >= low) & (x <= high)].long()
    at = ((inside - low) * bins // (high - low)).clamp(max=bins - 1)
    return torch.bincount(at, minlength=bins).to(x.dtype)


def _histc_out(x, bins=100, low=0, high=0, *, out):
    made = _histc(x, bins, low, high)
    return out.resize_(made.size()).copy_(made)


# Results for queries about cuDNN.

def _no(*_, **__):
    return False


def _grid_sampler(x, grid):
    return torch.grid_sampler_2d(x, grid, 0, 0, True)


def _grid_sampler_backward(x, grid, grad):
    return torch.ops.aten.grid_sampler_2d_backward(grad, x, grid, 0, 0, True,
                                                   [True, True])


KERNELS = {
    "_cudnn_rnn_flatten_weight": _flatten_weight,
    "_fused_rms_norm_backward": _rms_norm_backward,
    "_int_mm": _int8_mm,
    "_int_mm.out": _int8_mm_out,
    "_masked_scale": _masked_scale,
    "_scaled_dot_product_cudnn_attention_backward": _cudnn_backward,
    "_scaled_dot_product_efficient_attention_backward": _efficient_backward,
    "_scaled_dot_product_flash_attention_backward": _flash_backward,
    "_thnn_fused_gru_cell": _gru_cell,
    "_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "_use_cudnn_ctc_loss": _no,
    "_use_cudnn_ctc_loss.Tensor": _no,
    "_use_miopen_ctc_loss": _no,
    "_use_miopen_ctc_loss.Tensor": _no,
    "batch_norm_backward_elemt": _batch_backward,
    "batch_norm_backward_reduce": _batch_reduce,
    "batch_norm_elemt": _batch_elemt,
    "batch_norm_gather_stats_with_counts": _batch_gather,
    "batch_norm_stats": _batch_stats,
    "convolution": _convolution,
    "cudnn_batch_norm": _cudnn_batch_norm,
    "cudnn_batch_norm_backward": _cudnn_batch_norm_backward,
    "cudnn_grid_sampler": _grid_sampler,
    "cudnn_grid_sampler_backward": _grid_sampler_backward,
    "cudnn_is_acceptable": _no,
    "histc": _histc,
    "histc.out": _histc_out,
}

# Operators that draw random numbers. The first argument of their functions is
# a python_random.Drawing.
DRAWING = {
    "_fused_dropout": _fused_dropout,
    "_scaled_dot_product_cudnn_attention": _cudnn,
    "_scaled_dot_product_efficient_attention": _efficient,
    "_scaled_dot_product_flash_attention": _flash,
    "native_dropout": _native_dropout,
    "normal_": python_random.normal_,
    "uniform_": python_random.uniform_,
}
