# SPDX-License-Identifier: Apache-2.0
"""Random numbers: the states of generators, and the values of a GPU's kernels,
compared with what people have published of their GPUs and with a model of the
algorithms."""

import os

from conftest import ROOT
from torch_program import run


def board(folder, sms, major, minor):
    """The path of a profile for a fake board with this many multiprocessors."""
    with open(os.path.join(ROOT, "profiles", "rtx-4090.yaml"),
              encoding="utf-8") as f:
        lines = f.read().splitlines()
    values = {"aliases": "[]", "sm_count": sms, "compute_major": major,
              "compute_minor": minor}
    path = os.path.join(str(folder), f"board-{sms}.yaml")
    with open(path, "w", encoding="utf-8") as f:
        for line in lines:
            key = line.split(":")[0]
            f.write(f"{key}: {values[key]}\n" if key in values
                    else line + "\n")
    return path


def test_generators_are_seeded_saved_and_restored():
    run("""
def draw():
    return torch.cat([torch.rand(5, device="cuda"),
                      torch.randn(5, device="cuda"),
                      F.dropout(torch.ones(20, device="cuda")),
                      torch.randperm(9, device="cuda").float()])
torch.manual_seed(4)
host = torch.rand(3)
first = draw()
torch.manual_seed(4)
assert torch.equal(torch.rand(3), host) and torch.equal(draw(), first)
state = torch.cuda.get_rng_state()
with torch.random.fork_rng(devices=[0]):
    second = draw()
assert not torch.equal(first, second) and torch.equal(draw(), second)
torch.cuda.set_rng_state(state)
assert torch.equal(draw(), second)
g = torch.Generator("cuda").manual_seed(1)
a = torch.randn(8, device="cuda", generator=g)
assert torch.equal(a, torch.randn(8, device="cuda",
                                  generator=g.manual_seed(1)))
host = torch.get_rng_state()
draw()
assert torch.equal(host, torch.get_rng_state())
raises(lambda: torch.randn(8, device="cuda", generator=torch.Generator()),
       RuntimeError, "generator")
x = torch.rand(200000, device="cuda")
assert abs(x.mean() - .5) < .01 and abs(x.var() - 1 / 12) < .01
""")


def test_uniform_and_normal_numbers_are_those_of_a_gpu():
    """What torch prints on NVIDIA's GPUs in many reports on the web: with seed
    0, and with 42 in a report about latents of diffusion (pytorch issue
    158398)."""
    run("""
def near(found, *expected):
    same(found.flatten()[:len(expected)], torch.tensor(expected), rtol=0,
         atol=6e-5)
torch.manual_seed(0)
near(torch.rand(8, device="cuda"), .3990, .5167, .0249, .9401, .9459, .7967,
     .4150, .8203)
near(torch.rand(4, device="cuda"), .9722, .7910, .4690, .3300)
torch.manual_seed(0)
x = torch.randn(4, 8, device="cuda")
near(x, -.9247, -.4253, -2.6438, .1452, -.1209, -.5797, -.6229, -.3284,
     -1.0745, -.3631, -1.6711, 2.2655, .3117, -.1842, 1.2866, 1.1820)
g = torch.Generator("cuda").manual_seed(42)
x = torch.randn([1, 64, 2048], generator=g, device="cuda")[0]
near(x[0], .1940, 2.1614, -.1721)
near(x[0, -3:], 1.4540, -2.7733, -.8932)
near(x[1], -.4574, .8063, .1580)
""")


def test_numbers_go_on_and_lie_where_a_gpu_puts_them():
    """The four words of a thread go to elements a grid apart; a grid is as
    large as the GPU has room for."""
    run("""
n = 132 * 2048  # threads of an H100
torch.manual_seed(3)
x = torch.rand(5 * n, device="cuda")
assert torch.cuda.default_generators[0].get_offset() == 8
torch.manual_seed(3)
y = torch.rand(4 * n, device="cuda")
assert torch.equal(x[:4 * n], y)
assert torch.equal(x[4 * n:], torch.rand(n, device="cuda"))
turned = torch.empty(30, 20, device="cuda").t()
torch.manual_seed(3)
assert torch.equal(turned.uniform_().t().flatten(), x[:600])
for dtype in (torch.double, torch.bfloat16, torch.half):
    z = torch.randn(200001, device="cuda", dtype=dtype).double()
    assert abs(z.mean()) < .01 and abs(z.var() - 1) < .01
    z = torch.empty(200001, device="cuda", dtype=dtype).uniform_(-2, 4)
    assert -2 <= z.min() and z.max() < 4 and abs(z.mean() - 1) < .03
w = torch.randn(99999, device="cuda", dtype=torch.complex64)
assert abs(w.real.var() - .5) < .01 and abs(w.imag.var() - .5) < .01
""")


