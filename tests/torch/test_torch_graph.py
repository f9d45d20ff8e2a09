# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.graph: each replay repeats what was captured, in the same memory,
with the results that the operators have without it."""

from torch_program import needs, run

STEP = """
def make(seed=5, drop=0.):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(),
                        nn.Flatten(), nn.Dropout(drop), nn.Linear(144, 5))
    net.cuda()
    adam = torch.optim.Adam(net.parameters(), 1e-2, capturable=True)
    return net, adam

draw = torch.Generator().manual_seed(2)
batches = [(torch.randn(6, 1, 8, 8, generator=draw),
            torch.randint(0, 5, (6,), generator=draw)) for _ in range(8)]
x, y = (t.cuda() for t in batches[0])

def step(net, adam, x, y):
    adam.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    adam.step()
    return loss

def warm_up(net, adam):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(net, adam, x, y)
    torch.cuda.current_stream().wait_stream(side)

def state(net, adam):
    return [t.clone() for t in (*net.state_dict().values(),
            *(one for p in net.parameters()
              for one in adam.state[p].values()))]

def learn(graphed, **how):
    net, adam = make(**how)
    warm_up(net, adam)
    losses = []
    if graphed:
        before = state(net, adam)
        graph = torch.cuda.CUDAGraph()
        adam.zero_grad()
        with torch.cuda.graph(graph):
            loss = step(net, adam, x, y)
        assert all(map(torch.equal, before, state(net, adam)))
    for a, b in batches:
        x.copy_(a)
        y.copy_(b)
        if graphed:
            graph.replay()
        else:
            loss = step(net, adam, x, y)
        losses.append(loss.item())
    x.copy_(batches[0][0])
    y.copy_(batches[0][1])
    return losses, state(net, adam)
"""


def test_a_step_replayed_is_the_step_to_the_bit():
    run(STEP + """
plain, graphed = learn(False), learn(True)
assert plain[0] == graphed[0], (plain[0], graphed[0])
assert all(map(torch.equal, plain[1], graphed[1]))
assert plain[0][-1] != plain[0][0]
""")


def test_a_replay_draws_the_numbers_that_the_step_would():
    run(STEP + """
plain, graphed = learn(False, drop=.5), learn(True, drop=.5)
assert plain[0] == graphed[0], (plain[0], graphed[0])
a = torch.zeros(9, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    a.uniform_()
    b = torch.rand(9, device="cuda")
torch.cuda.manual_seed(8)
drawn = []
for _ in range(2):
    graph.replay()
    drawn += [a.clone(), b.clone()]
torch.cuda.manual_seed(8)
assert all(torch.equal(one, torch.rand(9, device="cuda")) for one in drawn)
""")


def test_a_replay_draws_by_every_kind_of_operator():
    run("""
def draw():
    a = torch.empty(9, device="cuda")
    return [torch.randint(100, (9,), device="cuda"), a.clone().exponential_(),
            a.clone().bernoulli_(.5), torch.randperm(9, device="cuda"),
            F.dropout(torch.ones(9, device="cuda")), a.geometric_(.2)]
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    results = draw()
torch.cuda.manual_seed(8)
drawn = []
for _ in range(2):
    graph.replay()
    drawn += [x.clone() for x in results]
torch.cuda.manual_seed(8)
for one, expected in zip(drawn, draw() + draw(), strict=True):
    assert torch.equal(one, expected)
""")


def test_graphs_may_share_a_pool():
    run("""
x = torch.arange(4., device="cuda")
first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
with torch.cuda.graph(first):
    y = (x * 2).relu_() + 1
with torch.cuda.graph(second, pool=first.pool()):
    z = y.cumsum(0) - x.max()
for value in (1., 5.):
    x.fill_(value)
    first.replay()
    second.replay()
    same(y, torch.full((4,), 2 * value + 1))
    same(z, y.cpu().cumsum(0) - value)
at = y.data_ptr()
first.replay()
assert y.data_ptr() == at
""")


def test_the_first_replay_finds_what_was_there_before_the_capture():
    """Also where the graph itself overwrote it, in memory of an input that was
    freed during the capture."""
    run("""
first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
with torch.cuda.graph(first):
    x = torch.empty(1 << 18, device="cuda")
value = torch.arange(1. * (1 << 18))
x.copy_(value)
at = x.data_ptr()
with torch.cuda.graph(second, pool=first.pool()):
    y = x * 2
    del x
    z = y + 1
assert z.data_ptr() == at
second.replay()
same(z, value * 2 + 1)
""")


def test_what_is_captured_is_done_by_replays_only():
    run("""
x, total = torch.ones(3, device="cuda"), torch.zeros(3, device="cuda")
host = torch.full((3,), 7.).pin_memory()
out = torch.empty(3).pin_memory()
graph = torch.cuda.CUDAGraph()
side = torch.cuda.Stream()
with torch.cuda.graph(graph):
    x.copy_(host, non_blocking=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x + 1
    z = x * 2
    torch.cuda.current_stream().wait_stream(side)
    total += y + z
    picked = torch.arange(3, device="cuda").flip(0)
    out.copy_(total[picked], non_blocking=True)
assert x.tolist() == [1] * 3 and total.tolist() == [0] * 3
host.fill_(3)
graph.replay()
graph.replay()
torch.cuda.synchronize()
assert total.tolist() == [20] * 3 and out.tolist() == [20] * 3
""")


def test_attention_and_autocast_are_captured():
    run("""
from torch.nn.attention import SDPBackend, sdpa_kernel
layer = nn.TransformerEncoderLayer(32, 4, 64, 0.1, batch_first=True).cuda()
x = torch.randn(2, 8, 32, device="cuda", requires_grad=True)
def forward():
    with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
        out = layer(x)
    return torch.autograd.grad(out.float().square().sum(), x)[0]
forward()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    grad = forward()
torch.cuda.manual_seed(1)
graph.replay()
torch.cuda.manual_seed(1)
assert torch.equal(grad, forward())
""")


def test_make_graphed_callables():
    run("""
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2)).cuda()
x = torch.randn(4, 6, device="cuda")
def grads(f, x):
    net.zero_grad(set_to_none=True)
    f(x).square().sum().backward()
    return [p.grad.clone() for p in net.parameters()]
