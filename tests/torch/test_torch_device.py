# SPDX-License-Identifier: Apache-2.0
"""What a GPU has besides values: errors, streams, time."""

import json
import subprocess

from conftest import GPUKIT
from torch_program import needs, python, run, torch_env


def test_mixed_devices_are_an_error_as_on_a_gpu():
    run("""
WORDS = "Expected all tensors to be on the same device", "cuda:0", "cpu"
a, b = torch.ones(3, 3, device="cuda"), torch.ones(3, 3)
for function in (lambda: a + b, lambda: a @ b, lambda: b.add_(a),
                 lambda: torch.cat([a, b]), lambda: F.linear(a, b),
                 lambda: torch.mm(a, a, out=b),
                 lambda: torch.mm(a, torch.ones((), device="cpu").expand(3, 3)),
                 lambda: F.embedding(torch.zeros(2, dtype=torch.long), a)):
    raises(function, RuntimeError, *WORDS)
raises(lambda: a + torch.ones(3, 3, device="cuda:1"), RuntimeError,
       WORDS[0], "cuda:0", "cuda:1")
same(a * torch.tensor(2.), b * 2)
same(a[torch.tensor([0, 2])], b[[0, 2]])
raises(lambda: torch.ones(1, device="cuda:2"), RuntimeError, "device ordinal")
raises(lambda: a.numpy(), TypeError, "cuda:0")
""")


def test_mixed_devices_are_told_in_the_words_of_pytorch():
    """The words are those of PyTorch's CUDA wheels from 2.8 on: the check that
    torchgen writes, TensorIterator's, and indexing's."""
    needs(2, 8)
    run("""
a, b = torch.ones(3, 3, device="cuda"), torch.ones(3, 3)
BEGIN = "Expected all tensors to be on the same device, but "
for call, words in (
        (lambda: nn.Linear(3, 3).cuda()(b),
         "got mat1 is on cpu, different from other tensors on cuda:0 (when "
         "checking argument in method wrapper_CUDA_addmm)"),
        (lambda: nn.Embedding(3, 3).cuda()(torch.tensor([1])),
         "got index is on cpu, different from other tensors on cuda:0 (when "
         "checking argument in method wrapper_CUDA__index_select)"),
        (lambda: nn.Conv2d(1, 1, 2).cuda()(torch.ones(1, 1, 4, 4)),
         "got weight is on cuda:0, different from other tensors on cpu (when "
         "checking argument in method wrapper_CUDA___slow_conv2d_forward)"),
        (lambda: b + a, "found at least two devices, cuda:0 and cpu!"),
        (lambda: a.index_put((torch.tensor([0]).cuda(),), b[0]),
         "found at least two devices, cuda:0 and cpu!")):
    raises(call, RuntimeError, BEGIN + words)
raises(lambda: b[torch.tensor([0]).cuda()], IndexError, "indices should be "
       "either on cpu or on the same device as the indexed tensor (cpu)")
same(a[torch.tensor([0])], b[:1])
""")