def test_checkpoints_replay_their_dropout():
    run("""
from torch.utils.checkpoint import checkpoint
x = torch.ones(100, device="cuda", requires_grad=True)
y = checkpoint(lambda t: F.dropout(t) * t, x, use_reentrant=False)
(grad,) = torch.autograd.grad(y.sum(), x)
assert torch.equal(grad, 2 * y.detach())
""")


def test_long_results_are_those_of_these_boards():
    """Two GPUs with different numbers of multiprocessors: what both drew with
    seed 1 (pytorch issue 143086)."""
    for gpus, last in (("h100:1", (-.6970, -.7780, .3267)),
                       ("a100:1", (.1549, -.6797, -.1656))):
        run(f"""
g = torch.Generator("cuda").manual_seed(1)
x = torch.randn(1, 49 * 12 * 112 * 144, device="cuda", generator=g)[0]
for found, expected in ((x[:3], (-.2963, 2.6764, -.1408)), (x[-3:], {last})):
    same(found, torch.tensor(expected), rtol=0, atol=6e-5)
""", gpus)


def test_dropout_drops_what_a_gpu_drops(tmp_path):
    """A GeForce RTX 4080 SUPER with seed 1 (torch-xpu-ops issue 2926); the sums
    of what a P100 and a K80 kept of a million (pytorch issue 25690), in the
    order of kernels that load one element at a time, as today's do for such
    addresses."""
    run("""
torch.cuda.manual_seed_all(1)
y = nn.Dropout(p=0.1)(torch.ones(512 * 4 * 1024).to("cuda"))
zeros = (y == 0).nonzero().flatten()
assert zeros[:3].tolist() == [8, 14, 20]
assert zeros[-3:].tolist() == [2097121, 2097140, 2097151]
""", board(tmp_path, 80, 8, 9))
    for sms, major, minor, total in ((56, 6, 0, 999826), (13, 3, 7, 999100)):
        run(f"""
import warnings
warnings.simplefilter("ignore")  # it is too old for this PyTorch
torch.manual_seed(0)
a = torch.ones(1000001, device="cuda")[1:].view(1000, 1000)
assert F.dropout(a).sum().item() == {total}
""", board(tmp_path, sms, major, minor))


MODEL = """
import math
M = 0xffffffff

def words(seed, thread, step, offset=0):
    key, counter = [seed & M, seed >> 32], offset // 4 + step
    c = [counter & M, counter >> 32, thread & M, thread >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ key[0], b & M, (a >> 32) ^ c[3] ^ key[1], a & M]
        key = [(key[0] + 0x9E3779B9) & M, (key[1] + 0xBB67AE85) & M]
    return c

def first(n):  # what each of n threads draws first
    return [words(SEED, i, 0)[0] for i in range(n)]

def uniform(n):
    return [(w + .5) / 2 ** 32 for w in first(n)]

SEED, N = 77, 40
generator = torch.cuda.default_generators[0] if torch.cuda.init() is None else 0

def drawn(function, offset=4):
    generator.manual_seed(SEED)
    found = function()
    assert generator.get_offset() == offset, generator.get_offset()
    return found

def new(dtype=torch.float):
    return torch.empty(N, dtype=dtype, device="cuda")

def close(found, expected):
    same(found.double(), torch.tensor(expected, dtype=torch.double), rtol=2e-6,
         atol=2e-6)
"""


