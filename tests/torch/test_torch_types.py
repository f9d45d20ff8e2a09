# SPDX-License-Identifier: Apache-2.0
"""Types of operands: what CUDA refuses is refused in its words, and what the
CPU lacks is computed in a wider type and rounded once."""

import json

import pytest

from torch_program import run, run_file

BEGIN = """
L = torch.arange(16, device="cuda").reshape(4, 4)
def refused(call, words, kind=NotImplementedError):
    raises(call, kind, words)
def lacks(name, type="Long"):
    return f'"{name}" not implemented for \\'{type}\\''
"""


def test_products_of_whole_numbers():
    run(BEGIN + """
for one, name in ((L, "Long"), (L.int(), "Int"), (L.short(), "Short"),
                  (L.char(), "Char"), (L.byte(), "Byte"), (L > 0, "Bool")):
    row, batch = one[0], one[None]
    for call, word in (
            (lambda: one @ one, "addmm_cuda"),
            (lambda: torch.mm(one, one, out=one.clone()), "addmm_cuda"),
            (lambda: torch.addmm(one, one, one), "addmm_cuda"),
            (lambda: one.clone().addmm_(one, one), "addmm_cuda"),
            (lambda: F.linear(one, one), "addmm_cuda"),
            (lambda: torch.linalg.matrix_power(one, 3), "addmm_cuda"),
            (lambda: torch.addbmm(one, batch, batch), "addmm_cuda"),
            (lambda: torch.bmm(batch, batch), "baddbmm_cuda"),
            (lambda: torch.einsum("ij,kj->ik", one, one), "baddbmm_cuda"),
            (lambda: torch.baddbmm(batch, batch, batch), "baddbmm_cuda"),
            (lambda: one @ row, "addmv_impl_cuda"),
            (lambda: torch.addmv(row, one, row), "addmv_impl_cuda"),
            (lambda: row @ row, "dot"), (lambda: torch.vdot(row, row), "dot")):
        refused(call, lacks(word, name))
none = torch.zeros(0, 4, dtype=torch.long, device="cuda")
same(none @ L, none.cpu())  # nothing to compute
raises(lambda: torch.mm(L, L.float()), RuntimeError, "same dtype")
same(torch.outer(L[1], L[2]), torch.outer(L[1].cpu(), L[2].cpu()))
""")


def test_convolutions_pools_and_interpolation_of_whole_numbers():
    run(BEGIN + """
CUDNN = "getCudnnDataTypeFromScalarType() not supported for "
ENGINE = "GET was unable to find an engine to execute this computation"
for dims in (1, 2, 3):
    x = L[(None,) * 2].flatten(2)[..., :8].reshape(1, 1, *(2,) * dims) if \\
        dims == 3 else L[None, :1] if dims == 1 else L[None, None]
    for name in ("conv", "conv_transpose"):
        convolve = getattr(F, f"{name}{dims}d")
        for type, words in (("long", CUDNN + "Long"), ("short", CUDNN + "Short"),
                            ("char", CUDNN + "Char"), ("bool", CUDNN + "Bool"),
                            ("int", ENGINE), ("byte", ENGINE)):
            y = getattr(x, type)()
            refused(lambda: convolve(y, y), words, RuntimeError)
volume = L[None, None, None]
for call, word in (
        (lambda: F.max_pool1d(L[None], 2), "max_pool2d_with_indices_out_cuda_frame"),
        (lambda: F.max_pool2d(L[None], 2), "max_pool2d_with_indices_out_cuda_frame"),
        (lambda: F.max_pool3d(volume, (1, 2, 2)), "max_pool3d_with_indices_out_frame"),
        (lambda: F.avg_pool1d(L[None], 2), "avg_pool2d_out_cuda_frame"),
        (lambda: F.avg_pool2d(L[None], 2), "avg_pool2d_out_cuda_frame"),
        (lambda: F.avg_pool3d(volume, (1, 2, 2)), "avg_pool3d_out_cuda"),
        (lambda: F.adaptive_avg_pool2d(L[None], 2), "adaptive_avg_pool2d_cuda"),
        (lambda: F.adaptive_max_pool2d(L[None], 2), "adaptive_max_pool2d_cuda"),
        (lambda: F.interpolate(L[None], 2), "upsample_nearest1d_out_frame"),
        (lambda: F.interpolate(L[None, None], 2), "upsample_nearest2d_out_frame"),
        (lambda: F.interpolate(L[None], 2, mode="linear"),
         "upsample_linear1d_out_frame"),
        (lambda: F.interpolate(L[None, None], 2, mode="bilinear"),
         "upsample_bilinear2d_out_frame"),
        (lambda: F.interpolate(L[None, None], 2, mode="bicubic"),
         "upsample_bicubic2d_out_frame"),
        (lambda: F.interpolate(volume, 2, mode="trilinear"),
         "upsample_trilinear3d_out_frame")):
    refused(call, lacks(word))
b = L.byte()[None, None]
same(F.interpolate(b, scale_factor=2), F.interpolate(b.cpu(), scale_factor=2))
refused(lambda: F.interpolate(b, 2, mode="bilinear"),
        lacks("upsample_bilinear2d_out_frame", "Byte"))
""")


