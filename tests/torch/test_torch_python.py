# SPDX-License-Identifier: Apache-2.0
"""Kernels in Python replace the C++ part: they compute what it does, or refuse
by name."""

import json

import pytest

import test_torch_boxed
import test_torch_device
import test_torch_random
import test_torch_training
import test_torch_types
import torch_program
from torch_program import on_both, run, run_file, told
from test_torch_operators import PINNED, known_misses

REFUSALS = "is not executed on a made-up GPU", "without the C++ part"


@pytest.fixture(autouse=True)
def in_python(monkeypatch):
    monkeypatch.setattr(torch_program, "MORE", {"GPUKIT_TORCH": "python"})


@pytest.mark.parametrize("test", [
    test_torch_boxed.test_results_share_what_they_share_on_the_cpu,
    test_torch_boxed.test_an_out_of_another_size_gets_the_size_of_the_result,
    test_torch_boxed.test_copies_cast_and_turn_around_between_devices,
    test_torch_boxed.test_what_is_made_costs_its_bytes_of_the_device,
    test_torch_device.test_mixed_devices_are_an_error_as_on_a_gpu,
    test_torch_device.test_numbers_of_the_host_go_where_a_gpu_takes_them,
    test_torch_device.test_what_cuda_asserts_ends_the_context,
    test_torch_random.test_generators_are_seeded_saved_and_restored,
    test_torch_random.test_uniform_and_normal_numbers_are_those_of_a_gpu,
    test_torch_random.test_numbers_go_on_and_lie_where_a_gpu_puts_them,
    test_torch_random.test_checkpoints_replay_their_dropout,
    test_torch_random.test_threads_draw_numbers_of_their_own,
    test_torch_device.test_what_is_checked_on_the_host_leaves_the_context_alive,
    test_torch_device.test_lengths_of_ctc_loss_may_be_on_the_host,
    test_torch_device.test_what_no_gpu_does_in_one_order_is_refused_if_asked,
    test_torch_device.test_an_operator_waits_for_its_stream,
    test_torch_device.test_the_end_waits_for_the_threads_of_autograd,
    test_torch_device.test_its_time_is_busy_time_of_the_gpu,
    test_torch_types.test_products_of_whole_numbers,
    test_torch_types.test_convolutions_pools_and_interpolation_of_whole_numbers,
    test_torch_types.test_sums_and_products_along_booleans,
    test_torch_types.test_products_of_int8_want_sizes,
    test_torch_types.test_histograms_of_whole_numbers,
    test_torch_types.test_what_the_cpu_lacks_in_16_bits_is_rounded_once,
    test_torch_types.test_fourier_transforms_of_fp16,
    test_torch_types.test_what_is_turned_around_is_so_after_a_copy,
    test_torch_types.test_errors_of_the_host_leave_the_context_alive,
    test_torch_types.test_a_stream_sleeps,
    test_torch_types.test_what_cuda_refuses_is_no_refusal_of_ours,
], ids=lambda test: test.__name__[5:])
def test_it_is_as_with_the_cpp_part(test):
    test()


def test_without_a_compiler_they_run_and_a_line_says_so(tmp_path):
    for hidden in ({"PATH": str(tmp_path), "CXX": ""}, {"CXX": "false"}):
        out = run("""
from _gpukit_torch import install
assert install.library() is None
print((torch.arange(3, device="cuda") + 1).tolist())
""", XDG_CACHE_HOME=str(tmp_path), GPUKIT_TORCH="", **hidden)
        assert out.stdout == "[1, 2, 3]\n"
        said = out.stderr.splitlines()[-1]
        assert "slower" in said and "C++" in said
        assert len(out.stderr.splitlines()) == 1 or hidden["CXX"]


@pytest.mark.parametrize("program", ["cnn.py", "lstm.py", "gpt.py"])
def test_losses_are_those_of_the_cpu(program, tmp_path):
    test_torch_training.same(*on_both(program, folder=tmp_path))


def test_operators_answer_as_the_cpus_or_are_refused():
    printed = run_file(["opinfo.py", "2", "40", "float32", "bfloat16",
                        "int64"], "h100:1", 1800)
    rows = [json.loads(line) for line in printed.splitlines()
            if line.startswith("{")]
    assert len(rows) > 20 and sum(row["forward"] for row in rows) > 100
    assert sum(row["backward"] for row in rows) > 20
    missed = {(row["operator"], row["dtype"]): row["miss"] for row in rows
              if row["miss"] and not any(one in row["miss"]
                                         for one in REFUSALS)}
    if not PINNED:
        missed = {key: miss for key, miss in missed.items()
                  if "Could not run 'aten::" not in miss}
    assert not {key: miss for key, miss in missed.items()
                if key not in known_misses()}


