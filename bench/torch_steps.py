# SPDX-License-Identifier: Apache-2.0
"""Times of PyTorch's operators and training steps, as JSON, in seconds.

    python torch_steps.py DEVICE

DEVICE is cuda or cpu; two threads. Each is the least of several rounds: what
else runs on the machine only adds to it.
"""

import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

DEVICE = sys.argv[1]
SMALL, LARGE = 10, 1 << 18


def least(action, calls, rounds):
    """The seconds of one call."""
    action()
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(calls):
            action()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - began) / calls)
    return best


def operators():
    small = torch.ones(SMALL, device=DEVICE)
    large = torch.ones(LARGE, device=DEVICE)
    square = torch.ones(64, 64, device=DEVICE)
    actions = {"relu_": small.relu_, "relu": small.relu,
               "add_": lambda: small.add_(small),
               "mm 64": lambda: square.mm(square)}
    times = {name: least(action, 2000, 15) for name, action in actions.items()}
    times["relu of 256 Ki"] = least(large.relu, 300, 15)
    times["rand of 256 Ki"] = least(
        lambda: torch.rand(LARGE, device=DEVICE), 50, 15)
    times["randn of 256 Ki"] = least(
        lambda: torch.randn(LARGE, device=DEVICE), 50, 15)
    return times


class Block(nn.Module):
    """Of a transformer, causal."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(
            batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


def gpt():
    """10 million parameters, 4 sequences of 128."""
    width, words = 320, 4096
    model = nn.Sequential(nn.Embedding(words, width),
                          *[Block(width, 5) for _ in range(6)],
                          nn.LayerNorm(width), nn.Linear(width, words))
    return model, torch.randint(words, (4, 128)), torch.randint(
        words, (4 * 128,))


def resnet():
    from torchvision.models import resnet18

    return resnet18(), torch.randn(8, 3, 224, 224), torch.randint(1000, (8,))


def step_of(made):
    torch.manual_seed(1)
    model, x, y = made()
    model, x, y = model.to(DEVICE), x.to(DEVICE), y.to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x).flatten(0, -2), y).backward()
        optimizer.step()

    return step


torch.set_num_threads(2)
found = operators()
found["GPT"] = least(step_of(gpt), 2, 8)
found["ResNet-18"] = least(step_of(resnet), 1, 8)
print(json.dumps(found))