def test_sums_and_products_along_booleans():
    run(BEGIN + """
b = L % 3 > 0
same(b.cumsum(0), b.cpu().cumsum(0))  # in whole numbers
for call, word in ((lambda: b.cumsum(0, dtype=torch.bool), "cumsum_cuda"),
                   (lambda: L.cumsum(0, dtype=torch.bool), "cumsum_cuda"),
                   (lambda: b.clone().cumsum_(0), "cumsum_cuda"),
                   (lambda: torch.cumsum(b, 0, out=b.clone()), "cumsum_cuda"),
                   (lambda: b.clone().cumprod_(0), "cumprod_cuda")):
    refused(call, lacks(word, "Bool"))
""")


def test_products_of_int8_want_sizes():
    run(BEGIN + """
a = torch.randint(-9, 9, (17, 16)).char()
b = torch.randint(-9, 9, (16, 8)).char()
same(torch._int_mm(a.cuda(), b.cuda()), a.int() @ b.int())
for rows, words in ((16, "self.size(0) needs to be greater than 16, but got 16"),
                    (1, "self.size(0) needs to be greater than 16, but got 1")):
    raises(lambda: torch._int_mm(a[:rows].cuda(), b.cuda()), RuntimeError, words)
raises(lambda: torch._int_mm(a[:, :9].cuda(), b[:9].cuda()), RuntimeError,
       "self.size(1) needs to be greater than 0 and a multiple of 8, but got 9")
raises(lambda: torch._int_mm(a.cuda(), b[:, :5].cuda()), RuntimeError,
       "mat2.size(1) needs to be greater than 0 and a multiple of 8, but got 5")
""")


def test_histograms_of_whole_numbers():
    """Compared with a count in Python: a value at the end of the last bin
    belongs to it."""
    run(BEGIN + """
def count(values, bins, low, high):
    if low == high:
        low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    made = [0] * bins
    for value in values:
        if low <= value <= high:
            made[min((value - low) * bins // (high - low), bins - 1)] += 1
    return made
torch.manual_seed(3)
for type in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
    x = torch.randint(0, 90, (400,)).to(type)
    for bins, low, high in ((10, 0, 0), (7, 5, 60), (100, 0, 100), (1, 3, 4)):
        same(torch.histc(x.cuda(), bins, low, high),
             torch.tensor(count(x.tolist(), bins, low, high)).to(type))
x = torch.tensor([-2**62, 0, 2**62], device="cuda")
same(torch.histc(x, 4), torch.tensor([1, 0, 1, 1]))
same(torch.histc(x[:1], 2), torch.tensor([0, 1]))
raises(lambda: torch.histc(L, 4, 9, 3), RuntimeError, "max must be larger")
raises(lambda: torch.histc(L.half()), RuntimeError, "HalfTensor is not supported")
""")