def test_numbers_of_the_host_go_where_a_gpu_takes_them():
    """A host tensor without dimensions is a number to the CUDA kernels that are
    made for it (gpu_kernel_with_scalars), and to no others."""
    run("""
x, n = torch.tensor([1., 2., 5.]), torch.tensor(2.)
i, k = torch.tensor([4, 6, 7]), torch.tensor(2)
for name in ("add", "sub", "mul", "div", "floor_divide", "pow", "remainder",
             "fmod", "atan2", "copysign", "heaviside", "fmax", "fmin",
             "maximum", "minimum", "eq", "lt", "ge", "logical_and", "xlogy",
             "special.xlog1py", "special.zeta", "bitwise_and", "bitwise_xor",
             "bitwise_left_shift", "rsub"):
    function = torch
    for part in name.split("."):
        function = getattr(function, part)
    a, b = (i, k) if "bitwise" in name else (x, n)
    same(function(a.cuda(), b), function(a, b))
    if name != "logical_and":  # whose result is where the first is
        same(function(b, a.cuda()), function(b, a))
c, p = x.cuda(), torch.tensor([.2, .5, .9])
version = tuple(map(int, torch.__version__.split(".")[:2]))
if version >= (2, 15):  # before 2.10 it was one of the others
    same(torch.hypot(c, n), torch.hypot(x, n))
same(torch.lerp(c, c + 1, n), torch.lerp(x, x + 1, n))
same(torch.addcmul(c, c, n), torch.addcmul(x, x, n))
same(torch.addcdiv(c, c, n), torch.addcdiv(x, x, n))
same(c.masked_fill(c > 1, n), x.masked_fill(x > 1, n))
same(torch.where(c > 1, c, n), torch.where(x > 1, x, n))
same(c.index_fill(0, k.cuda()[None] - 1, n), x.index_fill(0, k[None] - 1, n))
torch.manual_seed(1)
drawn = torch.bernoulli(c, p=.5), c.clone().bernoulli_(p.cuda())
torch.manual_seed(1)
again = torch.bernoulli(c, p=.5), c.clone().bernoulli_(p)
assert all(map(torch.equal, drawn, again))

ops = torch.ops.aten
for function in (
        lambda: torch.logaddexp(c, n), lambda: torch.nextafter(c, n),
        lambda: torch.gcd(i.cuda(), k), lambda: torch.lcm(i.cuda(), k),
        lambda: torch.igamma(c, n), lambda: torch.logaddexp2(n, c),
        lambda: ops.mse_loss(c, n), lambda: ops.smooth_l1_loss(n, c),
        lambda: F.binary_cross_entropy(c[0] / 9, n / 9),
        lambda: torch.binomial(c, n / 4),
        lambda: torch.lerp(c, n, .5), lambda: torch.lerp(n, c, c),
        lambda: torch.addcmul(c, n, c), lambda: torch.addcdiv(n, c, c),
        lambda: c.index_fill(0, k - 1, 3.), lambda: torch.add(c, n, out=n),
        *([lambda: torch.hypot(c, n)] if version < (2, 10) else [])):
    raises(function, RuntimeError, "Expected all tensors to be on the same "
           "device", "cuda:0", "cpu")
raises(lambda: c.masked_fill(x > 1, 3.), RuntimeError, "expected self and mask "
       "to be on the same device, but got mask on cpu and self on cuda:0")
raises(lambda: c.masked_fill(n > 1, 3.), RuntimeError, "expected self and mask")
""")


def test_a_device_that_is_not_there():
    run("""
for call in (lambda: torch.ones(1, device="cuda:2"),
             lambda: torch.ones(1).to("cuda:7"),
             lambda: torch.cuda.set_device(5)):
    raises(call, RuntimeError, "CUDA error: invalid device ordinal")
raises(lambda: torch.cuda.get_device_properties(2), AssertionError,
       "Invalid device id")
assert torch.ones(1, device="cuda:1").device.index == 1
""")


def test_the_host_has_no_access():
    out = run("""
import ctypes, numpy
a = torch.ones(4, device="cuda")
for call in (a.numpy, lambda: numpy.asarray(a)):
    raises(call, TypeError, "can't convert cuda:0 device type tensor to numpy. "
           "Use Tensor.cpu() to copy the tensor to host memory first.")
ctypes.string_at(a.data_ptr(), 4)
""", check=False)
    assert out.returncode in (-11, 139), out.stderr


def test_what_cuda_asserts_ends_the_context():
    for call, words in (
            ("a[L(7)]", "index 7 size 5"),
            ("a.gather(0, L(9))", "gather 9 5"),
            ("a.take(L(-6))", "take -6 5"),
            ("F.nll_loss(a[None], L(6))", "nll_loss 6"),
            ("F.embedding(L(8), a[None])", "index_select 8 [1, 5]"),
            ("F.embedding_bag(L(8), a[None], L(0))", "embedding_bag 8 1"),
            ("F.binary_cross_entropy(a + 1, a)", "0 and 1")):
        run(f"""
a, L = torch.ones(5, device="cuda"), lambda i: torch.tensor([i], device="cuda")
kind = getattr(torch, "AcceleratorError", RuntimeError)
raises(lambda: {call}, kind, "CUDA error: device-side assert triggered",
       *"{words}".split(None, 2))
raises(lambda: a + 1, kind, "CUDA error: device-side assert triggered",
       "before it failed", *"{words}".split(None, 2))
raises(torch.cuda.synchronize, kind, "device-side assert triggered")
""")


def test_an_operator_waits_for_its_stream():
    run("""
host = torch.empty(8 << 20).pin_memory()
side = torch.cuda.Stream()
a = torch.zeros(8 << 20, device="cuda")
with torch.cuda.stream(side):
    for i in range(4):
        host.fill_(i)
        a.copy_(host, non_blocking=True)
        assert (a + 1)[[0, -1]].tolist() == [i + 1, i + 1]
begin, end = (torch.cuda.Event(enable_timing=True) for _ in "ab")
begin.record()
b = torch.randn(400, 400, device="cuda")
for _ in range(5):
    b = b @ b
end.record()
torch.cuda.synchronize()
assert begin.elapsed_time(end) > .1
""")


