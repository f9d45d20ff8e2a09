# SPDX-License-Identifier: Apache-2.0
"""PyTorch's distributed training uses the fake machine's NCCL: four ranks by
torchrun, each on a GPU."""

import os
import re
import subprocess

import pytest

from conftest import GPUKIT
from torch_program import PYTHON, needs, torch_env

BEGIN = """
import datetime, os, signal, time
import torch
from torch import nn
import torch.distributed as dist
import torch.nn.functional as F
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=120))
n = dist.get_world_size()
"""

# A model, its batches, and the results of a single process on the CPU.
MODEL = """
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))

torch.manual_seed(5)
batches = [(torch.randn(32, 64), torch.randint(0, 10, (32,)))
           for _ in range(5)]

def train(m, optimizer, mine):
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(m(mine(x)), mine(y)).backward()
        optimizer.step()

def mine(whole):
    return whole.chunk(n)[rank].cuda()

alone = model()
train(alone, torch.optim.SGD(alone.parameters(), 0.1), lambda whole: whole)

def same(parameters):
    for a, b in zip(parameters, alone.parameters()):
        torch.testing.assert_close(a.detach().cpu(), b.detach())
"""


def torchrun(tmp_path, program, check=True, options=(), ranks=4):
    """The output of the ranks, sorted by rank."""
    if not os.path.exists(PYTHON):
        pytest.skip("no PyTorch in build/venv-torch: ./run torch")
    file = tmp_path / "program.py"
    file.write_text(BEGIN + program, encoding="utf-8")
    done = subprocess.run(
        [GPUKIT, "fake", "--quiet", "--gpus", "h100:4", "--", PYTHON, "-m",
         "torch.distributed.run", "--standalone", "--nproc-per-node",
         str(ranks), *options, str(file)], env=torch_env(), text=True,
        capture_output=True, check=False, timeout=600)
    if check:
        assert not done.returncode, done.stderr[-3000:]
    return done


def test_ranks_compute_together(tmp_path):
    done = torchrun(tmp_path, """
def cuda(*values):
    return torch.tensor(values).cuda()

def told(tensor):
    return tensor.cpu().tolist()

a = cuda(1.0 + rank, 2.0)
dist.all_reduce(a)
assert told(a) == [10, 8]
dist.broadcast(a := cuda(float(rank)), 2)
assert told(a) == [2]
parts = [torch.empty(1, device="cuda") for _ in range(n)]
dist.all_gather(parts, cuda(rank * 3.0))
assert [told(p) for p in parts] == [[0], [3], [6], [9]]
dist.reduce_scatter_tensor(a := torch.empty(1, device="cuda"),
                           cuda(0.0, 1.0, 2.0, 3.0))
assert told(a) == [4.0 * rank]
dist.all_to_all_single(a := torch.empty(n, device="cuda"),
                       cuda(*(10.0 * rank + i for i in range(n))))
assert told(a) == [10.0 * i + rank for i in range(n)]
if rank == 0:
    dist.send(torch.full((100000,), 7.0).cuda(), 3)
if rank == 3:
    dist.recv(a := torch.empty(100000, device="cuda"), 0)
    assert a.cpu().eq(7).all()
dist.barrier()
objects = [None] * n
dist.all_gather_object(objects, {"rank": rank})
assert [o["rank"] for o in objects] == [0, 1, 2, 3]
pair = dist.new_group([1, 2])
if rank in (1, 2):
    dist.all_reduce(a := cuda(float(rank)), group=pair)
    assert told(a) == [3]
dist.destroy_process_group()
print("well", flush=True)
""")
    assert done.stdout.count("well") == 4


def test_training_is_that_of_one_process(tmp_path):
    """DDP, sharded parameters, a sharded optimizer, parallel tensors."""
    needs(2, 6)  # fully_shard
    done = torchrun(tmp_path, MODEL + """
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)

m = nn.parallel.DistributedDataParallel(model().cuda(), device_ids=[rank])
train(m, torch.optim.SGD(m.parameters(), 0.1), mine)
same(m.parameters())

m = model().cuda()
for layer in m:
    fully_shard(layer)
fully_shard(m)
train(m, torch.optim.SGD(m.parameters(), 0.1), mine)
same([p.full_tensor() for p in m.parameters()])

m = nn.parallel.DistributedDataParallel(model().cuda(), device_ids=[rank])
train(m, ZeroRedundancyOptimizer(
    m.parameters(), optimizer_class=torch.optim.SGD, lr=0.1), mine)
same(m.parameters())

m = model().cuda()
x = batches[0][0].cuda()
expected = m(x).detach().cpu()
parallelize_module(m, init_device_mesh("cuda", (n,)),
                   {"0": ColwiseParallel(), "2": RowwiseParallel()})
torch.testing.assert_close(m(x).detach().cpu(), expected)
dist.destroy_process_group()
print("well", flush=True)
""")
    assert done.stdout.count("well") == 4


