# SPDX-License-Identifier: Apache-2.0
"""Trains a small network of convolutions in float32 and in bfloat16, and a
layer in float16 with a gradient scaler."""

from torch import autocast, float16, bfloat16, nn
from torch.amp import GradScaler
from torch.nn.functional import cross_entropy
import torch

from training import DEVICE, Dropout, begin, classes, drawn, tell, train


class Cast(nn.Module):
    """A layer that autocast runs in a small type on both devices; its lists of
    other layers differ, so those stay in float32."""

    def __init__(self, layer, dtype):
        super().__init__()
        self.layer, self.dtype = layer, dtype

    def forward(self, x):
        with autocast(DEVICE, dtype=self.dtype):
            return self.layer(x).float()


def network(small=lambda layer: layer):
    """There are no biases before norms: their gradients are noise, which Adam
    scales up."""
    return nn.Sequential(
        small(nn.Conv2d(3, 8, 3, padding=1, bias=False)), nn.BatchNorm2d(8),
        nn.ReLU(), nn.MaxPool2d(2),
        small(nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=2, bias=False)),
        nn.BatchNorm2d(16), nn.SiLU(), Dropout(0.3), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), small(nn.Linear(64, 10))).to(DEVICE)


def batches(steps):
    return [(*drawn((16, 3, 16, 16), seed=step), classes(16, 10, step))
            for step in range(steps)]


def plain_loss(model, batch):
    return cross_entropy(model(batch[0]), batch[1])


def plain():
    model = network()
    losses = train(model, torch.optim.Adam(model.parameters(), 1e-2),
                   plain_loss, batches(20))
    model.eval()
    return losses + [plain_loss(model, batches(1)[0]).item()]


def mixed():
    model = network(lambda layer: Cast(layer, bfloat16))
    return train(model, torch.optim.SGD(model.parameters(), 0.1, 0.9),
                 plain_loss, batches(20))


def scaled():
    """The scale falls when gradients overflow, and such a step is skipped."""
    model = Cast(nn.Linear(64, 10), float16).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = GradScaler(DEVICE, init_scale=2.0**18, growth_interval=4)
    told = []
    for step in range(12):
        x, = drawn((8, 64), seed=step)
        if step == 5:
            x[0, 0] = 6e4
        loss = cross_entropy(model(x), classes(8, 10, step))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        told.append((loss.item(), scaler.get_scale()))
    return told


begin()
tell(plain=plain(), mixed=mixed(), scaled=scaled())