inputs = [torch.randn(4, 6, device="cuda") for _ in range(3)]
plain = [grads(net, one) for one in inputs]
net.zero_grad(set_to_none=True)
graphed = torch.cuda.make_graphed_callables(net, (x,))
for one, expected in zip(inputs, plain):
    assert all(map(torch.equal, grads(graphed, one), expected))
""")


def test_what_waits_cannot_be_captured():
    for call, words in (
            ("x.sum().item()", "operation not permitted when stream is "
                               "capturing aten::_local_scalar_dense"),
            ("x.nonzero()", "capturing aten::nonzero"),
            ("x[x > 0]", "capturing aten::index.Tensor"),
            ("torch.cuda.synchronize()", "capturing")):
        run(f"""
x = torch.ones(4, device="cuda")
x + 1
def capture():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        x.mul_(2)
        raises(lambda: {call}, RuntimeError, *{words.rsplit(None, 1)!r})
        raises(lambda: x + 1, RuntimeError, "previous error during capture")
raises(capture, RuntimeError, "previous error during capture")
assert x.tolist() == [1] * 4
""")


def test_a_copy_to_the_host_cannot_be_captured():
    """It fails with CUDA's error, or in later versions with PyTorch's own."""
    run("""
x = torch.ones(4, device="cuda")
def capture():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        x.mul_(2)
        x.cpu()
raises(capture, RuntimeError, "captur")
assert x.tolist() == [1] * 4
""")


def test_after_a_capture_that_was_lost_comes_another():
    needs(2, 8)  # before that, PyTorch's allocator never ends the capture
    run("""
x = torch.ones(4, device="cuda")
def capture():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        x.nonzero()
raises(capture, RuntimeError, "previous error during capture")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    x[x > 0] = 5.
graph.replay()
assert x.tolist() == [5] * 4
""")


def test_a_replay_meets_what_its_operators_would():
    run("""
x, i = torch.arange(4., device="cuda"), torch.zeros(2, device="cuda").long()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x[i]
i.fill_(3)
graph.replay()
assert y.tolist() == [3, 3]
i.fill_(9)
graph.replay()
raises(torch.cuda.synchronize, RuntimeError, "device-side assert triggered")
raises(lambda: x + 1, RuntimeError, "aten::index", "9")
""")


def test_graphs_end_and_give_their_memory_back():
    run("""
x = torch.ones(1 << 20, device="cuda")
reserved = torch.cuda.memory_reserved
held, left = [], []
for _ in range(3):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x * 2) + 1
    graph.replay()
    held.append(reserved())
    del y
    graph.reset()
    torch.cuda.empty_cache()
    left.append(reserved())
assert held[0] == held[2] > left[0] == left[2]
""")