def test_two_ranks_learn_what_one_learns(tmp_path):
    done = torchrun(tmp_path, MODEL + """
m = nn.parallel.DistributedDataParallel(model().cuda(), device_ids=[rank])
train(m, torch.optim.SGD(m.parameters(), 0.1), mine)
same(m.parameters())
objects = [None] * n
dist.all_gather_object(objects, {"rank": rank})
assert [o["rank"] for o in objects] == [0, 1]
dist.barrier()
dist.destroy_process_group()
print("well", flush=True)
""", ranks=2)
    assert done.stdout.count("well") == 2


def test_tensors_are_split_among_ranks(tmp_path):
    """Split by columns, then by rows: the gradients of each part are those of
    the whole."""
    done = torchrun(tmp_path, MODEL + """
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)

m = model().cuda()
parallelize_module(m, init_device_mesh("cuda", (n,)),
                   {"0": ColwiseParallel(), "2": RowwiseParallel()})
assert m[0].weight.to_local().shape == (128 // n, 64)
train(m, torch.optim.SGD(m.parameters(), 0.1), lambda whole: whole.cuda())
same([p.full_tensor() for p in m.parameters()])
dist.destroy_process_group()
print("well", flush=True)
""", ranks=2)
    assert done.stdout.count("well") == 2


def test_layers_are_split_among_ranks(tmp_path):
    """A pipeline of two stages with four batches at a time."""
    needs(2, 6)  # stages that infer their shapes
    done = torchrun(tmp_path, MODEL + """
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

whole = model()
part = nn.Sequential(whole[0], whole[1]) if rank == 0 else whole[2]
part.cuda()
stage = PipelineStage(part, rank, n, torch.device("cuda", rank))
schedule = ScheduleGPipe(stage, 4, loss_fn=F.cross_entropy)
optimizer = torch.optim.SGD(part.parameters(), 0.1)
for x, y in batches:
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(x.cuda())
    else:
        schedule.step(target=y.cuda(), losses=[])
    optimizer.step()
mine = [alone[0], alone[1]] if rank == 0 else [alone[2]]
for a, b in zip(part.parameters(), nn.Sequential(*mine).parameters()):
    torch.testing.assert_close(a.detach().cpu(), b.detach())
dist.destroy_process_group()
print("well", flush=True)
""", ranks=2)
    assert done.stdout.count("well") == 2


def test_after_a_kill_torchrun_starts_all_again(tmp_path):
    """Each rank continues from what was saved, and none hangs."""
    saved = tmp_path / "saved.pt"
    done = torchrun(tmp_path, MODEL + f"""
again = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
m = nn.parallel.DistributedDataParallel(model().cuda(), device_ids=[rank])
if again:
    m.load_state_dict(torch.load("{saved}", map_location=f"cuda:{{rank}}"))
for step, (x, y) in enumerate(batches):
    if again and step < 2:
        continue
    if not again and step == 2:
        if rank == 0:
            torch.save(m.state_dict(), "{saved}")
        dist.barrier()
        torch.cuda.synchronize()
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    m.zero_grad()
    F.cross_entropy(m(mine(x)), mine(y)).backward()
    with torch.no_grad():
        for p in m.parameters():
            p -= 0.1 * p.grad
same(m.parameters())
dist.destroy_process_group()
print("well", again, flush=True)
""", options=["--max-restarts", "1"], ranks=2)
    assert done.stdout.count("well 1") == 2 and "well 0" not in done.stdout


def test_a_killed_rank_is_told_to_the_others(tmp_path):
    done = torchrun(tmp_path, """
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # torchrun's, which is faster
a = torch.ones(1 << 20).cuda()
dist.all_reduce(a, op=dist.ReduceOp.MAX)
torch.cuda.synchronize()
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
began = time.monotonic()
try:
    for _ in range(1000):
        dist.all_reduce(a, op=dist.ReduceOp.MAX)
        torch.cuda.synchronize()
except dist.DistBackendError as error:
    took = int(time.monotonic() - began)
    os.write(1, f"told {took} {str(error)!r}\\n".encode())
os._exit(1)
""", check=False)
    told = re.findall(r"^told (\d+) (.*)$", done.stdout, re.M)
    assert [seconds for seconds, _ in told] == ["0"] * 3, done.stdout
    assert all("rank 1 " in text and "has ended" in text for _, text in told)