def test_the_same_numbers_are_drawn_as_by_the_cpp_part():
    program = """
import json
torch.manual_seed(5)
x = torch.empty(7, 5, device="cuda")
y = torch.empty(3000, dtype=torch.bfloat16, device="cuda")
print(json.dumps([one.flatten().tolist() for one in (
    torch.rand(9, device="cuda"), x.t().uniform_(-1, 1).clone(),
    x.normal_(2, 3, generator=torch.Generator("cuda").manual_seed(1)),
    y.uniform_(3, 7), torch.randn(9, device="cuda").double(),
    torch.randn(9, dtype=torch.double, device="cuda"))]))
"""
    found, expected = (told(run(program, GPUKIT_TORCH=form).stdout)
                       for form in ("python", ""))
    for one, other in zip(found, expected):
        assert one == pytest.approx(other, rel=1e-5)


def test_what_lay_in_a_result_that_grows_is_not_kept():
    run("""
import warnings
warnings.simplefilter("ignore")
a = torch.randn(2000, device="cuda")
for i in range(200):
    out = torch.full((21,), i + 5., device="cuda")
    torch.mul(a, 2, out=out)
    same(out, a.cpu() * 2)
all, = torch.arange(6., device="cuda")[None]
torch.mul(all[3:5], 2, out=all[:0])
assert all.tolist() == [6, 8, 2, 3, 4, 5]
""")


def test_dropout_and_attention_drop_the_same_in_the_backward_pass():
    run("""
from torch.nn.attention import SDPBackend, sdpa_kernel
v = torch.eye(16, device="cuda").expand(2, 3, 16, 16).contiguous()
q = torch.randn(2, 3, 16, 16, device="cuda")
for kind, dtype in ((SDPBackend.FLASH_ATTENTION, torch.bfloat16),
                    (SDPBackend.EFFICIENT_ATTENTION, torch.float)):
    w = v.to(dtype).requires_grad_()
    with sdpa_kernel(kind):
        out = F.scaled_dot_product_attention(q.to(dtype), q.to(dtype), w,
                                             dropout_p=.5)
    out.backward(torch.eye(16, device="cuda").to(dtype).expand_as(out))
    same(w.grad, out.mT.cpu())  # v was the identity: out is what was kept
    assert .3 < (out == 0).float().mean() < .7
x = torch.ones(4, 500, device="cuda", requires_grad=True)
y = F.dropout(x, .25)
y.sum().backward()
assert torch.equal(x.grad, y.detach()) and .15 < (y == 0).float().mean() < .35
""")


def test_the_norms_of_ranks_are_those_of_their_whole():
    run("""
x, grad = torch.randn(6, 3, 4), torch.randn(6, 3, 4)
norm = nn.BatchNorm1d(3)
nn.init.normal_(norm.weight)
leaf = x.clone().requires_grad_()
expected = norm(leaf)
expected.backward(grad)
mean, var = torch.zeros(3, device="cuda"), torch.ones(3, device="cuda")
weight, bias = norm.weight.detach().cuda(), norm.bias.detach().cuda()
ranks = [x[:2].cuda(), x[2:].cuda()]
stats = [torch.batch_norm_stats(one, 1e-5) for one in ranks]
counts = torch.tensor([8., 16.], device="cuda")
m, invstd = torch.batch_norm_gather_stats_with_counts(
    ranks[0], *(torch.stack(one) for one in zip(*stats)), mean, var, .1, 1e-5,
    counts)
same(mean, norm.running_mean)
same(var, norm.running_var)
same(torch.batch_norm_elemt(x.cuda(), weight, bias, m, invstd, 1e-5),
     expected.detach())
total, product, of_weight, of_bias = torch.batch_norm_backward_reduce(
    grad.cuda(), x.cuda(), m, invstd, weight, True, True, True)
same(of_weight, norm.weight.grad)
same(of_bias, norm.bias.grad)
same(torch.batch_norm_backward_elemt(grad.cuda(), x.cuda(), m, invstd, weight,
                                     total, product, counts.int()), leaf.grad)
""")


def test_a_function_mode_of_the_program_is_not_met_within():
    run("""
torch.set_default_device("cuda")
x = torch.ones(3) * 2
with torch.device("cuda:1"):
    y = torch.full((3,), 2.)
assert x.device.index == 0 and y.device.index == 1
same(x + y.to(x.device), torch.full((3,), 4., device="cpu"))
""")