def test_whole_numbers_and_coins_are_made_as_on_a_gpu():
    run(MODEL + """
assert drawn(lambda: torch.randint(3, 1000, (N,), device="cuda")).tolist() == [
    3 + w % 997 for w in first(N)]
wide = [w[0] << 32 | w[1] for w in (words(SEED, i, 0) for i in range(N))]
assert drawn(lambda: new(torch.long).random_(-5, 2 ** 40)).tolist() == [
    w % (2 ** 40 + 5) - 5 for w in wide]
assert drawn(lambda: new(torch.long).random_()).tolist() == [
    w % 2 ** 63 for w in wide]
assert drawn(lambda: new(torch.long).random_(-2 ** 63, None)).tolist() == [
    w - 2 ** 64 if w >> 63 else w for w in wide]
for dtype, count in ((torch.uint8, 2 ** 8), (torch.int32, 2 ** 31),
                     (torch.bool, 2), (torch.half, 2 ** 11 + 1)):
    assert drawn(lambda: new(dtype).random_()).tolist() == [
        w % count for w in first(N)], dtype
assert drawn(lambda: new(torch.bfloat16).bernoulli_(.3)).tolist() == [
    u < .3 for u in uniform(N)]
four = [(words(SEED, i // 4, 0)[i % 4] + .5) / 2 ** 32 for i in range(N)]
p = torch.linspace(0, 1, N)
assert drawn(lambda: torch.bernoulli(p.cuda()), 12).tolist() == [
    u <= q for u, q in zip(four, p.tolist())]
for call, words_ in ((lambda: new().random_(5, 5), "'from' to be less than"),
                     (lambda: new().bernoulli_(1.5), "p to be in [0, 1]"),
                     (lambda: new().exponential_(0), "lambda > 0.0"),
                     (lambda: torch.zeros(1, device="cuda").expand(3)
                      .random_(), "single memory location")):
    raises(call, RuntimeError, words_)
""")


def test_continuous_numbers_are_made_as_on_a_gpu():
    run(MODEL + """
logs = [math.log(u) for u in uniform(N)]
close(drawn(lambda: new().exponential_(3)), [-x / 3 for x in logs])
close(drawn(lambda: new().cauchy_(1, 2)),
      [1 + 2 * math.tan(math.pi * (u - .5)) for u in uniform(N)])
close(drawn(lambda: new(torch.int).geometric_(.1)),
      [math.ceil(x / math.log1p(-.1)) for x in logs])
pairs = [words(SEED, i, 0) for i in range(N)]
normal = [math.sqrt(-2 * x) * math.sin((w[1] + .5) * 2 ** -31 * math.pi)
          for x, w in zip(logs, pairs)]
close(drawn(lambda: new().normal_(1, 2)), [1 + 2 * x for x in normal])
close(drawn(lambda: new().log_normal_(1, .5)),
      [math.exp(1 + x / 2) for x in normal])
mean, std = torch.arange(N), torch.arange(N) / 7
close(drawn(lambda: torch.normal(mean.float().cuda(), std.cuda())),
      [x * s + m for x, m, s in zip(normal, mean.tolist(), std.tolist())])
close(drawn(lambda: torch.normal(2., std.cuda())),
      [x * s + 2 for x, s in zip(normal, std.tolist())])
double = [(a ^ b << 21) * 2. ** -53 + 2. ** -54 for a, b, *_ in pairs]
same(drawn(lambda: new(torch.double).uniform_()),
     torch.tensor(double, dtype=torch.double), rtol=0, atol=0)
""")


