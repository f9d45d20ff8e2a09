# SPDX-License-Identifier: Apache-2.0
"""Operators that PyTorch has only for CUDA, on fake GPUs and with the back ends
that PyTorch chooses itself, are compared with the same lines on the CPU."""

import pytest

from torch_program import run

BOTH = """
import copy

def both(function, *tensors, rtol=1e-4, atol=1e-4):
    results = []
    for device in ("cpu", "cuda"):
        leaves = [t.detach().to(device).requires_grad_() for t in tensors]
        out = function(*leaves)
        grads = torch.autograd.grad(out, leaves, torch.ones_like(out))
        results.append((out, *grads))
    for expected, found in zip(*results):
        same(found, expected, rtol=rtol, atol=atol)
    return results[1][0].grad_fn.name()

torch.manual_seed(0)
"""


@pytest.mark.parametrize("gpus", ["h100:1", "a100:1"])
def test_attention_chooses_its_kernel_and_is_right(gpus):
    """Newer wheels bring cuDNN 9.15.1 or later, which PyTorch prefers on Hopper
    and Blackwell."""
    first, *out = run(BOTH + """
print("Cudnn" if torch.cuda.get_device_capability()[0] in (9, 10)
      and torch.backends.cudnn.version() > 91500 else "Flash")
qkv = [torch.randn(2, 16, 4, 32).transpose(1, 2) for _ in range(3)]
low = [t.bfloat16() for t in qkv]
near = {"rtol": 3e-2, "atol": 3e-2}
mask = torch.randn(2, 1, 16, 16)
attend = F.scaled_dot_product_attention
print(both(lambda *x: attend(*x, is_causal=True), *qkv))
print(both(lambda *x: attend(*x, is_causal=True), *low, **near))
print(both(lambda *x: attend(*x[:3], attn_mask=x[3]), *qkv, mask))
few = [low[0], *(t[:, :2].contiguous() for t in low[1:])]
print(both(lambda *x: attend(*x, enable_gqa=True), *few, **near))
from torch.nn.attention import SDPBackend, sdpa_kernel
def by_cudnn(*x):
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION if x[0].is_cuda
                     else SDPBackend.MATH):
        return attend(*x)
print(both(by_cudnn, *low, **near))
""", gpus).stdout.split()
    assert [name.partition("Attention")[0][len("ScaledDotProduct"):]
            for name in out] == ["Efficient", first, "Efficient", first,
                                 "Cudnn"]


def test_a_checkpoint_drops_the_same_scores_again():
    run(BOTH + """
from torch.utils.checkpoint import checkpoint
x = [torch.randn(2, 4, 16, 32, device="cuda").bfloat16().requires_grad_()
     for _ in range(3)]
drop = lambda *t: F.scaled_dot_product_attention(*t, dropout_p=0.3)
results = []
for again in (False, True):
    torch.cuda.manual_seed(3)
    out = checkpoint(drop, *x, use_reentrant=False) if again else drop(*x)
    results.append((out, *torch.autograd.grad(out.float().pow(2).sum(), x)))
assert all(map(torch.equal, *results))
assert not torch.equal(drop(*x), drop(*x))
""")


def test_convolutions_keep_channels_last():
    run(BOTH + """
for dims, form in ((2, torch.channels_last), (3, torch.channels_last_3d)):
    x, w = torch.randn(2, 4, *[7] * dims), torch.randn(6, 4, *[3] * dims)
    turned = torch.randn(4, 6, *[3] * dims)
    plain, back = (getattr(F, f"conv{t}{dims}d") for t in ("", "_transpose"))
    for y in (x, x.to(memory_format=form)):
        both(lambda x, w: plain(x, w, padding=1), y, w)
        both(lambda x, w: back(x, w, stride=2), y, turned)
    out = plain(x.cuda().to(memory_format=form), w.cuda())
    assert out.is_contiguous(memory_format=form)
both(lambda x, w: F.conv2d(x, w, groups=4), torch.randn(2, 4, 9, 9),
     torch.randn(4, 1, 3, 3))
""")


def test_recurrent_networks_and_norms():
    run(BOTH + """
for kind, more in ((nn.LSTM, {}), (nn.GRU, {}), (nn.RNN, {}),
                   (nn.LSTM, {"proj_size": 3})):
    net = kind(4, 5, 2, bidirectional=True, **more)
    nets = {"cpu": net, "cuda": copy.deepcopy(net).cuda()}
    both(lambda x: nets[x.device.type](x)[0], torch.randn(7, 3, 4))
both(lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
     torch.randn(4, 3, 5, 5), torch.randn(3), torch.randn(3))
if hasattr(torch.ops.aten, "_fused_rms_norm"):
    both(lambda x, w: F.rms_norm(x, (8,), w), torch.randn(4, 8),
         torch.randn(8))
both(lambda x, g: F.grid_sample(x, g, align_corners=True),
     torch.randn(2, 3, 5, 5), torch.rand(2, 4, 4, 2))
""")


def test_scales_that_the_cpu_has_not():
    run(BOTH + """
a, b = (torch.randn(16, 32).to(torch.float8_e4m3fn) for _ in range(2))
sa, sb = torch.rand(16, 1), torch.rand(1, 16)
found = torch._scaled_mm(a.cuda(), b.cuda().t(), sa.cuda(), sb.cuda(),
                         out_dtype=torch.bfloat16)
exact = (a.float() * sa) @ (b.float().t() * sb)
same(found.float(), exact, rtol=2e-2, atol=2e-2)
""")


def test_fused_optimisers():
    run(BOTH + """
for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD):
    weights = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(1)
        layer = nn.Linear(4, 4).to(device)
        how = kind(layer.parameters(), lr=0.1, fused=True)
        for _ in range(3):
            how.zero_grad()
            layer(torch.ones(2, 4, device=device)).pow(2).sum().backward()
            how.step()
        weights.append(layer.weight)
    same(weights[1], weights[0])
""")