def test_what_the_cpu_lacks_in_16_bits_is_rounded_once():
    run(BEGIN + """
torch.manual_seed(1)
def wide(tree):
    return [one.float() if isinstance(one, torch.Tensor)
            and one.is_floating_point() else one for one in tree]
def check(function, *operands, exact=True):
    for type in (torch.half, torch.bfloat16):
        given = [one.to(type) if isinstance(one, torch.Tensor)
                 and one.is_floating_point() else one for one in operands]
        there = [one.cuda() if isinstance(one, torch.Tensor) else one
                 for one in given]
        found, expected = function(*there), function(*wide(given)).to(type)
        if exact:
            same(found, expected, rtol=0, atol=0)
            continue
        # Sums in another order: of a few the last bit, by which it is rounded.
        same(found, expected, rtol=torch.finfo(type).eps, atol=1e-5)
        assert (found.cpu() != expected).double().mean() < .005
x, target = torch.randn(2, 3, 4, 4, 4), torch.tensor([1, 0])
check(lambda x: F.avg_pool3d(x, 2, 1, 1), x)
check(lambda x: torch.trace(x), x[0, 0, 0])
check(lambda x, y: F.multi_margin_loss(x, y), x[:, :, 0, 0, 0], target)
check(lambda x: F.interpolate(x, 7, mode="bilinear", antialias=True), x[0])
for dims in (1, 2, 3):
    convolve = getattr(F, f"conv_transpose{dims}d")
    a, w = torch.randn(2, 9, *(5,) * dims), torch.randn(9, 4, *(3,) * dims)
    check(lambda a, w: convolve(a, w, stride=2, padding=1), a, w, exact=False)
h = x[0, 0].half()
same(torch.round(h.cuda(), decimals=2), torch.round(h.float(), decimals=2).half(),
     rtol=0, atol=0)
same(torch.polygamma(1, h.cuda()), torch.polygamma(1, h.float()).half(), rtol=0,
     atol=0)
out = torch.empty(0, dtype=torch.half, device="cuda")
torch._C._nn.avg_pool3d(x.half().cuda(), [2] * 3, out=out)
same(out, F.avg_pool3d(x.half().float(), 2).half(), rtol=0, atol=0)
y = x.half().cuda().requires_grad_()
F.avg_pool3d(y, 2).sum().backward()
same(y.grad, torch.full(x.shape, .125).half())
""")


def test_fourier_transforms_of_fp16():
    run(BEGIN + """
torch.manual_seed(1)
x = torch.randn(3, 8, 16).half()
def as_half(one):
    return one.to(torch.complex32) if one.is_complex() else one.half()
for function in (torch.fft.fft, torch.fft.ifft, torch.fft.rfft, torch.fft.fft2,
                 torch.fft.rfft2, torch.fft.fftn,
                 lambda x: torch.fft.hfft(x, 16),
                 lambda x: torch.fft.irfft(torch.fft.rfft(x).real)):
    found = function(x.cuda()) if function is not torch.fft.fftn else \\
        function(x.cuda(), dim=(1, 2))
    assert found.dtype in (torch.half, torch.complex32)
    expected = function(x.float()) if function is not torch.fft.fftn else \\
        function(x.float(), dim=(1, 2))
    def view(one):
        one = one.resolve_conj()
        return torch.view_as_real(one) if one.is_complex() else one
    same(view(found).float(), view(expected), rtol=2e-3, atol=2e-2)
raises(lambda: torch.fft.fft(x[..., :12].cuda()), RuntimeError,
       "cuFFT only supports dimensions whose sizes are powers of two when "
       "computing in half precision, but got a signal size of[12]")
same(torch.fft.fft(x[..., :12].float().cuda()), torch.fft.fft(x[..., :12].float()))
""")