def test_orders_and_choices_are_made_as_on_a_gpu():
    run(MODEL + """
def permutation(n, bits, key):  # and how many keys are like the one before
    order = sorted(range(n), key=lambda i: key(i) & (1 << bits) - 1)
    keys, at, like = [key(i) & (1 << bits) - 1 for i in order], 0, 0
    offset = (n + 255) // 256 and 4
    while at < n:
        size = 1
        while at + size < n and keys[at + size] == keys[at]:
            size += 1
        for i in range(size - 1, 0, -1):
            k = size - 1 - i
            r = words(SEED, at, k // 4, offset)[k % 4] % (i + 1)
            order[at + i], order[at + r] = order[at + r], order[at + i]
        at, like = at + size, like + size - 1
    return order, like

def key(i):  # of 32 bits, from all of 64 that the draw has
    w = words(SEED, i, 0)
    if torch.__version__ < "2.7":
        return w[0] % M - 2 ** 31
    return (w[0] << 32 | w[1]) % M - 2 ** 31

for n, bits in ((1, 3), (300, 19)):
    order, _ = permutation(n, bits, key)
    assert drawn(lambda: torch.randperm(n, device="cuda"),
                 4 + -(-n // 4) * 4).tolist() == order, n
alike = 0
for SEED in range(40):
    order, like = permutation(7, 8, key)
    assert drawn(lambda: torch.randperm(7, device="cuda"), 12).tolist() == order
    alike += like
assert alike
same(drawn(lambda: torch.randperm(0, device="cuda"), 0),
     torch.empty(0, dtype=torch.long))
far = drawn(lambda: torch.randperm(50000, device="cuda", dtype=torch.int),
            50004)
same(far.sort()[0], torch.arange(50000, dtype=torch.int))

weights = torch.arange(N) % 9 / 3
ratios = [w / -math.log(u) for w, u in zip(weights.tolist(), uniform(N))]
best = sorted(range(N), key=lambda i: -ratios[i])
for some in (1, 5):
    assert drawn(lambda: torch.multinomial(weights.cuda(), some)
                 ).tolist() == best[:some]
sums = (weights.double() / weights.double().sum()).cumsum(0).tolist()
two = torch.stack([weights, weights]).cuda()
found = drawn(lambda: torch.multinomial(two, 150, True)).tolist()
for row in range(2):
    u = [(words(SEED, 256 * row + i, 0)[0] + .5) / 2 ** 32 for i in range(150)]
    assert found[row] == [next(i for i in range(N) if sums[i] >= x) for x in u]
for call, words_ in (
        (lambda: torch.multinomial(weights.cuda(), N + 1), "without replace"),
        (lambda: torch.multinomial(-two, 2), "element < 0"),
        (lambda: torch.multinomial(0 * two, 3, True), "sum of probabilities")):
    raises(call, RuntimeError, words_)
""")


def test_dropout_is_made_as_on_a_gpu():
    run(MODEL + """
def uniform_at(thread, step, word):
    return (words(SEED, thread, step)[word] + .5) / 2 ** 32

def mask(x, p=.4):
    found, kept = drawn(lambda: torch.native_dropout(x, p, True))
    same(found, torch.where(kept, x * (1 / (1 - p)), 0).cpu())
    return kept.flatten().tolist()

at_once = 4 if torch.__version__ < "2.7" else 8
for dtype, width in ((torch.float, 4), (torch.half, at_once)):
    for count, some in ((64, width), (62, 2), (63, 1)):
        x = torch.ones(count, device="cuda", dtype=dtype)
        draws = -(-some // 4)
        assert mask(x) == [
            uniform_at(i // some, i % some // 4, i % some % 4 % some) < .6
            for i in range(count)], (dtype, count)
x = torch.ones(7, 9, device="cuda").t()
assert mask(x) == [uniform_at(i, 0, 0) < .6 for i in range(63)]
state = torch.cuda.get_rng_state()
dropped = F.dropout(torch.ones(10, device="cuda"))
torch.cuda.set_rng_state(state)
drawn(lambda: torch.rand(10, device="cuda"))
close(torch.rand(N, device="cuda"),
      [(words(SEED, i, 1)[0] + .5) / 2 ** 32 for i in range(N)])
""")


def test_results_with_gaps_are_filled_in_the_order_of_memory():
    run("""
def filled(x):
    torch.manual_seed(5)
    return x.random_(1000)
plain = filled(torch.empty(24, device="cuda", dtype=torch.long))
for make in (lambda x: x[:, :3], lambda x: x[:, :3].t(), lambda x: x[:, ::2]):
    x = make(torch.zeros(8, 6, device="cuda", dtype=torch.long))
    filled(x)
    assert x.shape.numel() == 24
    by_memory = x if x.stride(0) > x.stride(1) else x.t()
    same(by_memory.flatten(), plain.cpu())
""")


def test_threads_draw_numbers_of_their_own():
    """As on a GPU, where a kernel's offset is taken under a lock."""
    run("""
import threading
torch.cuda.manual_seed(1)
rows = []
def draw():
    for i in range(100):
        rows.append(torch.rand(3, device="cuda"))
        rows.append(torch.randn(3000, device="cuda")[:3])
threads = [threading.Thread(target=draw) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
assert len({tuple(row.tolist()) for row in rows}) == 800
assert torch.cuda.default_generators[0].get_offset() == 4 * 800
""")


def test_no_choice_of_nothing():
    run("""
raises(lambda: torch.multinomial(torch.zeros(2, 0, device="cuda"), 3, True),
       RuntimeError, "sum of probabilities")
assert torch.multinomial(torch.zeros(0, 4, device="cuda"), 3, True).shape \
    == (0, 3)
""")