def test_the_end_waits_for_the_threads_of_autograd():
    """Otherwise one of them may free objects of a Python that has ended. What
    is registered before torch is imported runs last."""
    done = subprocess.run(
        [GPUKIT, "fake", "--quiet", "--gpus", "h100:2", "--", python(), "-c",
         """
import atexit
def look():
    return [torch.cuda.memory_stats(i)["allocation.all.allocated"]
            for i in range(2) if torch._C._cuda_hasPrimaryContext(i)]
atexit.register(lambda: print(look()))
import torch
x = torch.ones(3, device="cuda", requires_grad=True)
(x * 2).sum().backward()
print(look())
"""], env=torch_env(), text=True, capture_output=True, check=False)
    assert not done.returncode, done.stderr
    at_end, last = (json.loads(line) for line in done.stdout.splitlines())
    assert len(at_end) == len(last) == 1
    assert last[0] >= at_end[0] + 3


def test_its_time_is_busy_time_of_the_gpu():
    out = run("""
import subprocess, time, os
a = torch.randn(300, 300, device="cuda:1")
end = time.monotonic() + 1.5
while time.monotonic() < end:
    a = (a @ a).clamp_(-1, 1)
print(subprocess.check_output(
    ["nvidia-smi", "--query-gpu=utilization.gpu",
     "--format=csv,noheader,nounits"], text=True))
""").stdout.split()
    assert int(out[0]) == 0
    assert int(out[1]) > 30


def test_what_is_checked_on_the_host_leaves_the_context_alive():
    run("""
raises(lambda: torch.empty(3, dtype=torch.int8, device="cuda")
       .random_(0, 1000), RuntimeError, "out of bounds for")
raises(lambda: torch.empty(3, device="cuda").uniform_(0, float("inf")),
       RuntimeError, "out of bounds for")
assert torch.ones(3, device="cuda").sum().item() == 3
""")


def test_lengths_of_ctc_loss_may_be_on_the_host():
    run("""
log_probs = torch.randn(5, 3, 4).log_softmax(2)
targets = torch.tensor([[1, 2], [3, 1], [2, 2]])
lengths = torch.tensor([5, 5, 4]), torch.tensor([2, 2, 1])
want = F.ctc_loss(log_probs, targets, *lengths)
for there in (targets, targets.cuda()):
    got = F.ctc_loss(log_probs.cuda(), there, *lengths)
    assert torch.allclose(got.cpu(), want), (got, want)
""")


def test_what_no_gpu_does_in_one_order_is_refused_if_asked():
    """As listed in the documentation of use_deterministic_algorithms."""
    run("""
x = torch.rand(2, 3, 8, 8, device="cuda", requires_grad=True)
flat = torch.rand(9, device="cuda")
i = torch.randint(0, 4, (9,), device="cuda")
def back(y):
    return torch.autograd.grad(y.sum(), x)
grid = torch.rand(2, 4, 4, 2, device="cuda") * 2 - 1
pooled = F.adaptive_avg_pool2d(x, 3)
sampled = F.grid_sample(x, grid, align_corners=False)
padded = F.pad(x, (1, 1, 1, 1), mode="reflect")
refused = [lambda: torch.histc(flat), lambda: flat.cumsum(0),
           lambda: flat.clone().cumsum_(0), lambda: flat.kthvalue(2),
           lambda: torch.bincount(i, flat), lambda: flat.median(0),
           lambda: flat.scatter_reduce(0, i, flat, "prod"),
           lambda: back(pooled), lambda: back(sampled), lambda: back(padded),
           lambda: F.nll_loss(x, torch.zeros(2, 8, 8, dtype=torch.long,
                                             device="cuda"))]
taken = [lambda: i.cumsum(0), lambda: torch.bincount(i), lambda: flat.median(),
         lambda: flat.scatter_reduce(0, i, flat, "amax"),
         lambda: back(F.conv2d(x, torch.ones(1, 3, 3, 3, device="cuda"))),
         lambda: F.cross_entropy(flat.view(3, 3), i[:3] % 3)]
for one in taken:
    one()
torch.use_deterministic_algorithms(True)
for n, one in enumerate(refused):
    try:
        one()
    except RuntimeError as error:
        assert "deterministic implementation" in str(error), (n, error)
    else:
        raise AssertionError(n)
for one in taken:
    one()
torch.use_deterministic_algorithms(True, warn_only=True)
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    flat.cumsum(0)
assert "cumsum" in str(seen[0].message)
torch.use_deterministic_algorithms(False)
for one in refused[:7]:
    one()
""")