def test_what_is_turned_around_is_so_after_a_copy():
    run(BEGIN + """
a, b = torch.randn(2, 5, dtype=torch.complex64)
forms = {"plain": lambda z: z, "conj": torch.conj, "imag": torch.imag,
         "conj imag": lambda z: z.conj().imag, "neg": torch._neg_view,
         "both": lambda z: torch._neg_view(z.conj())}
for to_name, to in forms.items():
    for from_name, source in forms.items():
        if ("imag" in to_name) != ("imag" in from_name):
            continue
        for there, here in (("cuda", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")):
            expected = a.clone()
            to(expected).copy_(source(b))
            found = a.clone().to(there)
            to(found).copy_(source(b.to(here)))
            assert torch.equal(found.cpu(), expected), (to_name, from_name, there)
""")


def test_errors_of_the_host_leave_the_context_alive():
    run(BEGIN + """
none, at = torch.empty(0, 3, device="cuda"), torch.tensor([0], device="cuda")
for call, kind, words in (
        (lambda: none[at], IndexError, "out of bounds for dimension with size 0"),
        (lambda: none.index_put((at,), L[0, :3].float()), IndexError,
         "out of bounds for dimension with size 0"),
        (lambda: L.repeat_interleave(at - 1), RuntimeError,
         "repeats can not be negative"),
        (lambda: torch.repeat_interleave(torch.tensor([2, -1]).cuda()),
         RuntimeError, "repeats can not be negative")):
    raises(call, kind, words)
    same(L + 1, L.cpu() + 1)
""")


def test_a_stream_sleeps():
    run(BEGIN + """
begin, end = (torch.cuda.Event(enable_timing=True) for _ in "ab")
side = torch.cuda.Stream()
begin.record(side)
with torch.cuda.stream(side):
    torch.cuda._sleep(2_000_000_000)
end.record(side)
assert not side.query()  # it does not wait for that
assert torch.cuda.current_stream().query()
torch.cuda.synchronize()
long = begin.elapsed_time(end)
begin.record()
torch.cuda._sleep(1)
end.record()
torch.cuda.synchronize()
assert begin.elapsed_time(end) < long
torch.cuda._sleep(0)
""")


@pytest.mark.parametrize("call", [
    "torch.bitwise_and(x, x)", "torch.bitwise_or(x, x)", "torch.gcd(x, x)",
    "x.bitwise_not()"])
def test_what_the_cpu_refuses_is_told_at_the_end(call):
    out = run(f"""
x = torch.ones(3, device="cuda")
raises(lambda: {call}, NotImplementedError, "not implemented for 'Float'")
""", options=["--refusals=error"], check=False)
    assert out.returncode == 3, out.stderr


def test_what_cuda_refuses_is_no_refusal_of_ours():
    run("""
x = torch.ones(3, 3, dtype=torch.long, device="cuda")
raises(lambda: x @ x, NotImplementedError, "addmm_cuda")
""", options=["--refusals=error"])


FAMILY = {"mm", "addmm", "bmm", "matmul", "nn_functional_linear", "einsum",
          "nn_functional_conv2d", "nn_functional_max_pool2d",
          "nn_functional_avg_pool2d", "dot", "mv", "inner"}


def test_pytorchs_own_table_says_the_same():
    """For integers: what CUDA has is computed, and what it lacks is refused."""
    rows = [json.loads(line) for line in run_file(
        ["opinfo.py", "0", "1", "int64", "--only", *sorted(FAMILY)],
        "h100:1", 1800).splitlines() if line.startswith("{")]
    assert {row["operator"] for row in rows} >= FAMILY
    for row in rows:
        assert not row["miss"], row
        assert row["refused"] and not row["forward"], row
        # What has no sum is a product by element, which CUDA accepts.
        assert not row["taken"] or row["operator"] in ("einsum", "inner"), row
