# SPDX-License-Identifier: Apache-2.0
"""tinygrad runs unmodified: it writes PTX itself, passes it to the driver and
runs it, on all GPUs. Its results are compared with numpy's."""

import subprocess
import sys

import pytest

import peers
from conftest import GPUKIT, clean_env
from test_cuda_watched import wait_for

MIB = 1 << 20

BEGIN = """
import sys
import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes

assert Device.DEFAULT == "CUDA"
dice = np.random.default_rng(6)
A = dice.random((32, 48), dtype=np.float32)
B = dice.random((48, 16), dtype=np.float32)
a, b = Tensor(A), Tensor(B)

def same(tensor, wanted):
    found = tensor.numpy()
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5), (found, wanted)
"""

ELEMENTS = """
same(a * 2.5 + a, A * 2.5 + A)
same(a / (a + 1), A / (A + 1))
same(a.sqrt(), np.sqrt(A))
same(a.exp2(), np.exp2(A))
same((a + 1).log2(), np.log2(A + 1))
same((a - 0.5).relu(), np.maximum(A - np.float32(0.5), 0))
same((a > 0.5).where(a, -a), np.where(A > 0.5, A, -A))
same(a.T.contiguous(), A.T)
same(a.cat(a, dim=1), np.concatenate([A, A], 1))
i = Tensor.arange(1, 100)
I = np.arange(1, 100, dtype=np.int32)
same(i // 7 * 100 + i % 7, I // 7 * 100 + I % 7)
same(i * 8 ^ (i & 21) | i, I * 8 ^ (I & 21) | I)
bytes_ = np.arange(256, dtype=np.uint8)
same(Tensor(bytes_) + 3, bytes_ + np.uint8(3))
same(i.cast(dtypes.float64) / 3, I.astype(np.float64) / 3)
assert sorted(Tensor([3, 1, 2]).sort()[0].tolist()) == [1, 2, 3]
"""

REDUCTIONS = """
same(a.sum(), A.sum())
same(a.sum(0), A.sum(0))
same(a.max(1), A.max(1))
same(a.argmax(1), A.argmax(1))
same(a.cumsum(1), A.cumsum(1))
same(a.mean(), A.mean())
same(a @ b, A @ B)
image = dice.random((1, 2, 6, 6), dtype=np.float32)
kernel = dice.random((3, 2, 3, 3), dtype=np.float32)
windows = np.lib.stride_tricks.sliding_window_view(image[0], (3, 3), (1, 2))
same(Tensor(image).conv2d(Tensor(kernel)),
     np.einsum("cyxij,ocij->oyx", windows, kernel)[None])
x = Tensor(A, requires_grad=True)
(x * x @ b).sum().backward()
same(x.grad, 2 * A * B.sum(1))
"""

TWO_GPUS = """
there = a.to("CUDA:1").realize()
assert there.device == "CUDA:1"
same(there + 1, A + 1)
same((there * 2).to("CUDA:0") + a, A * 3)
rows = Tensor(A).shard(("CUDA:0", "CUDA:1"), axis=0)
same(rows + rows, A + A)
same(rows.sum(0), A.sum(0))
"""

AGAIN = """
@TinyJit
def step(t):
    return (t * 2 + 1).realize()

for n in range(5):
    same(step(Tensor(A + n).realize()), (A + n) * 2 + 1)
"""

# Several kernels: a graph of the driver whose nodes get new addresses.
GRAPH = """
@TinyJit
def steps(t):
    for n in range(1, 6):
        t = (t * 2 + n).contiguous()
    return (t.sum(1).reshape(-1, 1) + t).realize()

for n in range(6):
    wanted = A + n
    for k in range(1, 6):
        wanted = wanted * 2 + k
    same(steps(Tensor(A + n).realize()), wanted.sum(1, keepdims=True) + wanted)
"""

ERRORS = """
def fails(what, error):
    try:
        what()
    except Exception as e:
        assert error in str(e), e
        return
    raise AssertionError("it worked")

# Out of memory: the device's 80 GiB, in buffers of 30.
device = Device["CUDA"]
held = [device.allocator.alloc(30 << 30) for _ in range(2)]
fails(lambda: device.allocator.alloc(30 << 30), "out of memory")
for one in held:
    device.allocator.free(one, 30 << 30)
fails(lambda: Tensor(A, device="CUDA:9").realize(), "invalid device ordinal")
# A kernel that no CPU runs yet is refused, and the GPU works on.
fails(lambda: a.sin().realize(), "operation not supported")
same(a + 1, A + 1)
"""


@pytest.fixture
def env(tmp_path):
    return clean_env(CUDA="1", PTX="1", CACHEDB=str(tmp_path / "cache.db"))


@pytest.mark.parametrize(
    "code", [ELEMENTS, REDUCTIONS, TWO_GPUS, AGAIN, GRAPH, ERRORS],
    ids=["elements", "reductions", "two-gpus", "again", "graph", "errors"])
def test_results(code, env):
    done = subprocess.run(
        [GPUKIT, "fake", "--gpus", "a100-sxm4-80gb:2", "--", sys.executable,
         "-c", BEGIN + code],
        capture_output=True, text=True, timeout=120, check=False, env=env)
    assert done.returncode == 0, done.stderr


HOLDS = """
held = Tensor(np.ones((64, 1 << 20), dtype=np.float32), device="CUDA:1")
print((held + 1).realize().shape, flush=True)
sys.stdin.read()
"""


def test_what_it_holds_is_seen_by_others(machine, env):
    """Two buffers of 256 MiB on the second GPU, beside its context."""
    one = machine("--gpus", "a100-sxm4-80gb:2")
    empty = peers.of_pynvml(one.env)
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN + HOLDS], env={**env, **one.env},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "(64, 1048576)\n"
        seen = peers.of_pynvml(one.env)
        assert seen[0]["used"] == empty[0]["used"]
        assert seen[0]["processes"] == {}
        assert list(seen[1]["processes"]) == [process.pid]
        took = seen[1]["processes"][process.pid]
        assert seen[1]["used"] - empty[1]["used"] == took
        assert 512 * MIB < took < 1536 * MIB
    finally:
        process.kill()
        process.communicate()
    wait_for(lambda: not peers.of_pynvml(one.env)[1]["processes"])
    assert peers.of_pynvml(one.env)[1]["used"] == empty[1]["used"]