def test_what_only_the_cpp_part_does_is_refused_by_name():
    out = run("""
x = torch.ones(3, 3, device="cuda")
def capture():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        x.mul_(2)
for call, name in ((capture, "aten::mul_.Tensor"),
                   (x.to_sparse, "aten::"),
                   (lambda: torch.ops.aten.miopen_rnn(
                       x, [x], 4, x, None, 0, 3, 1, False, 0., False, False,
                       [], None), "aten::miopen_rnn")):
    raises(call, NotImplementedError, name)
assert x.tolist() == [[1] * 3] * 3
""", options=["--refusals=error"], check=False)
    assert out.returncode == 3, out.stderr


def test_the_table_tells_what_becomes_of_each():
    rows = json.loads(run("""
import json
from _gpukit_torch import table
print(json.dumps(table.rows()))
""").stdout)
    dense = {row["operator"]: row for row in rows if row["key"] == "CUDA"}
    assert len(dense) > 1200
    assert all((row["fate"] == "refused") == bool(row["reason"])
               for row in rows)
    refused = [one for one, row in dense.items() if row["fate"] == "refused"]
    assert len(refused) < 80, refused
    assert dense["aten::_scaled_mm"]["fate"] == "refused"
    assert dense["aten::cudnn_batch_norm"]["fate"] == "own"


def test_results_in_a_list_are_filled():
    run("""
x = torch.arange(24.).view(2, 12)
want = [one.clone() for one in x.split_with_sizes([4, 8], 1)]
for sizes in ((2, 4), (2, 8)), ((0,), (0,)):
    outs = [torch.empty(size, device="cuda") for size in sizes]
    torch.split_with_sizes_copy(x.cuda(), [4, 8], 1, out=outs)
    assert all(torch.equal(out.cpu(), one) for out, one in zip(outs, want))
""")


def test_no_memory_of_the_host_is_none_of_the_device():
    run("""
raises(lambda: torch.ones(1, device="cuda").expand(1 << 44) + 1,
       torch.OutOfMemoryError, "CUDA out of memory")
assert torch.ones(3, device="cuda").sum().item() == 3
""")


def test_what_is_written_or_looked_into_is_on_the_device():
    run("""
i = torch.tensor([1, 2], device="cuda")
for wrong in (lambda: torch.arange(5.)[i],
              lambda: torch.zeros(()).add_(torch.ones((), device="cuda")),
              lambda: torch.zeros(3).index_put_((i,), torch.ones(2))):
    raises(wrong, RuntimeError, "device")
x = torch.arange(5., device="cuda")
assert x[torch.tensor([1, 2])].tolist() == [1, 2] == x[i].tolist()
assert x.add_(torch.tensor(2.)).tolist() == [2, 3, 4, 5, 6]
""")


def test_all_kinds_of_tensors_are_filled_as_by_the_cpp_part():
    draw = """
torch.manual_seed(3)
wide = torch.zeros(8, 6, device="cuda")
print([x.tolist() for x in (
    torch.rand(3, dtype=torch.cfloat, device="cuda"),
    wide[:, :3].t().uniform_(),
    torch.empty(400, dtype=torch.half, device="cuda").uniform_(-.3, 1001.),
    torch.nn.functional.dropout(torch.full((3,), torch.inf, device="cuda"),
                                1.))])
for wrong in (lambda: torch.zeros(3, dtype=torch.int, device="cuda").uniform_(),
              lambda: torch.zeros(3, dtype=torch.int, device="cuda").normal_(),
              lambda: torch.zeros(3, device="cuda").uniform_(0, torch.inf)):
    raises(wrong, RuntimeError)
"""
    assert run(draw).stdout == run(draw, GPUKIT_TORCH="").stdout


def test_numbers_stand_for_tensors():
    run("""
i = torch.arange(-4, 5)
for x in i, i / 2:
    for y in 3, -2.5:
        for f in (lambda x: x % y, lambda x: y % x.abs().add(1),
                  lambda x: torch.fmod(x, y), lambda x: torch.pow(2, x.abs()),
                  lambda x: x // y, lambda x: torch.where(x > 0, x, y),
                  lambda x: torch.bitwise_and(x.int(), 3),
                  lambda x: torch.xlogy(x.abs(), abs(y)),
                  lambda x: x.clone().float().remainder_(y),
                  lambda x: torch.floor_divide(x, y), lambda x: x == y,
                  lambda x: torch.clamp(x, y), lambda x: x.masked_fill(x > 0, y)):
            want, got = f(x), f(x.cuda())
            assert want.dtype == got.dtype and torch.equal(want, got.cpu()), \
                (x, y, want, got)
""")
