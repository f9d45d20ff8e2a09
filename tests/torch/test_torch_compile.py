# SPDX-License-Identifier: Apache-2.0
"""torch.compile's back ends are compared with the same function without it.
Inductor's kernels are Triton's, which our replacement for ptxas passes on as
PTX."""

import pytest
from torch_program import run

GPT = """
class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.more = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                  nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (one.view(b, t, self.heads, -1).transpose(1, 2)
                   for one in self.qkv(self.first(x)).split(d, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.more(self.second(x))

class GPT(nn.Module):
    def __init__(self, words=50, width=64):
        super().__init__()
        self.word, self.place = nn.Embedding(words, width), nn.Embedding(32, width)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(width, words)

    def forward(self, x, y):
        x = self.word(x) + self.place(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(x).flatten(0, 1), y.flatten())

def train(steps=4, **how):
    torch._dynamo.reset()
    torch.manual_seed(1)
    net = GPT().cuda()
    adam = torch.optim.AdamW(net.parameters(), 1e-3)
    draw = torch.Generator().manual_seed(3)
    text = torch.randint(0, 50, (4, 17), generator=draw).cuda()
    run = torch.compile(net, **how) if how else net
    losses = []
    for _ in range(steps):
        adam.zero_grad()
        loss = run(text[:, :-1], text[:, 1:])
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return torch.tensor(losses)
"""


def folders(tmp_path):
    """Nothing from another run is reused."""
    return {"TRITON_CACHE_DIR": str(tmp_path / "triton"),
            "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1"}


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_back_ends_without_kernels_of_their_own(backend):
    run(GPT + f"""
torch.testing.assert_close(train(backend="{backend}"), train(),
                           rtol=1e-6, atol=0)
""")


def test_kernels_of_inductor_compute(tmp_path):
    run("""
torch.manual_seed(0)
x = torch.randn(64, 128, device="cuda")
for function in (
        lambda a: F.relu(a * 2 + 1) - a.sigmoid(),
        lambda a: F.gelu(a).softmax(-1),
        lambda a: F.layer_norm(a, (128,)),
        lambda a: torch.tanh(a) + torch.log1p(a.abs()) + torch.exp(-a),
        lambda a: torch.sin(a) + a.abs().pow(1.5) + torch.erf(a),
        lambda a: a.var(0) + a.amax(0) + a.argmin(0),
        lambda a: a.cumsum(-1),
        lambda a: (a * 2).relu().bfloat16(),
        lambda a: (a.half() * 3).float().mean(),
        lambda a: (a * 10).long() % 7,
        lambda a: a.double().exp().sum(),
        lambda a: a.t()[torch.arange(9, device="cuda") * 2].contiguous(),
        lambda a: F.cross_entropy(a, torch.arange(64, device="cuda"))):
    torch._dynamo.reset()
    torch.testing.assert_close(torch.compile(function)(x), function(x),
                               rtol=1e-4, atol=1e-4)
y = torch.compile(lambda a: F.dropout(a, .5))(torch.ones(9999, device="cuda"))
assert set(y.tolist()) == {0., 2.} and abs(y.mean() - 1) < .05
""", **folders(tmp_path))


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_a_gpt_learns_by_inductor(tmp_path, mode):
    run(GPT + f"""
torch.testing.assert_close(train(mode="{mode}"), train(), rtol=1e-4, atol=0)
""", **folders(tmp_path))


def test_an_index_is_asserted_as_on_a_gpu(tmp_path):
    run("""
words = nn.Embedding(5, 8).cuda()
look = torch.compile(lambda i: words(i) * 2)
i = torch.tensor([1, 4], device="cuda")
same(look(i), words(i).cpu() * 2)
look(i + 3)
raises(torch.cuda.synchronize, RuntimeError, "device-side assert triggered")
""", **folders(tmp_path))


def test_what_is_not_executed_is_refused_by_name(tmp_path):
    out = run("""
x = torch.randn(64, device="cuda")
raises(lambda: torch.compile(lambda a: a.to(torch.float8_e4m3fn).float())(x),
       RuntimeError, "operation not supported")
""", GPUKIT_LOG="warn", **folders(tmp_path))
    assert "e4m3x2.f32" in out.stderr and "is not executed" in out.stderr
