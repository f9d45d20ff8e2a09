# SPDX-License-Identifier: Apache-2.0
"""Ranks train one network together: torchrun starts one for each GPU.

    torchrun --nproc-per-node N parallel.py DEVICE FOLDER

On the CPU, with one rank, one process takes the same global batches.
"""

import os

import torch
from torch import distributed, nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel

from training import DEVICE, begin, drawn, tell

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
BATCH = 16


def network():
    torch.manual_seed(6)
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))


def part(tensor):
    return tensor.chunk(RANKS)[RANK]


def learn(model, optimizer):
    """The mean of all ranks' losses before each step."""
    losses = []
    for step in range(6):
        x, y = drawn((BATCH, 8), (BATCH, 2), seed=step)
        optimizer.zero_grad()
        loss = mse_loss(model(part(x)), part(y))
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        distributed.all_reduce(mean, distributed.ReduceOp.SUM)
        losses.append(mean.item() / RANKS)
    return losses


def replicated():
    model = DistributedDataParallel(network().to(DEVICE))
    return learn(model, torch.optim.SGD(model.parameters(), 0.1))


def zero():
    model = DistributedDataParallel(network().to(DEVICE))
    return learn(model, ZeroRedundancyOptimizer(
        model.parameters(), torch.optim.Adam, lr=0.01))


def sharded():
    from torch.distributed.fsdp import fully_shard

    model = network().to(DEVICE)
    for layer in model[0], model[2], model:
        fully_shard(layer)
    return learn(model, torch.optim.Adam(model.parameters(), 0.01))


def gathered():
    """Gathers objects, passes a barrier, and uses a group of the even ranks."""
    told = [None] * RANKS
    distributed.all_gather_object(told, {"rank": RANK})
    distributed.barrier()
    even = distributed.new_group(list(range(0, RANKS, 2)))
    one = torch.tensor([float(RANK)], device=DEVICE)
    if RANK % 2 == 0:
        distributed.all_reduce(one, group=even)
    distributed.barrier()
    return [each["rank"] for each in told], one.item()


begin()
if DEVICE == "cuda":
    torch.cuda.set_device(RANK % torch.cuda.device_count())
distributed.init_process_group("nccl" if DEVICE == "cuda" else "gloo")
results = {"replicated": replicated(), "zero": zero(), "sharded": sharded(),
           "gathered": gathered()}
if RANK == 0:
    tell(**results)
distributed.destroy_process_group()
